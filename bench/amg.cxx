/// Algebraic multigrid: ours against PETSc's, set-up, set-up for new values and solve, interleaved in one process.
///
///   amg [-problems stencil27,stencil7,elasticity] [-n 64] [-elements 20] [-coefficients constant|varying]
///       [-solvers sparsegpuamg:sparsegpu,gamg:aijcusparse,gamg:aij] [-repeat 3] [-rtol 1e-8] [-noise]
///
/// Problems are elasticity and those of tests/pc/amg_list.hpp, -n points a side; planes are the anisotropic, jumping
/// and convective ones of two dimensions of docs/amg.md. Each solver is preconditioner:type of matrix (hypre:aij where
/// PETSc has it, whose complexity is not told: 0), and of sparsegpuamg :type of coarsening
/// (sparsegpuamg:sparsegpu:classical), with conjugate gradients, or GMRES for problems that are not symmetric, and
/// Chebyshev with Jacobi as smoother. Other options go to all. Times are medians over the repeats but the first, which
/// loads kernels; each begins with a new solver. The right-hand side is A 1 or, with -noise, random numbers.
static const char help[] = "Times of algebraic multigrid.\n\n";

#include <petscksp.h>
#include <petsctime.h>
#include "../tests/pc/amg.hpp"
#include "../tests/pc/amg_list.hpp"
#include "median.hpp"
#include "residual.hpp"
#include "sparsegpu.h"

#include <algorithm>
#include <sstream>
#include <string>

using namespace amg_tests;

