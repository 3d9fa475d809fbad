/// PETSc's functions for an AIJ matrix that are found by a name and touch the values on the host: ours bring these home
/// first, those of both blocks of a parallel matrix, and call the parent's. They cost nothing while values are home.
#include "mat/face/away.hpp"
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

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
    PetscBool   seq, mpi;

    PetscFunctionBegin;
    PetscCall(BringHome(A));
    for (const PetscErrorCode code : {PetscErrorCode(PETSC_SUCCESS), BringArgumentHome(arguments)...}) PetscCall(code);
    PetscCall(IsOurs(A, &seq, &mpi));
    PetscCall(GetParentFunction(mpi, name, &parent));
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
PetscErrorCode SetParallelPreallocation(Mat A, PetscInt d, const PetscInt d_lengths[], PetscInt o,
                                        const PetscInt o_lengths[])
{
  PetscFunctionBegin;
  PetscCall(ComposedAtHome<PetscInt, const PetscInt *, PetscInt, const PetscInt *>::Call(
      "MatMPIAIJSetPreallocation_C", A, d, d_lengths, o, o_lengths));
  PetscCall(PatternWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SetParallelPreallocationCsr(Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  PetscFunctionBegin;
  PetscCall(ComposedAtHome<const PetscInt *, const PetscInt *, const PetscScalar *>::Call(
      "MatMPIAIJSetPreallocationCSR_C", A, i, j, a));
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
PetscErrorCode DiagonalScaleLocal(Mat A, Vec scale)
{
  return ComposedAtHome<Vec>::Call("MatDiagonalScaleLocal_C", A, scale);
}
PetscErrorCode Reorder(Mat A, PetscReal tolerance, IS rows, IS columns)
{
  return ComposedAtHome<PetscReal, IS, IS>::Call("MatReorderForNonzeroDiagonal_C", A, tolerance, rows, columns);
}
struct Composed {
  const char *name;
  AnyFunction function;
};
const Composed parallel_composed[] = {
    {"MatMPIAIJSetPreallocation_C", reinterpret_cast<AnyFunction>(SetParallelPreallocation)},
    {"MatMPIAIJSetPreallocationCSR_C", reinterpret_cast<AnyFunction>(SetParallelPreallocationCsr)},
    {"MatResetPreallocation_C", reinterpret_cast<AnyFunction>(ResetPreallocation)},
#if PETSC_VERSION_GE(3, 23, 0)
    {"MatResetHash_C", reinterpret_cast<AnyFunction>(ResetHash)},
#endif
    {"MatStoreValues_C", reinterpret_cast<AnyFunction>(StoreValues)},
    {"MatIsTranspose_C", reinterpret_cast<AnyFunction>(IsTranspose)},
    {"MatDiagonalScaleLocal_C", reinterpret_cast<AnyFunction>(DiagonalScaleLocal)},
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

namespace
{
PetscErrorCode Compose(Mat A, bool parallel, const Composed &c, bool on)
{
  AnyFunction parent;

  PetscFunctionBegin;
  PetscCall(GetParentFunction(parallel, c.name, &parent));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, c.name, on ? c.function : parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ComposeAtHome(Mat A, bool parallel, bool on)
{
  PetscFunctionBegin;
  if (parallel)
    for (const Composed &c : parallel_composed) PetscCall(Compose(A, parallel, c, on));
  else
    for (const Composed &c : composed) PetscCall(Compose(A, parallel, c, on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
