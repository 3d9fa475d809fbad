/// The default triangular solve on the GPU: one launch in which slices of short row pieces poll for the unknowns that
/// they need.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/segmented.cuh"
#include "pc/trisolve/poll.cuh"
#include "pc/trisolve/sweep.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static constexpr unsigned ALL = 0xffffffffu;

/// Presets all unknowns to "not yet" and the counters to 0.
static __global__ void preset_kernel(PetscCount count, Scalar *unknowns, unsigned *ticket)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k < count) unknowns[k] = NotYet();
  if (k < 2) ticket[k] = 0;
}

static __global__ void values_kernel(PetscCount entries, PetscInt pieces, SweepLayout A, const Scalar *values)
{
  const PetscCount e = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (e < entries) {
    const Scalar value = A.from[e] >= 0 ? values[A.from[e]] : A.j[e] >= 0 ? Scalar(-1) : Scalar(0);
    if (A.a)
      A.a[e] = value;
    else
      A.single[e] = Narrow(value);
  }
  if (e < pieces) A.scale[e] = A.pivot[e] >= 0 ? values[A.pivot[e]] : Scalar(1);
}

constexpr int BATCH = 4;

/// A few entries of a lane, fetched well before the unknowns they multiply are known.
struct Batch {
  PetscInt j[BATCH]; ///< -1: none, and none after it
  Scalar   a[BATCH];

  __device__ __forceinline__ void Load(const SweepLayout &A, PetscCount at, int stride, PetscCount end)
  {
#pragma unroll
    for (int q = 0; q < BATCH; q++, at += stride) {
      j[q] = at < end ? A.j[at] : -1;
      a[q] = at < end ? A.Value(at) : Scalar(0);
    }
  }
};

/// A lane at work.
struct Lane {
  PetscInt   k;          ///< unknown
  PetscCount at, end;    ///< next entry to fetch, end of the slice's
  int        lanes;      ///< of the slice
  PetscInt   outside;    ///< as in SweepLayout
  PetscInt   beginning;  ///< unknowns from here on are near
  Scalar     scale, sum; ///< of the result; so far
  bool       finished;   ///< nothing to do, or no longer
};

__device__ __forceinline__ void Tell(const SweepLayout &A, const Lane &l, Scalar value, Scalar *x, Scalar *near,
                                     const SweepWork &work)
{
  if (near) publish_near(near + (l.k - l.beginning), value);
  publish(work.unknowns + l.k, value);
  if (l.k >= A.lower && l.outside >= 0) x[l.outside] = value;
}

/// A slice by a warp. In each turn of the loop a lane looks at all unknowns of its batch that it does not have yet, all
/// at once; it never waits for a neighbour, so that pieces of one warp may need each other. The path from the
/// arrival of the last value to the result is as short as possible: it determines the time of a solve. Pieces of
/// 2^WIDTH lanes: the first of them has the entries that come last, and adds what the others have summed up meanwhile.
/// NEAR: unknowns of the block's tile come through shared memory.
template <int WIDTH, bool NEAR>
__device__ __forceinline__ void SolveSlice(const SweepLayout &A, Lane l, Scalar *x, Scalar *near, const SweepWork &work)
{
  const int          lane     = threadIdx.x % 32;
  constexpr bool     WIDE     = WIDTH > 0;
  constexpr unsigned LEADERS  = WIDTH == 0   ? ALL
                                : WIDTH == 1 ? 0x55555555u
                                : WIDTH == 2 ? 0x11111111u
                                : WIDTH == 3 ? 0x01010101u
                                : WIDTH == 4 ? 0x00010001u
                                             : 1u; ///< the first lane of each piece
  const bool         leader   = LEADERS >> lane & 1;
  bool               complete = !WIDE;     // the sums of the piece's other lanes are known
  bool               lacks    = true;      // a value that is not near
  unsigned           gathered = 0;         // leaders of pieces that are complete
  Scalar             others   = Scalar(0); // those sums
  Patience           patience;
  Batch              batch, next;
  Scalar             v[BATCH];
  const auto         tell = [&]() { // at once: the shorter the way from here, the faster the solve
    if (!WIDE)
      Tell(A, l, l.sum * l.scale, x, NEAR ? near : nullptr, work);
    else if (complete && leader)
      Tell(A, l, (l.sum + others) * l.scale, x, NEAR ? near : nullptr, work);
  };

  batch.Load(A, l.at, l.lanes, l.end);
  next.Load(A, l.at + BATCH * l.lanes, l.lanes, l.end);
  if (batch.j[0] < 0 && !WIDE && !l.finished) tell();
  l.finished = l.finished || batch.j[0] < 0;
#pragma unroll
  for (int q = 0; q < BATCH; q++) v[q] = batch.j[q] >= 0 ? NotYet() : Scalar(0);

  for (;;) {
    const bool far = !NEAR || __any_sync(ALL, lacks && !l.finished); // else a turn takes no longer than shared memory
    if (!l.finished) {
      bool ready = true;
      if (far) {
#pragma unroll
        for (int q = 0; q < BATCH; q++) // all on their way before the first is looked at
          if (IsMissing(v[q]) && (!NEAR || batch.j[q] < l.beginning)) v[q] = poll(work.unknowns + batch.j[q]);
        lacks = false;
#pragma unroll
        for (int q = 0; q < BATCH; q++) lacks = lacks || (IsMissing(v[q]) && batch.j[q] < l.beginning);
      }
      if (NEAR) {
#pragma unroll
        for (int q = 0; q < BATCH; q++)
          if (IsMissing(v[q]) && batch.j[q] >= l.beginning) v[q] = poll_near(near + (batch.j[q] - l.beginning));
      }
#pragma unroll
      for (int q = 0; q < BATCH; q++) ready = ready && !IsMissing(v[q]);
      if (ready) {
        l.sum = l.sum - ((batch.a[0] * v[0] + batch.a[1] * v[1]) + (batch.a[2] * v[2] + batch.a[3] * v[3]));
        if (next.j[0] < 0) {
          l.finished = true;
          tell();
        } else {
          batch = next;
          l.at += BATCH * l.lanes;
          next.Load(A, l.at + BATCH * l.lanes, l.lanes, l.end);
#pragma unroll
          for (int q = 0; q < BATCH; q++) v[q] = batch.j[q] >= 0 ? NotYet() : Scalar(0);
          lacks          = true;
          patience.polls = 0;
        }
      } else if (patience.Ends(work.spins, work.ticket + (NEAR ? 1 : 0), work.stuck)) {
        *static_cast<volatile int *>(work.stuck) = 1;
        l.sum                                    = GivenUp(); // visible in x, too
        l.finished                               = true;
        tell();
      }
    }
    const unsigned done = __ballot_sync(ALL, l.finished);
    if constexpr (!WIDE) {
      if (done == ALL) return;
    } else {
      unsigned rest = done | LEADERS;
#pragma unroll
      for (int step = 1; step < 1 << WIDTH; step *= 2) rest &= rest >> step; // at leaders: all others of the piece
      const unsigned fresh = rest & LEADERS & ~gathered;
      if (fresh) {
        Scalar total = leader ? Scalar(0) : l.sum;
#pragma unroll
        for (int step = (1 << WIDTH) / 2; step > 0; step /= 2) total = total + shuffle_xor(total, step, 32);
        if (fresh >> lane & 1) {
          others   = total;
          complete = true;
          if (l.finished && lane < l.lanes) tell();
        }
        gathered |= fresh;
      }
      if (gathered == LEADERS && (done & LEADERS) == LEADERS) return;
    }
  }
}

