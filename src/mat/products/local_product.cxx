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

namespace
{
PetscErrorCode CopyToHost(const PetscInt *from, size_t size, Space space, std::vector<PetscInt> *host)
{
  Stream stream;

  PetscFunctionBegin;
  if (space == Space::Host) {
    PetscCallCXX(host->assign(from, from + size));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(host->resize(size));
  if (!size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(host->data(), from, size * sizeof(PetscInt), stream));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(size * sizeof(PetscInt))));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode LocalProduct::GetPattern(std::vector<PetscInt> *i, std::vector<PetscInt> *j) const
{
  const SparseRows      transpose = transpose_.rows();
  const PetscInt *const begin     = alone_ ? transpose.arrays.i : result_.i.data(), *const columns =
                                                                                    alone_ ? transpose.arrays.j
                                                                                               : result_.j.data();

  PetscFunctionBegin;
  PetscCall(CopyToHost(begin, alone_ ? static_cast<size_t>(transpose.rows) + 1 : result_.i.size(), space_, i));
  PetscCall(CopyToHost(columns, alone_ ? static_cast<size_t>(transpose.nonzeros) : result_.j.size(), space_, j));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const SparseRows left   = factors.transposed ? transpose_.rows() : *factors.left;
  const SparseRows right  = triple ? Inner(factors) : *factors.right;
  const SparseRows result = {left.rows, right.cols, static_cast<PetscInt>(result_.j.size()),
                             CsrArrays{result_.i.data(), result_.j.data(), nullptr}};
  PetscCall(MultiplyValues(space_, left, right, result, result_.longest, result_.place.data_or_null(), c, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
