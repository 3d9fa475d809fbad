/// A monitor that compares the norms it is told with those of true residuals.
#pragma once

#include "systems.hpp"

namespace testing
{

/// What Monitor() has seen of a solve.
struct Seen {
  PetscInt  calls = 0;
  PetscReal worst = 0; ///< |norm told - true norm| / first norm
  PetscReal first = 0;
};
inline PetscErrorCode Monitor(KSP ksp, PetscInt iteration, PetscReal norm, void *context)
{
  Seen     *seen = static_cast<Seen *>(context);
  Vec       b, r, t, v;
  PetscReal exact;

  PetscFunctionBeginUser;
  PetscCheck(iteration == seen->calls, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Call %" PetscInt_FMT " is of %" PetscInt_FMT,
             seen->calls, iteration);
  PetscCall(KSPGetRhs(ksp, &b)); // vectors of its kind: of b they are subtracted
  PetscCall(VecDuplicate(b, &t));
  PetscCall(VecDuplicate(b, &v));
  PetscCall(KSPBuildResidual(ksp, t, v, &r));
  PetscCall(VecNorm(r, NORM_2, &exact));
  if (!seen->calls++) seen->first = norm;
  seen->worst = std::max(seen->worst, std::abs(norm - exact) / seen->first);
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode SetMonitor(KSP ksp, void *context)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorSet(ksp, Monitor, context, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
