/// The sweeps over large fronts with a block of columns: a thread block takes the next tile of rows by ticket and all
/// columns through it. Lanes have the rows. Of the columns of L or U before the tile each warp multiplies a share with
/// the unknowns of all right-hand sides, from shared memory, so that the factors are read once; then it takes its share
/// of the right-hand sides through the tile's triangle. A column's sums are in one order: bitwise reproducible.
#include "pc/lu/sweep.cuh"

namespace sparsegpu::lu
{

namespace
{
constexpr int SHARE  = LU_TILE / WARPS; ///< columns of a tile of factors that a warp of a block takes
constexpr int LOADED = 32 / SHARE;      ///< right-hand sides whose unknowns of them the lanes load at a time
constexpr int LOADS  = LU_COLUMNS / LOADED;
constexpr int PITCH  = LU_COLUMNS + 2; ///< so that SHARE rows of unknowns are in different banks
static_assert(LOADED == 4, "the least that SweptColumns() has of several");
static_assert(WARPS * WARP_COLUMNS == LU_COLUMNS, "each warp has a share of the right-hand sides");

/// What the warps of a block share of a tile.
template <class Number> struct Shared {
  alignas(16) Number x[WARPS][SHARE][PITCH];      ///< unknowns, as the warps need them, by right-hand side
  Number             part[WARPS][LU_COLUMNS][32]; ///< what the warps' shares add to the rows
  Number             triangle[LU_TILE][32];       ///< of the tile, by its columns
  unsigned long long claimed;
};
static_assert(sizeof(Shared<Scalar>) <= 48 * 1024, "of any device");

/// Lane l of a warp holds entries of row l in SHARE columns of the factors; `unknown`, where the first right-hand side
/// has what column l % SHARE of them is multiplied with, if `there`: waits for it and adds the products.
template <class Number> __device__ __forceinline__ void AddProducts(const Number (&entry)[SHARE], const Number *unknown,
                                                                    bool there, int launch, const LuSolution<Number> &W,
                                                                    Number (*x)[PITCH], Number (&sum)[LU_COLUMNS])
{
  const int lane = threadIdx.x % 32, own = lane % SHARE, first = lane / SHARE;
  Number    loaded[LOADS];

  AwaitColumns(unknown + first * W.stride, LOADED * W.stride, there ? static_cast<int>(W.columns) / LOADED : 0, launch,
               W, loaded);
  __syncwarp(); // the last products have been read
#pragma unroll
  for (int j = 0; j < LOADS; j++) x[own][first + j * LOADED] = loaded[j];
  __syncwarp();
#pragma unroll
  for (int u = 0; u < SHARE; u++)
#pragma unroll
    for (int c = 0; c < LU_COLUMNS; c++) sum[c] = sum[c] + entry[u] * x[u][c];
}

/// v, of the warp's own right-hand sides, less the sums of all warps. All threads must call.
template <class Number> __device__ __forceinline__ void SubtractSums(const Number (&sum)[LU_COLUMNS], Shared<Number> *S,
                                                                     Number (&v)[WARP_COLUMNS])
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int c = 0; c < LU_COLUMNS; c++) S->part[warp][c][lane] = sum[c];
  __syncthreads();
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) {
    const int column = warp * WARP_COLUMNS + c;
    Number    total  = S->part[0][column][lane];
#pragma unroll
    for (int w = 1; w < WARPS; w++) total += S->part[w][column][lane];
    v[c] = v[c] - total;
  }
}

/// See TurnLanes().
template <Way way, bool back, class Number>
__device__ __forceinline__ void TurnColumns(int code, Number (&v)[WARP_COLUMNS])
{
  if constexpr (way == Way::Paired) {
#pragma unroll
    for (int c = 0; c < WARP_COLUMNS; c++) v[c] = TurnLanes<back>(code, v[c]);
  }
}

template <class Number>
__device__ __forceinline__ void Publish(Number *to, PetscCount stride, const Number (&v)[WARP_COLUMNS])
{
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) publish(to + c * stride, v[c]);
}

/// A step in the tile's triangle: unknown k, which lane k keeps, is taken from the rows below it, or above it if `up`.
template <bool up, class Number> __device__ __forceinline__ void Eliminate(const Number &entry, int k,
                                                                           const Number &inverse, bool keep,
                                                                           Number (&v)[WARP_COLUMNS])
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) {
    const Number x = shuffle(v[c] * inverse, k);
    if (up ? lane < k : lane > k) v[c] = v[c] - entry * x;
    if (keep && lane == k) v[c] = x;
  }
}
} // namespace

