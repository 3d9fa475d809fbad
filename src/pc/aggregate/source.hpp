/// The rows of a sequential AIJ matrix of any type, in the space that one asks for.
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"
#include "mat/products/multiply.hpp"
#include "pc/aggregate/names.hpp"
#include "pc/factor/rows.hpp"

namespace sparsegpu::aggregate
{

struct Source {
  SparseRows rows;

  /// Pattern and values of A as they are now; copied only where they do not lie in `space` and A does not keep them
  /// there. Errors: PETSC_ERR_MEM.
  PetscErrorCode Take(Mat A, Space space);

private:
  Array<PetscInt>  i_, j_; ///< copies
  Array<Scalar>    a_;
  factor::HostRows host_;
};

} // namespace sparsegpu::aggregate
