/// The product of blocks of equally many entries on the GPU, in two kernels: one thread sums each block, then `width`
/// threads per row add up the sums of its blocks.
#include "device/launch.cuh"
#include "device/load.cuh"
#include "device/row_of_thread.hpp"
#include "device/segmented.cuh"
#include "mat/formats/epilogue.cuh"
#include "mat/formats/vab/vab.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Step 1: intermediate[b] = sum of the products of block b, one thread per block. All reads of j and a are coalesced.
static __global__ void vab_block_kernel(VabLayout A, const Scalar *__restrict__ x)
{
  const PetscInt b = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;
  Scalar         sum(0);

  let_next_kernel_start();
  if (b >= A.blocks) return;
#pragma unroll
  for (PetscInt e = 0; e < VabLayout::ENTRIES; e++) {
    const PetscInt slot =
        static_cast<PetscInt>(blockIdx.x) * blockDim.x * VabLayout::ENTRIES + e * blockDim.x + threadIdx.x;
    const PetscInt column = load_stream(A.j + slot);
    if (column >= 0) sum += load_stream(A.a + slot) * x[column];
  }
  A.intermediate[b] = sum;
}

static constexpr int ROW_THREADS = 256;

/// Step 2: epilogue(row, the sum of its intermediates), `width` threads per row. Bitwise reproducible.
template <int width, class Epilogue> static __global__ void vab_row_kernel(VabLayout A, Epilogue epilogue)
{
  const PetscInt row   = row_of_thread<ROW_THREADS, width>(static_cast<PetscInt>(blockIdx.x), threadIdx.x);
  const int      lane  = threadIdx.x % width;
  PetscInt       begin = 0, end = 0;
  Scalar         sum(0);

  if (row < A.rows) {
    begin = A.row_start[row] + lane;
    end   = A.row_start[row + 1];
  }
  wait_for_previous_kernel();
  for (PetscInt b = begin; b < end; b += width) sum += A.intermediate[b];
  sum = group_sum<width>(sum);
  if (row < A.rows && lane == 0) epilogue(row, sum);
  epilogue.Finish();
}

template <int width, class Epilogue>
static PetscErrorCode LaunchRows(const VabLayout &A, const Epilogue &epilogue, cudaStream_t stream)
{
  constexpr int rows_per_block = ROW_THREADS / width;

  PetscFunctionBegin;
  PetscCall((LaunchEarly<vab_row_kernel<width, Epilogue>>((A.rows + rows_per_block - 1) / rows_per_block, ROW_THREADS,
                                                          stream, A, epilogue)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VabMult_CUDA(const VabLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  const StoreSum     epilogue{{y, z}};

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (A.blocks) {
    vab_block_kernel<<<static_cast<unsigned>((A.blocks + A.size - 1) / A.size), static_cast<unsigned>(A.size), 0, s>>>(
        A, x);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  switch (A.width) {
  case 1: PetscCall(LaunchRows<1>(A, epilogue, s)); break;
  case 2: PetscCall(LaunchRows<2>(A, epilogue, s)); break;
  case 4: PetscCall(LaunchRows<4>(A, epilogue, s)); break;
  case 8: PetscCall(LaunchRows<8>(A, epilogue, s)); break;
  case 16: PetscCall(LaunchRows<16>(A, epilogue, s)); break;
  default: PetscCall(LaunchRows<32>(A, epilogue, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
