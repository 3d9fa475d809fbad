/// Chains of sparse products; the last two factors are multiplied first, as in P^T (A P).
#include "mat/products/product.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

Product::Product(Space space, const std::vector<bool> &transposed) : space_(space)
{
  factors_.reserve(transposed.size());
  for (const bool t : transposed) factors_.emplace_back(t);
}

PetscErrorCode Product::Bring(const std::vector<Operand> &operands, bool values)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < factors_.size(); k++)
    PetscCall(factors_[k].Bring(operands[k].matrix, operands[k].rows, space_, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseRows Product::Right() const
{
  if (factors_.size() == 2) return factors_[1].rows();
  return SparseRows{factors_[1].rows().rows, factors_[2].rows().cols, static_cast<PetscInt>(inner_.j.size()),
                    CsrArrays{inner_.i.data(), inner_.j.data(), inner_values_.data()}};
}

static const unsigned char *Places(const Array<unsigned char> &place)
{
  return place.size() ? place.data() : nullptr;
}

PetscErrorCode Product::FindInnerPattern()
{
  PetscFunctionBegin;
  if (factors_.size() < 3) PetscFunctionReturn(PETSC_SUCCESS);
  inner_values_ = Array<Scalar>();
  inner_        = Pattern();
  PetscCall(MultiplyPattern(space_, factors_[1].rows(), factors_[2].rows(), &inner_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product::FindPattern(const std::vector<Operand> &operands, Pattern *C)
{
  PetscFunctionBegin;
  PetscCall(Bring(operands, false));
  PetscCall(FindInnerPattern());
  PetscCall(MultiplyPattern(space_, factors_[0].rows(), Right(), C));
  longest_ = C->longest;
  terms_   = C->terms;
  place_   = std::move(C->place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product::FindValues(const std::vector<Operand> &operands, const SparseRows &C, Scalar *c)
{
  bool       changed = false;
  Array<int> lost;

  PetscFunctionBegin;
  PetscCall(Bring(operands, true));
  for (const Factor &factor : factors_) changed = changed || factor.changed();
  if (changed) { // the inner pattern is found anew, and the outer one is looked at
    const int none = 0;
    place_         = Array<unsigned char>();
    PetscCall(FindInnerPattern());
    PetscCall(lost.Copy(&none, 1, space_));
  }
  if (factors_.size() == 3) {
    const SparseRows inner = Right();
    PetscCall(inner_values_.Allocate(inner_.j.size(), space_));
    PetscCall(MultiplyValues(space_, factors_[1].rows(), factors_[2].rows(), inner, inner_.longest,
                             Places(inner_.place), inner_values_.data(), nullptr));
  }
  PetscCall(MultiplyValues(space_, factors_[0].rows(), Right(), C, longest_, Places(place_), c,
                           changed ? lost.data() : nullptr));
  if (!changed) PetscFunctionReturn(PETSC_SUCCESS);
  int any = space_ == Space::Host ? *lost.data() : 0;
  if (space_ == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(&any, lost.data(), sizeof(any), stream));
  }
  PetscCheck(!any, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "An operand has entries that it had not when the product was set up, and the product has no place for "
             "theirs: use MAT_INITIAL_MATRIX, or call MatProductSymbolic() again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
