/// Solves with the factors without any barrier between fronts: every unknown, and every part that a front leaves to its
/// parent, is its own flag (see poll.cuh). Warps take small fronts by ticket, blocks take tiles of large ones, in an
/// order in which the oldest can always go on. Bitwise reproducible.
#include "device/limits.hpp"
#include "pc/lu/fronts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int WARPS = 4, THREADS = 32 * WARPS;   ///< of a block
static constexpr int ROWS  = (LARGEST_SMALL + 31) / 32; ///< of a small front that a lane has
static constexpr int AHEAD = 8;                         ///< columns whose entries are loaded before they are used
static constexpr int SHARE = LU_TILE / WARPS;           ///< columns of a tile that a warp of a block takes

namespace
{
/// What the two sweeps multiply with. Forward: x_k is taken from row i > k; backward: from row i < k.
template <bool transpose> struct Factors {
  const Scalar *lower, *upper;
  PetscCount    p, m;

  __device__ const Scalar *U(PetscCount i, PetscCount k) const
  {
    return k < p ? lower + i + k * m : upper + i + (k - p) * p;
  }
  __device__ Scalar Forward(PetscCount i, PetscCount k) const { return transpose ? *U(k, i) : lower[i + k * m]; }
  __device__ Scalar Backward(PetscCount i, PetscCount k) const { return transpose ? lower[k + i * m] : *U(i, k); }
  __device__ Scalar Pivot(PetscCount k) const { return lower[k + k * m]; }
};
template <bool transpose> __device__ Factors<transpose> FactorsOf(const FrontsView &V, PetscInt f, const LuSolution &W)
{
  const PetscInt p = V.first[f + 1] - V.first[f], r = static_cast<PetscInt>(V.row_begin[f + 1] - V.row_begin[f]);
  return Factors<transpose>{W.values + V.lower[f], W.values + V.upper[f], p, p + r};
}
} // namespace

/// The next ticket, the same in all lanes.
static __device__ __forceinline__ unsigned long long TakeTicket(unsigned long long *ticket)
{
  unsigned long long t = 0;
  if (threadIdx.x % 32 == 0) t = atomicAdd(ticket, 1ull);
  return __shfl_sync(ALL_LANES, t, 0);
}

/// Row a of a front before its own elimination: its right-hand side, if it is a pivot's, and what the children leave.
/// Without `transpose` rows have changed places within their tiles.
template <bool transpose> static __device__ Scalar Gather(const FrontsView &V, PetscInt first, PetscCount row_begin,
                                                          PetscInt p, PetscInt a, int launch, const LuSolution &W)
{
  const PetscInt   from   = a < p && !transpose ? W.local_row[first + a] : a;
  const PetscCount number = first + row_begin + from;
  Scalar           v      = a < p ? W.b[first + from] : Scalar(0);
  for (PetscInt s = V.source_begin[number]; s < V.source_begin[number + 1]; s++)
    v += Await(W.parts + V.source[s], W.spins, W.report->ticket + launch, W.report);
  return v;
}

template <bool transpose> static __global__ void __launch_bounds__(THREADS)
    forward_small_kernel(FrontsView V, const PetscInt *list, PetscInt count, int launch, LuSolution W)
{
  const int lane = threadIdx.x % 32;

  for (;;) {
    const unsigned long long t = TakeTicket(W.report->ticket + launch);
    if (t >= static_cast<unsigned long long>(count)) return;
    const PetscInt           f = list[t], first = V.first[f];
    const PetscCount         row_begin = V.row_begin[f];
    const Factors<transpose> F         = FactorsOf<transpose>(V, f, W);
    const int                p = static_cast<int>(F.p), m = static_cast<int>(F.m);
    Scalar                   v[ROWS], inverse[ROWS];
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      inverse[q]  = transpose && a < p ? Inverse(F.Pivot(a)) : Scalar(1);
      v[q]        = a < m ? Gather<transpose>(V, first, row_begin, p, a, launch, W) : Scalar(0);
    }
    __syncwarp();
    for (int k0 = 0; k0 < p; k0 += AHEAD) {
      Scalar entry[AHEAD][ROWS];
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q, k = k0 + u;
          entry[u][q] = a > k && k < p && a < m ? F.Forward(a, k) : Scalar(0);
        }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int k = k0 + u;
        if (k >= p) break;
        Scalar own = held(v[0] * inverse[0]);
#pragma unroll
        for (int q = 1; q < ROWS; q++) {
          const Scalar other = held(v[q] * inverse[q]);
          own                = k / 32 == q ? other : own;
        }
        const Scalar x = shuffle(own, k % 32);
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q;
          if (a > k) v[q] = v[q] - entry[u][q] * x; // others than those must not catch what is not a number
          if (transpose && a == k) v[q] = x;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      if (a < p)
        publish(W.y + first + a, v[q]);
      else if (a < m)
        publish(W.parts + row_begin + a - p, v[q]);
    }
  }
}

