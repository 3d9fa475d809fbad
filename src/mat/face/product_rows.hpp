/// The rows of a product of parallel matrices, of what each rank has computed of them: a rank's own rows are summed of
/// its own part and of those that other ranks send it.
#pragma once

#include "mat/face/parallel_pattern.hpp"
#include "mat/face/row_stack.hpp"

namespace sparsegpu::face
{

class ProductRows
{
public:
  ProductRows() = default;
  ~ProductRows();
  ProductRows(const ProductRows &)            = delete;
  ProductRows &operator=(const ProductRows &) = delete;

  /// What this rank has computed has the pattern i [rows.size() + 1], j, columns ascending by their numbers, on the
  /// host. Rows that are not its own, of any rank, go to their owners, as `layout` tells. patterns: of the two blocks
  /// of this rank's rows. *fits is false, on all ranks, where one has more entries than PetscInt counts. Collective.
  PetscErrorCode Find(PetscLayout layout, const Numbering &rows, const Numbering &columns,
                      const std::vector<PetscInt> &i, const std::vector<PetscInt> &j, HostPattern patterns[2],
                      bool *fits);
  /// The maps in `space`, for good. Errors: PETSC_ERR_MEM.
  PetscErrorCode BringMaps(Space space);
  /// Memory for the values of what this rank computes: [nonzeros], in the order of the pattern. Errors: PETSC_ERR_MEM.
  PetscErrorCode Reserve(Scalar **computed);
  /// The values go to their owners, unless no rank has rows of another. Collective.
  PetscErrorCode Exchange();
  /// The values of a block: [nonzeros of its pattern].
  PetscErrorCode Sum(int block, Scalar *a) const;

private:
  /// Which of the values, computed and received, make up those of a block.
  struct Map {
    std::vector<PetscInt> host_from, host_at, host_begin, host_more;
    Array<PetscInt>       from;  ///< [nonzeros] the first one
    Array<PetscInt>       at;    ///< [entries with more] which entry
    Array<PetscInt>       begin; ///< [entries with more + 1] where its others begin in `more`
    Array<PetscInt>       more;
  };
  struct Term {
    PetscInt column, value; ///< in the matrix; its number among the values
  };
  /// A row of another rank's.
  struct Received {
    PetscInt begin, length; ///< of the received entries
  };
  struct ReceivedRows {
    std::vector<PetscInt> first, order; ///< [own rows + 1], [rows received]: those of each own row, by rank
    std::vector<Received> rows;
    std::vector<PetscInt> columns; ///< [received]
  };

  PetscErrorCode Receive(PetscLayout layout, const Numbering &rows, const Numbering &columns,
                         const std::vector<PetscInt> &i, const std::vector<PetscInt> &j, ReceivedRows *received,
                         bool *fits);
  PetscErrorCode AddRow(const Numbering &columns, const std::vector<Term> &terms, HostPattern patterns[2]);
  PetscErrorCode AddOwnRow(const Numbering &columns, const PetscInt *j, PetscInt begin, PetscInt end,
                           HostPattern patterns[2]);

  PetscSF       forest_   = nullptr; ///< computed entries -> received ones; null: no rank has rows of another
  PetscInt      computed_ = 0, received_ = 0;
  Space         space_ = Space::Host;
  Map           maps_[2];
  Array<Scalar> values_; ///< [computed_ + received_]
};

} // namespace sparsegpu::face
