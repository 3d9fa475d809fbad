/// PETSc's operations on the values of two parallel matrices of one pattern, or of a subset's: those of their blocks.
#include "mat/face/parallel_values.hpp"
#include "mat/face/subset_sum.hpp"

namespace sparsegpu::face
{

using namespace parallel;

namespace
{
/// Are both of our parallel type? Their blocks then correspond where their patterns are the same.
PetscErrorCode AreAlike(Mat A, Mat B, bool *alike)
{
  PetscBool seq, a, b;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &a));
  PetscCall(IsOurs(B, &seq, &b));
  *alike = a && b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's takes its fast way where both have the same operation.
PetscErrorCode CopyOnHost(Mat A, Mat B, MatStructure structure)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(BringHome(B));
  PetscCall(GetParentOps(true, &parent));
  const auto ours = A->ops->copy, theirs = B->ops->copy;
  A->ops->copy = parent->copy;
  if (theirs == ours) B->ops->copy = parent->copy;
  const AtHomeScope    scope;
  const PetscErrorCode code = (*parent->copy)(A, B, structure);
  A->ops->copy              = ours;
  if (theirs == ours) B->ops->copy = ours;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatAXPY_MPIAIJSparseGPU(Mat Y, PetscScalar alpha, Mat X, MatStructure structure)
{
  BlocksMayLeave scope;
  Mat            x[2], y[2];
  bool           alike, done = false;

  PetscFunctionBegin;
  PetscCall(AreAlike(X, Y, &alike));
  if (alike && structure == SUBSET_NONZERO_PATTERN && X != Y) PetscCall(AddSubsetParallel(Y, alpha, X, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (!alike || structure != SAME_NONZERO_PATTERN) {
    PetscCall(BringHome(X));
    PetscCall(OnHost(&_MatOps::axpy, Y, alpha, X, structure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(scope.Begin(Y));
  PetscCall(GetBlocks(X, x));
  PetscCall(GetBlocks(Y, y));
  for (int b = 0; b < 2; b++) PetscCall(MatAXPY(y[b], alpha, x[b], structure));
  PetscCall(scope.End());
  PetscCall(PetscObjectStateIncrease((PetscObject)Y)); // MatAXPY() leaves that to the type
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCopy_MPIAIJSparseGPU(Mat A, Mat B, MatStructure structure)
{
  BlocksMayLeave scope_of_a, scope;
  Mat            a[2], b[2];
  bool           alike;

  PetscFunctionBegin;
  PetscCall(AreAlike(A, B, &alike));
  if (!alike || structure != SAME_NONZERO_PATTERN || !B->assembled) {
    PetscCall(CopyOnHost(A, B, structure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(scope_of_a.Begin(A));
  PetscCall(scope.Begin(B));
  PetscCall(GetBlocks(A, a));
  PetscCall(GetBlocks(B, b));
  for (int k = 0; k < 2; k++) PetscCall(MatCopy(a[k], b[k], structure));
  PetscCall(scope.End());
  PetscCall(scope_of_a.End());
  PetscCall(PetscObjectStateIncrease((PetscObject)B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
