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
    const RowLengths *lengths = nullptr;
    PatternFacts      found;
    PetscCall(Lengths(&lengths));
    PetscCall(InspectPattern(A_, *lengths, &found, &diagonals_));
    facts_ = found;
  }
  *facts = &*facts_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Look::Lengths(const RowLengths **lengths)
{
  PetscFunctionBegin;
  if (!lengths_) {
    RowLengths found;
    PetscCall(InspectRows(A_, &found));
    lengths_ = found;
  }
  *lengths = &*lengths_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Look::Beginnings(const PetscInt **i)
{
  PetscFunctionBegin;
  if (!A_.i && beginnings_.empty() && A_.device.i) {
    std::vector<PetscInt> found;
    PetscCallCXX(found.resize(static_cast<size_t>(A_.rows) + 1));
    PetscCall(CopyToHost(Space::Device, A_.device.i, found.size(), found.data()));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(found.size() * sizeof(PetscInt))));
    beginnings_ = std::move(found);
  }
  *i = A_.i ? A_.i : beginnings_.data();
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
