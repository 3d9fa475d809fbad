/// A wrapper for each of PETSc's operations on an AIJ matrix that may touch the values on the host: it brings them home
/// first, those of both blocks of a parallel matrix. The operations are exchanged for these only as long as values are
/// away.
#include "mat/face/away.hpp"
#include <type_traits>
#include "mat/face/context.hpp"

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

} // namespace

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
