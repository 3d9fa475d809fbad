/// A wrapper for each of PETSc's operations on an AIJ matrix that may touch the values on the host: it brings them home
/// first, those of both blocks of a parallel matrix. The operations are exchanged for these only as long as values are
/// away, and those that read the pattern alone only as long as that is.
#include "mat/face/away.hpp"
#include <type_traits>
#include "mat/face/context.hpp"
#include "mat/face/pattern.hpp"

namespace sparsegpu::face
{

namespace
{
/// Those of A before its values went away; AIJ's where they are at home, of a program that kept a wrapper's address.
PetscErrorCode OperationsBefore(Mat A, const struct _MatOps **operations)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, operations));
  const Context *context = seq || mpi ? static_cast<Context *>(A->spptr) : nullptr; // it may not be adopted yet
  if (context && context->away) *operations = &context->away->operations;
  if (context && context->at_home) *operations = context->at_home.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The operation on values that are home.
template <auto member> struct AtHome;
template <class... Arguments, PetscErrorCode (*_MatOps::*member)(Mat, Arguments...)> struct AtHome<member> {
  static PetscErrorCode Call(Mat A, Arguments... arguments)
  {
    const struct _MatOps *before;

    PetscFunctionBegin;
    PetscCall(OperationsBefore(A, &before));
    PetscErrorCode (*const operation)(Mat, Arguments...) = before->*member;
    PetscCall(BringHome(A));
    for (const PetscErrorCode code : {PetscErrorCode(PETSC_SUCCESS), BringArgumentHome(arguments)...}) PetscCall(code);
    const AtHomeScope scope;
    PetscCheck(operation, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix type %s has no such operation",
               ((PetscObject)A)->type_name);
    PetscCall((*operation)(A, arguments...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void Leave(struct _MatOps *operations)
  {
    if (operations->*member) operations->*member = Call;
  }
  /// Unless it has been set to something else meanwhile.
  static void Return(struct _MatOps *operations, const struct _MatOps &before)
  {
    if (operations->*member == Call) operations->*member = before.*member;
  }
};

/// The operation on a pattern that is home.
template <auto member> struct WithPattern;
template <class... Arguments, PetscErrorCode (*_MatOps::*member)(Mat, Arguments...)> struct WithPattern<member> {
  static PetscErrorCode Call(Mat A, Arguments... arguments)
  {
    const struct _MatOps *before;

    PetscFunctionBegin;
    PetscCall(BringPatternHome(A));
    for (const PetscErrorCode code : {PetscErrorCode(PETSC_SUCCESS), BringArgument(arguments)...}) PetscCall(code);
    PetscCall(OperationsBefore(A, &before));
    PetscCall((*(before->*member))(A, arguments...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void Leave(struct _MatOps *operations)
  {
    if (operations->*member) operations->*member = Call;
  }
  static void Return(struct _MatOps *operations, const struct _MatOps &before)
  {
    if (operations->*member == Call) operations->*member = before.*member;
  }

private:
  template <class Other> static PetscErrorCode BringArgument(Other) { return PETSC_SUCCESS; }
  static PetscErrorCode                        BringArgument(Mat B) { return BringPatternHome(B); }
};

/// As AIJ's, of a pattern that is away.
PetscErrorCode InfoAway(Mat A, MatInfoType type, MatInfo *info)
{
  const struct _MatOps *before;
  Context              *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(OperationsBefore(A, &before));
  PetscCall((*before->getinfo)(A, type, info));
  if (!context->rows.pattern_away()) PetscFunctionReturn(PETSC_SUCCESS);
  info->nz_allocated = info->nz_used = context->rows.pattern_nonzeros();
  info->nz_unneeded                  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ notes its flags. Some become those of a new pattern when that comes home.
PetscErrorCode SetOptionAway(Mat A, MatOption option, PetscBool flag)
{
  const struct _MatOps *before;
  Context              *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(OperationsBefore(A, &before));
  PetscCall((*before->setoption)(A, option, flag));
  if (context->rows.pattern_away()) PetscCallCXX(context->away->options.push_back({option, flag}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ's reads the rows of A by a function of its own, not by an operation.
PetscErrorCode ConcatenateAway(MPI_Comm comm, Mat A, PetscInt rows, MatReuse reuse, Mat *all)
{
  const struct _MatOps *before;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(OperationsBefore(A, &before));
  PetscCall((*before->creatempimatconcatenateseqmat)(comm, A, rows, reuse, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for a member that not every version of PETSc has.
#define OPERATION(name)                                                                                    \
  template <class Operations, class = void> struct Optional_##name {                                       \
    static void Leave(Operations *) {}                                                                     \
    static void Return(Operations *, const Operations &) {}                                                \
  };                                                                                                       \
  template <class Operations> struct Optional_##name<Operations, std::void_t<decltype(&Operations::name)>> \
      : AtHome<&Operations::name> {                                                                        \
  };
#include "mat/face/host_operations.def"
#include "mat/face/host_operations_parallel.def"
#undef OPERATION
#define OPERATION(name)                                                                                   \
  template <class Operations, class = void> struct Pattern_##name {                                       \
    static void Leave(Operations *) {}                                                                    \
    static void Return(Operations *, const Operations &) {}                                               \
  };                                                                                                      \
  template <class Operations> struct Pattern_##name<Operations, std::void_t<decltype(&Operations::name)>> \
      : WithPattern<&Operations::name> {                                                                  \
  };
#include "mat/face/pattern_operations.def"
#undef OPERATION

} // namespace

void OperateWithPattern(struct _MatOps *operations)
{
#define OPERATION(name) Pattern_##name<struct _MatOps>::Leave(operations);
#include "mat/face/pattern_operations.def"
#undef OPERATION
  operations->getinfo   = InfoAway;
  operations->setoption = SetOptionAway;
  if (operations->creatempimatconcatenateseqmat) operations->creatempimatconcatenateseqmat = ConcatenateAway;
}

void OperatePatternAsBefore(struct _MatOps *operations, const struct _MatOps &before)
{
#define OPERATION(name) Pattern_##name<struct _MatOps>::Return(operations, before);
#include "mat/face/pattern_operations.def"
#undef OPERATION
  if (operations->getinfo == InfoAway) operations->getinfo = before.getinfo;
  if (operations->setoption == SetOptionAway) operations->setoption = before.setoption;
  if (operations->creatempimatconcatenateseqmat == ConcatenateAway)
    operations->creatempimatconcatenateseqmat = before.creatempimatconcatenateseqmat;
}

void OperateAtHome(struct _MatOps *operations)
{
#define OPERATION(name) Optional_##name<struct _MatOps>::Leave(operations);
#include "mat/face/host_operations.def"
#undef OPERATION
}

void OperateAsBefore(struct _MatOps *operations, const struct _MatOps &before)
{
#define OPERATION(name) Optional_##name<struct _MatOps>::Return(operations, before);
#include "mat/face/host_operations.def"
#undef OPERATION
}

void OperateBlocksAtHome(struct _MatOps *operations)
{
  OperateAtHome(operations);
#define OPERATION(name) Optional_##name<struct _MatOps>::Leave(operations);
#include "mat/face/host_operations_parallel.def"
#undef OPERATION
}

void BlocksOperateAsBefore(struct _MatOps *operations, const struct _MatOps &before)
{
  OperateAsBefore(operations, before);
#define OPERATION(name) Optional_##name<struct _MatOps>::Return(operations, before);
#include "mat/face/host_operations_parallel.def"
#undef OPERATION
}

} // namespace sparsegpu::face
