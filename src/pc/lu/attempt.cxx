/// Which thresholds are tried, and how the factors are judged by a solve with them.
#include "pc/lu/attempt.hpp"
#include <petsc/private/matimpl.h>
#include "pc/lu/factorize.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
const char *const QualityNames[] = {"bad", "usable", "slow", "good"};

/// A solve is tried where pivots were replaced or entries have grown; else the factorization is as good as one with
/// partial pivoting.
PetscErrorCode Judge(Mat F, Quality *quality)
{
  constexpr PetscReal GROWTH = static_cast<PetscReal>(1e4); // partial pivoting rarely has more
  constexpr PetscInt  FEW    = 20;                          // steps: a factorization costs more solves than that
  DirectFactor       *factor = DirectOf(F);
  const LuReport     &report = factor->Report();
  ResidualSize        size;
  bool                good;

  PetscFunctionBegin;
  *quality = report.finite ? Quality::Good : Quality::Bad;
  if (!report.finite || factor->options.refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (report.perturbed == 0 && report.growth <= GROWTH) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(factor->Probe(&good, &size));
  if (report.perturbed > 0 && !(size.relative <= SOLVED)) good = false;
  const bool digits = size.error <= PetscSqrtReal(PETSC_MACHINE_EPSILON) && size.relative <= SOLVED;
  // with entries grown beyond all digits, another right-hand side may fail
  const bool grown = !(report.growth * PETSC_MACHINE_EPSILON <= static_cast<PetscReal>(1e-2));
  if (good && !grown)
    *quality = factor->Steps() <= FEW ? Quality::Good : Quality::Slow;
  else
    *quality = good || digits ? Quality::Usable : Quality::Bad;
  PetscCall(PetscInfo(F, "Backward error after %" PetscInt_FMT " steps of refinement %g, relative residual %g: %s\n",
                      factor->Steps(), (double)size.error, (double)size.relative,
                      QualityNames[static_cast<int>(*quality)]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

/// Replacing pivots by sqrt(eps) lets refinement converge fast, unless the matrix is worse conditioned than that: then
/// all that is not rounding error is kept, and what still must be replaced makes the matrix singular to rounding, or
/// has let entries grow. The last threshold leaves few correct digits in the factors, whose entries then hardly grow,
/// and the rest to GMRES. The thresholds do not depend on values that came before. Where there is an alternative, more
/// replaced pivots than a cycle of GMRES can correct end the attempts.
PetscErrorCode Attempt(Mat F, const Scalar *a, bool alternative, Quality *quality)
{
  const PetscReal small[] = {PetscSqrtReal(PETSC_MACHINE_EPSILON), 10 * PETSC_MACHINE_EPSILON,
                             static_cast<PetscReal>(1e-2)};
  DirectFactor   *factor  = DirectOf(F);
  int             best    = 0;

  PetscFunctionBegin;
  *quality = Quality::Bad;
  for (int k = 0; k < 3; k++) {
    Quality now;
    PetscCall(factor->Numeric(a, small[k]));
    const LuReport &report = factor->Report();
    PetscCall(PetscInfo(
        F, "%s on %s, threshold %g: %" PetscInt_FMT " pivots replaced, the smallest %g, growth %g, finite %d\n",
        factor->kind == DirectKind::LU ? "LU" : "Cholesky", factor->Where() == Space::Host ? "the host" : "cuda",
        (double)small[k], report.perturbed, (double)report.smallest, (double)report.growth,
        static_cast<int>(report.finite)));
    PetscCall(Judge(F, &now));
    if (k == 1 && factor->Report().perturbed > 0) now = Quality::Bad;
    if (now > *quality) {
      *quality = now;
      best     = k;
    }
    if (*quality == Quality::Good) PetscFunctionReturn(PETSC_SUCCESS);
    if (alternative && factor->Report().perturbed > LU_BASIS) PetscFunctionReturn(PETSC_SUCCESS);
    if (k == 0 && factor->Report().perturbed == 0) PetscFunctionReturn(PETSC_SUCCESS); // nor with lower thresholds
  }
  if (best < 2 && *quality != Quality::Bad) PetscCall(factor->Numeric(a, small[best]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
