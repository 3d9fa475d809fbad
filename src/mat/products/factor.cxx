/// Brings the rows of a factor, or of its transpose, whose pattern is made once and whose values are permuted.
#include "mat/products/factor.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

PetscErrorCode Factor::Bring(Mat M, Rows *rows, Space space, bool values, bool blocks)
{
  CsrView csr;
  Scalar *a = nullptr;

  PetscFunctionBegin;
  PetscCall(rows->GetShape(M, &csr));
  view_ = SparseRows{csr.rows, csr.cols, csr.nonzeros, {}};
  PetscCall(rows->BringPattern(M, space, &view_.arrays.i, &view_.arrays.j));
  if (values) PetscCall(rows->BringValues(M, space, &a));
  view_.arrays.a = a;
  if (space == Space::Device)
    csr.device = view_.arrays;
  else
    csr.i = view_.arrays.i, csr.j = view_.arrays.j;
  PetscCall(watch_.Look(M, rows, csr, &changed_));
  if (transposed_) {
    if (changed_) {
      values_ = 0;
      PetscCall(transpose_.Find(csr, space));
    }
    if (values && values_ != rows->version()) {
      PetscCall(transpose_.TakeValues(a));
      values_ = rows->version();
    }
    view_ = transpose_.rows();
  }
  if (!blocks) {
    blocks_ = BlockRows();
  } else if (changed_ && space == Space::Device) {
    PetscInt of_rows, of_columns;
    PetscCall(MatGetBlockSizes(M, &of_rows, &of_columns));
    PetscCall(blocks_.Find(view_, transposed_ ? of_columns : of_rows, transposed_ ? of_rows : of_columns));
  }
  view_.blocks = blocks_.view();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
