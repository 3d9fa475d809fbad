/// What solve runs and finds.
#pragma once

#include <string>
#include <vector>

#include <petscksp.h>

#include "owned.hpp"

constexpr double NoNumber = -1; ///< of a result's numbers that were not measured

using OwnedKSP = Owned<KSP, KSPDestroy>;

/// A solver on a matrix type.
struct Method {
  std::string type, ksp, pc; ///< as in -mat_type, -ksp_type, -pc_type; preonly: a direct solver, ours where `ours`
  bool        ours = false, device = false;

  bool Direct() const { return ksp == "preonly"; }
};
/// Native ones on aij and, with a GPU, on aijcusparse; ours on sparsegpu.
std::vector<Method> AllMethods(bool device);
/// Those that a run of solve selects by name; an empty list selects all.
struct Selection {
  std::vector<std::string> solvers, pcs, types;

  bool Names(const std::string &pc) const; ///< whether -pcs has it
  bool Has(const Method &method) const;
};
/// Errors: PETSC_ERR_ARG_UNKNOWN_TYPE for a name that no method has, and where no method has a name of each list.
PetscErrorCode CheckSelection(const Selection &selection, bool device);

struct Run {
  Method              method;
  std::string         error; ///< why it could not run; empty if it did
  PetscInt            iterations = 0;
  KSPConvergedReason  reason     = KSP_CONVERGED_ITERATING;
  double              residual = NoNumber, forward = NoNumber; ///< |b - A x| / |b|; |x - known| / |known|
  double              setup_s = NoNumber, solve_s = NoNumber;  ///< conversion and preconditioner; median of the solves
  double              mult_ms = NoNumber, pc_ms = NoNumber;    ///< one product, one application
  double              joules   = NoNumber;                     ///< that the GPU used for a solve
  double              over_cpu = NoNumber, over_native = NoNumber; ///< the fastest native one of its kind / this
  std::vector<double> history;                                     ///< [iterations + 1] norms that the solver tested

  bool   Converged() const { return error.empty() && reason > 0; }
  double MsPerIteration() const { return iterations > 0 ? 1e3 * solve_s / iterations : NoNumber; }
};

struct System {
  std::string name;
  OwnedMat    A;
  OwnedVec    b, known; ///< known may be null
  PetscInt    rows      = 0;
  double      nonzeros  = 0;
  bool        symmetric = false; ///< real and equal to its transpose: cholesky is for it
};

/// Runs one method with the -ksp_... options that are set, `repeat` times. Errors of the method are told in run->error.
PetscErrorCode RunMethod(const System &system, const Method &method, PetscInt repeat, Run *run);
/// Fills in over_cpu and over_native: stationary methods are compared with stationary ones, gmres and fgmres with each
/// other, multigrid with multigrid, and all of them only where all of them converged or all were stopped after as many
/// iterations. Of direct solvers set-up and solve count, of the others the solve.
void CompareRuns(std::vector<Run> *runs);

PetscErrorCode PrintRuns(const System &system, const std::vector<Run> &runs);
struct Solved {
  std::string      name;
  PetscInt         rows;
  double           nonzeros;
  std::vector<Run> runs;
};
/// The thesis' table: the time of one CPU core over ours, for its matrices and solvers; `surrogate[k]` says that
/// solved[k] is a stand-in.
PetscErrorCode PrintThesis(const std::vector<Solved> &solved, const std::vector<bool> &surrogate);
/// Rank 0 writes. Errors: PETSC_ERR_FILE_WRITE, on all ranks.
PetscErrorCode WriteRuns(const char file[], const std::vector<Solved> &solved);
