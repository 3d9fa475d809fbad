#include <algorithm>
#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "mat/formats/stencil/stencil.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256; // any multiple of 32
static constexpr int ROWS    = 4;   // of a thread: their loads overlap, and table entries are read once for all
static constexpr int STAGED  = 1024; ///< entries of a table that goes to shared memory: 16 kB, 24 kB if complex

/// A table entry as one load gives it.
struct alignas(16) StencilEntry {
  Scalar   value;
  PetscInt offset;
};

/// The table where every thread block has a copy; longer ones stay where they are, in the caches.
struct StagedTable {
  const StencilEntry                     *entry;
  __device__ __forceinline__ StencilEntry operator[](PetscInt e) const { return entry[e]; }
};
struct DistantTable {
  const Scalar                           *value;
  const PetscInt                         *offset;
  __device__ __forceinline__ StencilEntry operator[](PetscInt e) const { return StencilEntry{value[e], offset[e]}; }
};

/// ROWS rows of one thread, THREADS apart. If they are all of one class, in all threads of the warp, each table entry
/// is read once for all; else every row reads its own, those of the rows that are longer with none left for the others.
template <class Table>
__device__ __forceinline__ void stencil_rows(const StencilLayout &A, const Table &table, const PetscInt *begin,
                                             PetscInt first, const Scalar *x, Scalar *sum)
{
  int c[ROWS];

#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const PetscInt row = first + q * THREADS;
    c[q]               = row < A.rows ? load_stream(A.row_class + row) : -1;
    sum[q]             = Scalar(0);
  }
  const int leader = __shfl_sync(0xffffffffu, c[0], 0);
  bool      same   = leader >= 0;
#pragma unroll
  for (int q = 0; q < ROWS; q++) same = same && c[q] == leader;
  if (__all_sync(0xffffffffu, same)) {
    const PetscInt end = begin[leader + 1];
#pragma unroll 4
    for (PetscInt e = begin[leader]; e < end; e++) {
      const StencilEntry entry = table[e];
#pragma unroll
      for (int q = 0; q < ROWS; q++) sum[q] += entry.value * x[first + q * THREADS + entry.offset];
    }
    return;
  }
  PetscInt at[ROWS], count[ROWS], most = 0;
#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    at[q]    = c[q] >= 0 ? begin[c[q]] : 0;
    count[q] = c[q] >= 0 ? begin[c[q] + 1] - at[q] : 0;
    most     = count[q] > most ? count[q] : most;
  }
#pragma unroll 2
  for (PetscInt k = 0; k < most; k++) {
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      if (k >= count[q]) continue;
      const StencilEntry entry = table[at[q] + k];
      sum[q] += entry.value * x[first + q * THREADS + entry.offset];
    }
  }
}

/// z = A x + y. Neighbouring threads have neighbouring rows, mostly of one class: they read the same table entry and
/// neighbouring x. Bitwise reproducible.
template <bool staged> static __global__ void __launch_bounds__(THREADS)
    stencil_kernel(StencilLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  __shared__ StencilEntry entry[staged ? STAGED : 1];
  __shared__ PetscInt     begin[StencilLayout::CLASSES + 1];

  for (PetscInt c = threadIdx.x; c <= A.classes; c += THREADS) begin[c] = A.begin[c];
  if (staged)
    for (PetscInt e = threadIdx.x; e < A.entries; e += THREADS) entry[e] = StencilEntry{A.value[e], A.offset[e]};
  __syncthreads();
  for (PetscInt tile = static_cast<PetscInt>(blockIdx.x) * THREADS * ROWS; tile < A.rows;
       tile += static_cast<PetscInt>(gridDim.x) * THREADS * ROWS) {
    const PetscInt first = tile + static_cast<PetscInt>(threadIdx.x);
    Scalar         sum[ROWS];
    if (staged)
      stencil_rows(A, StagedTable{entry}, begin, first, x, sum);
    else
      stencil_rows(A, DistantTable{A.value, A.offset}, begin, first, x, sum);
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const PetscInt row = first + q * THREADS;
      if (row < A.rows) z[row] = y ? y[row] + sum[q] : sum[q];
    }
  }
}

PetscErrorCode StencilMult_CUDA(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt     all    = (A.rows - 1) / (THREADS * ROWS) + 1;
  const unsigned     blocks = static_cast<unsigned>(std::min(all, 8 * multiprocessors)); // each stages the table once
  const cudaStream_t s      = static_cast<cudaStream_t>(stream);
  if (A.entries <= STAGED)
    stencil_kernel<true><<<blocks, THREADS, 0, s>>>(A, x, y, z);
  else
    stencil_kernel<false><<<blocks, THREADS, 0, s>>>(A, x, y, z);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
