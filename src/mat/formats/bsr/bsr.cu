/// The product of blocks of rows on the GPU: one thread per row.
#include "device/cuda_check.hpp"
#include "mat/formats/bsr/row.cuh"
#include "mat/formats/dots.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Slices of a thread block: about as many threads for every size.
template <int size> struct BsrBlock {
  static constexpr int SLICES  = size == 2 ? 4 : size <= 4 ? 2 : 1;
  static constexpr int ROWS    = BsrLayout::HEIGHT * size; ///< of a slice
  static constexpr int THREADS = SLICES * ROWS;            ///< 256, 192, 256, 160, 192
};

/// epilogue(row, A x), one thread per row. Neighbouring threads read neighbouring values; the threads of a block row
/// read the same column and the same x. Bitwise reproducible, whatever the codec. A is passed in
/// constant memory: with a copy in registers the compiler computes the places of values once per use instead of once
/// per block.
template <int size, class Values, class Epilogue> static __global__ void __launch_bounds__(BsrBlock<size>::THREADS)
    bsr_kernel(const __grid_constant__ BsrLayout A, Values stored, const Scalar *x, Epilogue epilogue)
{
  constexpr int  ROWS  = BsrBlock<size>::ROWS;
  const Values   a     = stage(stored);
  const PetscInt slice = static_cast<PetscInt>(blockIdx.x) * BsrBlock<size>::SLICES + threadIdx.x / ROWS;
  const int      t     = threadIdx.x % ROWS;
  const PetscInt row   = slice * ROWS + t;

  if (epilogue.Skip()) return;
  if (slice < A.slices && row < A.rows) {
    const Scalar sum = bsr_row_sum<size>(A, slice, t, a, Gather{x});
    epilogue(row, sum);
  }
  epilogue.Finish();
}

template <int size, class Values, class Epilogue>
static void Launch(const BsrLayout &A, const Values &a, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  using Block = BsrBlock<size>;
  bsr_kernel<size>
      <<<static_cast<unsigned>((A.slices + Block::SLICES - 1) / Block::SLICES), Block::THREADS, 0, stream>>>(A, a, x,
                                                                                                             epilogue);
}

template <class Epilogue> static PetscErrorCode Multiply(const BsrLayout &A, const ValueLayout &a, const Scalar *x,
                                                         const Epilogue &epilogue, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  WithValues(a, [&](const auto &values) {
    WithBsrSize(A.size, [&](auto size) { Launch<decltype(size)::value>(A, values, x, epilogue, s); });
  });
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrMult_CUDA(const BsrLayout &A, const ValueLayout &a, const Scalar *x, const ProductTarget &to,
                            Stream stream, const comm::DeviceExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(SendAlong(A.rows, exchange, x, StoreSum{to}, stream,
                      [&](const auto &epilogue) { return Multiply(A, a, x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrMultDots_CUDA(const BsrLayout &A, const ValueLayout &a, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(MultiplyAndDot(A.rows, dots, stream,
                           [&](const auto &epilogue) { return Multiply(A, a, dots.x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
