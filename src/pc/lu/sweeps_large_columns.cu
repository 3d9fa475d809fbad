/// The sweeps over large fronts with a block of columns: a thread block takes the next tile of rows by ticket and all
/// columns through it. A front whose pivots are all of one tile has its other rows taken along.
#include "pc/lu/swept_columns.cuh"

namespace sparsegpu::lu
{

constexpr int SWEPT_BLOCKS = 4; ///< that a multiprocessor has at a time at least: 128 registers a thread

/// Takes an item through L, or U^T.
template <Way way, class Number>
static __device__ __forceinline__ void GoForward(const FrontsView &V, const SolveItem &item, int launch,
                                                 const LuSolution<Number> &W, Shared<Number> &S)
{
  constexpr bool             transpose = way == Way::Transposed;
  const int                  lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool                 taken = warp * WARP_COLUMNS < W.columns; // the warp has right-hand sides
  const PetscCount           shift = warp * WARP_COLUMNS * W.stride;
  const PetscInt             f = item.front, first = V.first[f];
  const PetscCount           row_begin = V.row_begin[f];
  const Factors<way, Number> F         = FactorsOf<way, Number>(V, f, W);
  const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
  const PetscInt             tiles = Parts(p, LU_TILE);
  const bool                 own   = item.tile < tiles; // a tile of pivots
  const PetscInt             begin = own ? item.tile * LU_TILE : p + (item.tile - tiles) * LU_TILE;
  const PetscInt             i = begin + lane, limit = own ? p : m, before = own ? item.tile : tiles;
  const bool                 active = i < limit;
  const TileOrder<false>     order{static_cast<int>(PetscMin(limit - begin, LU_TILE))};
  Number                     sum[LU_COLUMNS], v[WARP_COLUMNS];

  if (own) {
    LoadTriangle(
        order, [&](int row, int k) { return F.Forward(begin + row, begin + k, begin); }, S);
    if (warp == 0) S.inverse[lane] = transpose && active ? Inverse(F.Pivot(i)) : Number(1);
    __syncthreads();
    if (tiles > 1 && warp == item.tile % WARPS) InvertTriangle(S.triangle, S.inverse);
  }
  Clear(sum);
  Clear(v);
  if (active && taken) Gather<way>(V, first, row_begin, p, i, launch, W, shift, v);
  __syncwarp();
  TurnColumns<way, false>(CodeOf<way>(W, first, i, active && own), v);
  for (PetscInt tile = 0; tile < before; tile++) {
    const PetscInt k0 = tile * LU_TILE + warp * SHARE, k = k0 + lane % SHARE;
    Number         entry[SHARE];
#pragma unroll
    for (int u = 0; u < SHARE; u++) entry[u] = active && k0 + u < p ? F.Forward(i, k0 + u, tile * LU_TILE) : Number(0);
    if (tile + 1 < before)
      FetchShare<!transpose, Number>(limit - begin, p - k0 - LU_TILE, [&](PetscInt r, PetscInt c) {
        return F.ForwardPlace(begin + r, k0 + LU_TILE + c, (tile + 1) * LU_TILE);
      });
    AddProducts(entry, W.y + first + k, k < p, launch, W, S.x[warp], sum);
  }
  SubtractSums(sum, &S, v);
  if (own && taken && tiles > 1) MultiplyInverse(order, S, v);
  if (own && taken && tiles == 1) Substitute(order, S, v);
  if (taken && active) Publish(shift + (own ? W.y + first + i : W.parts + row_begin + i - p), W.stride, v);
  if (!own || tiles > 1) return;
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) S.x[lane / SHARE][lane % SHARE][warp * WARP_COLUMNS + c] = v[c];
  __syncthreads();
  TakeAlong<way>(V, F, first, row_begin, launch, W, S);
}

/// Adds up, of rows begin ... of U or L^T, `count` tiles of columns, the last one first, as their unknowns come: those
/// from `from` on, of which those from `end` on are not there. Unknown index(k) is that of column k.
template <Way way, class Number, class Index>
static __device__ __forceinline__ void TakeBack(const Factors<way, Number> &F, PetscInt begin, PetscInt from,
                                                PetscInt count, PetscInt end, const Number *unknowns,
                                                const Index &index, int launch, const LuSolution<Number> &W,
                                                Shared<Number> &S, Number (&sum)[LU_COLUMNS])
{
  const int      lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const PetscInt p = static_cast<PetscInt>(F.p), i = begin + lane;
  PetscInt       k0 = from + (count - 1) * LU_TILE + warp * SHARE, k = k0 + lane % SHARE;
  PetscInt       at = count > 0 && k < end ? index(k) : 0;

  for (PetscInt n = 0; n < count; n++, k0 -= LU_TILE) {
    const bool    there = k < end;
    const Number *known = unknowns + at;
    Number        entry[SHARE];
#pragma unroll
    for (int u = 0; u < SHARE; u++) entry[u] = i < p && k0 + u < end ? F.Backward(i, k0 + u, begin) : Number(0);
    k -= LU_TILE;
    if (n + 1 < count) {
      at = index(k);
      FetchShare<way == Way::Plain, Number>(p - begin, end - k0 + LU_TILE, [&](PetscInt r, PetscInt c) {
        return F.BackwardPlace(begin + r, k0 - LU_TILE + c, begin);
      });
    }
    AddProducts(entry, known, there, launch, W, S.x[warp], sum);
  }
}

