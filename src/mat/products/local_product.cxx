/// L R is multiplied first, then T^T with that. T^T alone is a permutation of values.
#include "mat/products/local_product.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

SparseRows LocalProduct::Inner(const LocalFactors &factors) const
{
  return SparseRows{factors.left->rows, factors.right->cols, static_cast<PetscInt>(inner_.j.size()),
                    CsrArrays{inner_.i.data(), inner_.j.data(), inner_values_.data()}};
}

PetscErrorCode LocalProduct::FindPattern(Space space, const LocalFactors &factors, const CsrView *transposed)
{
  PetscFunctionBegin;
  space_ = space;
  if (factors.right) cols_ = factors.right->cols;
  if (!transposed) {
    PetscCall(MultiplyPattern(space, *factors.left, *factors.right, &result_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(transpose_.Find(*transposed, space));
  alone_ = !factors.right;
  if (alone_) PetscFunctionReturn(PETSC_SUCCESS);
  if (factors.left) PetscCall(MultiplyPattern(space, *factors.left, *factors.right, &inner_));
  PetscCall(MultiplyPattern(space, transpose_.rows(), factors.left ? Inner(factors) : *factors.right, &result_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseRows LocalProduct::Result() const
{
  if (alone_) return transpose_.rows();
  return SparseRows{static_cast<PetscInt>(result_.i.size()) - 1, cols_, static_cast<PetscInt>(result_.j.size()),
                    CsrArrays{result_.i.data(), result_.j.data(), nullptr}};
}

PetscErrorCode LocalProduct::Reserve()
{
  PetscFunctionBegin;
  if (alone_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(transpose_.Reserve());
  if (inner_values_.size() != inner_.j.size()) PetscCall(inner_values_.Allocate(inner_.j.size(), space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalProduct::FindValues(const LocalFactors &factors, Scalar *c)
{
  const bool triple = factors.transposed && factors.left;

  PetscFunctionBegin;
  if (alone_) {
    PetscCall(transpose_.PermuteValues(factors.transposed->arrays.a, c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Reserve());
  if (factors.transposed) PetscCall(transpose_.TakeValues(factors.transposed->arrays.a));
  if (triple)
    PetscCall(MultiplyValues(space_, *factors.left, *factors.right, Inner(factors), inner_.longest,
                             inner_.place.data_or_null(), inner_values_.data(), nullptr));
  const SparseRows left  = factors.transposed ? transpose_.rows() : *factors.left;
  const SparseRows right = triple ? Inner(factors) : *factors.right;
  PetscCall(MultiplyValues(space_, left, right, Result(), result_.longest, result_.place.data_or_null(), c, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
