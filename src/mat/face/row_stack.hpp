/// The rows of a parallel matrix that one rank multiplies with: its own, the entries of both blocks in one row, and
/// behind them rows of other ranks. The pattern is made once, that of other ranks' rows on the host; values are
/// gathered from the blocks where these have them, and those of other ranks are fetched, each time.
#pragma once

#include <petscsf.h>
#include "mat/face/context.hpp"
#include "mat/products/multiply.hpp"
#include "mat/products/pattern_watch.hpp"

namespace sparsegpu::face
{

/// Local numbers of rows or columns of a parallel matrix: those that this rank owns, then some of other ranks.
struct Numbering {
  PetscInt              begin = 0, own = 0; ///< the first one owned, and how many
  std::vector<PetscInt> others;             ///< their numbers in the matrix, ascending

  PetscInt size() const { return own + static_cast<PetscInt>(others.size()); }
  PetscInt Global(PetscInt k) const { return k < own ? begin + k : others[static_cast<size_t>(k - own)]; }
  PetscInt Local(PetscInt global) const; ///< of one that is there
};

/// Whether the patterns of a parallel matrix are those of the last look.
class ParallelPatternWatch
{
public:
  /// Not collective.
  PetscErrorCode Look(Mat M, bool *changed);

private:
  products::PatternWatch blocks_[2];
  std::vector<PetscInt>  ghosts_; ///< columns of the matrix that those of the off-diagonal block are
};

class RowStack
{
public:
  RowStack() = default;
  ~RowStack() { PetscCallAbort(PETSC_COMM_SELF, PetscSFDestroy(&entries_)); }
  RowStack(const RowStack &)            = delete;
  RowStack &operator=(const RowStack &) = delete;

  /// The numbers of M's own rows and columns, M of our type, assembled. *fits is false where they have more entries
  /// than PetscInt counts. Not collective.
  PetscErrorCode Join(Mat M, bool *fits);
  /// After Join(): and of rows of other ranks, to which `rows` leads from their owners. *fits is agreed. Collective.
  PetscErrorCode Fetch(Mat M, PetscSF rows, bool *fits);
  /// The patterns in `space`, for good. Errors: PETSC_ERR_MEM. Not collective.
  PetscErrorCode BringPattern(Mat M, Space space);
  /// Has M, which may be another matrix than at Join(), that one's pattern? Not collective.
  PetscErrorCode Fits(Mat M, bool *fits);
  /// Memory for the values, and M's own. Errors: PETSC_ERR_MEM. Not collective.
  PetscErrorCode GatherValues(Mat M);
  /// The values of the other rows. Collective.
  PetscErrorCode FetchValues();

  products::SparseRows all() const { return Rows(static_cast<PetscInt>(i_.size()) - 1, nonzeros_ + fetched_); }
  products::SparseRows own() const { return Rows(own_rows_, nonzeros_); }
  const Numbering     &columns() const { return columns_; }
  /// The rows that own() has, for a transpose of it.
  CsrView OwnView() const;

private:
  products::SparseRows Rows(PetscInt rows, PetscInt nonzeros) const
  {
    return products::SparseRows{rows, columns_.size(), nonzeros, CsrArrays{i_.data(), j_.data(), a_.data()}};
  }
  PetscErrorCode NumberAnew(const std::vector<PetscInt> &global);
  PetscErrorCode LookUp(Mat M, std::vector<PetscInt> &&rows, std::vector<PetscInt> *columns);
  PetscErrorCode FetchColumns(Mat M, PetscSF rows, std::vector<PetscInt> *global);
  PetscErrorCode JoinRows(Mat M);

  PetscInt              own_rows_ = 0, nonzeros_ = 0, fetched_ = 0; ///< entries of own rows, and of others
  PetscInt              split_ = 0;                                 ///< entries of the diagonal block
  Numbering             columns_;
  ParallelPatternWatch  watch_;
  PetscSF               entries_ = nullptr;     ///< own entries -> fetched ones
  Space                 space_   = Space::Host; ///< of the arrays
  std::vector<PetscInt> host_i_, host_fetched_; ///< before BringPattern(): i_, and j_ behind nonzeros_
  std::vector<PetscInt> ghosts_;                ///< the numbers of the off-diagonal block's columns
  Array<PetscInt>       i_, j_;                 ///< [rows + 1], [nonzeros_ + fetched_] columns as columns_ numbers them
  Array<PetscInt>       place_; ///< [nonzeros_] the entry among those of the diagonal block, and the other behind it
  Array<Scalar>         a_;     ///< [nonzeros_ + fetched_]
};

} // namespace sparsegpu::face
