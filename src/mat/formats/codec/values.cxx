/// Chooses the encoding of an array of values, and encodes on the host.
#include "mat/formats/codec/values.hpp"

#include <algorithm>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

const char *const ValueCodecNames[4] = {"auto", "full", "single", "dictionary"};

PetscErrorCode AllSingle(const Scalar *a, size_t n, bool *all)
{
  PetscFunctionBegin;
  *all = sizeof(SingleScalar) < sizeof(Scalar);
  for (size_t e = 0; *all && e < n; e++) *all = SameBits(Widen(Narrow(a[e])), a[e]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindDictionary(const Scalar *a, size_t n, bool *found, std::vector<Scalar> *dictionary)
{
  PetscFunctionBegin;
  *found = false;
#if !defined(PETSC_USE_COMPLEX)
  // Open addressing at a quarter of the load that would make it slow.
  constexpr size_t    SLOTS = 4 * DictionaryValues::SIZE;
  std::vector<Scalar> slot(SLOTS);
  std::vector<char>   used(SLOTS, 0);
  dictionary->clear();
  for (size_t e = 0; e < n; e++) {
    size_t s =
        static_cast<size_t>(BitsOf(a[e]) * static_cast<RealBits>(0x9e3779b97f4a7c15ull) >> (8 * sizeof(RealBits) - 10));
    while (used[s] && !SameBits(slot[s], a[e])) s = (s + 1) % SLOTS;
    if (used[s]) continue;
    if (dictionary->size() == DictionaryValues::SIZE) PetscFunctionReturn(PETSC_SUCCESS);
    used[s] = 1;
    slot[s] = a[e];
    PetscCallCXX(dictionary->push_back(a[e]));
  }
  std::sort(dictionary->begin(), dictionary->end(), [](Scalar u, Scalar v) { return BitsOf(u) < BitsOf(v); });
  *found = true;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NarrowAll(const Scalar *a, size_t n, SingleScalar *single)
{
  PetscFunctionBegin;
  for (size_t e = 0; e < n; e++) single[e] = Narrow(a[e]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CodeAll(const Scalar *a, size_t n, const Scalar *dictionary, int size, unsigned char *code)
{
  PetscFunctionBegin;
  for (size_t e = 0; e < n; e++) code[e] = static_cast<unsigned char>(PlaceOf(dictionary, size, a[e]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int ProductsInSingle::depth_ = 0;

static PetscErrorCode RoundAll(const Scalar *a, size_t n, SingleScalar *single, bool *holds)
{
  PetscFunctionBegin;
  *holds = true;
  for (size_t e = 0; e < n; e++) {
    single[e] = RoundToSingle(a[e]);
    *holds    = *holds && InRangeOfSingle(a + e);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EncodedValues::Round(const Array<Scalar> &values, Space space)
{
  const size_t        n = values.size();
  Array<SingleScalar> rounded;
  bool                holds;

  PetscFunctionBegin;
  if (TriedRounding()) PetscFunctionReturn(PETSC_SUCCESS);
  tried_rounding_ = true;
  if (n == 0 || sizeof(SingleScalar) >= sizeof(Scalar)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(rounded.Allocate(n, space));
  PetscCall(SPARSEGPU_LAUNCH(space, RoundAll_CUDA(values.data(), n, rounded.data(), &holds),
                             RoundAll(values.data(), n, rounded.data(), &holds)));
  if (holds) rounded_ = std::move(rounded);
  PetscFunctionReturn(PETSC_SUCCESS);
}

ValueLayout EncodedValues::Layout(const Scalar *full) const
{
  if (ProductsInSingle::Any() && rounded_.size()) return ValueLayout{ValueCodec::Single, rounded_.data(), nullptr};
  switch (codec_) {
  case ValueCodec::Single: return ValueLayout{codec_, single_.data(), nullptr};
  case ValueCodec::Dictionary: return ValueLayout{codec_, code_.data(), dictionary_.data()};
  default: return ValueLayout{codec_, full, nullptr};
  }
}

PetscErrorCode EncodedValues::Encode(Array<Scalar> *values, const std::string &wanted, Space space)
{
  const size_t        n   = values->size();
  const bool          any = wanted == ValueCodecNames[0];
  std::vector<Scalar> dictionary;
  bool                holds = false;

  PetscFunctionBegin;
  codec_ = ValueCodec::Full;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (any || wanted == ValueCodecNames[3]) {
    PetscCall(SPARSEGPU_LAUNCH(space, FindDictionary_CUDA(values->data(), n, &holds, &dictionary),
                               FindDictionary(values->data(), n, &holds, &dictionary)));
    if (holds) {
      const int size = static_cast<int>(dictionary.size());
      PetscCallCXX(dictionary.resize(DictionaryValues::SIZE, Scalar(0)));
      PetscCall(dictionary_.Take(std::move(dictionary), space));
      PetscCall(code_.Allocate(n, space));
      PetscCall(SPARSEGPU_LAUNCH(space, CodeAll_CUDA(values->data(), n, dictionary_.data(), size, code_.data()),
                                 CodeAll(values->data(), n, dictionary_.data(), size, code_.data())));
      codec_ = ValueCodec::Dictionary;
    }
  }
  if (!holds && (any || wanted == ValueCodecNames[2])) {
    PetscCall(SPARSEGPU_LAUNCH(space, AllSingle_CUDA(values->data(), n, &holds), AllSingle(values->data(), n, &holds)));
    if (holds) {
      PetscCall(single_.Allocate(n, space));
      PetscCall(SPARSEGPU_LAUNCH(space, NarrowAll_CUDA(values->data(), n, single_.data()),
                                 NarrowAll(values->data(), n, single_.data())));
      codec_ = ValueCodec::Single;
    }
  }
  if (codec_ != ValueCodec::Dictionary) {
    code_       = Array<unsigned char>();
    dictionary_ = Array<Scalar>();
  }
  if (codec_ != ValueCodec::Single) single_ = Array<SingleScalar>();
  if (codec_ != ValueCodec::Full) *values = Array<Scalar>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
