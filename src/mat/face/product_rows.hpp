/// The rows of a product of parallel matrices, of what each rank has computed of them: a rank's own rows are summed of
/// its own part and of those that other ranks send it.
#pragma once

#include "mat/face/block_patterns.hpp"
#include "mat/face/row_stack.hpp"

namespace sparsegpu::face
{

class ProductRows
{
public:
  explicit ProductRows(Space space) : space_(space) {}
  ProductRows(const ProductRows &)            = delete;
  ProductRows &operator=(const ProductRows &) = delete;

  /// What this rank has computed has the pattern `computed`, rows and columns by these numbers, columns ascending. Rows
  /// that are not its own, of any rank, go to their owners, as `layout` tells. patterns: of this rank's rows. *fits is
  /// false, on all ranks, where one lacks memory or has more entries than PetscInt counts. Collective.
  PetscErrorCode Find(PetscLayout layout, const Numbering &rows, const Numbering &columns,
                      const products::SparseRows &computed, BlockPatterns *patterns, bool *fits);
  /// Memory for the values of what this rank computes: [nonzeros], in the order of the pattern. Errors: PETSC_ERR_MEM.
  PetscErrorCode Reserve(Scalar **computed);
  /// The values go to their owners, unless no rank has rows of another, and are summed there. Collective.
  PetscErrorCode Exchange();
  /// The values of a block: [nonzeros of its pattern].
  PetscErrorCode TakeValues(int block, Scalar *a) const;

private:
  /// Rows of this rank that other ranks have sent, on the host.
  struct Received {
    std::vector<PetscInt> row, length, runs; ///< own row; entries; columns in the matrix, by runs
    RunShape              shape;             ///< of the runs
  };

  PetscErrorCode GetOthers(const Numbering &rows, const Numbering &columns, const products::SparseRows &computed,
                           ListedRows *sent);
  PetscErrorCode Receive(PetscLayout layout, const Numbering &rows, const Numbering &columns, const ListedRows &sent,
                         Received *received, bool *fits);
  PetscErrorCode CheckCount(PetscCount summed) const;
  PetscErrorCode Join(const Numbering &rows, const Numbering &columns, const products::SparseRows &computed,
                      Received *received, BlockPatterns *patterns);
  PetscErrorCode NumberColumns(const Numbering &columns, const products::SparseRows &computed, Received *received,
                               std::vector<PetscInt> *others);
  PetscErrorCode FindSums(PetscInt own, const products::SparseRows &computed, const Received &received,
                          PetscInt columns, std::vector<PetscInt> *summed);
  PetscErrorCode Split(const Numbering &rows, const Numbering &columns, const products::SparseRows &computed,
                       const PetscInt *j, const std::vector<PetscInt> &summed, BlockPatterns *patterns);

  const Space          space_;
  bool                 sums_     = false; ///< some rank has rows of another
  PetscInt             computed_ = 0, received_ = 0;
  PetscInt             begin_ = 0;         ///< the first computed entry of rows of other ranks
  PieceExchange        entries_;           ///< computed -> received
  Array<PetscInt>      stack_i_, stack_j_; ///< computed rows, and received ones behind them
  Array<PetscInt>      terms_i_, terms_j_; ///< which of those make up each row that is summed
  Array<Scalar>        ones_;              ///< [terms]
  products::SparseRows terms_, stack_;
  products::Pattern    summed_;
  Array<PetscInt>      from_; ///< [own rows] where each begins among computed, received and summed entries
  Array<PetscInt>      i_[2]; ///< of the blocks
  int                  lane_bits_ = 0;
  Array<Scalar>        values_; ///< computed, received, summed
};

} // namespace sparsegpu::face
