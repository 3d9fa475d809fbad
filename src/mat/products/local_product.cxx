/// L R is multiplied first, then T^T with that. T^T alone is a permutation of values.
#include "mat/products/local_product.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

SparseRows LocalProduct::Left(const LocalFactors &factors) const
{
  SparseRows rows = *factors.left;
  rows.blocks     = left_.view();
  return rows;
}

SparseRows LocalProduct::Right(const LocalFactors &factors) const
{
  SparseRows rows = *factors.right;
  rows.blocks     = right_.view();
  return rows;
}

SparseRows LocalProduct::Transposed() const
{
  SparseRows rows = transpose_.rows();
  rows.blocks     = transposed_.view();
  return rows;
}

SparseRows LocalProduct::Inner(const LocalFactors &factors) const
{
  if (blocked_) return RowsOfBlocks(Left(factors), Right(factors), inner_, inner_values_.data());
  return SparseRows{factors.left->rows, factors.right->cols, static_cast<PetscInt>(inner_.j.size()),
                    CsrArrays{inner_.i.data(), inner_.j.data(), inner_values_.data()}};
}

/// The blocks of all factors, if they multiply.
PetscErrorCode LocalProduct::FindBlocks(const LocalFactors &factors)
{
  PetscFunctionBegin;
  blocked_ = false;
  if (space_ != Space::Device) PetscFunctionReturn(PETSC_SUCCESS);
  BlockView last = factors.right->blocks;
  PetscCall(right_.Find(*factors.right, last.row_size, last.column_size));
  blocked_ = right_.view().i != nullptr;
  last     = right_.view();
  if (factors.left && blocked_) {
    const BlockView &size = factors.left->blocks;
    PetscCall(left_.Find(*factors.left, size.row_size, size.column_size));
    blocked_      = BlocksMultiply(left_.view(), last);
    last.row_size = size.row_size; // of L R
  }
  if (factors.transposed && blocked_) {
    const BlockView &size = factors.transposed->blocks;
    PetscCall(transposed_.Find(transpose_.rows(), size.column_size, size.row_size));
    blocked_ = BlocksMultiply(transposed_.view(), last);
  }
  if (blocked_) PetscFunctionReturn(PETSC_SUCCESS);
  for (BlockRows *blocks : {&left_, &right_, &transposed_}) *blocks = BlockRows();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pattern of A B; of its blocks, if blocked_.
PetscErrorCode LocalProduct::FindOne(const SparseRows &A, const SparseRows &B, Pattern *C) const
{
  PetscFunctionBegin;
  if (blocked_)
    PetscCall(MultiplyBlockPattern(A, B, C));
  else
    PetscCall(MultiplyPattern(space_, A, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The result is A B.
PetscErrorCode LocalProduct::FindResult(const SparseRows &A, const SparseRows &B)
{
  PetscFunctionBegin;
  PetscCall(FindOne(A, B, blocked_ ? &blocks_ : &result_));
  if (blocked_) PetscCall(ExpandBlocks(RowsOfBlocks(A, B, blocks_, nullptr), blocks_, &result_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalProduct::FindPattern(Space space, const LocalFactors &factors, const CsrView *transposed)
{
  PetscFunctionBegin;
  space_ = space;
  if (transposed) PetscCall(transpose_.Find(*transposed, space));
  alone_             = !factors.right;
  sizes_.row_size    = transposed ? factors.transposed->blocks.column_size : factors.left->blocks.row_size;
  sizes_.column_size = alone_ ? factors.transposed->blocks.row_size : factors.right->blocks.column_size;
  if (alone_) PetscFunctionReturn(PETSC_SUCCESS);
  cols_ = factors.right->cols;
  PetscCall(FindBlocks(factors));
  if (!transposed) {
    PetscCall(FindResult(Left(factors), Right(factors)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (factors.left) {
    PetscCall(FindOne(Left(factors), Right(factors), &inner_));
    inner_nonzeros_ = static_cast<size_t>(Inner(factors).nonzeros);
  }
  PetscCall(FindResult(Transposed(), factors.left ? Inner(factors) : Right(factors)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseRows LocalProduct::Result() const
{
  SparseRows rows{static_cast<PetscInt>(result_.i.size()) - 1, cols_, static_cast<PetscInt>(result_.j.size()),
                  CsrArrays{result_.i.data(), result_.j.data(), nullptr}};
  if (alone_) rows = transpose_.rows();
  rows.blocks = sizes_;
  return rows;
}

PetscErrorCode LocalProduct::Reserve()
{
  PetscFunctionBegin;
  if (alone_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(transpose_.Reserve());
  if (inner_values_.size() != inner_nonzeros_) PetscCall(inner_values_.Allocate(inner_nonzeros_, space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// c = the values of A B, which has that pattern; of its blocks, if blocked_.
PetscErrorCode LocalProduct::MultiplyOne(const SparseRows &A, const SparseRows &B, const Pattern &C, Scalar *c) const
{
  PetscFunctionBegin;
  if (blocked_) {
    PetscCall(MultiplyBlocks(A, B, RowsOfBlocks(A, B, C, nullptr).blocks, C.longest, c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const SparseRows result{A.rows, B.cols, static_cast<PetscInt>(C.j.size()),
                          CsrArrays{C.i.data(), C.j.data(), nullptr}};
  PetscCall(MultiplyValues(space_, A, B, result, C.longest, C.place.data_or_null(), c, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalProduct::FindValues(const LocalFactors &factors, Scalar *c)
{
  const bool     triple = factors.transposed && factors.left;
  const Pattern &result = blocked_ ? blocks_ : result_;

  PetscFunctionBegin;
  if (alone_) {
    PetscCall(transpose_.PermuteValues(factors.transposed->arrays.a, c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Reserve());
  if (factors.transposed) PetscCall(transpose_.TakeValues(factors.transposed->arrays.a));
  if (triple) PetscCall(MultiplyOne(Left(factors), Right(factors), inner_, inner_values_.data()));
  if (factors.transposed)
    PetscCall(MultiplyOne(Transposed(), triple ? Inner(factors) : Right(factors), result, c));
  else
    PetscCall(MultiplyOne(Left(factors), Right(factors), result, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
