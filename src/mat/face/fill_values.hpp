/// All values of a sequential matrix of ours from a computation in one space.
#pragma once

#include <petscmat.h>
#include <functional>
#include "device/device.hpp"
#include "device/scalar.hpp"

namespace sparsegpu::face
{

/// Writes all values a of a matrix whose pattern is i, j; all of these lie in the space of the computation.
using Fill = std::function<PetscErrorCode(const PetscInt *i, const PetscInt *j, Scalar *a)>;

/// A's values become those that `fill` writes in `space`: there alone where they may be newest there (away.hpp), else
/// on the host, too. The host's arrays are used where `space` is the host's. Errors: PETSC_ERR_MEM, and those of
/// `fill`.
PetscErrorCode FillValues(Mat A, Space space, const Fill &fill);

} // namespace sparsegpu::face
