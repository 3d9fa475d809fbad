/// Columns of rows that pass between ranks, by runs: rows of a node have the same columns, those of the unknowns of
/// some nodes, so that one number stands for a block of entries.
#pragma once

#include "device/buffer.hpp"
#include "mat/face/pieces.hpp"

namespace sparsegpu::face
{

struct Numbering;

/// Rows that a node has, and columns. Without nodes both are 1, and a run is an entry.
struct RunShape {
  PetscInt height = 1, width = 1;

  PetscInt size() const { return height * width; }
};

/// Rows for other ranks, one behind the other.
struct ListedRows {
  std::vector<PetscInt> row, length; ///< number, entries; on the host
  Array<PetscInt>       columns;     ///< in the matrix, in one space
};

/// The ranges of `length` entries one behind the other: begin [length.size() + 1] in `space`. Errors: PETSC_ERR_MEM.
PetscErrorCode FindBeginnings(Space space, const std::vector<PetscInt> &length, Array<PetscInt> *begin);

/// The numbers that stand for rows which go to other ranks.
class Runs
{
public:
  /// The rows go in `pieces`; columns: those that this rank has numbered. *fits is false, on all ranks, where one lacks
  /// memory. Rows go by runs of `shape` if on all ranks they, and the numbered columns, are made of such, else by
  /// entries. Collective.
  PetscErrorCode Find(MPI_Comm comm, const RunShape &shape, const Numbering &columns, const std::vector<Piece> &pieces,
                      const ListedRows &rows, bool *fits);
  /// Sends them and receives those of other ranks, whose entries are `count`. pieces: of entries, which `entries`
  /// exchanges. Collective.
  PetscErrorCode  Exchange(MPI_Comm comm, std::vector<Piece> pieces, PieceExchange *entries, PetscInt count,
                           std::vector<PetscInt> *received) const;
  const RunShape &shape() const { return shape_; }

private:
  PetscErrorCode Take(const RunShape &shape, const Numbering &columns, const std::vector<Piece> &pieces,
                      const ListedRows &rows);

  RunShape              shape_;
  std::vector<PetscInt> numbers_; ///< column / width, node after node
};

/// Received runs, or entries, of rows of `length` entries get local numbers: own ones from 0, then those of `others`,
/// which are columns.others and theirs, numbers in the matrix. place [of columns.others] which of them each is. to [sum
/// of `length`] in `space`: the entries' columns. Errors: PETSC_ERR_MEM. Not collective.
PetscErrorCode NumberRuns(Space space, const RunShape &shape, const Numbering &columns,
                          const std::vector<PetscInt> &length, std::vector<PetscInt> &&runs, PetscInt *to,
                          std::vector<PetscInt> *others, std::vector<PetscInt> *place);

} // namespace sparsegpu::face
