/// The sweeps over large fronts with one column: a block takes the next tile of rows by ticket; its warps share the
/// columns before it.
#include "pc/lu/sweep.cuh"

namespace sparsegpu::lu
{

static constexpr int SHARE = LU_TILE / WARPS; ///< columns of a tile that a warp of a block takes

/// sum of the warps' parts, to the lanes of warp 0. All threads must call; part [WARPS][32] is shared.
template <class Number> static __device__ Number SumWarps(const Number &own, Number (*part)[32])
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  part[warp][lane] = own;
  __syncthreads();
  Number sum = part[0][lane];
#pragma unroll
  for (int w = 1; w < WARPS; w++) sum += part[w][lane];
  return sum;
}

template <Way way, class Number> static __global__ void __launch_bounds__(THREADS)
    forward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ Number             part[WARPS][32];
  __shared__ unsigned long long claimed;
  constexpr bool                transpose = way == Way::Transposed;
  const int                     lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (;;) {
    if (threadIdx.x == 0) claimed = atomicAdd(W.report->ticket + launch, 1ull);
    __syncthreads();
    if (claimed >= static_cast<unsigned long long>(count)) return;
    const SolveItem            item = items[claimed];
    const PetscInt             f = item.front, first = V.first[f];
    const PetscCount           row_begin = V.row_begin[f];
    const Factors<way, Number> F         = FactorsOf<way, Number>(V, f, W);
    const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
    const PetscInt             tiles = (p + LU_TILE - 1) / LU_TILE;
    const bool                 own   = item.tile < tiles; // a tile of pivots
    const PetscInt             begin = own ? item.tile * LU_TILE : p + (item.tile - tiles) * LU_TILE;
    const PetscInt             i = begin + lane, limit = own ? p : m, before = own ? item.tile : tiles;
    const bool                 active = i < limit;
    Number                     sum(0), v(0), inverse(1), triangle[LU_TILE], gathered[1] = {Number(0)};

    if (warp == 0) {
      if (own) {
#pragma unroll
        for (int k = 0; k < LU_TILE; k++) triangle[k] = active && k < lane ? F.Forward(i, begin + k, begin) : Number(0);
        if (transpose && active) inverse = Inverse(F.Pivot(i));
      }
      if (active) Gather<way>(V, first, row_begin, p, i, launch, W, 0, gathered);
      v = gathered[0];
      __syncwarp();
      if (way == Way::Paired) v = TurnLanes<false>(CodeOf<way>(W, first, i, active && own), v);
    }
    for (PetscInt tile = 0; tile < before; tile++) {
      const PetscInt k0 = tile * LU_TILE + warp * SHARE;
      Number         entry[SHARE], x(0);
#pragma unroll
      for (int u = 0; u < SHARE; u++)
        entry[u] = active && k0 + u < p ? F.Forward(i, k0 + u, tile * LU_TILE) : Number(0);
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
          const Number x = shuffle(v * inverse, k);
          if (lane > k) v = v - triangle[k] * x;
          if (transpose && lane == k) v = x;
        }
        if (active) publish(W.y + first + i, v);
      } else if (active) {
        publish(W.parts + row_begin + i - p, v);
      }
    }
    __syncthreads(); // part and the ticket are reused by the next item
  }
}

