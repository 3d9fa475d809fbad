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
/// each other. What lies in the same tile is passed through shared memory. Sums run in a fixed order: bitwise
/// reproducible.
template <int RHS, int WARPS> static __global__ void __launch_bounds__(WARPS * 32)
    sweep_kernel(SweepLayout A, PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, SweepWork work)
{
  constexpr int       SIZE = RHS == 1 ? 4 : 2;
  __shared__ Scalar   near[WARPS * 32 * RHS];
  __shared__ unsigned claimed;
  const int           lane = threadIdx.x % 32;

  for (;;) {
    if (threadIdx.x == 0) claimed = atomicAdd(work.ticket, 1u);
#pragma unroll
    for (int c = 0; c < RHS; c++) publish_flag(near + threadIdx.x + c * WARPS * 32);
    if (WARPS > 1)
      __syncthreads();
    else
      __syncwarp();
    const PetscCount tile = static_cast<PetscCount>(claimed) * WARPS, s = tile + threadIdx.x / 32;
    if (tile >= A.slices) return;
    const PetscInt   beginning = A.first[tile]; // unknowns from here on are near
    const bool       any       = s < A.slices;
    const PetscInt   first = any ? A.first[s] : 0, pieces = any ? A.first[s + 1] - first : 0;
    const int        width = any ? A.width[s] : 0, lanes = pieces << width, part = lane & ((1 << width) - 1);
    const PetscInt   k         = first + (lane >> width);
    PetscCount       at        = (any ? A.base[s] : 0) + lane;
    const PetscCount end       = any ? A.base[s + 1] : 0;
    bool             published = lane >= lanes, finished = published;
    const PetscInt   outside = published ? -1 : A.outside[k];
    const Scalar     scale   = published ? Scalar(1) : A.scale[k];
    const unsigned   group   = width == 5 ? ALL : ((1u << (1 << width)) - 1) << (lane - part);
    Scalar           sum[RHS], v[SIZE][RHS];
    Batch<SIZE>      batch, next;
    long long        polls = 0;

    if (published) at = end;
    batch.Load(A, at, lanes, end);
    next.Load(A, at + static_cast<PetscCount>(SIZE) * lanes, lanes, end);
    if (batch.j[0] < 0) finished = true;
#pragma unroll
    for (int c = 0; c < RHS; c++) {
      sum[c] = k < A.lower && outside >= 0 && part == 0 && c < count ? b[outside + static_cast<PetscCount>(c) * ldb]
                                                                     : Scalar(0);
#pragma unroll
      for (int q = 0; q < SIZE; q++) v[q][c] = NotYet();
    }

    for (;;) {
      if (!finished) {
        bool ready = true;
#pragma unroll
        for (int q = 0; q < SIZE; q++)
#pragma unroll
          for (int c = 0; c < RHS; c++)
            if (batch.j[q] >= 0 && IsMissing(v[q][c]))
              v[q][c] = batch.j[q] >= beginning ? poll_near(near + (batch.j[q] - beginning) * RHS + c)
                                                : poll(work.unknowns + static_cast<PetscCount>(batch.j[q]) * RHS + c);
#pragma unroll
        for (int q = 0; q < SIZE; q++)
#pragma unroll
          for (int c = 0; c < RHS; c++) ready = ready && (batch.j[q] < 0 || !IsMissing(v[q][c]));
        if (ready) {
#pragma unroll
          for (int q = 0; q < SIZE; q++)
#pragma unroll
            for (int c = 0; c < RHS; c++) {
              if (batch.j[q] >= 0) sum[c] = sum[c] - batch.a[q] * v[q][c];
              v[q][c] = NotYet();
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
#pragma unroll
          for (int c = 0; c < RHS; c++) sum[c] = GivenUp(); // x tells, too
          finished = true;
        }
      }
      const unsigned all   = __ballot_sync(ALL, finished);
      const bool     fresh = !published && (all & group) == group;
      if (!__any_sync(ALL, fresh)) continue;
#pragma unroll
      for (int c = 0; c < RHS; c++) {
        Scalar total = sum[c];
        for (int mask = (1 << width) / 2; mask > 0; mask /= 2) total = total + shuffle_xor(total, mask, 32);
        if (!fresh || part != 0) continue;
        total = total * scale;
        publish_near(near + (k - beginning) * RHS + c, total);
        publish(work.unknowns + static_cast<PetscCount>(k) * RHS + c, total);
        if (k >= A.lower && outside >= 0 && c < count) x[outside + static_cast<PetscCount>(c) * ldx] = total;
      }
      published = published || fresh;
      if (__all_sync(ALL, published)) break;
    }
    if (WARPS > 1)
      __syncthreads();
    else
      __syncwarp();
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

template <int RHS, int WARPS> static PetscErrorCode Launch(const SweepLayout &A, PetscInt warps, PetscInt count,
                                                           const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                                           const SweepWork &work, cudaStream_t stream)
{
  const PetscInt tiles = (A.slices + WARPS - 1) / WARPS, wanted = (warps + WARPS - 1) / WARPS;

  PetscFunctionBegin;
  preset_kernel<<<Blocks(static_cast<PetscCount>(A.pieces) * RHS), THREADS, 0, stream>>>(
      static_cast<PetscCount>(A.pieces) * RHS, work.unknowns, work.ticket);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  sweep_kernel<RHS, WARPS><<<static_cast<unsigned>(tiles < wanted ? tiles : wanted), WARPS * 32, 0, stream>>>(
      A, count, b, ldb, x, ldx, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscInt           multiprocessors;

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  if (layout_.pieces == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt warps  = options.warps ? options.warps : 8 * multiprocessors; // measured: docs/performance.md
  const PetscInt levels = lower_levels + upper_levels;
  const PetscInt tile   = options.tile ? options.tile : layout_.pieces / levels < 128 ? 8 : 1;
  const PetscInt most   = count == 1 ? 1 : TOGETHER;
  PetscCall(unknowns_.Reserve(static_cast<size_t>(layout_.pieces) * most * sizeof(Scalar)));
  const SweepWork work{static_cast<Scalar *>(unknowns_.data()), ticket_.data(), stuck(), options.spins};
  for (PetscInt c = 0; c < count; c += most) {
    const auto launch = most == 1   ? tile == 1   ? Launch<1, 1>
                                      : tile == 8 ? Launch<1, 8>
                                                  : Launch<1, 32>
                          : tile == 1 ? Launch<TOGETHER, 1>
                                    : Launch<TOGETHER, 8>;
    PetscCall((*launch)(layout_, warps, count - c < most ? count - c : most, b + static_cast<PetscCount>(c) * ldb, ldb,
                        x + static_cast<PetscCount>(c) * ldx, ldx, work, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
