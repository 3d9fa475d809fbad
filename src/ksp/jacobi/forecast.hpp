/// When a solve will end, as far as its norms tell: what a host launches beyond that is in vain.
#pragma once

#include <petscsys.h>

namespace sparsegpu
{

/// Norms of a stationary method fall by one factor a sweep in the end. The factor of the last SPAN sweeps, and so the
/// sweeps that are left until a norm is small enough; without a limit where norms do not fall, or there is no test.
class Forecast
{
public:
  void Heard(PetscReal norm, PetscReal converged)
  {
    const PetscReal before = norms_[heard_ % SPAN]; // SPAN sweeps ago

    norms_[heard_ % SPAN] = norm;
    left_                 = PETSC_MAX_INT;
    if (heard_++ < SPAN || !(converged > 0) || !(norm < before) || !(norm > converged)) return;
    const PetscReal sweeps = SPAN * PetscLogReal(norm / converged) / PetscLogReal(before / norm);
    if (sweeps < FAR) left_ = static_cast<PetscInt>(PetscCeilReal(sweeps));
  }
  /// Sweeps after the last one heard of, at least 1.
  PetscInt Left() const { return left_; }

private:
  static constexpr PetscInt  SPAN = 8;    ///< a method that swings between signs has a period of 2
  static constexpr PetscReal FAR  = 2000; ///< sweeps: beyond any lead of the host

  PetscReal norms_[SPAN] = {};
  PetscInt  heard_ = 0, left_ = PETSC_MAX_INT;
};

} // namespace sparsegpu
