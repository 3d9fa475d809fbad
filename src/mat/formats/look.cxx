/// Computes the facts of a Look, each once.
#include "mat/formats/look.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "mat/formats/codec/values.hpp"

namespace sparsegpu::formats
{

PetscErrorCode Look::Facts(const PatternFacts **facts)
{
  PetscFunctionBegin;
  if (!facts_) {
    PatternFacts found;
    PetscCall(InspectPattern(A_, &found, &diagonals_));
    facts_ = found;
  }
  *facts = &*facts_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Look::Longest(PetscInt *longest)
{
  PetscFunctionBegin;
  if (!longest_ && facts_) longest_ = facts_->longest;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (!longest_ && A_.device.i) {
    RowLengths lengths;
    PetscCall(InspectRows_CUDA(A_, &lengths));
    longest_ = lengths.longest;
  }
#endif
  if (!longest_) {
    PetscInt most = 0;
    for (PetscInt r = 0; r < A_.rows; r++) most = std::max(most, A_.i[r + 1] - A_.i[r]);
    longest_ = most;
  }
  *longest = *longest_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Look::Diagonals(const std::vector<PetscInt> **offsets)
{
  PetscFunctionBegin;
  if (!diagonals_) {
    std::vector<PetscInt> found;
    PetscCall(FindDiagonals(A_, &found));
    diagonals_ = std::move(found);
  }
  *offsets = &*diagonals_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Look::Symmetric(bool *symmetric)
{
  PetscFunctionBegin;
  if (!symmetric_) {
    bool found;
    PetscCall(LooksSymmetric(A_, &found));
    symmetric_ = found;
  }
  *symmetric = *symmetric_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Look::ValueBytes(PetscLogDouble *bytes)
{
  const std::string           &wanted = options_.Get<CommonOptions>().values;
  const bool                   any    = wanted == ValueCodecNames[0];
  const size_t                 n      = static_cast<size_t>(A_.nonzeros);
  [[maybe_unused]] const Space space  = A_.device.a ? Space::Device : Space::Host;
  std::vector<Scalar>          dictionary;
  bool                         holds = false;

  PetscFunctionBegin; // full-mantissa values end both searches at once
  if (!value_bytes_) {
    PetscLogDouble each = sizeof(Scalar);
    if (any || wanted == ValueCodecNames[3]) {
      PetscCall(SPARSEGPU_LAUNCH(space, FindDictionary_CUDA(A_.device.a, n, &holds, &dictionary),
                                 FindDictionary(A_.a, n, &holds, &dictionary)));
      if (holds) each = 1;
    }
    if (!holds && (any || wanted == ValueCodecNames[2])) {
      PetscCall(SPARSEGPU_LAUNCH(space, AllSingle_CUDA(A_.device.a, n, &holds), AllSingle(A_.a, n, &holds)));
      if (holds) each = sizeof(SingleScalar);
    }
    no_codec_holds_ = any && !holds;
    value_bytes_    = each;
  }
  *bytes = *value_bytes_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Look::Multiprocessors(PetscInt *count) const
{
  PetscBool device = PETSC_FALSE;

  PetscFunctionBegin;
  *count = 1;
  if (space_ == Space::Device) PetscCall(DeviceFound(&device));
  if (device) PetscCall(DeviceFacts(nullptr, count, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
