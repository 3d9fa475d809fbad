/// The ghosts of a parallel matrix: entries of x that other ranks own and the off-diagonal block multiplies, and the
/// star forest that brings them.
#pragma once

#include <petsc/private/matimpl.h>
#include <petscsf.h>
#include <vector>
#include "device/device.hpp"

namespace sparsegpu::face
{

class Halo
{
public:
  Halo()                        = default;
  Halo(const Halo &)            = delete;
  Halo &operator=(const Halo &) = delete;
  /// Cannot be left to the destructor, as the ghosts may be in use on the device.
  PetscErrorCode Free();

  /// Room for A's ghosts in `space`, on the device only where PETSc has vectors there, and the star forest, remade
  /// where any rank's ghosts have changed. Collective.
  PetscErrorCode Prepare(Mat A, Space space);
  PetscSF        forest() const { return forest_; } ///< owned columns -> ghosts
  Vec            ghosts(Space space) const { return ghosts_[static_cast<int>(space)]; }

private:
  PetscErrorCode PrepareGhosts(PetscInt count, Space space);

  PetscSF               forest_    = nullptr;
  Vec                   ghosts_[2] = {}; ///< [space], [columns of the off-diagonal block] each
  std::vector<PetscInt> columns_;        ///< the ghosts' columns in the matrix, for which the forest was made
};

} // namespace sparsegpu::face
