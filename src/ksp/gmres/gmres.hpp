/// KSPSPARSEGPUGMRES: settings and state.
#pragma once

#include <petsc/private/kspimpl.h>
#include "ksp/gmres/deflation.hpp"
#include "ksp/gmres/many.hpp"
#include "ksp/gmres/orthogonalization.hpp"
#include "ksp/gmres/small.hpp"

namespace sparsegpu::gmres
{

struct Gmres {
  PetscInt     restart      = 30;
  PetscInt     deflation    = 0; ///< vectors that a restart keeps, at most
  bool         restart_auto = false, flexible = false;
  bool         single_basis    = false;             ///< asked for
  Refinement   refinement      = Refinement::Never; ///< not used from PETSc 3.26 on
  PetscReal    happy_tolerance = 1e-30, breakdown_tolerance = 0.1;
  PetscInt     steps    = 0; ///< of the cycles; from the restart
  PetscInt     built    = 0; ///< steps of the cycle under way that KSPBuildSolution() adds
  PetscInt     known    = 0; ///< steps of the last cycle that the estimates of the spectrum are made of
  PetscReal    residual = 0; ///< norm at the beginning of the cycle
  Columns      basis;
  Columns      preconditioned; ///< [steps] of a flexible one: what the preconditioner made of the basis
  Arnoldi      arnoldi;
  Deflation    deflated;
  DeviceSystem system;
  RecordLag    lag;
  SmallMode    small_mode = SmallMode::Auto;
  SmallCycles  small;
  SmallMode    many_mode = SmallMode::Auto; ///< right-hand sides of KSPMatSolve() together
  ManySolve    many;
  const char  *together = nullptr; ///< how KSPMatSolve() has solved last, for KSPView(); null: one by one
  DeviceMemory iterate;            ///< of KSPBuildSolution() where `system` is active
  Vec          solution = nullptr; ///< of KSPBuildSolution()
};
inline Gmres *GmresOf(KSP ksp)
{
  return static_cast<Gmres *>(ksp->data);
}

/// What the preconditioner makes of the basis where that is kept, as it may change from step to step; else null.
inline Columns *PreconditionedOf(Gmres *gmres)
{
  return gmres->flexible && !gmres->system.active() ? &gmres->preconditioned : nullptr;
}

/// What the operator is applied to in a cycle, of which the solution is combined.
inline Columns *OperandsOf(Gmres *gmres)
{
  Columns *const preconditioned = PreconditionedOf(gmres);
  return preconditioned ? preconditioned : &gmres->basis;
}

PetscErrorCode KSPCreate_SparseGPUGMRES(KSP ksp);
PetscErrorCode KSPSolve_SparseGPUGMRES(KSP ksp);
/// Column 0 of the basis, or the first behind those that are kept, = the residual of the solution, of norm 1; *norm is
/// what it was.
PetscErrorCode ComputeResidual(KSP ksp, PetscReal *norm);
/// Column k + 1 = the operator applied to column k.
PetscErrorCode ApplyOperator(KSP ksp, PetscInt k);
/// The solution += what `steps` steps of this cycle add to it.
PetscErrorCode AddCorrection(KSP ksp, PetscInt steps);
/// Histories and monitors of the iteration that has ended.
PetscErrorCode Report(KSP ksp);
/// A cycle begins with a residual of this norm, which is tested.
PetscErrorCode TakeResidual(KSP ksp, PetscReal norm);
/// Takes the outcome of the next step in. *steps: those that the solution is built from. An invariant space does not
/// end the solve by itself: the true residual decides at the restart, if iterations are left.
PetscErrorCode TakeStep(KSP ksp, Outcome outcome, PetscReal norm, PetscInt *steps);
/// What all solves of a launch have in common, and the solve that the KSP is in, for a column of b and x.
SmallControl SmallControlOf(KSP ksp, const Criterion &criterion, PetscInt steps);
SmallSolveOf SmallSolveFrom(KSP ksp, PetscInt column);
/// Takes the records of a group's cycles in, of the solve that the KSP is in, until its end or theirs.
/// `reports`: to histories and monitors, too.
PetscErrorCode FollowSmallCycles(KSP ksp, SmallCycles *small, int group, PetscInt steps, bool reports, PetscInt *built);
/// Cycles that the device runs by itself, from column 0: until the end, or until it has no more room for records. None
/// if they are not active any more.
PetscErrorCode RunSmallCycles(KSP ksp);
PetscErrorCode KSPBuildSolution_SparseGPUGMRES(KSP ksp, Vec v, Vec *V);
PetscErrorCode KSPComputeEigenvalues_SparseGPUGMRES(KSP ksp, PetscInt room, PetscReal *re, PetscReal *im,
                                                    PetscInt *count);
PetscErrorCode KSPComputeExtremeSingularValues_SparseGPUGMRES(KSP ksp, PetscReal *most, PetscReal *least);

} // namespace sparsegpu::gmres
