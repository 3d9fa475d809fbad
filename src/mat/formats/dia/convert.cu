/// Builds diagonal storage from rows on the GPU: the place of each entry, from a search of its offset among those of
/// the diagonals; and whether its values are symmetric.
#include "device/cuda_check.hpp"
#include "device/flag.cuh"
#include "device/grid.cuh"
#include "mat/formats/dia/dia.hpp"
#include "mat/formats/take.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int LANES = 8, SHARED = 1024; ///< threads of a row; offsets searched in shared memory

/// take(e, slot) for each entry e. The warp's rows are neighbours, and so are the places of their k-th entries.
template <class Take> static __global__ void each_slot_kernel(DiaLayout layout, CsrArrays A, Take take)
{
  __shared__ PetscInt mine[SHARED];
  const bool          few = layout.diagonals <= SHARED;

  for (PetscInt d = threadIdx.x; few && d < layout.diagonals; d += THREADS) mine[d] = layout.diagonal[d].offset;
  __syncthreads();
  const PetscInt r = static_cast<PetscInt>(thread_index() / LANES);
  if (r >= layout.rows) return;
  const PetscInt end = A.i[r + 1];
  for (PetscInt e = A.i[r] + threadIdx.x % LANES; e < end; e += LANES) {
    const PetscInt wanted = A.j[e] - r;
    PetscInt       low = 0, high = layout.diagonals; // it is in [low, high)
    while (high - low > 1) {
      const PetscInt middle = (low + high) / 2;
      if ((few ? mine[middle] : layout.diagonal[middle].offset) <= wanted)
        low = middle;
      else
        high = middle;
    }
    take(e, low * layout.pitch + r);
  }
}

template <class Take>
static PetscErrorCode EachSlot(const DiaLayout &layout, const CsrArrays &A, Take take, Stream stream)
{
  PetscFunctionBegin;
  if (layout.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  each_slot_kernel<<<Blocks(static_cast<PetscCount>(layout.rows) * LANES), THREADS, 0,
                     static_cast<cudaStream_t>(stream)>>>(layout, A, take);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One thread for row blockIdx.x * THREADS + threadIdx.x of the diagonals below the main one, all `below` of them.
static __global__ void symmetric_kernel(DiaLayout A, PetscInt below, const Scalar *values, int *wrong)
{
  const PetscCount row = thread_index();

  if (row >= A.rows) return;
  for (PetscInt d = 0; d < below; d++) {
    const Diagonal   mine = A.diagonal[d], mirrored = A.diagonal[A.diagonals - 1 - d];
    const PetscCount column = row + mine.offset;
    if (column < 0) continue;
    if (!SameBits(values[mine.place + row], values[mirrored.place + column])) {
      *wrong = 1;
      return;
    }
    if (d % 4 == 3 && *static_cast<volatile int *>(wrong)) return;
  }
}

PetscErrorCode DiaSymmetric_CUDA(const DiaLayout &layout, const Scalar *values, bool *symmetric)
{
  bool wrong = false;

  const auto launch = [&](int *flag, cudaStream_t stream) {
    symmetric_kernel<<<Blocks(layout.rows), THREADS, 0, stream>>>(layout, layout.diagonals / 2, values, flag);
  };
  PetscFunctionBegin;
  if (layout.rows > 0) PetscCall(RaisesFlag(launch, &wrong)); // CUDA rejects an empty grid
  *symmetric = !wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaSlots_CUDA(const DiaLayout &layout, const CsrArrays &A, PetscInt *slot, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(EachSlot(layout, A, TakeSlot{slot}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaPlace_CUDA(const DiaLayout &layout, const CsrArrays &A, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(EachSlot(layout, A, TakeValue<true>{A.a, values}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
