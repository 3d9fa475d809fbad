/// A number that tells patterns apart by their contents. PETSc writes other columns into the arrays that a matrix has
/// (MatCreateSubMatrix() with MAT_REUSE_MATRIX), and allocates other ones at the old addresses.
///
/// The entries of an array are read in blocks of FINGERPRINT_BLOCK. A block sums entry k times an odd random weight k,
/// in 64 bits, is mixed with its number, and the blocks' numbers are added: in any order, so that the host and the
/// device get the same. Two patterns of one size have the same number with a probability of about 2^-64.
#pragma once

#include <cstdint>
#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::rows
{

constexpr int FINGERPRINT_BLOCK = 64;

/// The finaliser of splitmix64 (Steele, Lea & Flood, OOPSLA 2014).
SPARSEGPU_HD std::uint64_t FingerprintMix(std::uint64_t v)
{
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
  return v ^ (v >> 31);
}

/// The weight of the k-th entry of a block.
SPARSEGPU_HD std::uint64_t FingerprintWeight(int k)
{
  return FingerprintMix(0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(k + 1)) | 1;
}

/// Of rows and columns of A, from A.device where they lie there. O(nonzeros): on the host half the time of a product.
PetscErrorCode PatternFingerprint(const CsrView &A, std::uint64_t *fingerprint);
/// Of all that a choice of a format for the host may depend on: pattern and block size. Never 0. O(nonzeros).
std::uint64_t HostFingerprint(const CsrView &A);

/// The sums over the blocks of i [rows + 1] and of j [nonzeros] on the device.
PetscErrorCode FingerprintSums_CUDA(const CsrView &A, std::uint64_t sums[2]);

} // namespace sparsegpu::rows
