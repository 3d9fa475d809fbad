/// The sweeps over large fronts with one column: a block takes the next rows of a front by ticket, adds up what the
/// columns before them take, and multiplies with the inverse of the rows' triangle. A front whose pivots are all of one
/// block has its other rows taken along by it, with unknowns that no other block waits for.
#include "pc/lu/swept_products.cuh"

namespace sparsegpu::lu
{

namespace
{
/// Where entries of a column lie together.
constexpr bool ForwardByRows(Way way)
{
  return way != Way::Transposed;
}
constexpr bool BackwardByRows(Way way)
{
  return way == Way::Plain;
}
/// Blocks that a multiprocessor has at a time at least: 128 registers a thread, or 168.
template <class Number> constexpr int SweptBlocks(bool by_rows)
{
  return by_rows || sizeof(Number) < sizeof(double) ? 4 : 3;
}
} // namespace

/// The front's other rows, as many as go along, of its unknowns S.x, which solve() finds between barriers; a thread has
/// a row at a time.
template <Way way, class Number, class Solve>
static __device__ __forceinline__ void TakeAlong(const FrontsView &V, const Factors<way, Number> &F, PetscInt first,
                                                 PetscCount row_begin, int launch, const LuSolution<Number> &W,
                                                 SweptTile<Number> &S, const Solve &solve)
{
  constexpr int  COLUMNS = SweptPlace<Number>::COLUMNS;
  const PetscInt p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
  const PetscInt end = PetscMin(m, p + TAKEN_ALONG);

  for (PetscInt begin = p; begin == p || begin < end; begin += THREADS) {
    const PetscInt i      = begin + static_cast<PetscInt>(threadIdx.x);
    const bool     active = i < end;
    Number         v[1]   = {Number(0)}, e[COLUMNS], sum(0), more(0);
    const auto     load   = [&](PetscInt k0) {
#pragma unroll
      for (int u = 0; u < COLUMNS; u++)
        e[u] = active && k0 + u < p ? F.Forward(i, k0 + u, k0 / LU_TILE * LU_TILE) : Number(0);
    };
    load(0);
    if (active) Gather<way>(V, first, row_begin, p, i, launch, W, 0, v);
    if (begin == p) solve();
    for (PetscInt k0 = 0; k0 < p; k0 += COLUMNS) {
      if (k0 > 0) load(k0);
#pragma unroll
      for (int u = 0; u < COLUMNS; u += 2) {
        if (k0 + u < p) sum = sum + e[u] * S.x[k0 + u];
        if (k0 + u + 1 < p) more = more + e[u + 1] * S.x[k0 + u + 1];
      }
    }
    if (active) publish(W.parts + row_begin + i - p, v[0] - (sum + more));
  }
}

/// Takes an item through L, or U^T.
template <Way way, class Number>
static __device__ __forceinline__ void GoForward(const FrontsView &V, const SolveItem &item, int launch,
                                                 const LuSolution<Number> &W, SweptTile<Number> &S)
{
  using Place                          = SweptPlace<Number>;
  constexpr bool             transpose = way == Way::Transposed;
  constexpr int              ROWS      = Place::ROWS;
  const Place                P;
  const auto                 position = [](int row) { return row; };
  const PetscInt             f = item.front, first = V.first[f];
  const PetscCount           row_begin = V.row_begin[f];
  const Factors<way, Number> F         = FactorsOf<way, Number>(V, f, W);
  const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
  const PetscInt             tiles = Parts(p, ROWS);
  const bool                 own   = item.tile < tiles; // rows of pivots
  const PetscInt             begin = own ? item.tile * ROWS : p + (item.tile - tiles) * ROWS;
  const PetscInt             limit = own ? p : m, before = own ? item.tile : tiles, i = begin + P.OwnRow();

  if (own) {
    S.Load(position, static_cast<int>(PetscMin(p - begin, PetscInt(ROWS))),
           [&](int row, int k) { return F.Forward(begin + row, begin + k, begin + k / LU_TILE * LU_TILE); });
    if (P.HasRows()) S.triangle.inverse[P.OwnRow()] = transpose && i < p ? Inverse(F.Pivot(i)) : Number(1);
    if (tiles > 1) S.triangle.Invert();
  }
  if (P.HasRows()) {
    Number v[1] = {Number(0)};
    if (i < limit) Gather<way>(V, first, row_begin, p, i, launch, W, 0, v);
    __syncwarp();
    if (way == Way::Paired) v[0] = TurnLanes<false>(CodeOf<way>(W, first, i, own && i < p), v[0]);
    S.right[P.OwnRow()] = v[0];
  }
  if (own && tiles == 1) {
    TakeAlong<way>(V, F, first, row_begin, launch, W, S, [&] {
      S.template Substitute<transpose>(static_cast<int>(p));
      if (P.HasRows() && i < p) publish(W.y + first + i, S.x[P.OwnRow()]);
    });
    return;
  }
  SweptProducts<ForwardByRows(way), Number> products(S);
  products.Take(
      0, ROWS, before, limit - begin, p,
      [&](PetscInt row, PetscInt k) { return F.ForwardPlace(begin + row, k, k / LU_TILE * LU_TILE); },
      [&](PetscInt row, PetscInt k) { return F.ForwardApart(begin + row, k / LU_TILE * LU_TILE); },
      [](const Number &v) { return v; }, W.y + first, [](PetscInt k) { return k; }, launch, W);
  products.Tell(position);
  if (own) {
    const Number x = S.Solve(position);
    if (P.HasRows() && i < p) publish(W.y + first + i, x);
  } else {
    __syncthreads();
    if (P.HasRows() && i < m) publish(W.parts + row_begin + i - p, S.Left(P.OwnRow()));
  }
}

/// Takes an item through U, or L^T.
template <Way way, class Number>
static __device__ __forceinline__ void GoBackward(const FrontsView &V, const SolveItem &item, int launch,
                                                  const LuSolution<Number> &W, SweptTile<Number> &S)
{
  using Place                          = SweptPlace<Number>;
  constexpr bool             transpose = way == Way::Transposed, half = IsHalf(way), paired = way == Way::Paired;
  constexpr int              ROWS = Place::ROWS;
  const Place                P;
  const PetscInt             f = item.front, first = V.first[f];
  const PetscInt            *row = V.row + V.row_begin[f];
  const Factors<way, Number> F   = FactorsOf<way, Number>(V, f, W);
  const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
  const PetscInt             begin = item.tile * ROWS, i = begin + P.OwnRow();
  const bool                 whole    = p <= ROWS; // all pivots
  const int                  last     = whole ? static_cast<int>(p) : ROWS;
  const auto                 position = [&](int r) { return last - 1 - r; }; // the last row comes first
  const auto                 place    = [&](PetscInt r, PetscInt k) {
    return F.BackwardPlace(begin + r, k, begin + r / LU_TILE * LU_TILE);
  };
  const auto apart    = [&](PetscInt r, PetscInt k) { return F.BackwardApart(k, begin + r / LU_TILE * LU_TILE); };
  const auto mirrored = [&](const Number &v) { return F.Mirrored(v); };

  S.Load(position, last, [&](int r, int k) { return begin + k < p ? F.Mirrored(*place(r, begin + k)) : Number(0); });
  if (P.HasRows() && P.OwnRow() < last) {
    const int    l        = position(P.OwnRow());
    const Number inverse  = !transpose && i < p ? Inverse(F.Pivot(i)) : Number(1);
    const Number y        = i < p ? W.y[first + i] : Number(0);
    S.triangle.inverse[l] = half ? Number(1) : inverse;
    S.right[l]            = half ? y * inverse : y;
  }
  if (!whole) S.triangle.Invert();
  // unknowns in the order in which they come: of the last others first, then of the last pivots
  SweptProducts<BackwardByRows(way), Number> products(S);
  const PetscInt                             others = Parts(m - p, ROWS), tiles = Parts(p, ROWS);
  products.Take(
      p + (others - 1) * ROWS, -ROWS, others, p - begin, m, place, apart, mirrored, W.x,
      [&](PetscInt k) { return row[k - p]; }, launch, W);
  products.Take((tiles - 1) * ROWS, -ROWS, tiles - 1 - item.tile, p - begin, p, place, apart, mirrored,
                (paired ? W.turned : W.x) + first, [&](PetscInt k) { return transpose ? W.local_row[first + k] : k; },
                launch, W);
  products.Tell(position);
  Number x(0);
  if (whole) {
    __syncthreads();
    if (P.HasRows() && P.OwnRow() < last) S.right[P.OwnRow()] = S.Left(P.OwnRow());
    S.template Substitute<!transpose && !half>(last);
    if (P.HasRows() && P.OwnRow() < last) x = S.x[position(P.OwnRow())];
  } else {
    x = S.Solve(position);
  }
  if (!P.HasRows()) return;
  if (paired && i < p) publish(W.turned + first + i, x);
  if (paired) x = TurnLanes<true>(CodeOf<way>(W, first, i, i < p), x);
  if (i < p) publish(W.x + first + (transpose || paired ? W.local_row[first + i] : i), x);
}

template <Way way, class Number>
static __global__ void __launch_bounds__(THREADS, SweptBlocks<Number>(ForwardByRows(way)))
    forward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ SweptTile<Number> S;

  S.ClearParts();
  EachItem(items, count, W.report->ticket + launch, &S.claimed,
           [&](const SolveItem &item) { GoForward<way>(V, item, launch, W, S); });
}

template <Way way, class Number>
static __global__ void __launch_bounds__(THREADS, SweptBlocks<Number>(BackwardByRows(way)))
    backward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ SweptTile<Number> S;

  S.ClearParts();
  EachItem(items, count, W.report->ticket + launch, &S.claimed,
           [&](const SolveItem &item) { GoBackward<way>(V, item, launch, W, S); });
}

template <Way way, class Number> static PetscErrorCode Sweep(const FrontsView &V, const SolveLists &L, bool forward,
                                                             const LuSolution<Number> &W, cudaStream_t s)
{
  unsigned blocks;

  PetscFunctionBegin;
  if (forward) {
    PetscCall(Blocks(forward_large_kernel<way, Number>, THREADS, L.forward_count, 1, &blocks));
    forward_large_kernel<way, Number><<<blocks, THREADS, 0, s>>>(V, L.forward, L.forward_count, 1, W);
  } else {
    PetscCall(Blocks(backward_large_kernel<way, Number>, THREADS, L.backward_count, 1, &blocks));
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
