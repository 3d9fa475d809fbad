/// The fingerprint of a pattern: on the host, or joined from the device's sums.
#include "mat/rows/fingerprint.hpp"
#include <algorithm>
#include <array>
#include "petsc/compat.hpp"

namespace sparsegpu
{

static std::array<std::uint64_t, FINGERPRINT_BLOCK> Weights()
{
  std::array<std::uint64_t, FINGERPRINT_BLOCK> weights;
  for (int k = 0; k < FINGERPRINT_BLOCK; k++) weights[k] = FingerprintWeight(k);
  return weights;
}

static std::uint64_t SumOfBlocks(PetscCount size, const PetscInt *entries)
{
  static const auto weights = Weights();
  std::uint64_t     sum     = 0;

  for (PetscCount begin = 0; begin < size; begin += FINGERPRINT_BLOCK) {
    const int     count = static_cast<int>(std::min<PetscCount>(FINGERPRINT_BLOCK, size - begin));
    std::uint64_t block = static_cast<std::uint64_t>(begin);
    for (int k = 0; k < count; k++) block += (static_cast<std::uint64_t>(entries[begin + k]) + 1) * weights[k];
    sum += FingerprintMix(block);
  }
  return sum;
}

PetscErrorCode PatternFingerprint(const CsrView &A, std::uint64_t *fingerprint)
{
  std::uint64_t sums[2];

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i && A.rows)
    PetscCall(FingerprintSums_CUDA(A, sums));
  else
#endif
  {
    sums[0] = A.rows ? SumOfBlocks(static_cast<PetscCount>(A.rows) + 1, A.i) : 0;
    sums[1] = SumOfBlocks(A.nonzeros, A.j);
  }
  std::uint64_t h = FingerprintMix(static_cast<std::uint64_t>(A.rows));
  for (const std::uint64_t part : {static_cast<std::uint64_t>(A.cols), sums[0], sums[1]}) h = FingerprintMix(h + part);
  *fingerprint = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
