/// Columns of rows that pass between ranks, by runs: rows of a node have the same columns, those of the unknowns of
/// some nodes, so that one number stands for a block of entries.
#pragma once

#include "mat/face/pieces.hpp"

namespace sparsegpu::face
{

struct Numbering;

/// Rows that a node has, and columns. Without nodes both are 1, and a run is an entry.
struct RunShape {
  PetscInt height = 1, width = 1;
};

/// Rows on the host, one behind the other.
struct ListedRows {
  const std::vector<PetscInt> &row, &length; ///< number, entries
  const std::vector<PetscInt> &columns;      ///< in the matrix
};

/// Whether the rows are those of whole nodes, and made of runs.
bool MadeOfRuns(const RunShape &shape, const ListedRows &rows);
/// The numbers of the runs, column / width, of the first row of each node. Throws what std::vector does.
std::vector<PetscInt> RunsOf(const RunShape &shape, const ListedRows &rows);
/// Columns [sum of `length`] of the runs of whole nodes. Throws what std::vector does.
std::vector<PetscInt> ColumnsOfRuns(const RunShape &shape, const std::vector<PetscInt> &length,
                                    const std::vector<PetscInt> &runs);

/// *shape becomes that of entries unless on all ranks the rows, in pieces for other ranks, and the columns that a rank
/// has numbered are made of runs. Collective.
PetscErrorCode AgreeOnRuns(MPI_Comm comm, const Numbering &columns, const std::vector<Piece> &pieces,
                           const ListedRows &rows, RunShape *shape);
/// Sends the runs of the rows and receives those of other ranks, whose entries are `count`. pieces: of entries, which
/// `entries` exchanges. Collective.
PetscErrorCode ExchangeRuns(MPI_Comm comm, const RunShape &shape, std::vector<Piece> pieces, const ListedRows &rows,
                            PieceExchange *entries, PetscInt count, std::vector<PetscInt> *received);
/// The columns of other ranks among `columns` and `runs`, numbers in the matrix: *others, ascending, and place [of
/// columns.others] which of them each is. runs: local numbers afterwards, own ones first. Errors: PETSC_ERR_MEM.
PetscErrorCode JoinColumns(const Numbering &columns, PetscInt width, std::vector<PetscInt> *runs,
                           std::vector<PetscInt> *others, std::vector<PetscInt> *place);

} // namespace sparsegpu::face
