/// Fronts in global memory, many at a time: their children's updates, then tile of pivots after tile of pivots its own
/// factorization, the panels beside it and what they take from the rest of the pivots' rows and columns; at last the
/// update of the others. `half`: those of symmetric factorizations, one triangle.
#include "device/launch.cuh"
#include "pc/lu/fronts.cuh"
#include "pc/lu/panel.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int TILE_STRIP = 8, TILE_WARPS = LU_TILE / TILE_STRIP; ///< columns of a tile that a warp has
static_assert(LU_TILE == 32, "a warp has a lane for each row of a tile");

namespace
{
/// What the warp of a strip of pivots leaves to the others: its columns of L, and from where each row has come.
template <class Number> struct TileStrip {
  Number column[TILE_STRIP][LU_TILE];
  int    source[LU_TILE], exchanged;
};
} // namespace

/// Pivots k0 + k1 .. in their own columns, which the warp has in registers, a row a lane. met [LU_TILE] of a half.
template <bool half, class Number>
static __device__ void EliminateTileStrip(const DeviceFront<Number> &F, PetscInt k0, int k1, int size,
                                          const LuPivoting &P, Number (&x)[TILE_STRIP], Number *met, PivotTally *tally,
                                          TileStrip<Number> *strip)
{
  const int lane   = static_cast<int>(threadIdx.x) % 32;
  int       source = lane;

#pragma unroll
  for (int q = 0; q < TILE_STRIP; q++) {
    const int k = k1 + q;
    if (k >= size) break;
    const TakenPivot<Number> pivot = TakePivot<half>(F, x[q], lane, k, size, P);
    if (pivot.row != k) { // the same in all lanes
      const int from = lane == k ? pivot.row : lane == pivot.row ? k : lane;
      source         = __shfl_sync(ALL_LANES, source, from);
#pragma unroll
      for (int c = 0; c < TILE_STRIP; c++) x[c] = shuffle(x[c], from);
    }
    const Number factor = x[q] * pivot.inverse;
    if (lane == 0) {
      if (half) met[k] = pivot.met;
      tally->Count(pivot.met, pivot.used, P, F.first + k0 + k);
    }
#pragma unroll
    for (int c = q + 1; c < TILE_STRIP; c++) {
      const Number u = shuffle(x[c], k);
      if (lane > k) x[c] = x[c] - factor * u;
    }
    if (lane >= k) x[q] = lane > k ? factor : pivot.used;
  }
#pragma unroll
  for (int c = 0; c < TILE_STRIP; c++) strip->column[c][lane] = x[c];
  strip->source[lane]  = source;
  const bool exchanged = __any_sync(ALL_LANES, source != lane);
  if (lane == 0) strip->exchanged = exchanged;
}

