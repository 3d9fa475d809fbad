/// KSPSPARSEGPUCG: settings and state.
#pragma once

#include <petsc/private/kspimpl.h>
#include <vector>
#include "ksp/cg/block.hpp"
#include "ksp/cg/small.hpp"

namespace sparsegpu::cg
{

struct Cg {
  bool                   hermitian = true;  ///< else inner products without conjugation, of complex symmetric matrices
  bool                   residuals = false; ///< conjugate residuals
  bool                   flexible  = false; ///< the preconditioner may change from step to step
  const char            *way       = "not solved yet"; ///< of the last solve, for KSPView()
  ArraySolve             arrays;
  SmallMode              small_mode = SmallMode::Auto;
  SmallSolve             small;
  SmallMode              many_mode = SmallMode::Auto; ///< right-hand sides of KSPMatSolve() together
  bool                   block     = false;           ///< these in one Krylov space
  BlockSolve             many;
  RecordLag              lag;
  std::vector<PetscReal> alpha, rho; ///< [iterations] of the last solve, where the spectrum was asked for
};
inline Cg *CgOf(KSP ksp)
{
  return static_cast<Cg *>(ksp->data);
}

PetscErrorCode KSPCreate_SparseGPUCG(KSP ksp);
PetscErrorCode KSPSolve_SparseGPUCG(KSP ksp);
/// The classical recurrence on PETSc's vectors, for every matrix, preconditioner, vector and number of processes.
PetscErrorCode SolveOnVectors(KSP ksp);
/// Conjugate residuals, in the same generality.
PetscErrorCode SolveResiduals(KSP ksp);
/// The solve ends with a curvature (p, A p) that is zero or of another sign than before.
PetscErrorCode EndWithCurvature(KSP ksp);
PetscErrorCode KSPComputeEigenvalues_SparseGPUCG(KSP ksp, PetscInt room, PetscReal *re, PetscReal *im, PetscInt *count);
PetscErrorCode KSPComputeExtremeSingularValues_SparseGPUCG(KSP ksp, PetscReal *most, PetscReal *least);

} // namespace sparsegpu::cg