template <Way way, class Number> static __global__ void __launch_bounds__(THREADS)
    backward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ Number             part[WARPS][32];
  __shared__ unsigned long long claimed;
  constexpr bool                transpose = way == Way::Transposed, half = IsHalf(way), paired = way == Way::Paired;
  const int                     lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (;;) {
    if (threadIdx.x == 0) claimed = atomicAdd(W.report->ticket + launch, 1ull);
    __syncthreads();
    if (claimed >= static_cast<unsigned long long>(count)) return;
    const SolveItem            item = items[claimed];
    const PetscInt             f = item.front, first = V.first[f];
    const PetscInt            *row = V.row + V.row_begin[f];
    const Factors<way, Number> F   = FactorsOf<way, Number>(V, f, W);
    const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
    const PetscInt             begin = item.tile * LU_TILE, i = begin + lane;
    const bool                 active = i < p;
    Number                     sum(0), v(0), inverse(1), triangle[LU_TILE];

    if (warp == 0) {
#pragma unroll
      for (int k = 0; k < LU_TILE; k++)
        triangle[k] = k > lane && begin + k < p ? F.Backward(i, begin + k, begin) : Number(0);
      if (!transpose && active) inverse = Inverse(F.Pivot(i));
      if (active) v = W.y[first + i];
      if (half) {
        v       = v * inverse;
        inverse = Number(1);
      }
    }
    for (PetscInt k0 = p + warp * SHARE; k0 < m; k0 += LU_TILE) { // the others' unknowns have long been there
      Number entry[SHARE], x(0);
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = active && k0 + u < m ? F.Backward(i, k0 + u, begin) : Number(0);
      if (lane < SHARE && k0 + lane < m)
        x = Await(W.x + row[k0 + lane - p], W.spins, W.report->ticket + launch, W.report);
      __syncwarp();
#pragma unroll
      for (int u = 0; u < SHARE; u++) sum = sum + entry[u] * shuffle(x, u);
    }
    for (PetscInt tile = (p - 1) / LU_TILE; tile > item.tile; tile--) {
      const PetscInt k0 = tile * LU_TILE + warp * SHARE;
      Number         entry[SHARE], x(0);
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = k0 + u < p ? F.Backward(i, k0 + u, begin) : Number(0);
      if (lane < SHARE && k0 + lane < p) {
        const PetscInt k = k0 + lane;
        x                = Await((paired ? W.turned : W.x) + first + (transpose ? W.local_row[first + k] : k), W.spins,
                                 W.report->ticket + launch, W.report);
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
        const Number x = shuffle(v * inverse, k);
        if (lane < k) v = v - triangle[k] * x;
        if (lane == k) v = x;
      }
      if (paired && active) publish(W.turned + first + i, v);
      if (paired) v = TurnLanes<true>(CodeOf<way>(W, first, i, active), v);
      if (active) publish(W.x + first + (transpose || paired ? W.local_row[first + i] : i), v);
    }
    __syncthreads(); // part and the ticket are reused by the next item
  }
}

template <Way way, class Number> static PetscErrorCode Sweep(const FrontsView &V, const SolveLists &L, bool forward,
                                                             const LuSolution<Number> &W, cudaStream_t s)
{
  unsigned blocks;

  PetscFunctionBegin;
  if (forward) {
    PetscCall(Blocks(forward_large_kernel<way, Number>, L.forward_count, 1, &blocks));
    forward_large_kernel<way, Number><<<blocks, THREADS, 0, s>>>(V, L.forward, L.forward_count, 1, W);
  } else {
    PetscCall(Blocks(backward_large_kernel<way, Number>, L.backward_count, 1, &blocks));
    backward_large_kernel<way, Number><<<blocks, THREADS, 0, s>>>(V, L.backward, L.backward_count, 2, W);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode SweepLargeFronts_CUDA(const FrontsView &fronts, const SolveLists &lists,
                                                             bool forward, bool transpose,
                                                             const LuSolution<Number> &work, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (lists.forward_count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (fronts.shape != Shape::General)
    PetscCall(work.pair ? Sweep<Way::Paired>(fronts, lists, forward, work, s)
                        : Sweep<Way::Half>(fronts, lists, forward, work, s));
  else
    PetscCall(transpose ? Sweep<Way::Transposed>(fronts, lists, forward, work, s)
                        : Sweep<Way::Plain>(fronts, lists, forward, work, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode SweepLargeFronts_CUDA(const FrontsView &, const SolveLists &, bool, bool,
                                              const LuSolution<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SweepLargeFronts_CUDA(const FrontsView &, const SolveLists &, bool, bool,
                                              const LuSolution<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
