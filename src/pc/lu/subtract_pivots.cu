/// What eliminated pivots of large fronts take from the columns and rows of the pivots that follow. The product of one
/// tile of pivots is subtracted from what the other tiles of its WIDE pivots need at once, and that of all WIDE pivots,
/// which does many operations for each entry that it reads and writes, from the rest: two-level blocking as in dense
/// factorizations, Toledo, SIAM J. Matrix Anal. Appl. 18(4), 1997.
#include "device/cublas.hpp"
#include "device/launch.cuh"
#include "pc/lu/fronts.cuh"
#include "pc/lu/product.cuh"
#include "pc/lu/tile.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Pivots whose columns, and in a general front whose rows, the product of pivots k0 .. k0 + depth - 1 is subtracted
/// from.
struct Beyond {
  PetscInt begin, end;

  SPARSEGPU_HD Beyond(PetscInt p, PetscInt k0, PetscInt depth) : begin(k0 + depth), end(p)
  {
    const PetscInt group = (k0 / WIDE + 1) * WIDE;
    if (depth < WIDE && group < p) end = group;
  }
  SPARSEGPU_HD PetscInt Count() const { return begin < end ? end - begin : 0; }
};

/// Entries of columns of pivots from which cuBLAS subtracts a product of WIDE pivots, front by front.
constexpr PetscCount MANY_ENTRIES = PetscCount(1) << 20;

SPARSEGPU_HD bool ByCublas(PetscInt rows, const Beyond &beyond, PetscInt depth, bool blas)
{
  return blas && depth == WIDE && static_cast<PetscCount>(rows - beyond.begin) * beyond.Count() >= MANY_ENTRIES;
}
/// What a block shares: the block that has the tile of pivots which comes next factors it, in its place, when it has
/// subtracted the last product from it, while other blocks still subtract theirs. These read the rows and columns of
/// the tile before, and nothing of this one.
template <class Number> union SubtractShared
{
  ProductShared<Number> product;
  TileShared<Number>    tile;
};
static_assert(PRODUCT_THREADS == 32 * TILE_WARPS && BLOCK >= LU_TILE, "a block of a product has what a tile takes");

template <Kept kept, class Number> __device__ void FactorNextTile(const DeviceFront<Number> &F, PetscInt next,
                                                                  PetscInt depth, const LuWorkspace<Number> &W,
                                                                  SubtractShared<Number> &shared)
{
  if (depth != LU_TILE) return;
  __syncthreads();
  FactorTile<kept>(F, next, W, shared.tile);
}
} // namespace

/// Of general fronts: columns begin .. end - 1 from row `begin` on, then rows begin .. end - 1 of the columns from
/// `end` on.
template <class Number> static __global__ void __launch_bounds__(PRODUCT_THREADS, PRODUCT_BLOCKS)
    subtract_kernel(FrontsView V, const PetscInt *list, PetscInt k0, PetscInt depth, bool blas, LuWorkspace<Number> W)
{
  const DeviceFront<Number> F(V, list[blockIdx.y], W.values, W.work);
  const Beyond              beyond(F.pivots, k0, depth);
  const PetscCount          m = F.rows, p = F.pivots, begin = beyond.begin, end = beyond.end;
  __shared__ SubtractShared<Number> shared;

  begin_in_turn();
  if (beyond.Count() == 0 || ByCublas(F.rows, beyond, depth, blas)) return;
  const PetscCount wide = Parts(beyond.Count(), BLOCK), columns = wide * Parts(F.rows - beyond.begin, BLOCK);
  const PetscCount right = columns + wide * Parts(F.pivots - beyond.end, BLOCK);
  const PetscCount part  = blockIdx.x;
  // columns from `begin` on, rows of the pivots' columns from `end` on, rows of the others' columns
  const bool       below = part < columns, square = part < right;
  const PetscCount ld     = square ? m : p;
  Number *const    C      = square ? F.lower + (below ? begin : end) * m : F.upper;
  const PetscInt   rows   = below ? F.rows - beyond.begin : beyond.Count();
  const PetscInt   width  = below ? beyond.Count() : square ? F.pivots - beyond.end : F.others;
  const PetscCount number = below ? part : square ? part - columns : part - right;
  const PetscCount row = below ? number / wide : number % wide, column = below ? number % wide : number / wide;
  if (column * BLOCK >= width) return;
  SubtractBlock<false>(
      rows, width, depth, PlainRows<Number>{F.lower + begin + k0 * m, m}, PlainFactor<Number>{C + k0, ld},
      [&](PetscCount j) { return C + begin + j * ld; }, static_cast<PetscInt>(row * BLOCK),
      static_cast<PetscInt>(column * BLOCK), &shared.product);
  if (part == 0) FactorNextTile<Kept::Both>(F, beyond.begin, depth, W, shared);
}