template <bool transpose> static __global__ void __launch_bounds__(THREADS)
    backward_small_kernel(FrontsView V, const PetscInt *list, PetscInt count, int launch, LuSolution W)
{
  const int lane = threadIdx.x % 32;

  for (;;) {
    const unsigned long long t = TakeTicket(W.report->ticket + launch);
    if (t >= static_cast<unsigned long long>(count)) return;
    const PetscInt           f = list[count - 1 - static_cast<PetscInt>(t)], first = V.first[f];
    const PetscInt          *row = V.row + V.row_begin[f];
    const Factors<transpose> F   = FactorsOf<transpose>(V, f, W);
    const int                p = static_cast<int>(F.p), m = static_cast<int>(F.m);
    Scalar                   v[ROWS], inverse[ROWS];
#pragma unroll
    for (int q = 0; q < ROWS; q++) { // pivots' unknowns so far, and the others', as lanes have them
      const int a = lane + 32 * q;
      inverse[q]  = !transpose && a < p ? Inverse(F.Pivot(a)) : Scalar(1);
      v[q]        = a < p   ? W.y[first + a]
                    : a < m ? Await(W.x + row[a - p], W.spins, W.report->ticket + launch, W.report)
                            : Scalar(0);
    }
    __syncwarp();
    for (int k0 = (m - 1) / AHEAD * AHEAD; k0 >= 0; k0 -= AHEAD) {
      Scalar entry[AHEAD][ROWS];
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q, k = k0 + u;
          entry[u][q] = a < k && k < m && a < p ? F.Backward(a, k) : Scalar(0);
        }
#pragma unroll
      for (int u = AHEAD - 1; u >= 0; u--) {
        const int k = k0 + u;
        if (k >= m) continue;
        Scalar own = held(v[0] * inverse[0]);
#pragma unroll
        for (int q = 1; q < ROWS; q++) {
          const Scalar other = held(v[q] * inverse[q]);
          own                = k / 32 == q ? other : own;
        }
        const Scalar x = shuffle(own, k % 32);
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int a = lane + 32 * q;
          if (a < k && a < p) v[q] = v[q] - entry[u][q] * x;
          if (a == k) v[q] = x;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      const int a = lane + 32 * q;
      if (a < p) publish(W.x + first + (transpose ? W.local_row[first + a] : a), v[q]);
    }
  }
}

/// sum of the warps' parts, to the lanes of warp 0. All threads must call; part [WARPS][32] is shared.
static __device__ Scalar SumWarps(const Scalar &own, Scalar (*part)[32])
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  part[warp][lane] = own;
  __syncthreads();
  Scalar sum = part[0][lane];
#pragma unroll
  for (int w = 1; w < WARPS; w++) sum += part[w][lane];
  return sum;
}

template <bool transpose> static __global__ void __launch_bounds__(THREADS)
    forward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution W)
{
  __shared__ Scalar             part[WARPS][32];
  __shared__ unsigned long long claimed;
  const int                     lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (;;) {
    if (threadIdx.x == 0) claimed = atomicAdd(W.report->ticket + launch, 1ull);
    __syncthreads();
    if (claimed >= static_cast<unsigned long long>(count)) return;
    const SolveItem          item = items[claimed];
    const PetscInt           f = item.front, first = V.first[f];
    const PetscCount         row_begin = V.row_begin[f];
    const Factors<transpose> F         = FactorsOf<transpose>(V, f, W);
    const PetscInt           p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
    const PetscInt           tiles = (p + LU_TILE - 1) / LU_TILE;
    const bool               own   = item.tile < tiles; // a tile of pivots
    const PetscInt           begin = own ? item.tile * LU_TILE : p + (item.tile - tiles) * LU_TILE;
    const PetscInt           i = begin + lane, limit = own ? p : m, before = own ? item.tile : tiles;
    const bool               active = i < limit;
    Scalar                   sum(0), v(0), inverse(1), triangle[LU_TILE];

    if (warp == 0) {
      if (own) {
#pragma unroll
        for (int k = 0; k < LU_TILE; k++) triangle[k] = active && k < lane ? F.Forward(i, begin + k) : Scalar(0);
        if (transpose && active) inverse = Inverse(F.Pivot(i));
      }
      if (active) v = Gather<transpose>(V, first, row_begin, p, i, launch, W);
      __syncwarp();
    }
    for (PetscInt tile = 0; tile < before; tile++) {
      const PetscInt k0 = tile * LU_TILE + warp * SHARE;
      Scalar         entry[SHARE], x(0);
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = active && k0 + u < p ? F.Forward(i, k0 + u) : Scalar(0);
      if (lane < SHARE && k0 + lane < p)
        x = Await(W.y + first + k0 + lane, W.spins, W.report->ticket + launch, W.report);
      __syncwarp();
#pragma unroll
      for (int u = 0; u < SHARE; u++) sum = sum + entry[u] * shuffle(x, u);
    }
    sum = SumWarps(sum, part);
    if (warp == 0) {
      v = v - sum;
      if (own) {
#pragma unroll
        for (int k = 0; k < LU_TILE; k++) {
          const Scalar x = shuffle(v * inverse, k);
          if (lane > k) v = v - triangle[k] * x;
          if (transpose && lane == k) v = x;
        }
        if (active) publish(W.y + first + i, v);
      } else if (active) {
        publish(W.parts + row_begin + i - p, v);
      }
    }
    __syncthreads(); // part and the ticket are the next one's
  }
}

