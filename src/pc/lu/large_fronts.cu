/// Fronts in global memory, many at a time: their children's updates, then tile of pivots after tile of pivots its own
/// factorization, the panels beside it and what they take from the rest of the pivots' rows and columns, at last the
/// update of the others, of large fronts by cuBLAS.
#include "device/cublas.hpp"
#include "pc/lu/fronts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int PANEL = sizeof(Scalar) > 8 ? 32 : 64; ///< rows, or columns, of a panel that a block takes: with
                                                           ///< the tile they fit 48 KB
static constexpr int BLOCK = 64, DEPTH = 16, SHARE = 4;    ///< of a product: BLOCK x BLOCK entries a block, DEPTH at a
                                                           ///< time; SHARE x SHARE a thread
static constexpr int PRODUCT_THREADS  = (BLOCK / SHARE) * (BLOCK / SHARE);
static constexpr int ASSEMBLE_THREADS = 128;
static constexpr int TILE_WARPS = 8, TILE_COLUMNS = LU_TILE / TILE_WARPS;
static_assert(LU_TILE == 32, "a warp has a lane for each row of a tile");

/// A warp per column of the front: what the children leave there, in their order; nobody else writes it.
static __global__ void __launch_bounds__(ASSEMBLE_THREADS)
    assemble_kernel(FrontsView V, const PetscInt *list, LuWorkspace W)
{
  const PetscInt    f = list[blockIdx.y];
  const DeviceFront F(V, f, W.values, W.work);
  const int         lane = threadIdx.x % 32;
  const PetscCount  p = F.pivots, r = F.others, m = F.rows;

  for (PetscCount j = (static_cast<PetscCount>(blockIdx.x) * ASSEMBLE_THREADS + threadIdx.x) / 32; j < m;
       j += static_cast<PetscCount>(gridDim.x) * ASSEMBLE_THREADS / 32) {
    // rows of pivots at top + row, others at rest + row
    Scalar *top = j < p ? F.lower + j * m : F.upper + (j - p) * p, *rest = j < p ? top : F.update + (j - p) * r - p;
    if (j >= p)
      for (PetscCount i = lane; i < r; i += 32) F.update[i + (j - p) * r] = Scalar(0);
    __syncwarp();
    const PetscCount number = F.first + F.row_begin + j;
    for (PetscInt s = V.source_begin[number]; s < V.source_begin[number + 1]; s++) {
      const PetscInt   column = V.source[s], child = V.owner[column];
      const PetscCount begin = V.row_begin[child], n = V.row_begin[child + 1] - begin;
      const Scalar    *from = W.work + V.update[child] + (column - begin) * n;
      const PetscInt  *at   = V.relative + begin;
      for (PetscCount a = lane; a < n; a += 32) {
        const PetscInt i = at[a];
        (i < p ? top : rest)[i] += from[a];
      }
      __syncwarp();
    }
  }
}