/// Takes an item through U, or L^T.
template <Way way, class Number>
static __device__ __forceinline__ void GoBackward(const FrontsView &V, const SolveItem &item, int launch,
                                                  const LuSolution<Number> &W, Shared<Number> &S)
{
  constexpr bool             transpose = way == Way::Transposed, half = IsHalf(way), paired = way == Way::Paired;
  const int                  lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool                 taken = warp * WARP_COLUMNS < W.columns; // the warp has right-hand sides
  const PetscCount           shift = warp * WARP_COLUMNS * W.stride;
  const PetscInt             f = item.front, first = V.first[f];
  const PetscInt            *row = V.row + V.row_begin[f];
  const Factors<way, Number> F   = FactorsOf<way, Number>(V, f, W);
  const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
  const PetscInt             begin = item.tile * LU_TILE, i = begin + lane;
  const bool                 active = i < p;
  const TileOrder<true>      order{static_cast<int>(PetscMin(p - begin, LU_TILE))};
  const Number               pivot = !transpose && active ? Inverse(F.Pivot(i)) : Number(1);
  Number                     sum[LU_COLUMNS], v[WARP_COLUMNS];

  LoadTriangle(
      order, [&](int r, int k) { return F.Backward(begin + r, begin + k, begin); }, S);
  if (warp == 0) S.inverse[order.Position(lane)] = half ? Number(1) : pivot;
  __syncthreads();
  if (p > LU_TILE && warp == item.tile % WARPS) InvertTriangle(S.triangle, S.inverse);
  Clear(sum);
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) {
    v[c] = active && taken ? W.y[shift + c * W.stride + first + i] : Number(0);
    if (half) v[c] = v[c] * pivot;
  }
  // unknowns in the order in which they come: of the last others first, then of the last pivots
  TakeBack(
      F, begin, p, Parts(m - p, LU_TILE), m, W.x, [&](PetscInt k) { return row[k - p]; }, launch, W, S, sum);
  TakeBack(
      F, begin, begin + LU_TILE, Parts(p, LU_TILE) - 1 - item.tile, p, (paired ? W.turned : W.x) + first,
      [&](PetscInt k) { return transpose ? W.local_row[first + k] : k; }, launch, W, S, sum);
  SubtractSums(sum, &S, v);
  if (!taken) return;
  if (p > LU_TILE)
    MultiplyInverse(order, S, v);
  else
    Substitute(order, S, v);
  if (paired && active) Publish(W.turned + shift + first + i, W.stride, v);
  TurnColumns<way, true>(CodeOf<way>(W, first, i, active), v);
  if (active) Publish(W.x + shift + first + (transpose || paired ? W.local_row[first + i] : i), W.stride, v);
}

template <Way way, class Number> static __global__ void __launch_bounds__(THREADS, SWEPT_BLOCKS)
    forward_columns_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ Shared<Number> S;

  EachItem(items, count, W.report->ticket + launch, &S.claimed,
           [&](const SolveItem &item) { GoForward<way>(V, item, launch, W, S); });
}

template <Way way, class Number> static __global__ void __launch_bounds__(THREADS, SWEPT_BLOCKS)
    backward_columns_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ Shared<Number> S;

  EachItem(items, count, W.report->ticket + launch, &S.claimed,
           [&](const SolveItem &item) { GoBackward<way>(V, item, launch, W, S); });
}

template <Way way, class Number> static PetscErrorCode Sweep(const FrontsView &V, const SolveLists &L, bool forward,
                                                             const LuSolution<Number> &W, cudaStream_t s)
{
  unsigned blocks;

  PetscFunctionBegin;
  if (forward) {
    PetscCall(Blocks(forward_columns_kernel<way, Number>, THREADS, L.forward_count, 1, &blocks));
    forward_columns_kernel<way, Number><<<blocks, THREADS, 0, s>>>(V, L.forward, L.forward_count, 1, W);
  } else {
    PetscCall(Blocks(backward_columns_kernel<way, Number>, THREADS, L.backward_count, 1, &blocks));
    backward_columns_kernel<way, Number><<<blocks, THREADS, 0, s>>>(V, L.backward, L.backward_count, 2, W);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode SweepLargeColumns_CUDA(const FrontsView &fronts, const SolveLists &lists,
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

template PetscErrorCode SweepLargeColumns_CUDA(const FrontsView &, const SolveLists &, bool, bool,
                                               const LuSolution<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SweepLargeColumns_CUDA(const FrontsView &, const SolveLists &, bool, bool,
                                               const LuSolution<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
