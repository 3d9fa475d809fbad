/// KSPSPARSEGPUBCGS: state.
#pragma once

#include <petsc/private/kspimpl.h>
#include "ksp/bcgs/small.hpp"

namespace sparsegpu::bcgs
{

constexpr PetscInt MOST_ELL = 8; ///< the normal equations of higher degrees consist of rounding errors

struct Bcgs {
  PetscInt    ell = 1;                ///< degree of the minimisation after so many steps
  const char *way = "not solved yet"; ///< of the last solve, for KSPView()
  ArraySolve  arrays;
  SmallMode   small_mode = SmallMode::Auto;
  SmallSolve  small;
  RecordLag   lag;
};
inline Bcgs *BcgsOf(KSP ksp)
{
  return static_cast<Bcgs *>(ksp->data);
}

/// Work vectors: of the arrays' diagonals, and of SolveOnVectors().
enum Vectors {
  VECTORS_ON_ARRAYS = 2,
  VECTORS           = 8
};

PetscErrorCode KSPCreate_SparseGPUBCGS(KSP ksp);
PetscErrorCode KSPSolve_SparseGPUBCGS(KSP ksp);
/// Takes the outcome of iteration k in, whose number is k + 1 for the user: history, monitors, convergence test.
PetscErrorCode TakeOutcome(KSP ksp, PetscInt k, const Told &told);
/// The iteration on PETSc's vectors, for every matrix, preconditioner, vector and number of processes.
PetscErrorCode SolveOnVectors(KSP ksp);

/// BiCGStab(l), l > 1, in the same generality: ell.cxx.
PetscErrorCode SolveEll(KSP ksp);

} // namespace sparsegpu::bcgs
