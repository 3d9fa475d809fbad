/// Where a multifrontal factorization keeps its numbers. Duff & Reid, "The multifrontal solution of indefinite sparse
/// symmetric linear equations", ACM Trans. Math. Softw. 9(3), 1983; Liu, SIAM Review 34(1), 1992.
///
/// Front f with p pivots and r other rows is a dense matrix of order p + r without the part that its parent gets:
///   columns of L: entry (i, k), i < p + r, k < p, at values[lower[f] + i + k * (p + r)]; L11 has a unit diagonal, and
///                 U11 lies in the upper triangle;
///   rows of U:    entry (k, j), k < p, j < r, at values[upper[f] + k + j * p];
///   the update that it leaves to its parent: entry (i, j), i, j < r, at work[update[f] + i + j * r].
#pragma once

#include "mat/rows/csr_view.hpp"
#include "pc/lu/names.hpp"
#include "pc/symbolic/tree.hpp"

namespace sparsegpu::lu
{

using symbolic::FrontTree;
using symbolic::SymmetricPattern;

/// Fronts of at most so many rows are small: a thread block of a device keeps one in its shared memory, if that
/// suffices.
constexpr PetscInt SMALL_FRONTS[] = {32, 64, 96};
constexpr PetscInt SMALL_CLASSES  = 3;
constexpr PetscInt LARGEST_SMALL  = SMALL_FRONTS[SMALL_CLASSES - 1];

/// The order of the steps of a factorization. Updates live until the end of the step of the front that takes them.
enum class Steps {
  Postorder, ///< one front a step: least memory
  Device     ///< a step for each class of small fronts: those that are not larger, nor is any below them, each after
             ///< the fronts below it; then the large ones by their height in the tree, those of a step independent of
             ///< each other, with the most pivots first
};

struct FrontPlan {
  std::vector<PetscCount> lower, upper, update;        ///< [fronts]
  std::vector<PetscInt>   step_begin, step;            ///< [steps + 1], [fronts] the fronts of each step
  std::vector<PetscCount> place, mirror;               ///< [matrix entries] in values; mirror: symmetric factorizations
  PetscCount              values = 0, work = 0;        ///< entries
  PetscLogDouble          flops       = 0;             ///< real operations of a factorization, as of real numbers
  PetscInt                largest     = 0;             ///< rows of the largest front
  PetscInt                most_pivots = 0, widest = 0; ///< pivots and other rows of any front at most

  PetscInt Steps() const { return static_cast<PetscInt>(step_begin.size()) - 1; }
};

/// Offsets of the fronts' factors and updates. Fronts of more than `largest_small` rows are large. O(rows of the
/// fronts).
PetscErrorCode PlanFronts(const FrontTree &tree, Steps steps, PetscInt largest_small, FrontPlan *plan);

/// place [A.nonzeros]: where in `values` each entry of A goes, if row i is eliminated row_place[i]-th and column j
/// column_place[j]-th. `symmetric`: entries of the lower triangle (of the permuted matrix) go nowhere, -1, and those
/// of the upper one also to mirror, -1 on the diagonal. O(A.nonzeros + rows of the fronts).
PetscErrorCode PlaceEntries(const CsrView &A, const FrontTree &tree, const std::vector<PetscInt> &row_place,
                            const std::vector<PetscInt> &column_place, bool symmetric, FrontPlan *plan);

} // namespace sparsegpu::lu
