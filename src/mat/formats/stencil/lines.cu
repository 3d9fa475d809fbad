/// Which rows of a grid are walked in lines.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include "device/buffer.hpp"
#include "device/cub_call.cuh"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/limits.hpp"
#include "mat/formats/stencil/line_bits.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Adds to *count the rows that are left out.
static __global__ void __launch_bounds__(THREADS)
    line_bits_kernel(StencilLayout A, LineWalk walk, PetscInt lines, const unsigned short *kinds, unsigned short *bits,
                     int *count)
{
  const PetscCount n   = thread_index();
  int              out = 0;

  if (n < lines) {
    const PetscInt slab = static_cast<PetscInt>(n / walk.stride), place = static_cast<PetscInt>(n % walk.stride);
    const PetscInt row    = slab * walk.length * walk.stride + place;
    const PetscInt length = row < A.rows ? place_in_line(walk, A.rows, row).length : 0;
    const unsigned found  = length > 0 ? line_bits(A, walk.stride, row, length, kinds) : 0;
    bits[n]               = static_cast<unsigned short>(found);
    out                   = !found ? static_cast<int>(length)
                                   : (found & StencilLines::NOT_FIRST ? 1 : 0) + (found & StencilLines::NOT_LAST ? 1 : 0);
  }
  out = __reduce_add_sync(0xffffffffu, out);
  if (out && threadIdx.x % 32 == 0) atomicAdd(count, out);
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

PetscErrorCode CountClasses_CUDA(const StencilLayout &A, std::vector<int> *count)
{
  constexpr int CLASSES = StencilLayout::CLASSES;
  Array<int>    found;
  DeviceMemory  scratch;
  Stream        stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(found.Allocate(CLASSES, Space::Device));
  CallCUB(&scratch, cub::DeviceHistogram::HistogramEven, A.row_class, found.data(), CLASSES + 1, 0, CLASSES,
          static_cast<int64_t>(A.rows), static_cast<cudaStream_t>(stream));
  PetscCallCXX(count->resize(CLASSES));
  PetscCall(found.ToHost(count->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindLineBits_CUDA(const StencilLayout &A, const StencilLines &lines, const unsigned short *kinds,
                                 unsigned short *bits, Array<PetscInt> *left_out, bool *few)
{
  const LineWalk &walk = lines.walk;
  const PetscInt  all  = walk.Slabs(A.rows) * walk.stride;
  Array<int>      count;
  Array<PetscInt> selected;
  DeviceMemory    scratch;
  int             found = 0;
  Stream          stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(count.Copy(&found, 1, Space::Device));
  line_bits_kernel<<<Blocks(all), THREADS, 0, s>>>(A, walk, all, kinds, bits, count.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(count.ToHost(&found));
  *few = found <= A.rows / lines.MostLeftOut();
  if (!*few || !found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(left_out->Allocate(static_cast<size_t>(found), Space::Device));
  PetscCall(selected.Allocate(1, Space::Device));
  CallCUB(&scratch, cub::DeviceSelect::If, thrust::counting_iterator<PetscInt>(0), left_out->data(), selected.data(),
          static_cast<int64_t>(A.rows), LeftOut{walk, A.rows, bits}, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
