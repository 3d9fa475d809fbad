#include "device/cuda_check.hpp"
#include "device/segmented.cuh"
#include "pc/trisolve/poll.cuh"
#include "pc/trisolve/sweep.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int      THREADS = 256;
static constexpr unsigned ALL     = 0xffffffffu;

static unsigned Blocks(PetscCount count)
{
  return static_cast<unsigned>((count + THREADS - 1) / THREADS);
}

/// Presets all unknowns to "not yet" and the ticket to 0.
static __global__ void preset_kernel(PetscCount count, Scalar *unknowns, unsigned *ticket)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k < count) unknowns[k] = NotYet();
  if (k == 0) *ticket = 0;
}

static __global__ void values_kernel(PetscCount entries, PetscInt pieces, SweepLayout A, const Scalar *values)
{
  const PetscCount e = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (e < entries) A.a[e] = A.from[e] >= 0 ? values[A.from[e]] : A.j[e] >= 0 ? Scalar(-1) : Scalar(0);
  if (e < pieces) A.scale[e] = A.pivot[e] >= 0 ? values[A.pivot[e]] : Scalar(1);
}

/// A few entries of a lane, fetched long before the unknowns they multiply are there.
template <int SIZE> struct Batch {
  PetscInt j[SIZE]; ///< -1: none
  Scalar   a[SIZE];

  __device__ __forceinline__ void Load(const SweepLayout &A, PetscCount at, int stride, PetscCount end)
  {
#pragma unroll
    for (int q = 0; q < SIZE; q++, at += stride) {
      j[q] = at < end ? A.j[at] : -1;
      a[q] = at < end ? A.a[at] : Scalar(0);
    }
  }
};

/// A lane, or a few, per piece. Blocks take tiles, WARPS slices that follow each other, by ticket in the order of their
/// levels, so that all that earlier tickets cover is running or done whatever order blocks are dispatched in: the
/// oldest piece can always go on, and no solve hangs. In each turn of the loop a lane looks at all unknowns of its
/// batch at once and goes on if they are there; it never waits for a neighbour, so that pieces of one warp may need
/// each other. Several warps pass what lies in their tile through shared memory. Sums run in a fixed order: bitwise
/// reproducible.
template <int WARPS> static __global__ void __launch_bounds__(WARPS * 32)
    sweep_kernel(SweepLayout A, const Scalar *b, Scalar *x, SweepWork work)
{
  constexpr int       SIZE = 4;
  constexpr bool      NEAR = WARPS > 1;
  __shared__ Scalar   near[NEAR ? WARPS * 32 : 1];
  __shared__ unsigned claimed;
  const int           lane = threadIdx.x % 32;

  for (;;) {
    PetscCount tile;
    if (NEAR) {
      if (threadIdx.x == 0) claimed = atomicAdd(work.ticket, 1u);
      near[threadIdx.x] = NotYet();
      __syncthreads();
      tile = static_cast<PetscCount>(claimed) * WARPS;
    } else {
      unsigned ticket = 0;
      if (lane == 0) ticket = atomicAdd(work.ticket, 1u);
      tile = __shfl_sync(ALL, ticket, 0);
    }
    if (tile >= A.slices) return;
    const PetscCount s         = tile + (NEAR ? threadIdx.x / 32 : 0);
    const PetscInt   beginning = A.first[tile]; // unknowns from here on are near
    const bool       any       = s < A.slices;
    const PetscInt   first = any ? A.first[s] : 0, pieces = any ? A.first[s + 1] - first : 0;
    const int        width = any ? A.width[s] : 0, lanes = pieces << width, part = lane & ((1 << width) - 1);
    const PetscInt   k         = first + (lane >> width);
    const PetscCount end       = any ? A.base[s + 1] : 0;
    bool             published = lane >= lanes;
    PetscCount       at        = published ? end : A.base[s] + lane;
    const PetscInt   outside   = published ? -1 : A.outside[k];
    const Scalar     scale     = published ? Scalar(1) : A.scale[k];
    const unsigned   group     = width == 5 ? ALL : ((1u << (1 << width)) - 1) << (lane - part);
    Scalar           sum(0), v[SIZE];
    Batch<SIZE>      batch, next;
    long long        polls = 0;

    batch.Load(A, at, lanes, end);
    next.Load(A, at + static_cast<PetscCount>(SIZE) * lanes, lanes, end);
    bool finished = batch.j[0] < 0;
    if (!published && k < A.lower && outside >= 0 && part == 0) sum = b[outside];
#pragma unroll
    for (int q = 0; q < SIZE; q++) v[q] = NotYet();

    while (!__all_sync(ALL, published)) {
      if (!finished) {
        bool ready = true;
#pragma unroll
        for (int q = 0; q < SIZE; q++) // all on their way before the first is looked at
          if (batch.j[q] >= 0 && (!NEAR || batch.j[q] < beginning) && IsMissing(v[q]))
            v[q] = poll(work.unknowns + batch.j[q]);
        if (NEAR) {
#pragma unroll
          for (int q = 0; q < SIZE; q++)
            if (batch.j[q] >= beginning && IsMissing(v[q])) v[q] = poll_near(near + (batch.j[q] - beginning));
        }
#pragma unroll
        for (int q = 0; q < SIZE; q++) ready = ready && (batch.j[q] < 0 || !IsMissing(v[q]));
        if (ready) {
#pragma unroll
          for (int q = 0; q < SIZE; q++) {
            if (batch.j[q] >= 0) sum = sum - batch.a[q] * v[q];
            v[q] = NotYet();
          }
          finished = next.j[0] < 0; // a lane's entries come without gaps
          batch    = next;
          polls    = 0;
          if (!finished) {
            at += static_cast<PetscCount>(SIZE) * lanes;
            next.Load(A, at + static_cast<PetscCount>(SIZE) * lanes, lanes, end);
          }
        } else if (++polls > work.spins) {
          *static_cast<volatile int *>(work.stuck) = 1;
          sum                                      = GivenUp(); // x tells, too
          finished                                 = true;
        }
      }
      bool fresh = finished && !published;
      if (width > 0) {
        const unsigned all = __ballot_sync(ALL, finished);
        fresh              = !published && (all & group) == group;
        if (!__any_sync(ALL, fresh)) continue;
        Scalar total = sum;
        for (int mask = (1 << width) / 2; mask > 0; mask /= 2) total = total + shuffle_xor(total, mask, 32);
        if (fresh) sum = total;
      }
      if (fresh && part == 0) {
        sum = sum * scale;
        if (NEAR) publish_near(near + (k - beginning), sum);
        publish(work.unknowns + k, sum);
        if (k >= A.lower && outside >= 0) x[outside] = sum;
      }
      published = published || fresh;
    }
    if (NEAR) __syncthreads();
  }
}

