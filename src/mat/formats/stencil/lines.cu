/// Which lines of a grid no row breaks.
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/limits.hpp"
#include "mat/formats/stencil/lines.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// The bits of a line of `length` rows from `row` on; 0: it is broken.
__device__ __forceinline__ unsigned line_bits(const StencilLayout &A, PetscInt stride, PetscInt row, PetscInt length,
                                              const unsigned short *kinds)
{
  constexpr unsigned INSIDE = StencilLines::INSIDE, BEFORE = StencilLines::BEFORE, AFTER = StencilLines::AFTER;
  unsigned           all = ~0u, any = 0, ends = 0;

  for (PetscInt k = 0; k < length; k++) {
    const unsigned here = kinds[A.row_class[row + k * stride]];
    const unsigned open = (k == 0 ? BEFORE : 0) | (k == length - 1 ? AFTER : 0);
    ends |= here & open;
    any |= here & INSIDE;
    all &= here | open;
  }
  return (all & INSIDE) == any && any && (all & BEFORE) && (all & AFTER) ? any | ends : 0;
}

static __global__ void __launch_bounds__(THREADS)
    line_bits_kernel(StencilLayout A, LineWalk walk, PetscInt lines, const unsigned short *kinds, unsigned short *bits,
                     int *broken)
{
  const PetscCount n      = thread_index();
  bool             breaks = false;

  if (n < lines) {
    const PetscInt slab = static_cast<PetscInt>(n / walk.stride), place = static_cast<PetscInt>(n % walk.stride);
    const PetscInt row    = slab * walk.length * walk.stride + place;
    const PetscInt length = row < A.rows ? PetscMin(walk.length, (A.rows - row - 1) / walk.stride + 1) : 0;
    const unsigned found  = length > 0 ? line_bits(A, walk.stride, row, length, kinds) : 0;
    bits[n]               = static_cast<unsigned short>(found);
    breaks                = length > 0 && !found;
  }
  const int count = __popc(__ballot_sync(0xffffffffu, breaks));
  if (count && threadIdx.x % 32 == 0) atomicAdd(broken, count);
}

/// The copy engine is called only by what was compiled for it, whatever the device is.
PetscErrorCode CanWalk_CUDA(size_t shared, bool *can)
{
  constexpr size_t   OTHERS = 2048; // bytes: of the sums of a block, and of the barriers
  cudaFuncAttributes facts;
  size_t             most;

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaFuncGetAttributes(&facts, line_bits_kernel));
  PetscCall(SharedMemoryFor(reinterpret_cast<const void *>(line_bits_kernel), &most));
  *can = facts.ptxVersion >= 90 && shared + OTHERS <= most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindLineBits_CUDA(const StencilLayout &A, const LineWalk &walk, const unsigned short *kinds,
                                 unsigned short *bits, PetscInt *broken)
{
  const PetscInt lines = walk.Slabs(A.rows) * walk.stride;
  Array<int>     count;
  int            found = 0;
  Stream         stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(count.Copy(&found, 1, Space::Device));
  line_bits_kernel<<<Blocks(lines), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, walk, lines, kinds, bits,
                                                                                     count.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(count.ToHost(&found));
  *broken = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
