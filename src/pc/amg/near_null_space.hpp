/// The vectors that interpolation has to reproduce: of the finest level from what the program says of its matrix, as
/// PCGAMG takes it.
#pragma once

#include <petscpc.h>
#include "device/buffer.hpp"
#include "device/scalar.hpp"
#include "pc/amg/names.hpp"

namespace sparsegpu::amg
{

/// Of one level, this process's part.
struct NearNullSpace {
  Space         space   = Space::Host;
  PetscInt      rows    = 0;
  PetscInt      columns = 0;
  Array<Scalar> values; ///< [columns * rows] by columns

  PetscErrorCode ToHost(std::vector<PetscScalar> *values) const;
};

/// Coordinates of PCSetCoordinates(), one point a block.
struct Coordinates {
  PetscInt               dimension = 0, points = 0;
  std::vector<PetscReal> values; ///< [points * dimension] by points
};

/// That of MatSetNearNullSpace(); else rigid body modes where there are coordinates and blocks of as many unknowns as
/// dimensions; else a constant for each unknown of a block. Collective. Errors: PETSC_ERR_ARG_SIZ naming the sizes met
/// and wanted, on all processes.
PetscErrorCode GetNearNullSpace(Mat A, const Coordinates &coordinates, NearNullSpace *space);

/// The vectors that A maps to zero, of MatSetNullSpace(), as combinations of `columns` columns of its near null space,
/// one after the other; none where they are not known to be such.
PetscErrorCode NullSpaceCombinations(Mat A, PetscInt columns, std::vector<PetscScalar> *combinations);

} // namespace sparsegpu::amg