template <bool transpose> static __global__ void __launch_bounds__(THREADS)
    backward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution W)
{
  __shared__ Scalar             part[WARPS][32];
  __shared__ unsigned long long claimed;
  const int                     lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (;;) {
    if (threadIdx.x == 0) claimed = atomicAdd(W.report->ticket + launch, 1ull);
    __syncthreads();
    if (claimed >= static_cast<unsigned long long>(count)) return;
    const SolveItem          item = items[claimed];
    const PetscInt           f = item.front, first = V.first[f];
    const PetscInt          *row = V.row + V.row_begin[f];
    const Factors<transpose> F   = FactorsOf<transpose>(V, f, W);
    const PetscInt           p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
    const PetscInt           begin = item.tile * LU_TILE, i = begin + lane;
    const bool               active = i < p;
    Scalar                   sum(0), v(0), inverse(1), triangle[LU_TILE];

    if (warp == 0) {
#pragma unroll
      for (int k = 0; k < LU_TILE; k++) triangle[k] = k > lane && begin + k < p ? F.Backward(i, begin + k) : Scalar(0);
      if (!transpose && active) inverse = Inverse(F.Pivot(i));
      if (active) v = W.y[first + i];
    }
    for (PetscInt k0 = p + warp * SHARE; k0 < m; k0 += LU_TILE) { // the others' unknowns have long been there
      Scalar entry[SHARE], x(0);
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = active && k0 + u < m ? F.Backward(i, k0 + u) : Scalar(0);
      if (lane < SHARE && k0 + lane < m)
        x = Await(W.x + row[k0 + lane - p], W.spins, W.report->ticket + launch, W.report);
      __syncwarp();
#pragma unroll
      for (int u = 0; u < SHARE; u++) sum = sum + entry[u] * shuffle(x, u);
    }
    for (PetscInt tile = (p - 1) / LU_TILE; tile > item.tile; tile--) {
      const PetscInt k0 = tile * LU_TILE + warp * SHARE;
      Scalar         entry[SHARE], x(0);
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = k0 + u < p ? F.Backward(i, k0 + u) : Scalar(0);
      if (lane < SHARE && k0 + lane < p) {
        const PetscInt k = k0 + lane;
        x = Await(W.x + first + (transpose ? W.local_row[first + k] : k), W.spins, W.report->ticket + launch, W.report);
      }
      __syncwarp();
#pragma unroll
      for (int u = 0; u < SHARE; u++) sum = sum + entry[u] * shuffle(x, u);
    }
    sum = SumWarps(sum, part);
    if (warp == 0) {
      v = v - sum;
#pragma unroll
      for (int k = LU_TILE - 1; k >= 0; k--) {
        const Scalar x = shuffle(v * inverse, k);
        if (lane < k) v = v - triangle[k] * x;
        if (lane == k) v = x;
      }
      if (active) publish(W.x + first + (transpose ? W.local_row[first + i] : i), v);
    }
    __syncthreads(); // part and the ticket are the next one's
  }
}

/// As many blocks as run at a time, or as there is work for.
template <class Kernel> static PetscErrorCode Blocks(Kernel *kernel, PetscInt wanted, unsigned *blocks)
{
  PetscInt resident;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks(reinterpret_cast<const void *>(kernel), THREADS, 0, &resident));
  *blocks = static_cast<unsigned>(PetscMax(1, PetscMin(wanted, resident)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool transpose>
static PetscErrorCode Sweeps(const FrontsView &V, const SolveLists &L, const LuSolution &W, cudaStream_t s)
{
  const PetscInt warps = (L.small_count + WARPS - 1) / WARPS;
  unsigned       blocks;

  PetscFunctionBegin;
  if (L.small_count > 0) {
    PetscCall(Blocks(forward_small_kernel<transpose>, warps, &blocks));
    forward_small_kernel<transpose><<<blocks, THREADS, 0, s>>>(V, L.small, L.small_count, 0, W);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  if (L.forward_count > 0) {
    PetscCall(Blocks(forward_large_kernel<transpose>, L.forward_count, &blocks));
    forward_large_kernel<transpose><<<blocks, THREADS, 0, s>>>(V, L.forward, L.forward_count, 1, W);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(Blocks(backward_large_kernel<transpose>, L.backward_count, &blocks));
    backward_large_kernel<transpose><<<blocks, THREADS, 0, s>>>(V, L.backward, L.backward_count, 2, W);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  if (L.small_count > 0) {
    PetscCall(Blocks(backward_small_kernel<transpose>, warps, &blocks));
    backward_small_kernel<transpose><<<blocks, THREADS, 0, s>>>(V, L.small, L.small_count, 3, W);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LuSweeps_CUDA(const FrontsView &fronts, const SolveLists &lists, bool transpose, const LuSolution &work,
                             Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  PetscCall(transpose ? Sweeps<true>(fronts, lists, work, s) : Sweeps<false>(fronts, lists, work, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
