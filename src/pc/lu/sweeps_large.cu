/// The sweeps over large fronts with one column: a block takes the next rows of a front by ticket; its warps share the
/// columns before them, wait for their unknowns, and multiply with the inverse of the rows' triangle.
#include "pc/lu/swept_tile.cuh"

namespace sparsegpu::lu
{

/// Threads of a block; and blocks that a multiprocessor has at a time at least: 80 registers a thread of 256.
template <class Number> constexpr int SWEPT_THREADS = 32 * SHARES *SweptTriangle<Number>::HALVES;

constexpr int SWEPT_BLOCKS = 3;

/// sum += entries of a warp's columns, u-th entry(u), times their unknowns, lane u's at unknown, if `there`: waits for
/// these.
template <int columns, class Number, class Entry>
static __device__ __forceinline__ void AddProducts(const Entry &entry, const Number *unknown, bool there, int launch,
                                                   const LuSolution<Number> &W, Number &sum)
{
  Number e[columns], x(0);
#pragma unroll
  for (int u = 0; u < columns; u++) e[u] = entry(u);
  if (there) x = Await(unknown, W.spins, W.report->ticket + launch, W.report);
  __syncwarp();
#pragma unroll
  for (int u = 0; u < columns; u++) sum = sum + e[u] * shuffle(x, u);
}

template <Way way, class Number> static __global__ void __launch_bounds__(SWEPT_THREADS<Number>, SWEPT_BLOCKS)
    forward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  using Place = SweptPlace<Number>;
  __shared__ SweptTile<Number> S;
  constexpr bool               transpose = way == Way::Transposed;
  constexpr int                ROWS = Place::ROWS, COLUMNS = Place::COLUMNS;
  const Place                  P;

  for (;;) {
    const unsigned long long claimed = Claim(W.report->ticket + launch, &S.claimed);
    if (claimed >= static_cast<unsigned long long>(count)) return;
    const SolveItem            item = items[claimed];
    const PetscInt             f = item.front, first = V.first[f];
    const PetscCount           row_begin = V.row_begin[f];
    const Factors<way, Number> F         = FactorsOf<way, Number>(V, f, W);
    const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
    const PetscInt             tiles = Parts(p, ROWS);
    const bool                 own   = item.tile < tiles; // rows of pivots
    const PetscInt             begin = own ? item.tile * ROWS : p + (item.tile - tiles) * ROWS;
    const PetscInt             i = begin + P.row, before = own ? item.tile : tiles;
    const bool                 active = i < (own ? p : m);
    Number                     sum(0);

    if (own) {
      const int k0 = P.share * COLUMNS;
      if (k0 / 32 <= P.half) { // the same in all lanes
#pragma unroll
        for (int u = 0; u < COLUMNS; u++) {
          const int  k            = k0 + u;
          const bool there        = active && k < P.row;
          S.triangle.At(P.row, k) = there ? F.Forward(i, begin + k, begin + k0 / 32 * 32) : Number(0);
        }
      }
      if (P.share == 0) S.triangle.inverse[P.row] = transpose && active ? Inverse(F.Pivot(i)) : Number(1);
      S.triangle.Invert();
    }
    if (P.share == 0) {
      Number v[1] = {Number(0)};
      if (active) Gather<way>(V, first, row_begin, p, i, launch, W, 0, v);
      __syncwarp();
      if (way == Way::Paired) v[0] = TurnLanes<false>(CodeOf<way>(W, first, i, active && own), v[0]);
      S.right[P.row] = v[0];
    }
    for (PetscInt tile = 0; tile < before; tile++) {
      const PetscInt k0 = tile * ROWS + P.share * COLUMNS, k = k0 + P.lane;
      AddProducts<COLUMNS>(
          [&](int u) { return active && k0 + u < p ? F.Forward(i, k0 + u, k0 / LU_TILE * LU_TILE) : Number(0); },
          W.y + first + k, P.lane < COLUMNS && k < p, launch, W, sum);
    }
    if (own) {
      const Number x = SolveTile(S, P.row, sum);
      if (active && P.share == 0) publish(W.y + first + i, x);
    } else {
      S.part[P.share][P.row] = sum;
      __syncthreads();
      if (active && P.share == 0) publish(W.parts + row_begin + i - p, Left(S, P.row));
    }
  }
}