/// The tile of pivots k0 ... of each front: a lane has a row, a warp every TILE_WARPS-th column in registers. Columns
/// go through shared memory when it is their turn.
static __global__ void __launch_bounds__(32 * TILE_WARPS)
    tile_kernel(FrontsView V, const PetscInt *list, PetscInt k0, LuWorkspace W)
{
  const DeviceFront F(V, list[blockIdx.x], W.values, W.work);
  const LuPivoting  P    = W.report->pivoting;
  const int         lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int         size = static_cast<int>(F.pivots - k0 < LU_TILE ? F.pivots - k0 : LU_TILE);
  const PetscCount  m    = F.rows;
  Scalar           *tile = F.lower + k0 + k0 * m;
  __shared__ Scalar shared_column[2][LU_TILE];
  Scalar            x[TILE_COLUMNS];
  int               row = lane;
  PivotTally        tally;

#pragma unroll
  for (int q = 0; q < TILE_COLUMNS; q++) {
    const int j = q * TILE_WARPS + warp;
    x[q]        = lane < size && j < size ? tile[lane + j * m] : Scalar(0);
  }
#pragma unroll
  for (int q = 0; q < TILE_COLUMNS; q++) {
    for (int w = 0; w < TILE_WARPS; w++) {
      const int k = q * TILE_WARPS + w;
      if (k >= size) break;
      if (warp == w) shared_column[k % 2][lane] = x[q];
      __syncthreads();
      Scalar    v = shared_column[k % 2][lane];
      const int best =
          k + ChoosePivot(__shfl_sync(ALL_LANES, Magnitude(v), (k + lane) % 32), lane, size - k, P.exchange);
      if (best != k) { // the same in all warps: they have read the same entries
        const int from = lane == k ? best : lane == best ? k : lane;
        v              = shuffle(v, from);
        row            = __shfl_sync(ALL_LANES, row, from);
#pragma unroll
        for (int other = 0; other < TILE_COLUMNS; other++) x[other] = shuffle(x[other], from);
      }
      const Scalar met = shuffle(v, k), used = UsedPivot(met, P), factor = v * Inverse(used);
      if (threadIdx.x == 0) tally.Count(met, used, P, F.first + k0 + k);
#pragma unroll
      for (int other = 0; other < TILE_COLUMNS; other++) {
        const Scalar u = shuffle(x[other], k);
        if (other * TILE_WARPS + warp > k && lane > k) x[other] = x[other] - factor * u;
      }
      if (warp == w && lane >= k) x[q] = lane > k ? factor : used;
    }
  }
#pragma unroll
  for (int q = 0; q < TILE_COLUMNS; q++) {
    const int j = q * TILE_WARPS + warp;
    if (lane < size && j < size) tile[lane + j * m] = x[q];
  }
  if (warp == 0 && lane < size) W.local_row[F.first + k0 + lane] = k0 + row;
  if (threadIdx.x == 0) tally.Tell(W.report);
}

namespace
{
/// The factored tile in shared memory, a unit matrix where it ends early; the order of its rows.
struct SharedTile {
  Scalar entry[LU_TILE][LU_TILE + 1]; ///< [column][row]
  Scalar inverse[LU_TILE];            ///< of the pivots
  int    row[LU_TILE];
  int    exchanged;

  /// All threads of the block must call.
  __device__ void Load(const DeviceFront &F, PetscInt k0, int size, const PetscInt *local_row)
  {
    if (threadIdx.x == 0) exchanged = 0;
    for (int e = threadIdx.x; e < LU_TILE * LU_TILE; e += blockDim.x) {
      const int i = e % LU_TILE, j = e / LU_TILE;
      entry[j][i] = i < size && j < size ? F.lower[k0 + i + static_cast<PetscCount>(k0 + j) * F.rows] : Scalar(i == j);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < LU_TILE; k += blockDim.x) {
      inverse[k] = Inverse(entry[k][k]);
      row[k]     = k < size ? static_cast<int>(local_row[F.first + k0 + k] - k0) : k;
      if (row[k] != k) exchanged = 1;
    }
    __syncthreads();
  }
};
} // namespace

/// Rows of L below a tile: a row a thread, times U^-1. Neighbouring threads have neighbouring rows.
static __device__ void SolveRows(const DeviceFront &F, PetscInt k0, int size, PetscInt i, const SharedTile &T)
{
  const PetscCount m  = F.rows;
  Scalar          *at = F.lower + i + k0 * m, x[LU_TILE];

#pragma unroll
  for (int k = 0; k < LU_TILE; k++) x[k] = k < size ? at[k * m] : Scalar(0);
#pragma unroll
  for (int k = 0; k < LU_TILE; k++) {
    x[k] = x[k] * T.inverse[k];
#pragma unroll
    for (int j = k + 1; j < LU_TILE; j++) x[j] = x[j] - x[k] * T.entry[j][k];
  }
#pragma unroll
  for (int k = 0; k < LU_TILE; k++)
    if (k < size) at[k * m] = x[k];
}

