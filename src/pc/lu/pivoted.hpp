/// Sparse LU by columns, with pivots from all rows that are left: the last resort on the host for matrices that static
/// pivoting within fronts does not factor. Left-looking, its work is proportional to the multiplications: Gilbert &
/// Peierls, "Sparse partial pivoting in time proportional to arithmetic operations", SIAM J. Sci. Stat. Comput. 9(5),
/// 1988. As with Davis & Palamadai's KLU (ACM Trans. Math. Softw. 37(3), 2010), rows are matched, strongly connected
/// blocks are eliminated one after the other, and the matched row stays the pivot unless it is too small.
#pragma once

#include <vector>
#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/lu/names.hpp"

namespace sparsegpu::lu
{

/// The columns of a square matrix in the order of elimination.
struct PivotedColumns {
  PetscInt                rows = 0;
  std::vector<PetscCount> begin;     ///< [rows + 1]
  std::vector<PetscInt>   row;       ///< [begin[rows]]
  std::vector<Scalar>     value;     ///< [begin[rows]]
  std::vector<PetscInt>   preferred; ///< [rows] the row that is the pivot of each column if it is large enough
};

/// What a factorization may cost.
struct PivotedLimits {
  double     multiplications = 0;
  PetscCount entries         = 0; ///< of the factors
};

enum class PivotedOutcome {
  Done,
  Singular,  ///< a column has no pivot
  NotFinite, ///< a value, or a number that came of it, is not finite
  Costly     ///< beyond the limits
};

class PivotedLu
{
public:
  /// L U = the rows of A in the order of the pivots. A row is a pivot if no other's entry is larger than 1 / threshold
  /// times its own; 0 < threshold <= 1. O(multiplications) time. May throw std::bad_alloc.
  PivotedOutcome Factor(const PivotedColumns &A, PetscReal threshold, const PivotedLimits &limits);
  /// w [rows], in the order of the pivots: b -> L^-1 b and U^-1 that, or U^-T b and L^-T that.
  void Solve(bool transpose, Scalar *w) const;

  PetscInt   Step() const { return step_; }         ///< the column that had no pivot or was not finite
  PetscReal  Smallest() const { return smallest_; } ///< magnitude of a pivot
  PetscReal  Largest() const { return largest_; }   ///< magnitude of an entry of U
  PetscCount Entries() const { return static_cast<PetscCount>(lower_.size() + upper_.size() + inverse_.size()); }
  double     Multiplications() const { return multiplications_; }
  const std::vector<PetscInt> &Rows() const { return pivot_row_; } ///< [rows] the row that is the k-th pivot's

private:
  void      Reach(PetscInt row, PetscInt column);
  void      Eliminate(PetscInt column);
  PetscReal Choose(PetscInt column, const PivotedColumns &A, PetscReal threshold, PetscInt *pivot) const;
  void      Store(PetscInt column, PetscInt pivot);

  PetscInt                rows_ = 0, step_ = -1;
  PetscReal               smallest_ = 0, largest_ = 0;
  double                  multiplications_ = 0;
  std::vector<PetscCount> lower_begin_, upper_begin_; ///< [rows + 1] by columns
  std::vector<PetscInt>   lower_row_, upper_row_;     ///< of L rows of A until all are pivots, then pivots; of U pivots
  std::vector<Scalar>     lower_, upper_, inverse_;   ///< without the diagonals: 1 and [rows] the inverse of U's
  std::vector<PetscInt>   pivot_row_, place_;         ///< [rows] row of a pivot, and pivot of a row; -1: none yet
  // of one column
  std::vector<Scalar>     x_;              ///< [rows] by rows of A
  std::vector<PetscInt>   seen_;           ///< [rows] the last column that reached a row
  std::vector<PetscInt>   reached_, open_; ///< pivots in reverse topological order; rows without one
  std::vector<PetscInt>   stack_;
  std::vector<PetscCount> next_; ///< [stack]
};

/// *order [A.rows]: the columns sorted by blocks such that A, its row row_of[j] taken to row j, is block upper
/// triangular with irreducible blocks; within a block as they come in `order`. *blocks: how many there are. O(nonzeros)
/// (Tarjan, SIAM J. Comput. 1(2), 1972). May throw std::bad_alloc.
void SortByBlocks(const CsrView &A, const std::vector<PetscInt> &row_of, std::vector<PetscInt> *order,
                  PetscInt *blocks);

} // namespace sparsegpu::lu
