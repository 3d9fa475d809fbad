/// The product of diagonal storage on the GPU: one thread per row, the list of diagonals in shared memory.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/launch.cuh"
#include "mat/formats/dia/row.cuh"
#include "mat/formats/difference.cuh"
#include "mat/formats/dots.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

constexpr int DIA_BLOCKS = 2048 / THREADS; ///< blocks that fill a multiprocessor

/// The values of a row on the first diagonals, on their way to the L2 cache while the kernel before this one ends,
/// where the block is one of those that may be on the device by then.
__device__ __forceinline__ void fetch_first_values(const DiaLayout &A, PetscInt row)
{
  constexpr unsigned BLOCKS = 2048; // on any device, of THREADS threads
  constexpr PetscInt FIRST  = 8;

  if (blockIdx.x >= BLOCKS || row >= A.rows) return;
  WithDiaValues(A, [&](auto, const auto &a) {
#pragma unroll
    for (PetscInt d = 0; d < FIRST; d++)
      if (d < A.diagonals) fetch_to_l2(a.a + A.diagonal[d].place + row);
  });
}

/// epilogue(row, A x), one thread per row or, in_turn, for rows one after the other; the list of diagonals is read once
/// per block where it has room for it. Neighbouring threads read neighbouring a and x. Bitwise reproducible. Starts
/// while the kernel before it ends, as only values and vectors may come from there.
template <bool in_turn, class Vector, class Epilogue> static __global__ void __launch_bounds__(THREADS, DIA_BLOCKS)
    dia_kernel(DiaLayout A, Vector from, Epilogue epilogue)
{
  __shared__ Diagonal diagonal[THREADS];
  const PetscInt      step = static_cast<PetscInt>(gridDim.x) * THREADS;

  if (threadIdx.x < A.diagonals) diagonal[threadIdx.x] = A.diagonal[threadIdx.x];
  if constexpr (!ADDS_UP<Epilogue>) // else vectors that the kernel before has left in that cache are worth more
    fetch_first_values(A, static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x);
  if (epilogue.Skip()) return;
  const auto x = begin_reading(from);
  __syncthreads();
  begin_in_turn();
  for (PetscInt begin = static_cast<PetscInt>(blockIdx.x) * THREADS;; begin += step) {
    const PetscInt row = begin + threadIdx.x;
    Scalar         sum(0);
    for (PetscInt first = 0; first < A.diagonals; first += THREADS) {
      const PetscInt count = A.diagonals - first < THREADS ? A.diagonals - first : THREADS;
      if (first > 0) {
        __syncthreads();
        if (threadIdx.x < count) diagonal[threadIdx.x] = A.diagonal[first + threadIdx.x];
        __syncthreads();
      }
      if (row < A.rows) sum = dia_row_sum(A, count, diagonal, row, x, sum);
    }
    if (row < A.rows) epilogue(row, sum);
    if (!in_turn || A.rows - begin <= step) break;
  }
  epilogue.Finish();
}

template <bool in_turn, class Vector, class Epilogue>
static PetscErrorCode Launch(const DiaLayout &A, PetscInt blocks, const Vector &x, const Epilogue &epilogue,
                             Stream stream)
{
  PetscFunctionBegin;
  PetscCall((LaunchEarly<dia_kernel<in_turn, Vector, Epilogue>>(blocks, THREADS, static_cast<cudaStream_t>(stream), A,
                                                                x, epilogue)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Vector, class Epilogue>
static PetscErrorCode Multiply(const DiaLayout &A, const Vector &x, const Epilogue &epilogue, Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const PetscInt blocks = (A.rows - 1) / THREADS + 1;
  if constexpr (ADDS_UP<Epilogue>) {
    PetscInt multiprocessors;
    PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
    const PetscInt together = DIA_BLOCKS * multiprocessors;
    if (A.diagonals <= SHORT_ROW && together < blocks) {
      PetscCall(Launch<true>(A, together, x, epilogue, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(Launch<false>(A, blocks, x, epilogue, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaMult_CUDA(const DiaLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                            const comm::DeviceExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(SendAlong(A.rows, exchange, x, StoreSum{to}, stream,
                      [&](const auto &epilogue) { return Multiply(A, x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaMultDots_CUDA(const DiaLayout &A, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(MultiplyAndDot(A.rows, dots, stream, [&](const auto &epilogue) {
    return WithFactorOf(dots, epilogue, [&](const auto &x) { return Multiply(A, x, epilogue, stream); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