/// The tile of pivots k0 ... of each front: a lane has a row, a warp a strip of columns in registers, whose pivots it
/// eliminates when the strips before are done; the others follow. Of a half the upper triangle is that of U while the
/// tile is needed.
template <bool half, class Number> static __global__ void __launch_bounds__(32 * TILE_WARPS)
    tile_kernel(FrontsView V, const PetscInt *list, PetscInt k0, LuWorkspace<Number> W)
{
  const DeviceFront<Number> F(V, list[blockIdx.x], W.values, W.work); // of arrays that no kernel of these writes
  const int                 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int                 size = static_cast<int>(F.pivots - k0 < LU_TILE ? F.pivots - k0 : LU_TILE);
  const PetscCount          m    = half ? F.pivots - k0 : F.rows; // between columns
  Number                   *tile = F.template Column<half>(k0) + k0;
  __shared__ TileStrip<Number> strips[2]; // the one is read while the next one is written
  Number                       x[TILE_STRIP];
  int                          row = lane;
  PivotTally                   tally;

  begin_in_turn();
  const LuPivoting P = W.report->pivoting;
#pragma unroll
  for (int c = 0; c < TILE_STRIP; c++) {
    const int  j     = warp * TILE_STRIP + c;
    const bool there = lane < size && j < size;
    if (half && lane < j)
      x[c] = there ? F.Mirrored(tile[j + lane * m]) : Number(0);
    else
      x[c] = there ? tile[lane + j * m] : Number(0);
  }
  for (int s = 0; s < TILE_WARPS; s++) {
    const int          k1    = s * TILE_STRIP;
    TileStrip<Number> &strip = strips[s % 2];
    if (k1 >= size) break;
    if (warp == s) EliminateTileStrip<half>(F, k0, k1, size, P, x, W.met + (half ? F.first + k0 : 0), &tally, &strip);
    __syncthreads();
    if (strip.exchanged) {
      const int source = strip.source[lane];
      row              = __shfl_sync(ALL_LANES, row, source);
#pragma unroll
      for (int c = 0; c < TILE_STRIP; c++) {
        const Number v = shuffle(x[c], source);
        if (warp != s) x[c] = v;
      }
    }
    if (warp <= s) continue;
#pragma unroll
    for (int q = 0; q < TILE_STRIP; q++) {
      const Number factor = strip.column[q][lane];
#pragma unroll
      for (int c = 0; c < TILE_STRIP; c++) {
        const Number u = shuffle(x[c], k1 + q);
        if (lane > k1 + q) x[c] = x[c] - factor * u;
      }
    }
  }
#pragma unroll
  for (int c = 0; c < TILE_STRIP; c++) {
    const int j = warp * TILE_STRIP + c;
    if (lane < size && j < size) tile[lane + j * m] = x[c];
  }
  if (warp == 0 && lane < size) W.local_row[F.first + k0 + lane] = k0 + row;
  if (lane == 0) tally.Tell(W.report);
}

/// The same with pivots of order 1 and 2, by a warp.
template <class Number> static __global__ void __launch_bounds__(32)
    paired_tile_kernel(FrontsView V, const PetscInt *list, PetscInt k0, LuWorkspace<Number> W)
{
  constexpr int             PITCH = LU_TILE + 1;
  const DeviceFront<Number> F(V, list[blockIdx.x], W.values, W.work);
  const int                 lane = static_cast<int>(threadIdx.x);
  const int                 size = static_cast<int>(F.pivots - k0 < LU_TILE ? F.pivots - k0 : LU_TILE);
  const PetscCount          m    = F.pivots - k0;
  Number *const             tile = F.template Column<true>(k0) + k0;
  __shared__ Number         entry[LU_TILE * PITCH];
  PairedTile<Number>        T(F, entry, PITCH, size);
  PivotTally                tally;
  Number                    met(0);
  int                       row, code;

  begin_in_turn();
  for (int j = 0; j < size; j++)
    if (lane >= j && lane < size) entry[lane + j * PITCH] = tile[lane + j * m];
  __syncwarp();
  T.Mirror();
  T.Factor(W.report->pivoting, F.first + k0, &tally, &row, &code, &met);
  for (int j = 0; j < size; j++)
    if (lane < size) tile[lane + j * m] = entry[lane + j * PITCH];
  if (lane < size) {
    W.local_row[F.first + k0 + lane] = k0 + row;
    W.pair[F.first + k0 + lane]      = static_cast<PairCode>(code);
    W.met[F.first + k0 + lane]       = met;
  }
  tally.OfWarp();
  if (lane == 0) tally.Tell(W.report);
}

/// What is below, right and left of the tile of pivots k0 ..., PANEL rows or columns a block; of a half what is below,
/// with pairs also what is left.
template <Kept kept, class Number> static __global__ void __launch_bounds__(PANEL_THREADS<Number>)
    panel_kernel(FrontsView V, const PetscInt *list, PetscInt k0, LuWorkspace<Number> W)
{
  const DeviceFront<Number> F(V, list[blockIdx.y], W.values, W.work);
  const int                 size = static_cast<int>(F.pivots - k0 < LU_TILE ? F.pivots - k0 : LU_TILE);
  const PetscInt            next = k0 + size, below = Parts(F.rows - next, PANEL<Number>);
  const PetscInt            part = static_cast<PetscInt>(blockIdx.x), beside = part - below;
  __shared__ SharedTile<Number> tile;
  __shared__ PanelStage<Number> stage;

  begin_in_turn();
  if (part < below) {
    PanelBelow<kept>(F, k0, size, part, W, tile, stage);
  } else if (kept == Kept::Paired) {
    if (beside < Parts(k0, TURNED)) TurnBefore(F, k0, size, beside * TURNED, W);
  } else if (kept == Kept::Both && beside < below + Parts(k0, PANEL<Number>)) {
    const bool       right = beside < below;
    const PetscCount begin = right ? next + static_cast<PetscCount>(beside) * PANEL<Number>
                                   : static_cast<PetscCount>(beside - below) * PANEL<Number>;
    PanelBeside(F, k0, size, begin, right ? F.rows : k0, W.local_row, tile, stage);
  }
}

