/// Right-hand sides and solutions, of vectors or of dense matrices, brought to where a factor works.
#pragma once

#include <petscmat.h>
#include <functional>
#include "device/buffer.hpp"
#include "device/scalar.hpp"

namespace sparsegpu::factor
{

/// Device memory for right-hand sides and solutions that are on the host.
struct Staging {
  DeviceMemory b, x;
};
/// Solves for `count` columns, ldb and ldx entries apart, in the space of the factor.
using SolveFunction =
    std::function<PetscErrorCode(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx)>;

/// For one vector; arrays that are not in `space` are copied.
PetscErrorCode SolveVector(Vec b, Vec x, Space space, Staging *staging, const SolveFunction &solve);
/// For the columns of dense matrices. Errors: PETSC_ERR_ARG_IDN if they are the same.
PetscErrorCode SolveColumns(Mat B, Mat X, Space space, Staging *staging, const SolveFunction &solve);

} // namespace sparsegpu::factor
