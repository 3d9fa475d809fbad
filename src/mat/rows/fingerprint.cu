/// The fingerprint of a pattern on the device: a warp a block of entries, sums of integers in any order.
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/rows/fingerprint.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

/// *sum += the mixed sums of all blocks of `entries`, a warp a block. Addition of integers: any order gives the same.
static __global__ void fingerprint_kernel(PetscCount size, const PetscInt *entries, unsigned long long *sum)
{
  const int           lane   = static_cast<int>(threadIdx.x % 32);
  const PetscCount    stride = static_cast<PetscCount>(gridDim.x) * THREADS / 32 * FINGERPRINT_BLOCK;
  const std::uint64_t first = FingerprintWeight(lane), second = FingerprintWeight(lane + 32);
  std::uint64_t       mine = 0;
  for (PetscCount begin = thread_index() / 32 * FINGERPRINT_BLOCK; begin < size; begin += stride) {
    const PetscCount a = begin + lane, b = a + 32;
    std::uint64_t    block = 0;
    if (a < size) block += (static_cast<std::uint64_t>(entries[a]) + 1) * first;
    if (b < size) block += (static_cast<std::uint64_t>(entries[b]) + 1) * second;
    mine += FingerprintMix(warp_sum(block) + static_cast<std::uint64_t>(begin));
  }
  if (lane == 0) atomicAdd(sum, static_cast<unsigned long long>(mine));
}

PetscErrorCode FingerprintSums_CUDA(const CsrView &A, std::uint64_t sums[2])
{
  static_assert(FINGERPRINT_BLOCK == 64, "two entries a thread of a warp");
  constexpr PetscCount      MOST       = 1056; // blocks of the grid
  const PetscCount          size[2]    = {static_cast<PetscCount>(A.rows) + 1, A.nonzeros};
  const PetscInt           *entries[2] = {A.device.i, A.device.j};
  Array<unsigned long long> found;
  Stream                    stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(found.Allocate(2, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(found.data(), 0, found.bytes(), s));
  for (int k = 0; k < 2; k++) {
    const PetscCount blocks = PetscMin(MOST, static_cast<PetscCount>(Blocks(size[k] / 2 + 32)));
    fingerprint_kernel<<<static_cast<unsigned>(blocks), THREADS, 0, s>>>(size[k], entries[k], found.data() + k);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t), "copied as such");
  PetscCall(DeviceCopyOut(sums, found.data(), found.bytes(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