template <Way way, class Number> static __global__ void __launch_bounds__(SWEPT_THREADS<Number>, SWEPT_BLOCKS)
    backward_large_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  using Place = SweptPlace<Number>;
  __shared__ SweptTile<Number> S;
  constexpr bool               transpose = way == Way::Transposed, half = IsHalf(way), paired = way == Way::Paired;
  constexpr int                ROWS = Place::ROWS, COLUMNS = Place::COLUMNS;
  const Place                  P;
  const int                    l = ROWS - 1 - P.row; // the last row comes first

  for (;;) {
    const unsigned long long claimed = Claim(W.report->ticket + launch, &S.claimed);
    if (claimed >= static_cast<unsigned long long>(count)) return;
    const SolveItem            item = items[claimed];
    const PetscInt             f = item.front, first = V.first[f];
    const PetscInt            *row = V.row + V.row_begin[f];
    const Factors<way, Number> F   = FactorsOf<way, Number>(V, f, W);
    const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
    const PetscInt             begin = item.tile * ROWS, i = begin + P.row, tile_of_i = begin + 32 * P.half;
    const bool                 active = i < p;
    Number                     sum(0);

    if (P.share * COLUMNS / 32 <= l / 32) { // the same in all lanes
#pragma unroll
      for (int u = 0; u < COLUMNS; u++) {
        const int      k    = P.share * COLUMNS + u;
        const PetscInt at   = begin + ROWS - 1 - k;
        S.triangle.At(l, k) = k < l && at < p ? F.Backward(i, at, tile_of_i) : Number(0);
      }
    }
    if (P.share == 0) {
      const Number inverse  = !transpose && active ? Inverse(F.Pivot(i)) : Number(1);
      const Number y        = active ? W.y[first + i] : Number(0);
      S.triangle.inverse[l] = half ? Number(1) : inverse;
      S.right[l]            = half ? y * inverse : y;
    }
    S.triangle.Invert();
    for (PetscInt k0 = p + P.share * COLUMNS; k0 < m; k0 += ROWS) { // the others' unknowns have long been there
      const PetscInt k     = k0 + P.lane;
      const bool     there = P.lane < COLUMNS && k < m;
      AddProducts<COLUMNS>([&](int u) { return active && k0 + u < m ? F.Backward(i, k0 + u, tile_of_i) : Number(0); },
                           W.x + (there ? row[k - p] : 0), there, launch, W, sum);
    }
    for (PetscInt tile = (p - 1) / ROWS; tile > item.tile; tile--) {
      const PetscInt k0 = tile * ROWS + P.share * COLUMNS, k = k0 + P.lane;
      const bool     there = P.lane < COLUMNS && k < p;
      AddProducts<COLUMNS>([&](int u) { return k0 + u < p ? F.Backward(i, k0 + u, tile_of_i) : Number(0); },
                           (paired ? W.turned : W.x) + first + (transpose && there ? W.local_row[first + k] : k), there,
                           launch, W, sum);
    }
    Number x = SolveTile(S, l, sum);
    if (P.share > 0) continue;
    if (paired && active) publish(W.turned + first + i, x);
    if (paired) x = TurnLanes<true>(CodeOf<way>(W, first, i, active), x);
    if (active) publish(W.x + first + (transpose || paired ? W.local_row[first + i] : i), x);
  }
}

template <Way way, class Number> static PetscErrorCode Sweep(const FrontsView &V, const SolveLists &L, bool forward,
                                                             const LuSolution<Number> &W, cudaStream_t s)
{
  constexpr int threads = SWEPT_THREADS<Number>;
  unsigned      blocks;

  PetscFunctionBegin;
  if (forward) {
    PetscCall(Blocks(forward_large_kernel<way, Number>, threads, L.forward_count, 1, &blocks));
    forward_large_kernel<way, Number><<<blocks, threads, 0, s>>>(V, L.forward, L.forward_count, 1, W);
  } else {
    PetscCall(Blocks(backward_large_kernel<way, Number>, threads, L.backward_count, 1, &blocks));
    backward_large_kernel<way, Number><<<blocks, threads, 0, s>>>(V, L.backward, L.backward_count, 2, W);
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
