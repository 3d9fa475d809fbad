/// The transposed factors on the GPU: the entries sorted by column.
#include "pc/trisolve/transpose.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "device/scatter.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

#define INDEX static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x

static __global__ void column_key_kernel(PetscInt count, const PetscInt *j, unsigned *key)
{
  const PetscInt e = INDEX;
  if (e < count) key[e] = static_cast<unsigned>(j[e]);
}

/// Entry t of the transpose is entry from[t] of F, whose columns are sorted in `key`. Every column has its diagonal.
static __global__ void transposed_kernel(FactorView F, const unsigned *key, const PetscInt *from, PetscInt *i,
                                         PetscInt *j, PetscInt *diagonal)
{
  const PetscInt t = INDEX;
  if (t >= F.nonzeros) return;
  const PetscInt row = static_cast<PetscInt>(key[t]);
  PetscInt       low = 0, high = F.rows; // the row of F that holds the entry: i[low] <= entry < i[low + 1]
  while (high - low > 1) {
    const PetscInt middle = low + (high - low) / 2;
    if (F.i[middle] <= from[t])
      low = middle;
    else
      high = middle;
  }
  j[t] = low;
  if (low == row) diagonal[row] = t;
  if (t == 0 || key[t - 1] != key[t]) i[row] = t;
  if (t == F.nonzeros - 1) i[F.rows] = F.nonzeros;
}

PetscErrorCode TransposedFactors::Build(const FactorView &F, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<unsigned>    key;
  DeviceMemory       scratch;

  PetscFunctionBegin;
  PetscCall(i_.Allocate(static_cast<size_t>(F.rows) + 1, Space::Device));
  PetscCall(j_.Allocate(F.nonzeros, Space::Device));
  PetscCall(diagonal_.Allocate(F.rows, Space::Device));
  view = FactorView{F.rows, F.nonzeros, i_.data(), j_.data(), diagonal_.data(), F.column, F.row, !F.lower_diagonal};
  if (F.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(key.Allocate(F.nonzeros, Space::Device));
  column_key_kernel<<<Blocks(F.nonzeros), THREADS, 0, s>>>(F.nonzeros, F.j, key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  int bits = 1;
  while (bits < 32 && (F.rows - 1) >> bits) bits++;
  PetscCall(SortKeys(F.nonzeros, bits, &key, &from_, &scratch, stream));
  transposed_kernel<<<Blocks(F.nonzeros), THREADS, 0, s>>>(F, key.data(), from_.data(), i_.data(), j_.data(),
                                                           diagonal_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // `key` ends here
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransposedFactors::SetValues(const Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(values_.Allocate(view.nonzeros, Space::Device)); // of a pattern alone there are none
  PetscCall(PermuteValues_CUDA(view.nonzeros, from_.data(), values, false, values_.data(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve

#undef INDEX
