/// Where a multifrontal factorization keeps its numbers. Duff & Reid, "The multifrontal solution of indefinite sparse
/// symmetric linear equations", ACM Trans. Math. Softw. 9(3), 1983; Liu, SIAM Review 34(1), 1992.
///
/// Front f with p pivots and r other rows is a dense matrix of order p + r without the part that its parent gets:
///   columns of L: entry (i, k), i < p + r, k < p, at values[lower[f] + i + k * (p + r)]; L11 has a unit diagonal, and
///                 U11 lies in the upper triangle;
///   rows of U:    entry (k, j), k < p, j < r, at values[upper[f] + k + j * p];
///   the update that it leaves to its parent: entry (i, j), i, j < r, at work[update[f] + i + j * r].
/// A symmetric factorization L D L^T, or L D L^H, keeps one triangle:
///   the pivots' columns of L by tiles of LU_TILE columns, each from its diagonal down: entry (i, k), i < p, at
///                 values[lower[f] + TileColumn(p, k) + i]; D on the diagonal. What a tile has above its diagonal is
///                 that of U = D L^T while the tile is factored, and not used later;
///   rows of L below: entry (p + i, k), i < r, k < p, at values[upper[f] + i + k * r];
///   the update: its lower triangle; what is above is not used, and on a device hardly kept: see UpdateColumn().
#pragma once

#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/lu/names.hpp"
#include "pc/symbolic/tree.hpp"

namespace sparsegpu::lu
{

using symbolic::FrontTree;
using symbolic::SymmetricPattern;

/// Pivots are eliminated by tiles of this many; rows change places within a tile only, so that the structure, which was
/// fixed before the values were known, stays as it is (static pivoting: Li & Demmel, ACM Trans. Math. Softw. 29(2),
/// 2003).
constexpr PetscInt LU_TILE = 32;

/// In a symmetric factorization with p pivots: the first entry of the tile of columns that begins with k0, which is its
/// diagonal; its columns are p - k0 apart.
SPARSEGPU_HD PetscCount TileBegin(PetscCount p, PetscCount k0)
{
  return k0 * p - k0 * (k0 - LU_TILE) / 2;
}
/// Where row 0 of column k would be, were it kept.
SPARSEGPU_HD PetscCount TileColumn(PetscCount p, PetscCount k)
{
  const PetscCount k0 = k / LU_TILE * LU_TILE;
  return TileBegin(p, k0) + (k - k0) * (p - k0) - k0;
}
/// Entries of all p columns.
SPARSEGPU_HD PetscCount TileEntries(PetscCount p)
{
  const PetscCount k0 = p / LU_TILE * LU_TILE;
  return TileBegin(p, k0) + (p - k0) * (p - k0);
}

/// Updates of fronts with more other rows than this are done by cuBLAS, one after the other, if it was found.
constexpr PetscInt MOST_OTHERS = 768;

/// Columns of an update of a symmetric factorization on a device that are kept together, each such tile from its
/// diagonal down: few where the product is one of our own, else a quarter, as products of few columns leave much of a
/// device without work.
constexpr PetscInt      UPDATE_TILE = 128;
SPARSEGPU_HD PetscCount UpdateTile(PetscCount r)
{
  const PetscCount quarter = (r / 4 + LU_TILE - 1) / LU_TILE * LU_TILE;
  return r <= MOST_OTHERS ? PetscCount(UPDATE_TILE) : quarter;
}
/// Where row 0 of column j would be, were it kept, in such an update of r rows.
SPARSEGPU_HD PetscCount UpdateColumn(PetscCount r, PetscCount j)
{
  const PetscCount tile = UpdateTile(r), j0 = j / tile * tile;
  return j0 * r - j0 * (j0 - tile) / 2 + (j - j0) * (r - j0) - j0;
}
/// Entries of all its columns.
SPARSEGPU_HD PetscCount UpdateEntries(PetscCount r)
{
  const PetscCount tile = UpdateTile(r), j0 = tile > 0 ? r / tile * tile : 0;
  return j0 * r - j0 * (j0 - tile) / 2 + (r - j0) * (r - j0);
}

/// Fronts of at most so many rows, UPDATE_TILE of them others, are small: a thread block of a device keeps one in its
/// shared memory, if that suffices.
constexpr PetscInt SMALL_FRONTS[] = {32, 64, 96, 128, 160};
constexpr PetscInt SMALL_CLASSES  = 5;
constexpr PetscInt LARGEST_SMALL  = SMALL_FRONTS[SMALL_CLASSES - 1];

/// The order of the steps of a factorization. Updates live until the end of the step of the front that takes them.
enum class Steps {
  Postorder, ///< one front a step: least memory
  Device     ///< a step for each class of small fronts: those that are not larger, nor is any below them, each after
             ///< the fronts below it; with the fronts of smaller classes where one launch for both ends earlier, and
             ///< then their own steps are empty; then the large ones by their height in the tree, those of a step
             ///< independent of each other, with the most pivots first
};

/// What the fronts are, and so what is stored of them.
enum class Shape {
  General,   ///< L and U
  Symmetric, ///< L and D, U = D L^T
  Hermitian  ///< L and D, U = D L^H
};

/// Pivots whose columns of L are scaled by D at a time, for the update of the others in a symmetric factorization: few
/// against the pivots of the largest fronts, many for a product.
constexpr PetscInt SCALED_PIVOTS = 1024;

struct FrontPlan {
  Shape                   shape  = Shape::General;
  bool                    packed = false;              ///< updates are lower triangles by tiles: see UpdateColumn()
  std::vector<PetscCount> lower, upper, update;        ///< [fronts]; factors follow each other as the steps do
  std::vector<PetscInt>   step_begin, step;            ///< [steps + 1], [fronts] the fronts of each step
  std::vector<PetscCount> place;                       ///< [matrix entries] in values
  PetscCount              values = 0, work = 0;        ///< entries
  PetscCount              scaled      = 0;             ///< in work: columns of L times D, of a symmetric factorization
  PetscLogDouble          flops       = 0;             ///< real operations of a factorization, as of real numbers
  PetscLogDouble          solve_flops = 0;             ///< the same of a solve with one right-hand side
  PetscInt                largest     = 0;             ///< rows of the largest front
  PetscInt                most_pivots = 0, widest = 0; ///< pivots and other rows of any front at most
  PetscInt                depth     = 0;               ///< fronts of the longest chain
  double                  predicted = 0; ///< of Steps::Device: a factorization's microseconds on an H100, roughly

