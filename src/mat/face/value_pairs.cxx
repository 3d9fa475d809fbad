/// PETSc's operations on the values of two matrices of one pattern, where these are, or will be, on the device.
#include "mat/face/value_operations.hpp"
#include <cstring>
#include "mat/face/subset_sum.hpp"
#include "mat/face/value_place.hpp"

namespace sparsegpu::face
{

using namespace there;

namespace
{
/// Has X the same rows as Y? As a comparison of the arrays: SAME_NONZERO_PATTERN is the caller's word for it.
PetscErrorCode SameRows(const CsrView &x, const CsrView &y, MatStructure structure, bool *same)
{
  PetscFunctionBegin;
  *same = x.rows == y.rows && x.nonzeros == y.nonzeros &&
          (structure == SAME_NONZERO_PATTERN || structure == UNKNOWN_NONZERO_PATTERN);
  if (!*same || structure == SAME_NONZERO_PATTERN) PetscFunctionReturn(PETSC_SUCCESS);
  *same = !memcmp(x.i, y.i, (static_cast<size_t>(x.rows) + 1) * sizeof(*x.i)) &&
          !memcmp(x.j, y.j, static_cast<size_t>(x.nonzeros) * sizeof(*x.j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A pair of matrices of one pattern whose values are, or are brought, to the same space.
PetscErrorCode FindPair(Mat X, Mat Y, Need of_y, MatStructure structure, There *x, There *y)
{
  PetscBool seq, mpi;
  bool      same = false;
  CsrView   x_rows, y_rows;

  PetscFunctionBegin;
  PetscCall(IsOurs(X, &seq, &mpi));
  if (seq) PetscCall(IsOurs(Y, &seq, &mpi));
  if (!seq || (structure != SAME_NONZERO_PATTERN && structure != UNKNOWN_NONZERO_PATTERN))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetHostPattern(X, &x_rows));
  PetscCall(GetHostPattern(Y, &y_rows));
  PetscCall(SameRows(x_rows, y_rows, structure, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  if (of_y == Need::Anew) { // a copy from the host is as good on the host
    PetscCall(Find(X, Need::Read, x));
    if (!x->is) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Find(Y, of_y, y));
  if (!y->is) PetscFunctionReturn(PETSC_SUCCESS);
  if (!x->is || x->space != y->space) PetscCall(Bring(X, y->space, false, x));
  y->is = x->is;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Y += alpha X where Y, of a larger pattern, is or is brought to where X is. *done is false where the host has to do
/// it.
PetscErrorCode AddSubsetThere(Mat Y, PetscScalar alpha, Mat X, bool *done)
{
  SubsetSum sum;

  PetscFunctionBegin;
  PetscCall(sum.Prepare(Y, alpha, X, nullptr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sum.Add());
  PetscCall(MatAssemblyBegin(Y, MAT_FINAL_ASSEMBLY)); // forgets symmetry and the like, as PETSc's does
  PetscCall(MatAssemblyEnd(Y, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's takes its fast way where both have the same operation.
PetscErrorCode CopyOnHost(Mat A, Mat B, MatStructure structure)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(BringHome(B));
  PetscCall(GetParentOps(false, &parent));
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

PetscErrorCode MatAXPY_SeqAIJSparseGPU(Mat Y, PetscScalar alpha, Mat X, MatStructure structure)
{
  There x, y;
  bool  done = false;

  PetscFunctionBegin;
  PetscCall(FindPair(X, Y, Need::Write, structure, &x, &y));
  if (y.is) {
    PetscCall(Write(Y, y, y.pattern.nonzeros, values::Add{Ours(alpha), x.a, y.a}, 2.0 * y.pattern.nonzeros));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (structure == SUBSET_NONZERO_PATTERN) PetscCall(AddSubsetThere(Y, alpha, X, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BringHome(X));
  PetscCall(OnHost(&_MatOps::axpy, Y, alpha, X, structure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCopy_SeqAIJSparseGPU(Mat A, Mat B, MatStructure structure)
{
  There a, b;

  PetscFunctionBegin;
  if (structure == SAME_NONZERO_PATTERN) PetscCall(FindPair(A, B, Need::Anew, structure, &a, &b));
  if (b.is)
    PetscCall(Write(B, b, b.pattern.nonzeros, values::Copy{a.a, b.a}, 0));
  else
    PetscCall(CopyOnHost(A, B, structure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyValuesThere(Mat A, Mat B, bool *done)
{
  PetscBool seq, mpi;
  There     a, b;

  PetscFunctionBegin;
  *done = false;
  PetscCall(IsOurs(B, &seq, &mpi));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &a.context));
  PetscCall(GetContext(B, &b.context));
  b.context->read_here = a.context->read_here; // a copy of what is read here
  PetscCall(FindPair(A, B, Need::Anew, SAME_NONZERO_PATTERN, &a, &b));
  if (!b.is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Write(B, b, b.pattern.nonzeros, values::Copy{a.a, b.a}, 0));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
