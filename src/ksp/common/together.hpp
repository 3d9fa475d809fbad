/// KSPMatSolve() of solvers that take several right-hand sides at a time: which systems are solved so, what the KSP
/// tells of all of them, and the way column by column for the rest.
#pragma once

#include <petsc/private/kspimpl.h>
#include <vector>
#include "device/device.hpp"
#include "device/scalar.hpp"
#include "ksp/common/converged.hpp"
#include "ksp/common/names.hpp"
#include "ksp/common/record_ring.hpp"
#include "ksp/common/small_mode.hpp"

namespace sparsegpu::ksp
{

constexpr int MANY = 32; ///< right-hand sides at a time

/// Steps that the host launches on the device ahead of what it has heard; one that is solved leaves as many steps
/// later. Not by time: how a launch shares rows among thread blocks, and so the order of its sums, depends on how many
/// right-hand sides it has, and must be the same in every run. Large systems keep the device busy with few steps.
inline PetscInt StepsAhead(PetscInt rows)
{
  constexpr PetscInt LARGE = 131072, FEW = 3, MORE = 8;
  static_assert(MORE < RecordRing::RECORDS);
  return rows >= LARGE ? FEW : MORE;
}

/// What KSPMatSolve() is to end with for one right-hand side.
struct ManyColumn {
  PetscInt           iterations = 0;
  KSPConvergedReason reason     = KSP_CONVERGED_ITERATING;
  PetscReal          norm = 0, first = 0, tolerance = 0; ///< KSP's rnorm, rnorm0 and ttol
  NormTest           test = {};

  /// The KSP in the state that it has while this column alone is solved, and back.
  void Enter(KSP ksp) const
  {
    ksp->its    = iterations;
    ksp->reason = reason;
    ksp->rnorm  = norm;
    ksp->rnorm0 = first;
    ksp->ttol   = tolerance;
  }
  void Leave(KSP ksp)
  {
    iterations = ksp->its;
    reason     = ksp->reason;
    norm       = ksp->rnorm;
    first      = ksp->rnorm0;
    tolerance  = ksp->ttol;
  }
};

/// What a solver asks for.
struct Togetherness {
  SmallMode mode    = SmallMode::Auto;
  bool      serves  = true; ///< the solver's own settings allow it
  int       vectors = 0;    ///< of a column with a diagonal that a solve reads again and again; another PC: one more
  SmallMode small   = SmallMode::Off; ///< many iterations of small systems in one launch on a GPU, with a diagonal
};
/// Where such a solve takes place.
struct TogetherPlace {
  Mat   A       = nullptr; ///< of the products
  bool  outside = false;   ///< the preconditioner is no diagonal
  bool  alone   = true;    ///< there is one process
  Space space   = Space::Host;
  bool  gains   = true; ///< even if small systems were not admitted as such
};
/// Whether matrix, preconditioner, settings of the KSP and dense matrices allow it. Collective; the answer is the same
/// on all ranks.
PetscErrorCode AdmitTogether(KSP ksp, Mat B, Mat X, const Togetherness &asked, TogetherPlace *place, bool *admitted);

/// As KSPSolve() ends for each: what the preconditioner has to tell of its applications, such as triangular solves that
/// gave up. Its failure for one right-hand side is not one of the next solve.
PetscErrorCode EndTogether(KSP ksp);

/// run() with column c of B and X as the KSP's right-hand side and solution, without an error for a solve that has not
/// converged: the other columns are to be solved first.
template <class Run> PetscErrorCode WithColumn(KSP ksp, Mat B, Mat X, PetscInt c, Run run)
{
  const Vec       rhs = ksp->vec_rhs, solution = ksp->vec_sol;
  const PetscBool raises = ksp->errorifnotconverged;
  Vec             b = nullptr, x = nullptr;

  PetscFunctionBegin;
  PetscCall(MatDenseGetColumnVecRead(B, c, &b));
  PetscCall(MatDenseGetColumnVec(X, c, &x));
  ksp->vec_rhs               = b;
  ksp->vec_sol               = x;
  ksp->errorifnotconverged   = PETSC_FALSE;
  const PetscErrorCode error = run();
  ksp->vec_rhs               = rhs; // whatever comes of it: the KSP does not own b and x
  ksp->vec_sol               = solution;
  ksp->errorifnotconverged   = raises;
  PetscCall(error);
  PetscCall(MatDenseRestoreColumnVec(X, c, &x));
  PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each by KSPSolve(), as PETSc does it for solvers that know nothing of several right-hand sides.
PetscErrorCode SolveByColumn(KSP ksp, Mat B, Mat X, std::vector<ManyColumn> *columns);

/// What the KSP has told of batches before, as KSPMatSolve() calls for the next one.
ManyColumn BatchesBefore(KSP ksp);
/// What the KSP tells of all columns, those of batches before included: the most iterations, the largest norm, and the
/// first failure if there is one.
PetscErrorCode Summarise(KSP ksp, const std::vector<ManyColumn> &columns, const ManyColumn &before);

/// A dense matrix of A's rows and `count` columns over `entries` [ld * count] in `space`; on the device A is
/// sequential.
PetscErrorCode DenseOver(Mat A, int count, Scalar *entries, PetscInt ld, Space space, Mat *M);
/// to = M^-1 from, both of DenseOver(): `from` has been written through its entries, and those of `to` may be read so.
PetscErrorCode PreconditionColumns(PC pc, Mat from, Mat to, Space space);

} // namespace sparsegpu::ksp
