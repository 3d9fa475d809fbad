/// The ghosts of a parallel matrix: entries of x that other ranks own and the off-diagonal block multiplies. Channels
/// of peer memory bring them where there are any, else a star forest.
#pragma once

#include <petsc/private/matimpl.h>
#include <petscsf.h>
#include <vector>
#include "comm/channel.hpp"
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
  /// where any rank's ghosts have changed; channels for products in `space`, where -sparsegpu_peer and the machine
  /// allow them. `back`: also for what transposed products send to the owners. Collective.
  PetscErrorCode Prepare(Mat A, Space space, bool back = false);
  /// Whether A's ghosts on this rank are those of the star forest.
  PetscErrorCode Fits(Mat A, bool *fits) const;
  /// From owners to ghosts, or `back`; made() says whether there is one. The same on all ranks.
  comm::Channel *channel(Space space, bool back = false) { return &way(space)->channel[back]; }
  /// How ghosts of products in `space` travel, and why; empty before the first product.
  const std::string &told(Space space) const { return ways_[static_cast<int>(space)].told; }
  PetscSF            forest() const { return forest_; } ///< owned columns -> ghosts
  Vec                ghosts(Space space) const { return ghosts_[static_cast<int>(space)]; }

private:
  struct Way {
    comm::Channel channel[2];           ///< [back]
    bool          decided[2] = {false}; ///< [back] whether there is to be a channel
    std::string   told;
  };
  Way           *way(Space space) { return &ways_[static_cast<int>(space)]; }
  void           ForgetWays(const char *told);
  PetscErrorCode PrepareGhosts(PetscInt count, Space space);
  PetscErrorCode RemakeForest(Mat A, PetscInt count, const PetscInt *columns);
  PetscErrorCode PrepareChannels(Mat A, Space space, bool back);

  PetscSF               forest_    = nullptr;
  Vec                   ghosts_[2] = {}; ///< [space], [columns of the off-diagonal block] each
  std::vector<PetscInt> columns_;        ///< the ghosts' columns in the matrix, for which the forest was made
  Way                   ways_[2];        ///< [space]
};

} // namespace sparsegpu::face
