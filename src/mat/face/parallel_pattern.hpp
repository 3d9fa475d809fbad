/// The pattern of a parallel matrix of ours, from those of its blocks.
#pragma once

#include "mat/face/block_patterns.hpp"
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

/// Rows of one block, columns ascending.
struct HostPattern {
  std::vector<PetscInt> i, j; ///< [local rows + 1], [nonzeros]
};

/// The patterns of A's blocks are these from now on: local columns in the diagonal one, global ones in the off-diagonal
/// one. The values are not defined. To PETSc no values have been assembled yet, so that MAT_SYMMETRIC and its like hold
/// for the first that are. A's blocks are new ones, of ours. Collective.
PetscErrorCode TakePattern(Mat A, const HostPattern patterns[2]);

/// The same of patterns in `space`, with values zero, of a matrix without blocks yet. As long as a PatternsStayAway
/// lives (pattern.hpp), both stay there where they may: PETSc's matrix gets its ghosts alone. Collective. Errors:
/// PETSC_ERR_MEM; the pattern is undefined then.
PetscErrorCode TakePattern(Mat A, BlockPatterns &&patterns, Space space);

/// A copy on the host.
template <class T> PetscErrorCode CopyToHost(const Array<T> &from, std::vector<T> *host)
{
  PetscFunctionBegin;
  PetscCallCXX(host->resize(from.size()));
  if (from.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(from.ToHost(host->data()));
  if (from.space() == Space::Device) PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(from.bytes())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
