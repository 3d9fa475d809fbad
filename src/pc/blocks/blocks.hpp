/// Block Jacobi with small blocks: runs of neighbouring rows of each process's diagonal block, all factored in one
/// batch of tiles and solved with in one. The same preconditioner as PETSc's PCPBJACOBI and PCVPBJACOBI.
#pragma once

#include <petscpc.h>
#include "pc/blocks/names.hpp"
#include "mat/products/pattern_watch.hpp"
#include "pc/factor/rows.hpp"
#include "pc/tile/lu.hpp"

namespace sparsegpu::blocks
{

struct BlockOptions {
  PetscInt size     = 0; ///< -pc_sparsegpu_block_size: rows of a block, the last may have fewer; 0: as the matrix says
  bool     pivoting = true; ///< -pc_sparsegpu_block_pivot partial, or none

  bool operator==(const BlockOptions &o) const { return size == o.size && pivoting == o.pivoting; }
  /// Between PetscOptionsHeadBegin() and its end. Errors: PETSC_ERR_ARG_OUTOFRANGE naming a size that is not positive.
  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject);
  PetscErrorCode View(PetscViewer viewer) const;
};

/// The blocks of a matrix, found anew where its pattern or their sizes have changed.
class BlockJacobi
{
public:
  explicit BlockJacobi(const BlockOptions &options) : options_(options) {}
  /// Factors the blocks of A, the diagonal block of pc's matrix, where A's products run; the first call finds them. A
  /// row without a pivot sets the preconditioner's failed reason, or is an error where it asks for that. Errors:
  /// PETSC_ERR_ARG_OUTOFRANGE naming a block size that is not positive or too large; PETSC_ERR_ARG_SIZ if the sizes do
  /// not add up to the rows.
  PetscErrorCode SetUp(PC pc, Mat A, PetscReal zero_pivot);
  PetscErrorCode Apply(Vec b, Vec x, bool transpose);
  PetscErrorCode View(PetscViewer viewer) const;

private:
  PetscErrorCode Sizes(Mat P, std::vector<PetscInt> *sizes) const;
  PetscErrorCode Forget(Mat P, Mat A, const MatrixRows &rows);
  PetscErrorCode Symbolic(PC pc, Mat A, const MatrixRows &rows);
  PetscErrorCode SetValues(const MatrixRows &rows, Stream stream);

  BlockOptions           options_;
  bool                   built_ = false;
  Space                  space_ = Space::Host;
  PetscInt               rows_ = 0, nonzeros_ = 0, smallest_ = 0, largest_ = 0, count_ = 0;
  PetscInt               failed_ = -1; ///< global row without a pivot
  std::vector<PetscInt>  sizes_;       ///< rows of each block
  products::PatternWatch watch_;
  TileBatch              blocks_;
  tile::TileLU           lu_;
  Array<PetscInt>        source_;         ///< [entries of the blocks] entry of A
  DeviceMemory           matrix_, b_, x_; ///< values and vectors that are on the host
};

} // namespace sparsegpu::blocks
