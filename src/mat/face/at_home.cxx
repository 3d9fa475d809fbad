/// A wrapper for each of PETSc's operations on a sequential AIJ matrix that may touch the values on the host: it brings
/// them home first. The operations are exchanged for these only as long as the values are away.
#include "mat/face/away.hpp"
#include <type_traits>
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

namespace
{
/// Of an operation's arguments matrices alone have values.
template <class Other> PetscErrorCode BringHomeAny(Other)
{
  return PETSC_SUCCESS;
}
PetscErrorCode BringHomeAny(Mat A)
{
  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those of A before its values went away; AIJ's where they are at home, of a program that kept a wrapper's address.
PetscErrorCode OperationsBefore(Mat A, const struct _MatOps **operations)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(GetParentOps(false, operations));
  PetscCall(IsOurs(A, &seq, &mpi));
  const Context *context = seq ? static_cast<Context *>(A->spptr) : nullptr; // as it is: it may not be adopted yet
  if (context && context->away) *operations = &context->away->operations;
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
    for (const PetscErrorCode code : {PetscErrorCode(PETSC_SUCCESS), BringHomeAny(arguments)...}) PetscCall(code);
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

namespace
{
/// A, whose values are at home, has been given another pattern.
PetscErrorCode PatternWritten(Mat A)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(GetContext(A, &context));
  context->rows.PatternWritten();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's composed function on values that are home.
template <class... Arguments> struct ComposedAtHome {
  static PetscErrorCode Call(const char name[], Mat A, Arguments... arguments)
  {
    AnyFunction parent;

    PetscFunctionBegin;
    PetscCall(BringHome(A));
    for (const PetscErrorCode code : {PetscErrorCode(PETSC_SUCCESS), BringHomeAny(arguments)...}) PetscCall(code);
    PetscCall(GetParentFunction(false, name, &parent));
    const AtHomeScope scope;
    PetscCall((*reinterpret_cast<PetscErrorCode (*)(Mat, Arguments...)>(parent))(A, arguments...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
PetscErrorCode SetPreallocation(Mat A, PetscInt n, const PetscInt lengths[])
{
  PetscFunctionBegin;
  PetscCall(ComposedAtHome<PetscInt, const PetscInt *>::Call("MatSeqAIJSetPreallocation_C", A, n, lengths));
  PetscCall(PatternWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SetPreallocationCsr(Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  PetscFunctionBegin;
  PetscCall(ComposedAtHome<const PetscInt *, const PetscInt *, const PetscScalar *>::Call(
      "MatSeqAIJSetPreallocationCSR_C", A, i, j, a));
  PetscCall(PatternWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode ResetPreallocation(Mat A)
{
  PetscFunctionBegin;
  PetscCall(ComposedAtHome<>::Call("MatResetPreallocation_C", A));
  PetscCall(PatternWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#if PETSC_VERSION_GE(3, 23, 0)
PetscErrorCode ResetHash(Mat A)
{
  PetscFunctionBegin;
  PetscCall(ComposedAtHome<>::Call("MatResetHash_C", A));
  PetscCall(PatternWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
PetscErrorCode SetColumnIndices(Mat A, PetscInt columns[])
{
  PetscFunctionBegin;
  PetscCall(ComposedAtHome<PetscInt *>::Call("MatSeqAIJSetColumnIndices_C", A, columns));
  PetscCall(PatternWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode StoreValues(Mat A)
{
  return ComposedAtHome<>::Call("MatStoreValues_C", A);
}
PetscErrorCode IsTranspose(Mat A, Mat B, PetscReal tolerance, PetscBool *is)
{
  return ComposedAtHome<Mat, PetscReal, PetscBool *>::Call("MatIsTranspose_C", A, B, tolerance, is);
}
PetscErrorCode IsHermitianTranspose(Mat A, Mat B, PetscReal tolerance, PetscBool *is)
{
  return ComposedAtHome<Mat, PetscReal, PetscBool *>::Call("MatIsHermitianTranspose_C", A, B, tolerance, is);
}
PetscErrorCode Reorder(Mat A, PetscReal tolerance, IS rows, IS columns)
{
  return ComposedAtHome<PetscReal, IS, IS>::Call("MatReorderForNonzeroDiagonal_C", A, tolerance, rows, columns);
}
struct Composed {
  const char *name;
  AnyFunction function;
};
const Composed composed[] = {
    {"MatSeqAIJSetPreallocation_C", reinterpret_cast<AnyFunction>(SetPreallocation)},
    {"MatSeqAIJSetPreallocationCSR_C", reinterpret_cast<AnyFunction>(SetPreallocationCsr)},
    {"MatResetPreallocation_C", reinterpret_cast<AnyFunction>(ResetPreallocation)},
#if PETSC_VERSION_GE(3, 23, 0)
    {"MatResetHash_C", reinterpret_cast<AnyFunction>(ResetHash)},
#endif
    {"MatSeqAIJSetColumnIndices_C", reinterpret_cast<AnyFunction>(SetColumnIndices)},
    {"MatStoreValues_C", reinterpret_cast<AnyFunction>(StoreValues)},
    {"MatIsTranspose_C", reinterpret_cast<AnyFunction>(IsTranspose)},
    {"MatIsHermitianTranspose_C", reinterpret_cast<AnyFunction>(IsHermitianTranspose)},
    {"MatReorderForNonzeroDiagonal_C", reinterpret_cast<AnyFunction>(Reorder)},
};
} // namespace

PetscErrorCode ComposeAtHome(Mat A, bool on)
{
  PetscFunctionBegin;
  for (const Composed &c : composed) {
    AnyFunction parent;
    PetscCall(GetParentFunction(false, c.name, &parent));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, c.name, on ? c.function : parent));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
