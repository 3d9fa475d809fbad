/// Predicts from the norms so far when a solve will end: limits speculative launches.
#pragma once

#include <petscsys.h>

namespace sparsegpu::jacobi
{

/// The norms of a stationary method eventually fall by a constant factor a sweep. Estimates the factor from the last
/// SPAN sweeps, and from it the sweeps left until convergence; no limit if norms do not fall or are not tested.
class Forecast
{
public:
  void Add(PetscReal norm, PetscReal converged)
  {
    const PetscReal before = norms_[norms_seen_ % SPAN]; // SPAN sweeps ago

    norms_[norms_seen_ % SPAN] = norm;
    left_                      = PETSC_MAX_INT;
    if (norms_seen_++ < SPAN || !(converged > 0) || !(norm < before) || !(norm > converged)) return;
    const PetscReal sweeps = SPAN * PetscLogReal(norm / converged) / PetscLogReal(before / norm);
    if (sweeps < FAR) left_ = static_cast<PetscInt>(PetscCeilReal(sweeps));
  }
  /// Sweeps after the last one whose norm was added, at least 1.
  PetscInt Left() const { return left_; }

private:
  static constexpr PetscInt  SPAN = 8;    ///< a method that swings between signs has a period of 2
  static constexpr PetscReal FAR  = 2000; ///< sweeps: beyond any lead of the host

  PetscReal norms_[SPAN] = {};
  PetscInt  norms_seen_ = 0, left_ = PETSC_MAX_INT;
};

} // namespace sparsegpu::jacobi
