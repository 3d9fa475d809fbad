/// Fronts in global memory, many at a time: their children's updates, then tile of pivots after tile of pivots its own
/// factorization, the panels beside it and what they take from the rest of the pivots' rows and columns; at last the
/// update of the others. `half`: those of symmetric factorizations, one triangle.
#include "device/launch.cuh"
#include "pc/lu/fronts.cuh"
#include "pc/lu/panel.cuh"
#include "pc/lu/tile.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// The tile of pivots k0 ... of each front.
template <Kept kept, class Number> static __global__ void __launch_bounds__(TILE_THREADS<kept>)
    tile_kernel(FrontsView V, const PetscInt *list, PetscInt k0, LuWorkspace<Number> W)
{
  const DeviceFront<Number> F(V, list[blockIdx.x], W.values, W.work); // of arrays that no kernel of these writes
  __shared__ TileShared<Number> shared;

  begin_in_turn();
  FactorTile<kept>(F, k0, W, shared);
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
    if (k0 == wide) // the others have been factored by the block that subtracted from them last
      PetscCall(LaunchEarly<tile_kernel<kept, Number>>(dim3(static_cast<unsigned>(chunk.count)), TILE_THREADS<kept>,
                                                       size_t(0), s, fronts, chunk.list, k0, work));
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
                                                        const AssembleItem *items, const LuWorkspace<Number> &work,
                                                        Stream stream)
{
  PetscFunctionBegin;
  PetscCall(AssembleFronts_CUDA(fronts, items, step.items, work, stream));
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
                                         const AssembleItem *, const LuWorkspace<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode LargeFronts_CUDA(const FrontsView &, const FrontPlan &, const LargeStep &, const PetscInt *,
                                         const AssembleItem *, const LuWorkspace<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
