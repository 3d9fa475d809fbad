#include "device/cuda_check.hpp"
#include "mat/formats/bitmap/bitmap.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256; // any multiple of 32

/// z = A x + y, one thread per row. A thread reads its row's words and values one after the other, so that a line of
/// the cache serves several turns; x is gathered. Bitwise reproducible.
template <class Word>
static __global__ void bitmap_kernel(BitmapView<Word> A, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscCount place = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  Scalar           sum(0);

  if (place >= A.rows) return;
  const PetscInt row  = static_cast<PetscInt>(place);
  const Word    *line = A.Line(row);
  const Scalar  *a    = A.values + A.start[row];
  for (PetscInt w = 0; w < A.words; w++)
    for (Word bits = line[w]; bits; bits &= bits - 1) sum += *a++ * x[w * A.BITS + LowestBit(bits)];
  z[row] = y ? y[row] + sum : sum;
}

template <class Word>
static void Launch(const BitmapView<Word> &A, const Scalar *x, const Scalar *y, Scalar *z, cudaStream_t stream)
{
  const PetscCount blocks = (static_cast<PetscCount>(A.rows) + THREADS - 1) / THREADS; // 2^31 - 1 are allowed
  bitmap_kernel<<<static_cast<unsigned>(blocks), THREADS, 0, stream>>>(A, x, y, z);
}

PetscErrorCode BitmapMult_CUDA(const BitmapLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (A.bits == 32)
    Launch(A.View<Word32>(), x, y, z, static_cast<cudaStream_t>(stream));
  else
    Launch(A.View<Word64>(), x, y, z, static_cast<cudaStream_t>(stream));
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
