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

/// Solves are tried where pivots were replaced or entries have grown; else the factorization is as good as one with
/// partial pivoting. Where entries grow as fast as those of values that solves were good for, each solve tells for
/// itself: it is refined, and one that misses the bound has the matrix factored with partial pivoting (Escalate()).
PetscErrorCode Judge(Mat F, bool alternative, bool brief, Quality *quality)
{
  constexpr PetscReal KEPT   = static_cast<PetscReal>(1e-7); // lost digits: seven a step of refinement are left
  constexpr PetscInt  FEW    = 20;                           // steps: a factorization costs more solves than that
  DirectFactor       *factor = DirectOf(F);
  const LuReport     &report = factor->Report();
  ResidualSize        size;
  bool                good;

  PetscFunctionBegin;
  *quality = report.finite ? Quality::Good : Quality::Bad;
  if (!report.finite || factor->options.refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal epsilon = factor->Epsilon();
  const PetscReal few     = factor->proven ? PetscMax(GROWTH, KEPT / epsilon) : GROWTH;
  const bool      tried   = factor->proven || !factor->InSingle(); // rounding alone may be too much for the latter
  if (tried && report.perturbed == 0 && report.growth <= few) PetscFunctionReturn(PETSC_SUCCESS);
  // with an alternative, what a cycle of GMRES cannot correct and what has grown, too, is not worth many solves
  if (alternative && report.perturbed > LU_BASIS && report.growth * epsilon > KEPT) {
    *quality = Quality::Bad;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // with entries grown beyond all digits, another right-hand side may fail: not Good, which is all that a brief attempt
  // is made for
  const PetscReal lost  = report.growth * epsilon;
  const bool      grown = !(lost <= static_cast<PetscReal>(1e-2));
  if (brief && grown) {
    *quality = Quality::Bad;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(factor->Probe(&good, &size));
  if (report.perturbed > 0 && !(size.relative <= SOLVED)) good = false;
  const bool      digits = size.error <= PetscSqrtReal(PETSC_MACHINE_EPSILON) && size.relative <= SOLVED;
  const PetscReal little = PetscMax(static_cast<PetscReal>(1e-4), 4 * GROWTH * epsilon); // of all digits
  if (good && !grown)
    *quality = factor->Steps() <= FEW && lost <= little ? Quality::Good : Quality::Slow;
  else
    *quality = good || digits ? Quality::Usable : Quality::Bad;
  factor->proven = *quality == Quality::Good;
  PetscCall(PetscInfo(F, "Backward errors after %" PetscInt_FMT " steps of refinement %g, relative residual %g: %s\n",
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
PetscErrorCode Attempt(Mat F, const Scalar *a, bool alternative, bool brief, Quality *quality)
{
  DirectFactor   *factor  = DirectOf(F);
  const PetscReal epsilon = factor->Epsilon();
  const PetscReal small[] = {PetscSqrtReal(epsilon), 10 * epsilon, static_cast<PetscReal>(1e-2)};
  int             best    = 0;

  PetscFunctionBegin;
  *quality = Quality::Bad;
  for (int k = 0; k < 3; k++) {
    Quality now;
    PetscCall(factor->Numeric(a, small[k]));
    const LuReport &report = factor->Report();
    PetscCall(PetscInfo(
        F, "%s on %s%s, threshold %g: %" PetscInt_FMT " pivots replaced, the smallest %g, growth %g, finite %d\n",
        factor->kind == DirectKind::LU ? "LU" : "Cholesky", factor->Where() == Space::Host ? "the host" : "cuda",
        factor->InSingle() ? " in single precision" : "", (double)small[k], report.perturbed, (double)report.smallest,
        (double)report.growth, static_cast<int>(report.finite)));
    PetscCall(Judge(F, alternative, brief, &now));
    if (k == 1 && factor->Report().perturbed > 0) now = Quality::Bad;
    if (now > *quality) {
      *quality = now;
      best     = k;
    }
    if (*quality == Quality::Good || brief) PetscFunctionReturn(PETSC_SUCCESS);
    if (alternative && factor->Report().perturbed > LU_BASIS) PetscFunctionReturn(PETSC_SUCCESS);
    if (k == 0 && factor->Report().perturbed == 0) PetscFunctionReturn(PETSC_SUCCESS); // nor with lower thresholds
  }
  if (best < 2 && *quality != Quality::Bad) PetscCall(factor->Numeric(a, small[best]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matched row is the pivot if it is a tenth of the largest, for less fill; then the largest of each column is.
PetscErrorCode AttemptPivoted(Mat F, const CsrView &A, const char why[], Quality *quality)
{
  constexpr PetscReal thresholds[] = {static_cast<PetscReal>(0.1), 1};
  DirectFactor       *factor       = DirectOf(F);

  PetscFunctionBegin;
  *quality = Quality::Bad;
  for (const PetscReal threshold : thresholds) {
    ResidualSize size;
    bool         done, good = false;
    PetscCall(factor->Pivot(A.a, threshold, why, &done));
    const PivotedEngine &engine = *factor->Pivoted();
    if (!done || engine.Singular()) {
      PetscCall(PetscInfo(F, "Partial pivoting on the host, threshold %g: %s after %g multiplications\n",
                          (double)threshold,
                          engine.Outcome() == PivotedOutcome::NotFinite ? "not finite"
                          : engine.Outcome() == PivotedOutcome::Costly  ? "given up, too much work"
                                                                        : "singular",
                          engine.Multiplications()));
      *quality = Quality::Bad;            // the factors of an earlier threshold are gone
      PetscFunctionReturn(PETSC_SUCCESS); // with other thresholds, too
    }
    if (factor->options.refine > 0) PetscCall(factor->Probe(&good, &size));
    good = good || factor->options.refine == 0;
    PetscCall(PetscInfo(F,
                        "Partial pivoting on the host, threshold %g: %g entries, %g multiplications, %" PetscInt_FMT
                        " blocks, growth %g; backward errors after %" PetscInt_FMT " steps of refinement %g\n",
                        (double)threshold, (double)engine.Entries(), engine.Multiplications(), engine.Blocks(),
                        (double)factor->Report().growth, factor->Steps(), (double)size.error));
    *quality = good                                                 ? Quality::Good
               : size.error <= PetscSqrtReal(PETSC_MACHINE_EPSILON) ? Quality::Usable
                                                                    : Quality::Bad;
    if (good) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorInFull(Mat F, const char why[], Quality *quality)
{
  DirectFactor       *factor = DirectOf(F);
  std::vector<Scalar> a;
  const Scalar       *values;

  PetscFunctionBegin;
  PetscCall(PetscInfo(F, "Factors in full precision instead of single: %s\n", why));
  PetscCall(factor->Values(&a));
  PetscCall(factor->Widen(why));
  values = a.data();
  if (factor->Where() == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(factor->matrix.Reserve(a.size() * sizeof(Scalar)));
    PetscCall(DeviceCopyIn(factor->matrix.data(), a.data(), a.size() * sizeof(Scalar), stream));
    values = static_cast<const Scalar *>(factor->matrix.data());
  }
  PetscCall(Attempt(F, values, false, false, quality));
  TakeInfo(F);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Escalate(Mat F, bool *better)
{
  DirectFactor       *factor = DirectOf(F);
  std::vector<Scalar> a;
  Quality             quality;

  PetscFunctionBegin;
  *better = false;
  if (factor->InSingle() && factor->options.refine > 0) {
    PetscCall(FactorInFull(F, "a solve did not reach the bound", &quality));
    *better = quality != Quality::Bad;
    if (*better) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!factor->schur.empty()) PetscFunctionReturn(PETSC_SUCCESS); // there is no other way
  if (factor->tried_pivoting || factor->options.pivoted == 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(factor->Values(&a));
  PetscCall(PetscInfo(F, "The backward error of a solve is %g after %" PetscInt_FMT " steps of refinement\n",
                      (double)factor->Reached(), factor->Steps()));
  PetscCall(AttemptPivoted(F, factor->Pattern(a.data()), "a solve with fronts did not reach the bound", &quality));
  *better = quality == Quality::Good;
  if (!*better) factor->Unpivot();
  TakeInfo(F);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
