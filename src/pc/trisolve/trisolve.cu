#include "device/cuda_check.hpp"
#include "pc/trisolve/poll.cuh"
#include "pc/trisolve/trisolve.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;

/// Presets all unknowns to "not yet" and the ticket to 0.
static __global__ void sweep_preset_kernel(PetscInt count, Scalar *unknowns, unsigned *ticket)
{
  const PetscInt k = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  if (k < count) unknowns[k] = NotYet();
  if (k == 0) *ticket = 0;
}

static __global__ void sweep_values_kernel(PetscInt entries, const PetscInt *j, const PetscInt *from,
                                           const Scalar *values, Scalar *a)
{
  const PetscInt e = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  if (e < entries) a[e] = from[e] >= 0 ? values[from[e]] : j[e] >= 0 ? Scalar(-1) : Scalar(0);
}

/// One thread per row of the double system. A block takes a ticket for its rows when it starts, so that the rows of all
/// earlier tickets are running or done whatever order blocks are dispatched in: the oldest row can always go on, and no
/// solve hangs. A thread polls one value at a time and never waits inside its loop for a neighbour, so that rows of one
/// warp may need each other. Sums run in a fixed order: bitwise reproducible.
static __global__ void __launch_bounds__(THREADS)
    sweep_kernel(SweepLayout A, const Scalar *values, const Scalar *b, Scalar *x, SweepWork work)
{
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(work.ticket, 1u);
  __syncthreads();
  const PetscInt k = static_cast<PetscInt>(ticket) * THREADS + threadIdx.x, n = A.rows;
  if (k >= 2 * n) return;
  const PetscInt s = k / SweepLayout::SLICE, end = A.slice[s + 1], u = A.unknown[k];
  PetscInt       e = A.slice[s] + k % SweepLayout::SLICE;
  Scalar         sum(0), scale(1);
  if (u < n)
    sum = b[A.row[u]];
  else
    scale = values[A.diagonal[u - n]];

  PetscInt  j     = e < end ? A.j[e] : -1;
  Scalar    a     = j >= 0 ? A.a[e] : Scalar(0);
  long long polls = 0;
  while (j >= 0) {
    const Scalar v = poll(work.unknowns + j);
    if (!IsPadded(v)) {
      sum = sum - a * v;
      e += SweepLayout::SLICE;
      j     = e < end ? A.j[e] : -1;
      a     = j >= 0 ? A.a[e] : Scalar(0);
      polls = 0;
    } else if (++polls > work.spins) {
      *static_cast<volatile int *>(work.stuck) = 1;
      sum                                      = Scalar(RealOf(PAD_BITS ^ 1)); // a NaN that is no flag: x tells, too
      break;
    }
  }
  if (u >= n) sum = sum * scale;
  publish(work.unknowns + u, sum);
  if (u >= n) x[A.column[u - n]] = sum;
}

PetscErrorCode SweepValues_CUDA(const SweepLayout &A, PetscInt entries, const Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  if (entries == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  sweep_values_kernel<<<static_cast<unsigned>((entries + THREADS - 1) / THREADS), THREADS, 0,
                        static_cast<cudaStream_t>(stream)>>>(entries, A.j, A.from, values, A.a);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep_CUDA(const SweepLayout &A, const Scalar *values, const Scalar *b, Scalar *x, const SweepWork &work,
                          Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const unsigned blocks = static_cast<unsigned>((2 * A.rows + THREADS - 1) / THREADS);
  sweep_preset_kernel<<<blocks, THREADS, 0, s>>>(2 * A.rows, work.unknowns, work.ticket);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  sweep_kernel<<<blocks, THREADS, 0, s>>>(A, values, b, x, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
