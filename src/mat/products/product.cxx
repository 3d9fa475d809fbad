/// Chains of sparse products; the last two factors are multiplied first, as in P^T (A P).
#include "mat/products/product.hpp"
#include <algorithm>
#include "mat/rows/inspect.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

Product::Product(Space space, const std::vector<bool> &transposed) : space_(space)
{
  factors_.reserve(transposed.size());
  for (const bool t : transposed) factors_.emplace_back(t);
}

PetscErrorCode Product::Bring(const std::vector<Operand> &operands, bool values, bool blocks)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < factors_.size(); k++)
    PetscCall(factors_[k].Bring(operands[k].matrix, operands[k].rows, space_, values, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Product::MadeOfBlocks() const
{
  const BlockView &last = factors_.back().rows().blocks, &before = factors_[factors_.size() - 2].rows().blocks;
  if (space_ != Space::Device || !BlocksMultiply(before, last)) return false;
  BlockView inner   = before;
  inner.column_size = last.column_size;
  return factors_.size() == 2 || BlocksMultiply(factors_[0].rows().blocks, inner);
}

SparseRows Product::Right() const
{
  if (factors_.size() == 2) return factors_[1].rows();
  const SparseRows &A = factors_[1].rows(), &B = factors_[2].rows();
  if (blocked_) return RowsOfBlocks(A, B, inner_, inner_values_.data());
  return SparseRows{A.rows, B.cols, static_cast<PetscInt>(inner_.j.size()),
                    CsrArrays{inner_.i.data(), inner_.j.data(), inner_values_.data()}};
}

PetscErrorCode Product::FindInnerPattern()
{
  PetscFunctionBegin;
  inner_stale_ = false;
  if (factors_.size() < 3) PetscFunctionReturn(PETSC_SUCCESS);
  const SparseRows &A = factors_[1].rows(), &B = factors_[2].rows();
  inner_values_ = Array<Scalar>();
  inner_        = Pattern();
  if (blocked_)
    PetscCall(MultiplyBlockPattern(A, B, &inner_));
  else
    PetscCall(MultiplyPattern(space_, A, B, &inner_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of F0 and the rest.
PetscErrorCode Product::FindOuterPattern(Pattern *C)
{
  const SparseRows &left = factors_[0].rows(), right = Right();

  PetscFunctionBegin;
  blocks_ = Pattern();
  if (blocked_) {
    PetscCall(MultiplyBlockPattern(left, right, &blocks_));
    PetscCall(ExpandBlocks(RowsOfBlocks(left, right, blocks_, nullptr), blocks_, C));
  } else {
    PetscCall(MultiplyPattern(space_, left, right, C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product::FindPattern(const std::vector<Operand> &operands, Pattern *C)
{
  PetscFunctionBegin;
  PetscCall(Bring(operands, false, true));
  blocked_ = MadeOfBlocks();
  PetscCall(FindInnerPattern());
  PetscCall(FindOuterPattern(C));
  longest_ = C->longest;
  terms_   = C->terms;
  place_   = std::move(C->place);
  CsrView csr{
      factors_[0].rows().rows, Right().cols, static_cast<PetscInt>(C->j.size()), C->i.data(), C->j.data(), nullptr};
  if (space_ == Space::Device) csr.device = CsrArrays{C->i.data(), C->j.data(), nullptr};
  PetscCall(result_.Expect(csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Product::MoveTo(Space space)
{
  space_        = space;
  blocked_      = false;
  blocks_       = Pattern();
  place_        = Array<unsigned char>();
  inner_values_ = Array<Scalar>();
  for (Factor &factor : factors_) factor = Factor(factor.transposed());
}

/// The pattern of C as it is now.
PetscErrorCode Product::BringResult(const Operand &C, SparseRows *rows)
{
  CsrView    csr;
  RowLengths lengths;
  bool       changed;

  PetscFunctionBegin;
  PetscCall(C.rows->GetShape(C.matrix, &csr));
  *rows = SparseRows{csr.rows, csr.cols, csr.nonzeros, {}};
  PetscCall(C.rows->BringPattern(C.matrix, space_, &rows->arrays.i, &rows->arrays.j));
  PetscCheck(csr.rows == factors_[0].rows().rows && csr.cols == Right().cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The product is %" PetscInt_FMT " x %" PetscInt_FMT ", its matrix %" PetscInt_FMT " x %" PetscInt_FMT,
             factors_[0].rows().rows, Right().cols, csr.rows, csr.cols);
  if (space_ == Space::Device)
    csr.device = rows->arrays;
  else
    csr.i = rows->arrays.i, csr.j = rows->arrays.j;
  PetscCall(result_.Look(C.matrix, C.rows, csr, &changed));
  if (!changed) PetscFunctionReturn(PETSC_SUCCESS);
  suspect_ = true;
  PetscCall(InspectRows(csr, &lengths));
  longest_ = lengths.longest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product::FindInnerValues()
{
  PetscFunctionBegin;
  if (factors_.size() < 3) PetscFunctionReturn(PETSC_SUCCESS);
  const SparseRows &A = factors_[1].rows(), &B = factors_[2].rows();
  PetscCall(inner_values_.Allocate(static_cast<size_t>(Right().nonzeros), space_));
  const SparseRows inner = Right();
  if (blocked_)
    PetscCall(MultiplyBlocks(A, B, inner.blocks, inner_.longest, inner_values_.data()));
  else
    PetscCall(MultiplyValues(space_, A, B, inner, inner_.longest, inner_.place.data_or_null(), inner_values_.data(),
                             nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product::FindValues(const std::vector<Operand> &operands, const Operand &C, Scalar *c)
{
  const int  none    = 0;
  bool       changed = false;
  SparseRows result;
  Array<int> lost;

  PetscFunctionBegin;
  PetscCall(Bring(operands, true, blocked_));
  for (const Factor &factor : factors_) changed = changed || factor.changed();
  suspect_     = suspect_ || changed;
  inner_stale_ = inner_stale_ || changed;
  PetscCall(BringResult(C, &result));
  if (blocked_ && suspect_) { // blocks may be broken
    blocked_     = false;
    blocks_      = Pattern();
    inner_stale_ = true;
  }
  if (inner_stale_) PetscCall(FindInnerPattern());
  if (suspect_) {
    place_ = Array<unsigned char>();
    PetscCall(lost.Copy(&none, 1, space_));
  }
  PetscCall(FindInnerValues());
  if (blocked_) {
    const SparseRows &left = factors_[0].rows(), right = Right();
    PetscCall(MultiplyBlocks(left, right, RowsOfBlocks(left, right, blocks_, nullptr).blocks, blocks_.longest, c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MultiplyValues(space_, factors_[0].rows(), Right(), result, longest_, place_.data_or_null(), c,
                           suspect_ ? lost.data() : nullptr));
  if (!suspect_) PetscFunctionReturn(PETSC_SUCCESS);
  int any = space_ == Space::Host ? *lost.data() : 0;
  if (space_ == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(&any, lost.data(), sizeof(any), stream));
  }
  PetscCheck(!any, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "A pattern has changed since the product was set up, and the product has no place for some entry: use "
             "MAT_INITIAL_MATRIX, or call MatProductSymbolic() again");
  suspect_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