/// Columns beside a tile, PANEL of them from `begin`: their rows change places as the tile's have, and, if `solve`, are
/// taken times L^-1, a column a thread. Column j is at at(j).
template <class Place> static __device__ void SolveColumns(PetscCount begin, PetscCount end, int size, bool solve,
                                                           const SharedTile &T, Scalar (*stage)[PANEL + 1], Place at)
{
  const int count = static_cast<int>(end - begin < PANEL ? end - begin : PANEL);

  for (int e = threadIdx.x; e < LU_TILE * PANEL; e += blockDim.x) {
    const int i = e % LU_TILE, j = e / LU_TILE;
    stage[i][j] = i < size && j < count ? at(begin + j)[T.row[i]] : Scalar(0);
  }
  __syncthreads();
  if (solve) {
    Scalar x[LU_TILE];
#pragma unroll
    for (int k = 0; k < LU_TILE; k++) x[k] = stage[k][threadIdx.x];
#pragma unroll
    for (int k = 0; k < LU_TILE; k++) {
#pragma unroll
      for (int i = k + 1; i < LU_TILE; i++) x[i] = x[i] - T.entry[k][i] * x[k];
    }
#pragma unroll
    for (int k = 0; k < LU_TILE; k++) stage[k][threadIdx.x] = x[k];
    __syncthreads();
  }
  for (int e = threadIdx.x; e < LU_TILE * PANEL; e += blockDim.x) {
    const int i = e % LU_TILE, j = e / LU_TILE;
    if (i < size && j < count) at(begin + j)[i] = stage[i][j];
  }
}

static __host__ __device__ PetscInt Parts(PetscInt length, PetscInt part)
{
  return (length + part - 1) / part;
}

/// What is below, right and left of the tile of pivots k0 ..., PANEL rows or columns a block.
static __global__ void __launch_bounds__(PANEL)
    panel_kernel(FrontsView V, const PetscInt *list, PetscInt k0, LuWorkspace W)
{
  const DeviceFront     F(V, list[blockIdx.y], W.values, W.work);
  const PetscCount      m = F.rows, p = F.pivots;
  const int             size  = static_cast<int>(p - k0 < LU_TILE ? p - k0 : LU_TILE);
  const PetscInt        next  = k0 + size;
  const PetscInt        below = Parts(F.rows - next, PANEL), right = Parts(F.rows - next, PANEL);
  PetscInt              part = static_cast<PetscInt>(blockIdx.x);
  __shared__ SharedTile tile;
  __shared__ Scalar     stage[LU_TILE][PANEL + 1];

  if (part >= below + right + Parts(k0, PANEL)) return;
  tile.Load(F, k0, size, W.local_row);
  if (part < below) {
    const PetscInt i = next + part * PANEL + static_cast<PetscInt>(threadIdx.x);
    if (i < F.rows) SolveRows(F, k0, size, i, tile);
    return;
  }
  part -= below;
  if (part < right) {
    SolveColumns(next + static_cast<PetscCount>(part) * PANEL, m, size, true, tile, stage,
                 [&](PetscCount j) { return j < p ? F.lower + k0 + j * m : F.upper + k0 + (j - p) * p; });
    return;
  }
  part -= right;
  if (!tile.exchanged) return;
  SolveColumns(static_cast<PetscCount>(part) * PANEL, k0, size, false, tile, stage,
               [&](PetscCount j) { return F.lower + k0 + j * m; });
}

namespace
{
struct ProductShared {
  Scalar A[DEPTH][BLOCK], B[DEPTH][BLOCK + 1];
};
} // namespace

