/// Panels beside a factored tile of pivots: triangular solves with the tile, which lies in shared memory.
#pragma once

#include "pc/lu/paired_tile.cuh"

namespace sparsegpu::lu
{

/// Rows, or columns, of a panel that a block takes: with the tile they fit 48 KB. Each has PANEL_PARTS threads.
template <class Number> static constexpr int PANEL         = sizeof(Number) > 8 ? 32 : 64;
static constexpr int                         PANEL_PARTS   = 4;
template <class Number> static constexpr int PANEL_THREADS = PANEL<Number> *PANEL_PARTS;
static constexpr int PANEL_LOADS = LU_TILE / PANEL_PARTS; ///< entries of the panel that a thread loads
static constexpr int PANEL_STRIP = 8;                     ///< unknowns that one thread finds before all use them

namespace
{
/// The factored tile in shared memory, a unit matrix where it ends early; where its rows have gone.
template <class Number> struct SharedTile {
  Number entry[LU_TILE][LU_TILE + 1]; ///< [column][row]
  Number inverse[LU_TILE];            ///< of the pivots
  int    place[LU_TILE];              ///< of what was row i
  int    exchanged;

  /// All threads of the block must call, and wait. tile: its first entry, columns `ld` apart.
  __device__ void Load(const DeviceFront<Number> &F, const Number *tile, PetscCount ld, PetscInt k0, int size,
                       const PetscInt *local_row)
  {
    constexpr int LOADS = LU_TILE * LU_TILE / PANEL_THREADS<Number>;
    const int     i = static_cast<int>(threadIdx.x) % LU_TILE, j0 = static_cast<int>(threadIdx.x) / LU_TILE;
    Number        v[LOADS];

    if (threadIdx.x == 0) exchanged = 0;
    const int from = j0 > 0 ? 0 : i < size ? static_cast<int>(local_row[F.first + k0 + i] - k0) : i;
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      const int j = j0 + u * (PANEL_THREADS<Number> / LU_TILE);
      v[u]        = i < size && j < size ? tile[i + j * ld] : Number(i == j);
    }
    __syncthreads();
    if (j0 == 0) place[from] = i;
    if (j0 == 0 && from != i) exchanged = 1;
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      const int j = j0 + u * (PANEL_THREADS<Number> / LU_TILE);
      entry[j][i] = v[u];
      if (i == j) inverse[i] = Inverse(v[u]);
    }
  }
};

/// A panel in shared memory: unknown k of row, or column, r at [k][r].
template <class Number> using PanelStage = Number[LU_TILE][PANEL<Number> + 1];
} // namespace

/// The unknowns of the panel, in its place: rows of L times U^-1, or, if `columns`, columns of U times L^-1. The
/// threads of a row each subtract from other unknowns; an unknown meets the others in their order. All threads must
/// call; they have waited for the panel, and wait for the unknowns.
template <bool columns, class Number>
static __device__ void SolvePanel(const SharedTile<Number> &T, PanelStage<Number> &stage)
{
  const int  r = static_cast<int>(threadIdx.x) % PANEL<Number>, part = static_cast<int>(threadIdx.x) / PANEL<Number>;
  const auto factor = [&](int k, int j) { return columns ? T.entry[k][j] : T.entry[j][k]; };

#pragma unroll 1 // the same code for all strips
  for (int k0 = 0; k0 < LU_TILE; k0 += PANEL_STRIP) {
    Number x[PANEL_STRIP];
    if (part == 0) {
#pragma unroll
      for (int t = 0; t < PANEL_STRIP; t++) x[t] = stage[k0 + t][r];
#pragma unroll
      for (int t = 0; t < PANEL_STRIP; t++) {
        if (!columns) x[t] = x[t] * T.inverse[k0 + t];
#pragma unroll
        for (int j = t + 1; j < PANEL_STRIP; j++) x[j] = x[j] - x[t] * factor(k0 + t, k0 + j);
      }
#pragma unroll
      for (int t = 0; t < PANEL_STRIP; t++) stage[k0 + t][r] = x[t];
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < PANEL_STRIP; t++) x[t] = stage[k0 + t][r];
#pragma unroll 2
    for (int j = k0 + PANEL_STRIP + part; j < LU_TILE; j += PANEL_PARTS) {
      Number y = stage[j][r];
#pragma unroll
      for (int t = 0; t < PANEL_STRIP; t++) y = y - x[t] * factor(k0 + t, j);
      stage[j][r] = y;
    }
    __syncthreads();
  }
}

/// Columns of the stage become those of pairs. All threads must call, and wait.
template <class Number>
static __device__ void TurnStage(const PairCode *pair, PetscInt first, int size, PanelStage<Number> &stage)
{
  const int r = static_cast<int>(threadIdx.x) % PANEL<Number>, part = static_cast<int>(threadIdx.x) / PANEL<Number>;
  for (int k = part; k < size; k += PANEL_PARTS) {
    const int code = pair[first + k];
    if (code <= 0) continue;
    const Number a = stage[k][r], b = stage[k + 1][r];
    stage[k][r]     = TurnedColumn(code, a, b);
    stage[k + 1][r] = TurnedColumn(-code, b, a);
  }
}

