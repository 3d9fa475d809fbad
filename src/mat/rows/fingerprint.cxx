/// The fingerprint of a pattern: on the host, or joined from the device's sums.
#include "mat/rows/fingerprint.hpp"
#include <algorithm>
#include <array>
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

static std::array<std::uint64_t, FINGERPRINT_BLOCK> Weights()
{
  std::array<std::uint64_t, FINGERPRINT_BLOCK> weights;
  for (int k = 0; k < FINGERPRINT_BLOCK; k++) weights[k] = FingerprintWeight(k);
  return weights;
}

/// entry(k) of 0 ... size - 1.
template <class Entry> static std::uint64_t SumOfBlocks(PetscCount size, Entry entry)
{
  static const auto weights = Weights();
  std::uint64_t     sum     = 0;

  for (PetscCount begin = 0; begin < size; begin += FINGERPRINT_BLOCK) {
    const int     count = static_cast<int>(std::min<PetscCount>(FINGERPRINT_BLOCK, size - begin));
    std::uint64_t block = static_cast<std::uint64_t>(begin);
    for (int k = 0; k < count; k++) block += (static_cast<std::uint64_t>(entry(begin + k)) + 1) * weights[k];
    sum += FingerprintMix(block);
  }
  return sum;
}

static std::uint64_t SumOfIntegers(PetscCount size, const PetscInt *entries)
{
  return SumOfBlocks(size, [entries](PetscCount k) { return entries[k]; });
}

static std::uint64_t Join(const CsrView &A, std::uint64_t rows, std::uint64_t columns)
{
  std::uint64_t h = FingerprintMix(static_cast<std::uint64_t>(A.rows));
  for (const std::uint64_t part : {static_cast<std::uint64_t>(A.cols), rows, columns}) h = FingerprintMix(h + part);
  return h;
}

static void HostSums(const CsrView &A, std::uint64_t sums[2])
{
  sums[0] = A.rows ? SumOfIntegers(static_cast<PetscCount>(A.rows) + 1, A.i) : 0;
  sums[1] = SumOfIntegers(A.nonzeros, A.j);
}

std::uint64_t HostFingerprint(const CsrView &A)
{
  std::uint64_t sums[2];

  HostSums(A, sums);
  const std::uint64_t h = FingerprintMix(Join(A, sums[0], sums[1]) + static_cast<std::uint64_t>(A.block_size));
  return h ? h : 1;
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
    HostSums(A, sums);
  *fingerprint = Join(A, sums[0], sums[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