/// A lane, or a few, per piece. Blocks take tiles, WARPS slices that follow each other, by ticket in the order of their
/// levels, so that all that earlier tickets cover is running or done whatever order blocks are dispatched in: the
/// oldest piece can always go on, and no solve hangs. Sums run in a fixed order: bitwise reproducible.
template <int WARPS> static __global__ void __launch_bounds__(WARPS * 32)
    sweep_kernel(SweepLayout A, const Scalar *b, Scalar *x, SweepWork work)
{
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
    const PetscCount s = tile + (NEAR ? threadIdx.x / 32 : 0);
    if (s < A.slices) {
      Lane           l;
      const PetscInt first = A.first[s];
      l.beginning          = A.first[tile];
      const int width      = A.width[s];
      l.lanes              = static_cast<int>(A.first[s + 1] - first) << width;
      l.finished           = lane >= l.lanes;
      l.k                  = first + (lane >> width);
      l.end                = A.base[s + 1];
      l.at                 = l.finished ? l.end : A.base[s] + lane;
      l.outside            = l.finished ? -1 : A.outside[l.k];
      l.scale              = l.finished ? Scalar(1) : A.scale[l.k];
      l.sum =
          !l.finished && l.k < A.lower && l.outside >= 0 && (lane & ((1 << width) - 1)) == 0 ? b[l.outside] : Scalar(0);
      switch (width) {
      case 0: SolveSlice<0, NEAR>(A, l, x, near, work); break;
      case 1: SolveSlice<1, NEAR>(A, l, x, near, work); break;
      case 2: SolveSlice<2, NEAR>(A, l, x, near, work); break;
      case 3: SolveSlice<3, NEAR>(A, l, x, near, work); break;
      case 4: SolveSlice<4, NEAR>(A, l, x, near, work); break;
      default: SolveSlice<5, NEAR>(A, l, x, near, work);
      }
      // the next ticket is far: a tile may be a chain of all its pieces, and polls of shared memory are fast
      if (NEAR && lane == 0) atomicAdd(work.ticket + 1, 1u);
    }
    if (NEAR) __syncthreads();
  }
}

PetscErrorCode Sweep::SetValues(const Scalar *values, Stream stream)
{
  const PetscCount entries = static_cast<PetscCount>(from_.size()), pieces = layout_.pieces;

  PetscFunctionBegin;
  PetscCall(CheckStuck());
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
  const PetscInt tile   = options.tile ? options.tile : layout_.slices / levels < 4 ? 8 : 1;
  const PetscInt ahead  = 4 * (layout_.slices / levels); // a few levels; bounds the polling traffic
  const PetscInt warps =
      options.warps ? options.warps : PetscMin(PetscMax(ahead, 2 * multiprocessors), 32 * multiprocessors);
  if (count != 1) {
    PetscCall(SolveMany(count, b, ldb, x, ldx, options.warps ? warps : 16 * multiprocessors, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(unknowns_.Reserve(static_cast<size_t>(layout_.pieces) * sizeof(Scalar)));
  const SweepWork work{static_cast<Scalar *>(unknowns_.data()), ticket_.data(), stuck(), Spins(options.spins)};
  const auto      launch = tile == 8 ? Launch<8> : tile == 4 ? Launch<4> : Launch<1>;
  PetscCall((*launch)(layout_, warps, b, x, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
