/// Entries that a rank sends to others in pieces, one for each rank, and how the receiver orders them.
#pragma once

#include <petscsf.h>
#include <vector>
#include "device/device.hpp"
#include "device/scalar.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// Entries first .. first + count - 1 go to `rank`.
struct Piece {
  PetscMPIInt rank;
  PetscInt    first, count;
};

/// The star forest from a rank's `roots` entries to those that it receives: the senders' pieces by rank, ascending, so
/// that what is summed in their order repeats bit for bit. *receives: how many. *fits is false, on all ranks, where
/// that is more than PetscInt counts on one; there is no forest then. Collective.
PetscErrorCode BuildForest(MPI_Comm comm, PetscInt roots, const std::vector<Piece> &pieces, PetscSF *forest,
                           PetscInt *receives, bool *fits);
/// The leaves get the roots' values, all in `space`: on the device only where PETSc has CUDA, which packs there and
/// passes by the host where MPI is not aware of GPUs. Collective.
PetscErrorCode Broadcast(PetscSF forest, Space space, const Scalar *roots, Scalar *leaves);
/// The same of integers on the host.
PetscErrorCode Broadcast(PetscSF forest, const PetscInt *roots, PetscInt *leaves);
/// The roots, ascending, that another rank has a leaf of; `forest` has been set up. Not collective.
PetscErrorCode AskedRoots(PetscSF forest, std::vector<PetscInt> *roots);
/// Whether `mine` holds on all ranks.
PetscErrorCode AllAgree(MPI_Comm comm, bool mine, bool *all);

} // namespace sparsegpu::face