PetscErrorCode Sweep::SetValues(const Scalar *values, Stream stream)
{
  const PetscCount entries = static_cast<PetscCount>(a_.size()), pieces = layout_.pieces;

  PetscFunctionBegin;
  if (pieces == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  values_kernel<<<Blocks(entries > pieces ? entries : pieces), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      entries, layout_.pieces, layout_, values);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PresetSweep(PetscCount unknowns, const SweepWork &work, Stream stream)
{
  PetscFunctionBegin;
  preset_kernel<<<Blocks(unknowns), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(unknowns, work.unknowns,
                                                                                     work.ticket);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int WARPS> static PetscErrorCode Launch(const SweepLayout &A, PetscInt warps, const Scalar *b, Scalar *x,
                                                  const SweepWork &work, Stream stream)
{
  const PetscInt tiles = (A.slices + WARPS - 1) / WARPS, wanted = (warps + WARPS - 1) / WARPS;

  PetscFunctionBegin;
  PetscCall(PresetSweep(A.pieces, work, stream));
  sweep_kernel<WARPS>
      <<<static_cast<unsigned>(tiles < wanted ? tiles : wanted), WARPS * 32, 0, static_cast<cudaStream_t>(stream)>>>(
          A, b, x, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  if (layout_.pieces == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  // measured: docs/performance.md
  const PetscInt levels = lower_levels + upper_levels;
  const PetscInt tile   = options.tile ? options.tile : layout_.pieces / levels < 128 ? 8 : 1;
  const PetscInt warps  = options.warps ? options.warps : (tile == 32 ? 32 : 8) * multiprocessors;
  if (count != 1) {
    PetscCall(SolveMany(count, b, ldb, x, ldx, warps, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(unknowns_.Reserve(static_cast<size_t>(layout_.pieces) * sizeof(Scalar)));
  const SweepWork work{static_cast<Scalar *>(unknowns_.data()), ticket_.data(), stuck(), options.spins};
  const auto      launch = tile == 1 ? Launch<1> : tile == 8 ? Launch<8> : Launch<32>;
  PetscCall((*launch)(layout_, warps, b, x, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
