/// The numeric factorization and the solves on the device, as their launchers see them. No front waits on the host.
#pragma once

#include "device/device.hpp"
#include "device/single.hpp"
#include "pc/lu/columns.hpp"
#include "pc/lu/plan.hpp"
#include "pc/lu/numeric.hpp"

namespace sparsegpu::lu
{

/// The fronts, on the device; see FrontTree and FrontPlan. Row a of front f, its pivots first, has the number
/// first[f] + row_begin[f] + a among the rows of all fronts.
struct FrontsView {
  Shape             shape;
  const PetscInt   *first;                  ///< [fronts + 1]
  const PetscInt   *parent;                 ///< [fronts]
  const PetscCount *row_begin;              ///< [fronts + 1]
  const PetscInt   *row, *relative, *owner; ///< [others of all fronts]; owner: the front that they are others of
  const PetscCount *lower, *upper, *update; ///< [fronts]
  const PetscInt   *source_begin;           ///< [rows of all fronts + 1]
  const PetscInt   *source; ///< [others of fronts with a parent] the others that a row gets a child's part of
};

/// Of one right-hand side: maximum norms as bits, and whether there is what has none.
struct ColumnReport {
  RealBits residual, x, b;
  int      residual_not_finite, b_not_finite;
};

/// What kernels report; the reals as bits, which compare as the magnitudes do.
struct DeviceReport {
  unsigned long long ticket[8]; ///< of the launches of a factorization or of a solve
  unsigned long long first;     ///< LuReport
  int                perturbed, negative, not_finite, stuck;
  RealBits           smallest, largest, row_norm, column_norm; ///< magnitudes of pivots, of scaled entries; norms
  RealBits           growth;                                   ///< largest part of an entry of the factors
  ColumnReport       column[LU_COLUMNS];                       ///< of the last residuals
  LuPivoting         pivoting;
};

/// Which triangles of fronts are kept, and with what pivots.
enum class Kept {
  Both,
  Half,  ///< of a symmetric factorization
  Paired ///< the same with pivots of order 1 and 2
};

/// Entries begin .. end - 1 of the factors, FrontPlan::values of them in all; entry k is at values[k].
template <class Number> struct FactorPart {
  PetscCount begin, end;
  Number    *values;
};

/// What the kernels of a factorization work on. Number: Scalar or Single.
template <class Number> struct LuWorkspace {
  Number       *values, *work; ///< FrontPlan
  PetscInt     *local_row;     ///< [rows]
  int          *pending;       ///< [fronts] children that are not done
  Number       *met;           ///< [rows] pivots of a symmetric factorization before any was replaced; else null
  PairCode     *pair;          ///< [rows] as PivotsOf has it
  DeviceReport *report;
  unsigned      spins; ///< see Patience
};

/// Columns that one warp takes through a triangle: a quarter of a block's.
constexpr int WARP_COLUMNS = LU_COLUMNS / 4;
/// Columns that the sweeps are made for, `count` and empty ones: 1, or a number of which each warp of a group of 1, 2
/// or 4 takes as many.
inline PetscInt SweptColumns(PetscInt count)
{
  PetscInt columns = 4;
  while (columns < count) columns *= 2;
  return count == 1 ? 1 : columns;
}

/// What the kernels of a solve work on. Column c of each array lies c * stride entries on.
template <class Number> struct LuSolution {
  const Number   *values;
  const PetscInt *local_row;
  const PairCode *pair;    ///< [rows] as PivotsOf has it
  const Number   *b;       ///< [rows] in the order of elimination
  Number         *y;       ///< [rows] after L, or U^T
  Number         *parts;   ///< [others of all fronts] what they get from their front
  Number         *x;       ///< [rows] after U, or L^T
  Number         *turned;  ///< [rows] if there are pairs, x of large fronts in the order and the pairs of their pivots
  PetscInt        columns; ///< SweptColumns()
  PetscCount      stride;
  DeviceReport   *report;
  unsigned        spins; ///< see Patience
};

/// Fronts list[0 .. count) of the class, each after those below it that are in the list; those of smaller classes are
/// done. `launch`: which ticket.
template <class Number> PetscErrorCode SmallFronts_CUDA(const FrontsView &fronts, PetscInt size, const PetscInt *list,
                                                        PetscInt count, int launch, const LuWorkspace<Number> &work,
                                                        Stream stream);
/// Fronts of any size that do not need each other, the one with the most pivots first; their sizes are known here, too.
struct LargeStep {
  PetscInt              begin       = 0; ///< in FrontPlan::step
  PetscInt              count       = 0;
  PetscInt              items_begin = 0, items = 0; ///< of the list of AssembleItem
  std::vector<PetscInt> front, pivots, others;      ///< [count]
};
/// Columns begin .. end - 1 of a large front, which a thread block assembles.
struct AssembleItem {
  PetscInt front, begin, end;
};
/// Fronts list[0 .. step.count) on the device, whose children are done; items: those of the step.
template <class Number> PetscErrorCode LargeFronts_CUDA(const FrontsView &fronts, const FrontPlan &plan,
                                                        const LargeStep &step, const PetscInt *list,
                                                        const AssembleItem *items, const LuWorkspace<Number> &work,
                                                        Stream stream);
/// Some of a step's fronts: on the host and the device.
struct LargeChunk {
  PetscInt        count;
  const PetscInt *front, *pivots, *others; ///< [count] on the host
  const PetscInt *list;                    ///< [count] the fronts again, on the device
};
/// Pivots whose product is subtracted from all pivots beyond them at once: many, as each pass reads and writes what is
/// left of a front's columns and rows; until then tile after tile from what belongs to those of them that are left.
constexpr PetscInt WIDE = 256;
static_assert(WIDE % LU_TILE == 0, "of whole tiles");
/// Subtracts the product of columns and rows of pivots k0 .. k0 + depth - 1, a tile or WIDE, from those of the pivots
/// beyond them: of a tile up to the next multiple of WIDE, and then the next one of these tiles is factored.
template <class Number> PetscErrorCode SubtractPivots_CUDA(const FrontsView &fronts, const FrontPlan &plan,
                                                           const LargeChunk &chunk, PetscInt k0, PetscInt depth,
                                                           const LuWorkspace<Number> &work, Stream stream);
/// The same fronts' updates, where all else of them is done.
template <class Number> PetscErrorCode LargeUpdates_CUDA(const FrontsView &fronts, const FrontPlan &plan,
                                                         const LargeStep &step, const PetscInt *list,
                                                         const LuWorkspace<Number> &work, Stream stream);

/// The first step of that alone: what the children leave is added, items [count].
template <class Number> PetscErrorCode AssembleFronts_CUDA(const FrontsView &fronts, const AssembleItem *items,
                                                           PetscInt count, const LuWorkspace<Number> &work,
                                                           Stream stream);
/// block [pivots x pivots]: what has been assembled in a front without other rows, whose factors become unit matrices.
template <class Number> PetscErrorCode TakeApart_CUDA(const FrontsView &fronts, PetscInt front, PetscInt pivots,
                                                      const LuWorkspace<Number> &work, Number *block, Stream stream);

/// A part of a large front in a solve: rows of its pivots, or of its others, LU_TILE of them with several columns and
/// SweptRows() with one. Where the pivots are all of one part, that has up to TAKEN_ALONG of the others, too.
struct SolveItem {
  PetscInt front, tile; ///< tiles of pivots first
};
/// What the sweeps visit. Lists in the order of the steps, forward the pivots of a step's fronts before their others;
/// items of the backward sweep from the last tile of pivots to the first.
struct SolveLists {
  const PetscInt  *small;
  PetscInt         small_count, small_rows; ///< rows: of the largest of them
  const SolveItem *forward, *backward;
  PetscInt         forward_count, backward_count;
};
/// y and parts from b if `forward`, else x from y; small fronts by warps, large ones by blocks, tile after tile; one
/// column, or LU_COLUMNS at most. Values are their own flags. A solve sweeps forward over the small and the large
/// fronts, then back over the large and the small ones.
template <class Number> PetscErrorCode SweepSmallFronts_CUDA(const FrontsView &fronts, const SolveLists &lists,
                                                             bool forward, bool transpose,
                                                             const LuSolution<Number> &work, Stream stream);
template <class Number> PetscErrorCode SweepLargeFronts_CUDA(const FrontsView &fronts, const SolveLists &lists,
                                                             bool forward, bool transpose,
                                                             const LuSolution<Number> &work, Stream stream);
/// The same with several columns, which a block takes through large fronts together.
template <class Number> PetscErrorCode SweepLargeColumns_CUDA(const FrontsView &fronts, const SolveLists &lists,
                                                              bool forward, bool transpose,
                                                              const LuSolution<Number> &work, Stream stream);

} // namespace sparsegpu::lu