/// Fronts begin .. begin + count - 1 of the step, which are assembled, but for their updates.
template <Kept kept, class Number>
static PetscErrorCode Chunk(const FrontsView &fronts, const FrontPlan &plan, const LargeStep &step, PetscInt begin,
                            PetscInt count, const PetscInt *list, const LuWorkspace<Number> &work, Stream stream)
{
  constexpr bool     half = kept != Kept::Both;
  const cudaStream_t s    = static_cast<cudaStream_t>(stream);
  LargeChunk         chunk{count, step.front.data() + begin, step.pivots.data() + begin, step.others.data() + begin,
                   list + begin};

  PetscFunctionBegin;
  for (PetscInt k0 = 0; k0 < chunk.pivots[0]; k0 += LU_TILE) {
    PetscCount     panels = 0;
    const PetscInt wide   = k0 / WIDE * WIDE;
    while (chunk.count > 0 && chunk.pivots[chunk.count - 1] <= k0) chunk.count--;
    for (PetscInt k = 0; k < chunk.count; k++) {
      const PetscInt   p = chunk.pivots[k], m = p + chunk.others[k], next = PetscMin(k0 + LU_TILE, p);
      const PetscCount below  = Parts(m - next, PANEL<Number>);
      const PetscCount beside = kept == Kept::Paired ? Parts(k0, TURNED) : half ? 0 : below + Parts(k0, PANEL<Number>);
      panels                  = PetscMax(panels, below + beside);
    }
    const dim3 tiles(static_cast<unsigned>(chunk.count));
    if (kept == Kept::Paired)
      PetscCall(LaunchEarly<paired_tile_kernel<Number>>(tiles, 32, size_t(0), s, fronts, chunk.list, k0, work));
    else
      PetscCall(
          LaunchEarly<tile_kernel<half, Number>>(tiles, 32 * TILE_WARPS, size_t(0), s, fronts, chunk.list, k0, work));
    if (panels > 0)
      PetscCall(LaunchEarly<panel_kernel<kept, Number>>(Grid(panels, chunk.count), PANEL_THREADS<Number>, size_t(0), s,
                                                        fronts, chunk.list, k0, work));
    PetscCall(SubtractPivots_CUDA(fronts, plan, chunk, k0, LU_TILE, work, stream));
    if (k0 + LU_TILE == wide + WIDE) PetscCall(SubtractPivots_CUDA(fronts, plan, chunk, wide, WIDE, work, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode LargeFronts_CUDA(const FrontsView &fronts, const FrontPlan &plan,
                                                        const LargeStep &step, const PetscInt *list,
                                                        const LuWorkspace<Number> &work, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(AssembleFronts_CUDA(fronts, step, list, work, stream));
  for (PetscInt begin = 0; begin < step.count; begin += LISTED_FRONTS) {
    const PetscInt count = PetscMin(LISTED_FRONTS, step.count - begin);
    const auto     chunk = !plan.Half() ? Chunk<Kept::Both, Number>
                           : work.pair  ? Chunk<Kept::Paired, Number>
                                        : Chunk<Kept::Half, Number>;
    PetscCall((*chunk)(fronts, plan, step, begin, count, list, work, stream));
  }
  PetscCall(LargeUpdates_CUDA(fronts, plan, step, list, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode LargeFronts_CUDA(const FrontsView &, const FrontPlan &, const LargeStep &, const PetscInt *,
                                         const LuWorkspace<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode LargeFronts_CUDA(const FrontsView &, const FrontPlan &, const LargeStep &, const PetscInt *,
                                         const LuWorkspace<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