/// Of halves, from the diagonal down: rows of pivots, then those below them.
template <Kept kept, class Number> static __global__ void __launch_bounds__(PRODUCT_THREADS, PRODUCT_BLOCKS)
    subtract_half_kernel(FrontsView V, const PetscInt *list, PetscInt k0, PetscInt depth, LuWorkspace<Number> W)
{
  const DeviceFront<Number> F(V, list[blockIdx.y], W.values, W.work);
  const Beyond              beyond(F.pivots, k0, depth);
  const PetscInt            begin = beyond.begin;
  __shared__ SubtractShared<Number> shared;

  begin_in_turn();
  if (beyond.Count() == 0) return;
  const PetscInt wide = Parts(beyond.Count(), BLOCK), high = Parts(F.pivots - begin, BLOCK),
                 low          = Parts(F.others, BLOCK);
  const PetscInt         part = static_cast<PetscInt>(blockIdx.x), column = part % wide, row = part / wide;
  const TileRows<Number> L{F, k0, begin};
  const ScaledFactor<Number, TileRows<Number>> B{F, k0, L};
  if (row < high) {
    if (row < column) return;
    SubtractBlock<true>(
        F.pivots - begin, beyond.Count(), depth, L, B,
        [&](PetscCount j) { return F.template Column<true>(begin + j) + begin; }, row * BLOCK, column * BLOCK,
        &shared.product);
    if (part == 0) FactorNextTile<kept>(F, begin, depth, W, shared);
  } else if (row < high + low) {
    SubtractBlock<false>(
        F.others, beyond.Count(), depth, PlainRows<Number>{F.template Rest<true>(k0), F.others}, B,
        [&](PetscCount j) { return F.template Rest<true>(begin + j); }, (row - high) * BLOCK, column * BLOCK,
        &shared.product);
  }
}

/// Of one general front, by cuBLAS.
template <class Number> static PetscErrorCode SubtractLargest(const FrontPlan &plan, PetscInt f, PetscInt p, PetscInt r,
                                                              PetscInt k0, const Beyond &beyond,
                                                              const LuWorkspace<Number> &work, Stream stream)
{
  const PetscCount m  = p + r;
  Number *const lower = work.values + plan.lower[f], *const upper = work.values + plan.upper[f];
  Number *const L = lower + beyond.begin + k0 * m, *const U = lower + k0 + beyond.begin * m;
  const PetscInt count = beyond.Count();

  PetscFunctionBegin;
  PetscCall(CublasSubtractProduct(p + r - beyond.begin, count, WIDE, L, p + r, U, p + r, U + WIDE, p + r, stream));
  if (r > 0) PetscCall(CublasSubtractProduct(count, r, WIDE, L, p + r, upper + k0, p, upper + beyond.begin, p, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode SubtractPivots_CUDA(const FrontsView &fronts, const FrontPlan &plan,
                                                           const LargeChunk &chunk, PetscInt k0, PetscInt depth,
                                                           const LuWorkspace<Number> &work, Stream stream)
{
  const cudaStream_t s      = static_cast<cudaStream_t>(stream);
  PetscCount         blocks = 0;
  bool               blas   = false;

  PetscFunctionBegin;
  if (!plan.Half()) PetscCall(CublasFound(&blas));
  for (PetscInt k = 0; k < chunk.count; k++) {
    const PetscInt p = chunk.pivots[k], r = chunk.others[k];
    const Beyond   beyond(p, k0, depth);
    if (beyond.Count() == 0) continue;
    if (ByCublas(p + r, beyond, depth, blas)) {
      PetscCall(SubtractLargest(plan, chunk.front[k], p, r, k0, beyond, work, stream));
      continue;
    }
    const PetscCount wide = Parts(beyond.Count(), BLOCK), low = Parts(r, BLOCK);
    const PetscCount high = plan.Half() ? Parts(p - beyond.begin, BLOCK) + low
                                        : Parts(p + r - beyond.begin, BLOCK) + Parts(p - beyond.end, BLOCK) + low;
    blocks                = PetscMax(blocks, wide * high);
  }
  const dim3 grid = Grid(blocks, chunk.count);
  if (blocks > 0 && work.pair)
    PetscCall(LaunchEarly<subtract_half_kernel<Kept::Paired, Number>>(grid, PRODUCT_THREADS, size_t(0), s, fronts,
                                                                      chunk.list, k0, depth, work));
  else if (blocks > 0 && plan.Half())
    PetscCall(LaunchEarly<subtract_half_kernel<Kept::Half, Number>>(grid, PRODUCT_THREADS, size_t(0), s, fronts,
                                                                    chunk.list, k0, depth, work));
  else if (blocks > 0)
    PetscCall(LaunchEarly<subtract_kernel<Number>>(grid, PRODUCT_THREADS, size_t(0), s, fronts, chunk.list, k0, depth,
                                                   blas, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode SubtractPivots_CUDA(const FrontsView &, const FrontPlan &, const LargeChunk &, PetscInt,
                                            PetscInt, const LuWorkspace<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SubtractPivots_CUDA(const FrontsView &, const FrontPlan &, const LargeChunk &, PetscInt,
                                            PetscInt, const LuWorkspace<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
