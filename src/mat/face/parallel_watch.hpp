/// What was made of a parallel matrix's pattern asks here whether it must be made anew.
#pragma once

#include "mat/face/context.hpp"
#include "mat/products/pattern_watch.hpp"

namespace sparsegpu::face
{

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

/// The shapes of M's blocks, of our type, and their patterns on the host where these are not away; nothing is copied.
/// *ghosts: columns of the matrix that those of the second block are.
PetscErrorCode GetShapes(Mat M, Mat blocks[2], Context *of_block[2], CsrView csr[2], const PetscInt **ghosts);

} // namespace sparsegpu::face
