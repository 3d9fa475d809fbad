#include "device/cuda_check.hpp"
#include "pc/trisolve/poll.cuh"
#include "pc/trisolve/trisolve.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS       = 256;
static constexpr int SWEEP_THREADS = 64;

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

/// A few entries of a row, fetched long before the unknowns they multiply are there.
struct Batch {
  static constexpr int SIZE = 4;
  PetscInt             j[SIZE]; ///< -1: none
  Scalar               a[SIZE];

  __device__ __forceinline__ void Load(const SweepLayout &A, PetscInt e, PetscInt end)
  {
#pragma unroll
    for (int q = 0; q < SIZE; q++) {
      const PetscInt at = e + q * SweepLayout::SLICE;
      j[q]              = at < end ? A.j[at] : -1;
      a[q]              = at < end ? A.a[at] : Scalar(0);
    }
  }
};

/// One thread per row of the double system. Warps take slices by ticket, in the order of their levels, so that the rows
/// of all earlier tickets are running or done whatever order blocks are dispatched in: the oldest row can always go on,
/// and no solve hangs. In each turn of the loop a thread looks at all unknowns of its batch at once and goes on if they
/// are there; it never waits for a neighbour, so that rows of one warp may need each other. Sums run in a fixed order:
/// bitwise reproducible.
static __global__ void __launch_bounds__(SWEEP_THREADS)
    sweep_kernel(SweepLayout A, const Scalar *values, const Scalar *b, Scalar *x, SweepWork work)
{
  constexpr PetscInt SLICE = SweepLayout::SLICE, STRIDE = Batch::SIZE * SLICE;
  constexpr unsigned ALL    = 0xffffffffu;
  const PetscInt     slices = (2 * A.rows + SLICE - 1) / SLICE;
  const int          lane   = threadIdx.x % 32;

  for (;;) {
    unsigned s = 0;
    if (lane == 0) s = atomicAdd(work.ticket, 1u);
    s = __shfl_sync(ALL, s, 0);
    if (s >= static_cast<unsigned>(slices)) return;
    const PetscInt k = static_cast<PetscInt>(s) * SLICE + lane, end = A.slice[s + 1];
    bool           done     = k >= 2 * A.rows;
    const PetscInt diagonal = done ? -1 : A.diagonal[k], outside = done ? 0 : A.outside[k];
    PetscInt       e     = A.slice[s] + lane;
    Scalar         sum   = !done && diagonal < 0 ? b[outside] : Scalar(0);
    const Scalar   scale = diagonal < 0 ? Scalar(1) : values[diagonal];
    Scalar         v[Batch::SIZE];
    Batch          batch, next;
    long long      polls = 0;
    batch.Load(A, e, end);
    next.Load(A, e + STRIDE, end);
#pragma unroll
    for (int q = 0; q < Batch::SIZE; q++) v[q] = NotYet();

    while (__any_sync(ALL, !done)) {
      if (done) continue;
      bool ready = true;
#pragma unroll
      for (int q = 0; q < Batch::SIZE; q++)
        if (batch.j[q] >= 0 && IsPadded(v[q])) v[q] = poll(work.unknowns + batch.j[q]);
#pragma unroll
      for (int q = 0; q < Batch::SIZE; q++) ready = ready && (batch.j[q] < 0 || !IsPadded(v[q]));
      if (ready) {
#pragma unroll
        for (int q = 0; q < Batch::SIZE; q++) {
          if (batch.j[q] >= 0) sum = sum - batch.a[q] * v[q];
          v[q] = NotYet();
        }
        done  = next.j[0] < 0; // a row's entries come without gaps
        batch = next;
        polls = 0;
        if (!done) {
          e += STRIDE;
          next.Load(A, e + STRIDE, end);
        }
      } else if (++polls > work.spins) {
        *static_cast<volatile int *>(work.stuck) = 1;
        sum                                      = Scalar(RealOf(PAD_BITS ^ 1)); // a NaN that is no flag: x tells, too
        done                                     = true;
      }
      if (done) {
        if (diagonal >= 0) sum = sum * scale;
        publish(work.unknowns + k, sum);
        if (diagonal >= 0) x[outside] = sum;
      }
    }
  }
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
  constexpr PetscInt warps = SWEEP_THREADS / 32;
  sweep_kernel<<<static_cast<unsigned>((work.warps + warps - 1) / warps), SWEEP_THREADS, 0, s>>>(A, values, b, x, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