/// C [rows x columns] -= A [rows x depth] B [depth x columns], the block that begins at (i0, j0). Neighbouring threads
/// have neighbouring rows of C and A, and neighbouring entries of a column of B.
static __device__ void SubtractBlock(PetscCount rows, PetscCount columns, PetscCount depth, const Scalar *A,
                                     PetscCount lda, const Scalar *B, PetscCount ldb, Scalar *C, PetscCount ldc,
                                     PetscCount i0, PetscCount j0, ProductShared *S)
{
  constexpr int SIDE = BLOCK / SHARE;
  const int     ti = threadIdx.x % SIDE, tj = threadIdx.x / SIDE;
  Scalar        sum[SHARE][SHARE];

#pragma unroll
  for (int u = 0; u < SHARE; u++)
#pragma unroll
    for (int v = 0; v < SHARE; v++) sum[u][v] = Scalar(0);
  for (PetscCount k0 = 0; k0 < depth; k0 += DEPTH) {
#pragma unroll
    for (int e = threadIdx.x; e < DEPTH * BLOCK; e += PRODUCT_THREADS) {
      const int        i = e % BLOCK, k = e / BLOCK, l = e % DEPTH, j = e / DEPTH;
      const PetscCount row = i0 + i, column = j0 + j;
      S->A[k][i] = row < rows && k0 + k < depth ? A[row + (k0 + k) * lda] : Scalar(0);
      S->B[l][j] = column < columns && k0 + l < depth ? B[k0 + l + column * ldb] : Scalar(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      Scalar a[SHARE], b[SHARE];
#pragma unroll
      for (int u = 0; u < SHARE; u++) {
        a[u] = S->A[k][ti + u * SIDE];
        b[u] = S->B[k][tj + u * SIDE];
      }
#pragma unroll
      for (int u = 0; u < SHARE; u++)
#pragma unroll
        for (int v = 0; v < SHARE; v++) sum[u][v] = sum[u][v] + a[u] * b[v];
    }
    __syncthreads();
  }
#pragma unroll
  for (int v = 0; v < SHARE; v++)
#pragma unroll
    for (int u = 0; u < SHARE; u++) {
      const PetscCount i = i0 + ti + u * SIDE, j = j0 + tj + v * SIDE;
      if (i < rows && j < columns) C[i + j * ldc] = C[i + j * ldc] - sum[u][v];
    }
}

/// Pivots' rows and columns beyond the tile of pivots k0 ... less what the tile takes from them.
static __global__ void __launch_bounds__(PRODUCT_THREADS)
    trailing_kernel(FrontsView V, const PetscInt *list, PetscInt k0, LuWorkspace W)
{
  const DeviceFront        F(V, list[blockIdx.y], W.values, W.work);
  const PetscCount         m = F.rows, p = F.pivots;
  const PetscInt           next = k0 + LU_TILE;
  __shared__ ProductShared shared;

  if (next >= p) return; // a last tile leaves nothing
  const PetscCount high = Parts(F.rows - next, BLOCK), wide = Parts(F.pivots - next, BLOCK), first = high * wide;
  const PetscCount part = blockIdx.x;
  if (part < first) {
    SubtractBlock(m - next, p - next, LU_TILE, F.lower + next + k0 * m, m, F.lower + k0 + next * m, m,
                  F.lower + next + next * m, m, part % high * BLOCK, part / high * BLOCK, &shared);
  } else if (part < first + wide * Parts(F.others, BLOCK)) {
    SubtractBlock(p - next, F.others, LU_TILE, F.lower + next + k0 * m, m, F.upper + k0, p, F.upper + next, p,
                  (part - first) % wide * BLOCK, (part - first) / wide * BLOCK, &shared);
  }
}

/// The update of the others.
static __global__ void __launch_bounds__(PRODUCT_THREADS)
    update_kernel(FrontsView V, const PetscInt *list, PetscInt most, LuWorkspace W)
{
  const DeviceFront        F(V, list[blockIdx.y], W.values, W.work);
  __shared__ ProductShared shared;
  const PetscCount         high = Parts(F.others, BLOCK), part = blockIdx.x;

  if (F.others > most || part >= high * high) return;
  SubtractBlock(F.others, F.others, F.pivots, F.lower + F.pivots, F.rows, F.upper, F.pivots, F.update, F.others,
                part % high * BLOCK, part / high * BLOCK, &shared);
}

/// Fronts of more others than this go to cuBLAS, one after the other, if it is there.
static constexpr PetscInt MOST_OTHERS = 768;

static PetscErrorCode SubtractLargest(const FrontPlan &plan, const LargeStep &step, PetscInt most,
                                      const LuWorkspace &work, Stream stream)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < step.count; k++) {
    const PetscInt f = step.front[k], p = step.pivots[k], r = step.others[k];
    if (r <= most) continue;
    PetscCall(CublasSubtractProduct(r, r, p, work.values + plan.lower[f] + p, p + r, work.values + plan.upper[f], p,
                                    work.work + plan.update[f], r, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LargeFronts_CUDA(const FrontsView &fronts, const FrontPlan &plan, const LargeStep &step,
                                const PetscInt *list, const LuWorkspace &work, Stream stream)
{
  constexpr PetscInt LISTED = 65535; // fronts of a launch: the grid's second extent
  const cudaStream_t s      = static_cast<cudaStream_t>(stream);
  bool               blas;

  PetscFunctionBegin;
  PetscCall(CublasFound(&blas));
  const PetscInt most = blas ? MOST_OTHERS : PETSC_MAX_INT;
  for (PetscInt begin = 0; begin < step.count; begin += LISTED) {
    const PetscInt  count = PetscMin(LISTED, step.count - begin);
    const PetscInt *chunk = list + begin, *pivots = step.pivots.data() + begin, *others = step.others.data() + begin;
    PetscInt        rows = 0, widest = 0;
    for (PetscInt k = 0; k < count; k++) {
      rows = PetscMax(rows, pivots[k] + others[k]);
      if (others[k] <= most) widest = PetscMax(widest, others[k]);
    }
    const auto grid = [](PetscCount x, PetscInt y) { return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)); };
    assemble_kernel<<<grid(Parts(rows, ASSEMBLE_THREADS / 32), count), ASSEMBLE_THREADS, 0, s>>>(fronts, chunk, work);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscInt active = count;
    for (PetscInt k0 = 0; k0 < pivots[0]; k0 += LU_TILE) {
      PetscCount panels = 0, blocks = 0;
      while (active > 0 && pivots[active - 1] <= k0) active--;
      for (PetscInt k = 0; k < active; k++) {
        const PetscInt   p = pivots[k], m = p + others[k], next = PetscMin(k0 + LU_TILE, p);
        const PetscCount high = Parts(m - next, BLOCK), wide = Parts(p - next, BLOCK);
        panels = PetscMax(panels, static_cast<PetscCount>(2 * Parts(m - next, PANEL) + Parts(k0, PANEL)));
        if (next < p) blocks = PetscMax(blocks, high * wide + wide * Parts(others[k], BLOCK));
      }
      tile_kernel<<<static_cast<unsigned>(active), 32 * TILE_WARPS, 0, s>>>(fronts, chunk, k0, work);
      SparseGPUCallCUDA(cudaPeekAtLastError());
      if (panels > 0) panel_kernel<<<grid(panels, active), PANEL, 0, s>>>(fronts, chunk, k0, work);
      SparseGPUCallCUDA(cudaPeekAtLastError());
      if (blocks > 0) trailing_kernel<<<grid(blocks, active), PRODUCT_THREADS, 0, s>>>(fronts, chunk, k0, work);
      SparseGPUCallCUDA(cudaPeekAtLastError());
    }
    if (widest > 0) {
      const PetscCount high = Parts(widest, BLOCK);
      update_kernel<<<grid(high * high, count), PRODUCT_THREADS, 0, s>>>(fronts, chunk, most, work);
      SparseGPUCallCUDA(cudaPeekAtLastError());
    }
  }
  PetscCall(SubtractLargest(plan, step, most, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
