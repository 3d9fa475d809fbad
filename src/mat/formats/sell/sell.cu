#include "device/cuda_check.hpp"
#include "device/launch.cuh"
#include "mat/formats/sell/slice.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;

/// One chunk of a very long row by one thread block, as in csr.
template <class Values> __device__ __forceinline__ void sell_chunk(const SellLayout &A, PetscInt chunk, const Values &a,
                                                                   const Scalar *x, const Scalar *y, Scalar *z)
{
  __shared__ Scalar warps[THREADS / 32];
  __shared__ bool   last;
  const PetscInt    l = A.chunk_row[chunk], row_begin = A.long_begin[l], row_end = A.long_begin[l + 1];
  const PetscInt    begin  = A.chunk_begin[chunk];
  const PetscInt    end    = begin + SellLayout::CHUNK < row_end ? begin + SellLayout::CHUNK : row_end;
  const PetscInt    first  = chunk - (begin - row_begin) / SellLayout::CHUNK;
  const PetscInt    chunks = (row_end - row_begin + SellLayout::CHUNK - 1) / SellLayout::CHUNK;
  Scalar            sum    = batched_sum<4>(
      begin + static_cast<PetscInt>(threadIdx.x), end, THREADS,
      [&](PetscInt e) { return load_one(a, A.long_values + e); }, [&](PetscInt e) { return load_stream(A.long_j + e); },
      [&](PetscInt j) { return x[j]; });

  sum = block_sum<THREADS>(sum, warps);
  if (chunks > 1) {
    if (threadIdx.x == 0) {
      A.chunk_sum[chunk] = sum;
      __threadfence();
      last = atomicAdd(A.arrived + first, 1) == chunks - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = Scalar(0);
    for (PetscInt c = threadIdx.x; c < chunks; c += THREADS) sum += load_shared(A.chunk_sum + first + c);
    sum = block_sum<THREADS>(sum, warps);
    if (threadIdx.x == 0) A.arrived[first] = 0;
  }
  if (threadIdx.x == 0) {
    const PetscInt row = A.long_row[l];
    z[row]             = y ? y[row] + sum : sum;
  }
}

/// z = A x + y. The first blocks take a chunk of a very long row each, the next warps a long row each, all others a
/// slice: one thread per row, neighbouring threads read neighbouring columns and values; x is gathered. Bitwise
/// reproducible, whatever the codecs. Starts while the kernel before it ends, as only values and vectors may come from
/// there.
template <class Values> static __global__ void __launch_bounds__(THREADS, 5)
    sell_kernel(SellLayout A, Values stored, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt warp   = (static_cast<PetscInt>(blockIdx.x) - A.chunks) * (THREADS / 32) + threadIdx.x / 32;
  const PetscInt s      = warp - A.warp_rows;
  const int      lane   = threadIdx.x % 32;
  int            length = SellLayout::NOT_HERE;
  PetscInt       row    = 0;
  SellSlice      slice  = {};
  if (s >= 0 && s < A.slices && s * 32 + lane < A.rows) {
    slice  = SellSliceOf(A, s);
    length = place_length(A, s * 32 + lane);
    row    = place_row(A, s * 32 + lane);
  }
  begin_in_turn();
  const Values a = stage(stored);
  if (warp < 0) {
    sell_chunk(A, blockIdx.x, a, x, y, z);
    return;
  }
  if (s < 0) {
    const Scalar sum = warp_row_sum(A, warp, lane, a, x);
    if (lane == 0) {
      row    = A.long_row[warp];
      z[row] = y ? y[row] + sum : sum;
    }
    return;
  }
  if (length == SellLayout::NOT_HERE) return;
  const Scalar sum = slice_row_sum(slice, length, lane, a, x);
  z[row]           = y ? y[row] + sum : sum;
}

PetscErrorCode SellMult_CUDA(const SellLayout &A, const ValueLayout &a, const Scalar *x, const Scalar *y, Scalar *z,
                             Stream stream)
{
  constexpr PetscInt WARPS = THREADS / 32;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const PetscInt blocks = A.chunks + (A.warp_rows + A.slices + WARPS - 1) / WARPS;
  PetscCall(WithValues(a, [&](const auto &values) {
    return LaunchEarly<sell_kernel<std::decay_t<decltype(values)>>>(blocks, THREADS, static_cast<cudaStream_t>(stream),
                                                                    A, values, x, y, z);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
