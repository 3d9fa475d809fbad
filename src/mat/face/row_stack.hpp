/// The rows of a parallel matrix that one rank multiplies with: its own, the entries of both blocks in one row, and
/// behind them rows of other ranks. The pattern is made once; values are gathered from the blocks where these have
/// them, and those of other ranks are fetched, each time.
#pragma once

#include "mat/face/parallel_watch.hpp"
#include "mat/face/runs.hpp"
#include "mat/products/multiply.hpp"

namespace sparsegpu::face
{

/// Local numbers of rows or columns of a parallel matrix: those that this rank owns, then some of other ranks.
struct Numbering {
  PetscInt              begin = 0, own = 0; ///< the first one owned, and how many
  std::vector<PetscInt> others;             ///< their numbers in the matrix, ascending

  PetscInt size() const { return own + static_cast<PetscInt>(others.size()); }
};

class RowStack
{
public:
  RowStack()                            = default;
  RowStack(const RowStack &)            = delete;
  RowStack &operator=(const RowStack &) = delete;

  /// The numbers of M's own rows and columns, M of our type, assembled, and the sizes of its blocks. *fits is false
  /// where they have more entries than PetscInt counts. Not collective.
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
    return products::SparseRows{rows, columns_.size(), nonzeros, CsrArrays{i_.data(), j_.data(), a_.data()}, sizes_};
  }
  PetscErrorCode LookUp(Mat M, ListedRows *asked);
  PetscErrorCode FetchLengths(MPI_Comm comm, PetscInt leaves, const std::vector<Piece> &pieces, const ListedRows &asked,
                              bool *fits);
  PetscErrorCode FetchColumns(MPI_Comm comm, std::vector<Piece> pieces, ListedRows &&asked, bool *fits);
  PetscErrorCode NumberFetched();
  PetscErrorCode ListAsked();
  PetscErrorCode JoinRows(Mat M);

  /// What Fetch() has found, for BringPattern().
  struct Fetched {
    std::vector<PetscInt> length, runs;              ///< of fetched rows: entries, columns by runs
    RunShape              shape;                     ///< of the runs
    std::vector<PetscInt> asked_begin, asked_length; ///< of own rows that other ranks fetch: own entries
  };

  PetscInt              own_rows_ = 0, nonzeros_ = 0, fetched_ = 0; ///< entries of own rows, and of others
  PetscInt              split_ = 0;                                 ///< entries of the diagonal block
  products::BlockView   sizes_;                                     ///< of M's blocks
  Numbering             columns_;
  ParallelPatternWatch  watch_;
  PieceExchange         entries_;             ///< of asked rows -> fetched ones
  Space                 space_ = Space::Host; ///< of the arrays
  Fetched               found_;
  std::vector<PetscInt> ghosts_; ///< before BringPattern(): the numbers of the off-diagonal block's columns
  Array<PetscInt>       i_, j_;  ///< [rows + 1], [nonzeros_ + fetched_] columns as columns_ numbers them
  Array<PetscInt>       place_;  ///< [nonzeros_] the entry among those of the diagonal block, and the other behind it
  Array<PetscInt>       asked_;  ///< those of own entries that other ranks fetch, rank after rank
  Array<Scalar>         a_;      ///< [nonzeros_ + fetched_]
  Array<Scalar>         packed_; ///< [asked_.size()]
};

} // namespace sparsegpu::face
