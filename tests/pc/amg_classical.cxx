static const char help[] = "Classical multigrid: iterations on what it is for, new values, odd rows.\n\n";

#include "amg.hpp"
#include "amg_list.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[]   = {MATAIJ, MATSPARSEGPU};
static const char *const CLASSICAL = "-pc_sparsegpuamg_type";

/// Iterations are few, fewer than PETSc's where the problem is hard, and levels not too large. On any number of
/// processes they are the same but for one.
static PetscErrorCode TestIterations()
{
  struct Case {
    const char *name;
    PetscInt    n, at_most;
    bool        hard;
  };
  const Case   cases[] = {{"stencil5", 100, 9, false}, {"stencil7", 20, 12, false},  {"stencil27", 20, 9, false},
                          {"stretched", 100, 7, true}, {"rotated", 100, 16, true},   {"differences", 100, 17, true},
                          {"jumps", 100, 9, true},     {"scattered", 100, 10, true}, {"shear:0.1", 100, 9, false},
                          {"shear:1", 100, 12, true},  {"shear:10", 100, 20, true},  {"shear:1000", 100, 24, true},
                          {"vortex:1", 100, 14, true}, {"vortex:100", 100, 25, true}};
  const Option classical(CLASSICAL, "classical");

  PetscFunctionBeginUser;
  for (const Case &c : cases)
    for (const char *type : TYPES) {
      const std::string what = std::string(c.name) + ", " + type;
      NamedGrid         problem;
      Mat               A;
      KSP               ksp;
      PC                pc;
      Result            ours, gamg;
      PetscReal         points, complexity;

      PetscCall(FindGrid(c.name, c.n, &problem));
      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, problem.grid, &A));
      PetscCall(CreateSolver(A, problem.symmetric ? KSPCG : KSPGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(Solve(ksp, A, &ours));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCMGGetGridComplexity(pc, &points, &complexity));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations, complexity %.2f\n", what.c_str(),
                            ours.iterations, (double)complexity));
      PetscCall(CheckConverged(what, ours, c.at_most, c.hard ? 1000 : 1));
      PetscCheck(complexity <= (PetscReal)2.5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: operator complexity %g",
                 what.c_str(), (double)complexity);
      PetscCall(KSPDestroy(&ksp));
      if (c.hard && !strcmp(type, MATAIJ)) {
        PetscCall(SolveOnce(A, problem.symmetric ? KSPCG : KSPGMRES, PCGAMG, &gamg));
        PetscCheck(gamg.reason <= 0 || 2 * ours.iterations <= gamg.iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s: %" PetscInt_FMT " iterations, gamg %" PetscInt_FMT, what.c_str(), ours.iterations,
                   gamg.iterations);
      }
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How often the splitting has been searched for.
static PetscErrorCode Splittings(int *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("SparseGPUClassic", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values keep interpolation, or have it made again if asked for: iterations tell which one suits them.
static PetscErrorCode TestValues()
{
  const Option classical(CLASSICAL, "classical");
  NamedGrid    before, after;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(FindGrid("stencil5", 80, &before));
  PetscCall(FindGrid("stretched", 80, &after));
  for (const char *type : TYPES)
    for (bool reuse : {true, false}) {
      const Option      option("-pc_sparsegpuamg_reuse_interpolation", reuse ? "1" : "0");
      const std::string what = std::string(type) + (reuse ? ", kept" : ", made again");
      Mat               A;
      KSP               ksp;
      Result            result;
      int               first, second;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, before.grid, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(Solve(ksp, A, &result));
      PetscCall(CheckConverged(what, result, 9));
      PetscCall(Splittings(&first));
      PetscCall(MatScale(A, 3));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(Solve(ksp, A, &result));
      PetscCall(CheckConverged(what + ", scaled", result, 9));
      PetscCall(MatZeroEntries(A));
      PetscCall(SetGrid(A, after.grid));
      PetscCall(Solve(ksp, A, &result));
      PetscCall(Splittings(&second));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations, %d splittings after %d\n",
                            what.c_str(), result.iterations, second, first));
      PetscCheck(reuse ? second == first : second > first, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %d splittings after %d", what.c_str(), second, first);
      PetscCheck(reuse == (result.iterations > 9), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %" PetscInt_FMT " iterations with new values", what.c_str(), result.iterations);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A dense row and column; a matrix whose rows are dominated by their diagonals.
static PetscErrorCode TestRows()
{
  const Option classical(CLASSICAL, "classical");

  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    const std::string with = std::string(", ") + type;
    Mat               A;
    PetscInt          begin, end, n;
    Result            result;
    Grid              g{50, 52, 1, 1, false, Faces};

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A)); // an equation for the mean of all values
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    PetscCall(MatGetSize(A, &n, nullptr));
    for (PetscInt r = begin; r < end; ++r)
      for (PetscInt c = 0; c < n; ++c)
        if ((r == 1300 || c == 1300) && r != c) PetscCall(MatSetValue(A, r, c, -1e-2, ADD_VALUES));
    if (begin <= 1300 && 1300 < end) PetscCall(MatSetValue(A, 1300, 1300, 26, ADD_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(SolveOnce(A, KSPGMRES, PCSPARSEGPUAMG, &result));
    PetscCall(CheckConverged("dense row" + with, result, 12));
    PetscCall(MatDestroy(&A));

    g.shift = 400;
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A));
    PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &result));
    PetscCall(CheckConverged("dominant diagonals" + with, result, 5));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Three unknowns a point, each with couplings of its own, have the iterations of one.
static PetscErrorCode TestFields()
{
  const Option classical(CLASSICAL, "classical");

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (PetscInt unknowns : {1, 3}) {
      NamedGrid problem;
      Mat       A;
      Result    result;

      PetscCall(FindGrid("stretched", 50, &problem));
      problem.grid.unknowns = unknowns;
      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, problem.grid, &A));
      PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &result));
      PetscCall(CheckConverged(std::to_string(unknowns) + " unknowns, " + type, result, 7));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"iterations", TestIterations}, {"values", TestValues}, {"rows", TestRows}, {"fields", TestFields}});
}
