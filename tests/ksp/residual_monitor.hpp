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

/// Solves with that monitor, without, and again. Norms are those of the iterates to `bound` of the first one; the
/// solution and the history have the same bits without the monitor, but on a GPU, where the host then hears late and
/// adds squares in another order, and in a second solve. *watched: the first solve.
inline PetscErrorCode CheckMonitored(Mat A, Vec b, Vec guess, const std::string &what, PetscReal bound,
                                     Outcome *watched)
{
  Outcome   alone, again;
  Seen      seen;
  PetscBool same, repeated, device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  PetscCall(SolveWith(A, b, guess, watched, SetMonitor, &seen));
  PetscCall(SolveWith(A, b, guess, &alone));
  PetscCall(SolveWith(A, b, guess, &again));
  PetscCheck(watched->reason > 0 && seen.calls == watched->iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: reason %d, %" PetscInt_FMT " calls of the monitor in %" PetscInt_FMT " iterations", what.c_str(),
             (int)watched->reason, seen.calls, watched->iterations);
  PetscCheck(seen.worst <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a norm is off by %g, %g allowed", what.c_str(),
             (double)seen.worst, (double)bound);
  PetscCall(VecEqual(watched->x, alone.x, &same));
  PetscCall(VecEqual(again.x, alone.x, &repeated));
  PetscCheck(repeated && again.history == alone.history &&
                 (device ? watched->iterations <= alone.iterations + alone.iterations / 10 + 1
                         : same && watched->history == alone.history),
             PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: other bits with a monitor or in the second solve: %d iterations, %d without, %d again", what.c_str(),
             (int)watched->iterations, (int)alone.iterations, (int)again.iterations);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
