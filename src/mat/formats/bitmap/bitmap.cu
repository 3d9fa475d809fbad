/// The product of rows of bits and values on the GPU: one thread per row.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/formats/bitmap/bitmap.hpp"
#include "mat/formats/epilogue.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// epilogue(row, A x), one thread per row. A thread reads its row's words and values one after the other, so that a
/// line of the cache serves several turns; x is gathered. Bitwise reproducible.
template <class Word, class Epilogue>
static __global__ void bitmap_kernel(BitmapView<Word> A, const Scalar *x, Epilogue epilogue)
{
  const PetscCount place = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;

  if (place < A.rows) {
    const PetscInt row  = static_cast<PetscInt>(place);
    const Word    *line = A.Line(row);
    const Scalar  *a    = A.values + A.start[row];
    Scalar         sum(0);
    for (PetscInt w = 0; w < A.words; w++)
      for (Word bits = line[w]; bits; bits &= bits - 1) sum += *a++ * x[w * A.BITS + LowestBit(bits)];
    epilogue(row, sum);
  }
  epilogue.Finish();
}

template <class Word, class Epilogue>
static void Launch(const BitmapView<Word> &A, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  const PetscCount blocks = (static_cast<PetscCount>(A.rows) + THREADS - 1) / THREADS; // 2^31 - 1 are allowed
  bitmap_kernel<<<static_cast<unsigned>(blocks), THREADS, 0, stream>>>(A, x, epilogue);
}

PetscErrorCode BitmapMult_CUDA(const BitmapLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (A.bits == 32)
    Launch(A.View<Word32>(), x, StoreSum{{y, z}}, static_cast<cudaStream_t>(stream));
  else
    Launch(A.View<Word64>(), x, StoreSum{{y, z}}, static_cast<cudaStream_t>(stream));
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
