/// The patterns of both blocks of a parallel matrix, from rows of the whole matrix that were computed in one space.
#pragma once

#include <vector>
#include "device/buffer.hpp"
#include "mat/face/names.hpp"

namespace sparsegpu::face
{

/// Of the rows of a process, in one space: first the block of its own columns, numbered from 0, then that of the
/// others, numbered by `ghosts`. Columns ascend in each row.
struct BlockPatterns {
  Array<PetscInt>       i[2], j[2]; ///< [rows + 1], [nonzeros]
  std::vector<PetscInt> ghosts;     ///< columns in the matrix, ascending
};

/// Those of rows i [rows + 1], j in `space`, whose columns are numbers in the matrix, ascending, of which begin ..
/// end - 1 are own ones. Not collective. Errors: PETSC_ERR_MEM.
PetscErrorCode SplitPattern(Space space, const Array<PetscInt> &i, const Array<PetscInt> &j, PetscInt begin,
                            PetscInt end, BlockPatterns *patterns);
/// The ghosts of `patterns`, whose columns of the second block are numbered by `given`, ascending, are those of these
/// that it has. Not collective. Errors: PETSC_ERR_MEM.
PetscErrorCode KeepUsed(Space space, std::vector<PetscInt> &&given, BlockPatterns *patterns);

} // namespace sparsegpu::face
