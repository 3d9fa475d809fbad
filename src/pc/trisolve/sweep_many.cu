/// Sweeps with several right-hand sides.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "pc/trisolve/poll.cuh"
#include "pc/trisolve/sweep.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static constexpr int      SWEEP_THREADS = 64;
static constexpr unsigned ALL           = 0xffffffffu;

/// RHS right-hand sides at a time, a lane each, 32 / RHS pieces per warp: lanes of different right-hand sides know
/// nothing of each other. Tickets as in sweep_kernel. work.unknowns [pieces * RHS].
template <int RHS> static __global__ void __launch_bounds__(SWEEP_THREADS)
    sweep_many_kernel(SweepLayout A, const PetscInt *slice_of, PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x,
                      PetscInt ldx, SweepWork work)
{
  constexpr int SIZE = 4, TOGETHER = 32 / RHS;
  const int     lane = threadIdx.x % 32, c = lane % RHS;

  for (;;) {
    unsigned ticket = 0;
    if (lane == 0) ticket = atomicAdd(work.ticket, 1u);
    const PetscCount begin = static_cast<PetscCount>(__shfl_sync(ALL, ticket, 0)) * TOGETHER, k = begin + lane / RHS;
    if (begin >= A.pieces) return;
    bool             done = k >= A.pieces || c >= count;
    const PetscInt   s = done ? 0 : slice_of[k], first = A.first[s];
    const int        width = A.width[s], lanes = static_cast<int>(A.first[s + 1] - first) << width;
    const PetscCount base    = A.base[s] + (done ? 0 : (k - first) << width);
    const PetscInt   length  = static_cast<PetscInt>((A.base[s + 1] - A.base[s]) / lanes) << width;
    const PetscInt   outside = done ? -1 : A.outside[k];
    const Scalar     scale   = done ? Scalar(1) : A.scale[k];
    PetscInt         e       = 0, j[SIZE];
    Scalar           sum(0), a[SIZE], v[SIZE];
    Patience         patience;
    const auto       load = [&]() {
#pragma unroll
      for (int q = 0; q < SIZE; q++) {
        const PetscCount at = base + static_cast<PetscCount>((e + q) >> width) * lanes + ((e + q) & ((1 << width) - 1));
        j[q]                = e + q < length ? A.j[at] : -1;
        a[q]                = e + q < length ? A.Value(at) : Scalar(0);
        v[q]                = NotYet();
      }
    };
    load();
    if (!done && k < A.lower && outside >= 0) sum = b[outside + static_cast<PetscCount>(c) * ldb];
    while (!__all_sync(ALL, done)) {
      if (done) continue;
      bool ready = true, finished = false;
#pragma unroll
      for (int q = 0; q < SIZE; q++)
        if (j[q] >= 0 && IsMissing(v[q])) v[q] = poll(work.unknowns + static_cast<PetscCount>(j[q]) * RHS + c);
#pragma unroll
      for (int q = 0; q < SIZE; q++) ready = ready && (j[q] < 0 || !IsMissing(v[q]));
      if (ready) {
#pragma unroll
        for (int q = 0; q < SIZE; q++)
          if (j[q] >= 0) sum = sum - a[q] * v[q];
        finished       = j[SIZE - 1] < 0; // entries come without gaps
        patience.polls = 0;
        if (!finished) {
          e += SIZE;
          load();
        }
      } else if (patience.Ends(work.spins, work.ticket, work.stuck)) {
        *static_cast<volatile int *>(work.stuck) = 1;
        sum                                      = GivenUp();
        finished                                 = true;
      }
      if (finished) {
        sum = sum * scale;
        publish(work.unknowns + k * RHS + c, sum);
        if (k >= A.lower && outside >= 0) x[outside + static_cast<PetscCount>(c) * ldx] = sum;
        done = true;
      }
    }
  }
}

static __global__ void slice_of_kernel(PetscInt slices, const PetscInt *first, PetscInt *slice_of)
{
  const PetscInt s = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  if (s < slices)
    for (PetscInt k = first[s]; k < first[s + 1]; k++) slice_of[k] = s;
}

template <int RHS> static PetscErrorCode LaunchMany(const SweepLayout &A, const PetscInt *slice_of, PetscInt warps,
                                                    PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x,
                                                    PetscInt ldx, const SweepWork &work, Stream stream)
{
  const PetscInt tickets = (A.pieces + 32 / RHS - 1) / (32 / RHS);

  PetscFunctionBegin;
  PetscCall(PresetSweep(static_cast<PetscCount>(A.pieces) * RHS, work, stream));
  sweep_many_kernel<RHS><<<static_cast<unsigned>(((tickets < warps ? tickets : warps) + 1) / 2), SWEEP_THREADS, 0,
                           static_cast<cudaStream_t>(stream)>>>(A, slice_of, count, b, ldb, x, ldx, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::SolveMany(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, PetscInt warps,
                                Stream stream)
{
  const PetscInt most = count <= 4 ? 4 : 16;

  PetscFunctionBegin;
  if (slice_of_.size() == 0) {
    PetscCall(slice_of_.Allocate(layout_.pieces, Space::Device));
    slice_of_kernel<<<static_cast<unsigned>((layout_.slices + THREADS - 1) / THREADS), THREADS, 0,
                      static_cast<cudaStream_t>(stream)>>>(layout_.slices, layout_.first, slice_of_.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscCall(unknowns_.Reserve(static_cast<size_t>(layout_.pieces) * most * sizeof(Scalar)));
  const SweepWork work{static_cast<Scalar *>(unknowns_.data()), ticket_.data(), stuck(), Spins(options.spins)};
  for (PetscInt c = 0; c < count; c += most) {
    const auto launch = most == 4 ? LaunchMany<4> : LaunchMany<16>;
    PetscCall((*launch)(layout_, slice_of_.data(), warps, PetscMin(count - c, most),
                        b + static_cast<PetscCount>(c) * ldb, ldb, x + static_cast<PetscCount>(c) * ldx, ldx, work,
                        stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