namespace
{
struct Settings {
  PetscInt                 n = 64, elements = 20, repeat = 3;
  PetscReal                rtol    = 1e-8;
  bool                     varying = false;
  PetscBool                noise   = PETSC_FALSE;
  std::vector<std::string> problems, solvers;
};

struct Solver {
  std::string                 name;
  Mat                         A = nullptr;
  Vec                         x = nullptr, b = nullptr;
  std::vector<PetscLogDouble> setup, refresh, solve;
  PetscInt                    iterations = 0;
  bool                        symmetric  = true;
  PetscReal                   residual = 0, complexity = 0;
};

std::vector<std::string> Split(const std::string &text, char at)
{
  std::vector<std::string> parts;
  std::stringstream        stream(text);
  std::string              part;
  while (std::getline(stream, part, at)) parts.push_back(part);
  return parts;
}

PetscErrorCode ReadList(const char name[], const char standard[], std::vector<std::string> *list)
{
  char text[512];

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(text, standard, sizeof(text)));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, name, text, sizeof(text), nullptr));
  PetscCallCXX(*list = Split(text, ','));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadSettings(Settings *s)
{
  char coefficients[32] = "constant";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &s->n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-elements", &s->elements, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &s->repeat, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-noise", &s->noise, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-rtol", &s->rtol, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-coefficients", coefficients, sizeof(coefficients), nullptr));
  s->varying = std::string(coefficients) == "varying";
  PetscCheck(s->varying || std::string(coefficients) == "constant", PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-coefficients %s must be constant or varying", coefficients);
  PetscCheck(s->n > 0 && s->elements > 0 && s->repeat > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT ", -elements %" PetscInt_FMT ", -repeat %" PetscInt_FMT " must be positive", s->n,
             s->elements, s->repeat);
  PetscCall(ReadList("-problems", "stencil27,stencil7,elasticity", &s->problems));
  const auto planes = std::find(s->problems.begin(), s->problems.end(), "planes");
  if (planes != s->problems.end()) {
    const std::vector<std::string> all =
        Split("stretched,rotated,differences,jumps,scattered,shear:0.1,shear:1,shear:10,"
              "shear:1000,vortex:1,vortex:100",
              ',');
    PetscCallCXX(s->problems.insert(s->problems.erase(planes), all.begin(), all.end()));
  }
#if defined(PETSC_HAVE_CUDA)
  PetscCall(ReadList("-solvers", "sparsegpuamg:sparsegpu,gamg:aijcusparse,gamg:aij", &s->solvers));
#else
  PetscCall(ReadList("-solvers", "sparsegpuamg:sparsegpu,sparsegpuamg:aij,gamg:aij", &s->solvers));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A weight in (1/2, 3/2) of full mantissa, the same seen from both points.
PetscScalar VaryingWeight(PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz)
{
  const double at =
      (2.0 * (double)x + dx) * 12.9898 + (2.0 * (double)y + dy) * 78.233 + (2.0 * (double)z + dz) * 37.719;
  const double s = std::sin(at) * 43758.5453;
  return (PetscReal)(0.5 + s - std::floor(s));
}

PetscErrorCode CreateProblem(const Settings &s, const std::string &name, Mat *A, std::vector<PetscReal> *coordinates,
                             bool *symmetric)
{
  PetscFunctionBeginUser;
  coordinates->clear();
  *symmetric = true;
  if (name == "elasticity") {
    PetscCall(CreateElasticity(PETSC_COMM_WORLD, MATAIJ, s.elements, s.elements, s.elements, A, coordinates));
  } else {
    NamedGrid found;
    PetscCall(FindGrid(name, s.n, &found));
    *symmetric          = found.symmetric;
    const auto constant = found.grid.weight;
    if (s.varying)
      found.grid.weight = [constant](PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz) {
        return constant(x, y, z, dx, dy, dz) * VaryingWeight(x, y, z, dx, dy, dz);
      };
    PetscCall(CreateGrid(PETSC_COMM_WORLD, MATAIJ, found.grid, A));
  }
  if (*symmetric) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Waits for the device.
PetscErrorCode Wait(Vec v, PetscLogDouble *now)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecNormBegin(v, NORM_2, &norm));
  PetscCall(VecNormEnd(v, NORM_2, &norm));
  PetscCall(PetscTime(now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSolver(const Settings &s, const Solver &solver, const std::vector<PetscReal> &coordinates,
                            KSP *ksp)
{
  const std::vector<std::string> parts = Split(solver.name, ':');
  const std::string              name = parts[0], type = "-pc_sparsegpuamg_type";
  PetscInt                       rows;
  PC                             pc;

  PetscFunctionBeginUser;
  if (parts.size() > 2) PetscCall(PetscOptionsSetValue(nullptr, type.c_str(), parts[2].c_str()));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, solver.symmetric ? KSPCG : KSPGMRES));
  PetscCall(KSPSetTolerances(*ksp, s.rtol, 0, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetOperators(*ksp, solver.A, solver.A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, name.c_str()));
  PetscCall(KSPSetFromOptions(*ksp));
  if (parts.size() > 2) PetscCall(PetscOptionsClearValue(nullptr, type.c_str()));
  PetscCall(MatGetLocalSize(solver.A, &rows, nullptr));
  if (!coordinates.empty()) PetscCall(PCSetCoordinates(pc, 3, rows / 3, const_cast<PetscReal *>(coordinates.data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunOnce(const Settings &s, const std::vector<PetscReal> &coordinates, bool keep, Solver *solver)
{
  KSP            ksp;
  PC             pc;
  PetscReal      grid;
  PetscBool      multigrid;
  PetscLogDouble begin, made, solved, changed, ready;

  PetscFunctionBeginUser;
  PetscCall(Wait(solver->b, &begin));
  PetscCall(CreateSolver(s, *solver, coordinates, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Wait(solver->b, &made));
  PetscCall(KSPSolve(ksp, solver->b, solver->x));
  PetscCall(Wait(solver->x, &solved));
  PetscCall(KSPGetIterationNumber(ksp, &solver->iterations));
  PetscCall(RelativeResidual(solver->A, solver->b, solver->x, &solver->residual));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &multigrid, PCMG, PCGAMG, PCSPARSEGPUAMG, ""));
  if (multigrid) PetscCall(PCMGGetGridComplexity(pc, &grid, &solver->complexity)); // which asks no other's
  PetscCall(MatScale(solver->A, (PetscReal)1.25));
  PetscCall(KSPSetOperators(ksp, solver->A, solver->A));
  PetscCall(Wait(solver->x, &changed));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Wait(solver->b, &ready));
  PetscCall(MatScale(solver->A, (PetscReal)0.8));
  PetscCall(KSPDestroy(&ksp));
  if (!keep) PetscFunctionReturn(PETSC_SUCCESS);
  solver->setup.push_back(made - begin);
  solver->solve.push_back(solved - made);
  solver->refresh.push_back(ready - changed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunProblem(const Settings &s, const std::string &problem)
{
  std::vector<PetscReal> coordinates;
  std::vector<Solver>    solvers(s.solvers.size());
  Mat                    A;
  PetscInt               rows;
  MatInfo                info;
  bool                   symmetric;

  PetscFunctionBeginUser;
  PetscCall(CreateProblem(s, problem, &A, &coordinates, &symmetric));
  PetscCall(MatGetSize(A, &rows, nullptr));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  for (size_t k = 0; k < solvers.size(); k++) {
    solvers[k].name                      = s.solvers[k];
    const std::vector<std::string> parts = Split(s.solvers[k], ':');
    PetscCheck(parts.size() == 2 || parts.size() == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
               "-solvers %s must be preconditioner:type or preconditioner:type:coarsening", s.solvers[k].c_str());
    solvers[k].symmetric = symmetric;
    PetscCall(MatConvert(A, parts[1].c_str(), MAT_INITIAL_MATRIX, &solvers[k].A));
    if (symmetric) PetscCall(MatSetOption(solvers[k].A, MAT_SPD, PETSC_TRUE));
    PetscCall(MatCreateVecs(solvers[k].A, &solvers[k].x, &solvers[k].b));
    if (s.noise) {
      PetscCall(SetNoise(solvers[k].b));
    } else {
      PetscCall(VecSet(solvers[k].x, 1));
      PetscCall(MatMult(solvers[k].A, solvers[k].x, solvers[k].b));
    }
  }
  PetscCall(MatDestroy(&A));
  for (PetscInt r = 0; r <= s.repeat; r++)
    for (Solver &solver : solvers) PetscCall(RunOnce(s, coordinates, r > 0, &solver));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %" PetscInt_FMT " unknowns, %.0f nonzeros\n", problem.c_str(), rows,
                        info.nz_used));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-28s %9s %11s %9s %9s %5s %10s %10s\n", "preconditioner:matrix", "set-up s",
                        "new values", "solve s", "total s", "its", "residual", "complexity"));
  for (Solver &v : solvers) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-28s %9.4f %11.4f %9.4f %9.4f %5d %10.2e %10.3f\n", v.name.c_str(),
                          Median(v.setup), Median(v.refresh), Median(v.solve), Median(v.setup) + Median(v.solve),
                          (int)v.iterations, (double)v.residual, (double)v.complexity));
    PetscCall(MatDestroy(&v.A));
    PetscCall(VecDestroy(&v.x));
    PetscCall(VecDestroy(&v.b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  Settings settings;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(ReadSettings(&settings));
  for (const std::string &problem : settings.problems) PetscCall(RunProblem(settings, problem));
  PetscCall(PetscFinalize());
  return 0;
}
