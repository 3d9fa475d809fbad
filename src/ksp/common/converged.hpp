/// The test of KSPConvergedDefault(), as numbers that a kernel can compare norms with.
#pragma once

#include <petsc/private/kspimpl.h>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ksp
{

/// KSPSetMinimumIterations(), where this PETSc has it.
template <class Solver> auto MinimumIterations(const Solver *ksp, int) -> decltype(static_cast<PetscInt>(ksp->min_it))
{
  return ksp->min_it;
}
template <class Solver> PetscInt MinimumIterations(const Solver *, long)
{
  return 0;
}

struct NormTest {
  PetscReal converged, diverged; ///< a norm <= the one or >= the other ends the solve
  PetscInt  from;                ///< the first iteration whose norm is tested
};
/// Once KSPConvergedDefault() has seen iteration 0.
inline NormTest DefaultNormTest(KSP ksp)
{
  if (ksp->normtype == KSP_NORM_NONE || ksp->converged != KSPConvergedDefault)
    return NormTest{-1, PETSC_MAX_REAL, PETSC_MAX_INT};
  return NormTest{ksp->ttol, ksp->divtol * ksp->rnorm0, PetscMax(ksp->chknorm + 1, MinimumIterations(ksp, 0))};
}
/// Whether nobody asks for the iterates: no monitor, no error history and no convergence test of a user's.
inline bool IteratesAreUnseen(KSP ksp)
{
  return !ksp->numbermonitors && !ksp->err_hist &&
         (ksp->converged == KSPConvergedDefault || ksp->converged == KSPConvergedSkip);
}
/// Whether the host may read norms late. Not if iterates are seen; nor if the spectrum is to be estimated, which needs
/// the Hessenberg matrix on the host.
inline bool MayReadNormsLate(KSP ksp)
{
  return IteratesAreUnseen(ksp) && !ksp->calc_sings;
}

/// Whether nobody notices that the preconditioner is applied more often than PETSc's solver would: it holds no code of
/// a user's, and no solver that could but for the smoothers of PCSPARSEGPUAMG.
inline PetscErrorCode ApplicationsAreUnseen(PC pc, PetscBool *unseen)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, unseen, PCNONE, PCJACOBI, PCPBJACOBI, PCVPBJACOBI, PCSOR, PCILU,
                                      PCICC, PCLU, PCCHOLESKY, PCSPARSEGPU, PCSPARSEGPUAMG, PCSPARSEGPUSMOOTHER, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the norm of an iteration in: history, monitors, convergence test.
inline PetscErrorCode TakeNorm(KSP ksp, PetscInt iteration, PetscReal norm)
{
  PetscFunctionBegin;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, iteration, norm));
  PetscCall((*ksp->converged)(ksp, iteration, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The reason of a solve whose norm is Inf or NaN: the preconditioner's failure, if it reported one.
inline PetscErrorCode EndWithNorm(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  KSPCheckNorm(ksp, norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