  bool Half() const { return shape != Shape::General; } ///< one triangle is stored
  /// Of an update of r rows.
  PetscCount Entries(PetscCount r) const { return packed ? UpdateEntries(r) : r * r; }
  /// Of the factors of a front.
  PetscCount FactorEntries(PetscCount p, PetscCount r) const { return p * r + (Half() ? TileEntries(p) : (p + r) * p); }
  PetscInt   Steps() const { return static_cast<PetscInt>(step_begin.size()) - 1; }
  /// Of Steps::Device: where the large fronts begin in `step`.
  PetscInt FirstLarge() const { return Steps() > 0 ? step_begin[SMALL_CLASSES] : 0; }
  bool     HasLarge() const { return FirstLarge() < static_cast<PetscInt>(step.size()); }
};

/// Offsets of the fronts' factors and updates. Fronts of more than `largest_small` rows are large. O(rows of the
/// fronts).
PetscErrorCode PlanFronts(const FrontTree &tree, Steps steps, PetscInt largest_small, Shape shape, FrontPlan *plan);

/// place [A.nonzeros]: where in `values` each entry of A goes, if row i is eliminated row_place[i]-th and column j
/// column_place[j]-th. In a symmetric factorization entries of the lower triangle (of the permuted matrix) go nowhere,
/// -1, and those of the upper one where their mirror image belongs. O(A.nonzeros + rows of the fronts).
PetscErrorCode PlaceEntries(const CsrView &A, const FrontTree &tree, const std::vector<PetscInt> &row_place,
                            const std::vector<PetscInt> &column_place, FrontPlan *plan);

} // namespace sparsegpu::lu
