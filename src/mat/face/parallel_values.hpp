/// Operations on the values of a parallel matrix, and what they share: the parent's operation on the host, or on the
/// blocks.
#pragma once

#include "mat/face/parallel_away.hpp"

namespace sparsegpu::face
{

PetscErrorCode MatGetDiagonal_MPIAIJSparseGPU(Mat A, Vec d);
PetscErrorCode MatNorm_MPIAIJSparseGPU(Mat A, NormType type, PetscReal *norm);
PetscErrorCode MatGetRowMaxAbs_MPIAIJSparseGPU(Mat A, Vec v, PetscInt indices[]);
PetscErrorCode MatAXPY_MPIAIJSparseGPU(Mat Y, PetscScalar alpha, Mat X, MatStructure structure);
PetscErrorCode MatCopy_MPIAIJSparseGPU(Mat A, Mat B, MatStructure structure);
/// MatGetRowSumAbs() of a parallel matrix, where PETSc has it.
void SetParallelRowSums(struct _MatOps *operations, const struct _MatOps &parent, bool on);

namespace parallel
{

/// The parent's operation, on values at home.
template <class Member, class... Arguments> PetscErrorCode OnHost(Member member, Mat A, Arguments... arguments)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(GetParentOps(true, &parent));
  const AtHomeScope scope;
  PetscCall((*(parent->*member))(A, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's operation, which leaves all to public operations on the blocks.
template <class Member, class... Arguments> PetscErrorCode OnBlocks(Member member, Mat A, Arguments... arguments)
{
  const struct _MatOps *parent;
  BlocksMayLeave        scope;

  PetscFunctionBegin;
  PetscCall(scope.Begin(A));
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*(parent->*member))(A, arguments...));
  PetscCall(scope.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace parallel
} // namespace sparsegpu::face