template <Way way, class Number> static __global__ void __launch_bounds__(THREADS)
    forward_columns_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ Shared<Number> S;
  constexpr bool            transpose = way == Way::Transposed;
  const int                 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool                taken = warp * WARP_COLUMNS < W.columns; // the warp has right-hand sides
  const PetscCount          shift = warp * WARP_COLUMNS * W.stride;

  for (;;) {
    const unsigned long long claimed = Claim(W.report->ticket + launch, &S.claimed);
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
    Number                     sum[LU_COLUMNS], v[WARP_COLUMNS], inverse(1);

    if (own) {
#pragma unroll
      for (int u = 0; u < SHARE; u++) {
        const int k         = warp * SHARE + u;
        S.triangle[k][lane] = active && k < lane ? F.Forward(i, begin + k, begin) : Number(0);
      }
      if (transpose && active) inverse = Inverse(F.Pivot(i));
    }
    Clear(sum);
    Clear(v);
    if (active && taken) Gather<way>(V, first, row_begin, p, i, launch, W, shift, v);
    __syncwarp();
    TurnColumns<way, false>(CodeOf<way>(W, first, i, active && own), v);
    for (PetscInt tile = 0; tile < before; tile++) {
      const PetscInt k0 = tile * LU_TILE + warp * SHARE;
      Number         entry[SHARE];
#pragma unroll
      for (int u = 0; u < SHARE; u++)
        entry[u] = active && k0 + u < p ? F.Forward(i, k0 + u, tile * LU_TILE) : Number(0);
      const PetscInt k = k0 + lane % SHARE;
      AddProducts(entry, W.y + first + k, k < p, launch, W, S.x[warp], sum);
    }
    SubtractSums(sum, &S, v);
    if (!taken) continue;
    if (own) {
      for (int k = 0; k < LU_TILE; k++) Eliminate<false>(S.triangle[k][lane], k, inverse, transpose, v);
    }
    if (active) Publish(shift + (own ? W.y + first + i : W.parts + row_begin + i - p), W.stride, v);
  }
}

template <Way way, class Number> static __global__ void __launch_bounds__(THREADS)
    backward_columns_kernel(FrontsView V, const SolveItem *items, PetscInt count, int launch, LuSolution<Number> W)
{
  __shared__ Shared<Number> S;
  constexpr bool            transpose = way == Way::Transposed, half = IsHalf(way), paired = way == Way::Paired;
  const int                 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool                taken = warp * WARP_COLUMNS < W.columns; // the warp has right-hand sides
  const PetscCount          shift = warp * WARP_COLUMNS * W.stride;

  for (;;) {
    const unsigned long long claimed = Claim(W.report->ticket + launch, &S.claimed);
    if (claimed >= static_cast<unsigned long long>(count)) return;
    const SolveItem            item = items[claimed];
    const PetscInt             f = item.front, first = V.first[f];
    const PetscInt            *row = V.row + V.row_begin[f];
    const Factors<way, Number> F   = FactorsOf<way, Number>(V, f, W);
    const PetscInt             p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
    const PetscInt             begin = item.tile * LU_TILE, i = begin + lane;
    const bool                 active  = i < p;
    const Number               pivot   = !transpose && active ? Inverse(F.Pivot(i)) : Number(1);
    const Number               inverse = half ? Number(1) : pivot;
    Number                     sum[LU_COLUMNS], v[WARP_COLUMNS], entry[SHARE];

#pragma unroll
    for (int u = 0; u < SHARE; u++) {
      const int k         = warp * SHARE + u;
      S.triangle[k][lane] = k > lane && begin + k < p ? F.Backward(i, begin + k, begin) : Number(0);
    }
    Clear(sum);
#pragma unroll
    for (int c = 0; c < WARP_COLUMNS; c++) {
      v[c] = active && taken ? W.y[shift + c * W.stride + first + i] : Number(0);
      if (half) v[c] = v[c] * pivot;
    }
    for (PetscInt k0 = p + warp * SHARE; k0 < m; k0 += LU_TILE) { // the others' unknowns have long been there
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = active && k0 + u < m ? F.Backward(i, k0 + u, begin) : Number(0);
      const PetscInt k = k0 + lane % SHARE;
      AddProducts(entry, W.x + (k < m ? row[k - p] : 0), k < m, launch, W, S.x[warp], sum);
    }
    for (PetscInt tile = (p - 1) / LU_TILE; tile > item.tile; tile--) {
      const PetscInt k0 = tile * LU_TILE + warp * SHARE;
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = k0 + u < p ? F.Backward(i, k0 + u, begin) : Number(0);
      const PetscInt k = k0 + lane % SHARE;
      AddProducts(entry, (paired ? W.turned : W.x) + first + (transpose && k < p ? W.local_row[first + k] : k), k < p,
                  launch, W, S.x[warp], sum);
    }
    SubtractSums(sum, &S, v);
    if (!taken) continue;
    for (int k = LU_TILE - 1; k >= 0; k--) Eliminate<true>(S.triangle[k][lane], k, inverse, true, v);
    if (paired && active) Publish(W.turned + shift + first + i, W.stride, v);
    TurnColumns<way, true>(CodeOf<way>(W, first, i, active), v);
    if (active) Publish(W.x + shift + first + (transpose || paired ? W.local_row[first + i] : i), W.stride, v);
  }
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