/// Rows next + part * PANEL ... of a front below the tile of pivots k0 ..., neighbouring threads neighbouring rows.
template <Kept kept, class Number>
static __device__ void PanelBelow(const DeviceFront<Number> &F, PetscInt k0, int size, PetscInt part,
                                  const LuWorkspace<Number> &W, SharedTile<Number> &tile, PanelStage<Number> &stage)
{
  constexpr bool   half = kept != Kept::Both, paired = kept == Kept::Paired;
  const PetscCount m = F.rows, p = F.pivots, ld = half ? p - k0 : m;
  const int        r     = static_cast<int>(threadIdx.x) % PANEL<Number>;
  const int        first = static_cast<int>(threadIdx.x) / PANEL<Number>;
  const PetscCount i     = k0 + size + static_cast<PetscCount>(part) * PANEL<Number> + r;
  const bool       rest  = half && i >= p;
  Number *const    at    = rest ? F.template Rest<half>(k0) + (i - p) : F.template Column<half>(k0) + i;
  const PetscCount step  = rest ? F.others : ld;
  Number           v[PANEL_LOADS];

#pragma unroll
  for (int u = 0; u < PANEL_LOADS; u++) {
    const int k = first + u * PANEL_PARTS;
    v[u]        = i < m && k < size ? at[k * step] : Number(0);
  }
  tile.Load(F, F.template Column<half>(k0) + k0, ld, k0, size, W.local_row);
  if (paired) __syncthreads(); // places are known
#pragma unroll
  for (int u = 0; u < PANEL_LOADS; u++) {
    const int k                          = first + u * PANEL_PARTS;
    stage[paired ? tile.place[k] : k][r] = v[u];
  }
  __syncthreads();
  if (paired) {
    TurnStage(W.pair, F.first + k0, size, stage);
    __syncthreads();
  }
  SolvePanel<false>(tile, stage);
#pragma unroll
  for (int u = 0; u < PANEL_LOADS; u++) {
    const int k = first + u * PANEL_PARTS;
    if (i < m && k < size) at[k * step] = stage[k][r];
  }
}

/// Columns `begin` ... of a front beside the tile, at most PANEL before `end`: their rows change places as the tile's
/// have, and those right of it are taken times L^-1. Neighbouring threads have neighbouring rows.
template <class Number> static __device__ void PanelBeside(const DeviceFront<Number> &F, PetscInt k0, int size,
                                                           PetscCount begin, PetscCount end, const PetscInt *local_row,
                                                           SharedTile<Number> &tile, PanelStage<Number> &stage)
{
  constexpr int    COLUMNS = PANEL_THREADS<Number> / LU_TILE; // that the block loads at a time
  const PetscCount m = F.rows, p = F.pivots;
  const int        i = static_cast<int>(threadIdx.x) % LU_TILE, first = static_cast<int>(threadIdx.x) / LU_TILE;
  const auto       at    = [&](PetscCount j) { return j < p ? F.lower + k0 + j * m : F.upper + k0 + (j - p) * p; };
  const int        count = static_cast<int>(end - begin < PANEL<Number> ? end - begin : PANEL<Number>);
  Number           v[PANEL_LOADS];

#pragma unroll
  for (int u = 0; u < PANEL_LOADS; u++) {
    const int j = first + u * COLUMNS;
    v[u]        = i < size && j < count ? at(begin + j)[i] : Number(0);
  }
  tile.Load(F, F.template Column<false>(k0) + k0, m, k0, size, local_row);
  __syncthreads();
  if (begin < k0 && !tile.exchanged) return;
#pragma unroll
  for (int u = 0; u < PANEL_LOADS; u++) stage[tile.place[i]][first + u * COLUMNS] = v[u];
  __syncthreads();
  if (begin > k0) SolvePanel<true>(tile, stage);
#pragma unroll
  for (int u = 0; u < PANEL_LOADS; u++) {
    const int j = first + u * COLUMNS;
    if (i < size && j < count) at(begin + j)[i] = stage[i][j];
  }
}

/// Columns `begin` ... of a half before the tile, at most TURNED of them before k0: their rows in the tile become those
/// of its pivots. A warp a column, neighbouring threads neighbouring rows.
static constexpr PetscInt                      TURNED = 64;
template <class Number> static __device__ void TurnBefore(const DeviceFront<Number> &F, PetscInt k0, int size,
                                                          PetscInt begin, const LuWorkspace<Number> &W)
{
  const int      lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const PetscInt end  = begin + TURNED < k0 ? begin + TURNED : k0;
  const PetscInt from = lane < size ? W.local_row[F.first + k0 + lane] : 0;
  const int      code = lane < size ? W.pair[F.first + k0 + lane] : 0;

  for (PetscInt j = begin + warp; j < end; j += PANEL_THREADS<Number> / 32) {
    Number *const column = F.template Column<true>(j);
    const Number  v      = TurnLanes<false>(code, lane < size ? column[from] : Number(0));
    __syncwarp();
    if (lane < size) column[k0 + lane] = v;
  }
}

} // namespace sparsegpu::lu
