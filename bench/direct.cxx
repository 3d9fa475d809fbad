static char help[] =
    "Direct factorizations as a PC of type lu sets them up: MATSOLVERSPARSEGPU against every solver that PETSc has there.\n"
    "Prints one JSON line per matrix and solver; ratios are to the fastest of PETSc's, and to cusolverRf and cuDSS.\n"
    "  -grid2 n,... -grid3 n,...        : five-point stencils n x n, seven-point stencils n x n x n\n"
    "  -gen name,... -gen_size nonzeros : generated matrices, see examples/compare\n"
    "  -f FILE,...                      : files\n"
    "  -solvers name,...                : of petsc, umfpack, klu, superlu, mumps, superlu_dist, cusparse,\n"
    "                                     cusolverrf, cudss, sparsegpu\n"
    "  -pc_type lu|cholesky -runs n     : medians of n refactorizations and solves\n"
    "  -firsts n                        : medians of n first factorizations, each of a matrix of its own (default 1)\n"
    "  -columns n                       : also a solve with so many right-hand sides at once\n"
    "  -cudss_hybrid                    : cudss keeps factors on the host where the GPU's memory ends\n"
    "  -most seconds                    : a solver whose first factorization took so long has no more larger matrices\n";

#include <petscksp.h>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
#include "direct_times.hpp"
#include "generate.hpp"
#include "load.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace
{
/// How many times as fast sparsegpu is: against the fastest of PETSc's, `best`, and those that are not PETSc's.
void PrintRatios(const std::map<std::string, Times> &all, const std::string &best)
{
  const Times &ours = all.at(MATSOLVERSPARSEGPU);

  if (!best.empty())
    printf(",\"again_vs\":\"%s\",\"again_ratio\":%.2f", best.c_str(), all.at(best).Again() / ours.Again());
  if (all.count("cusolverrf")) printf(",\"again_vs_cusolverrf\":%.2f", all.at("cusolverrf").Again() / ours.Again());
  if (all.count(MATSOLVERPETSC)) printf(",\"first_vs_petsc\":%.2f", all.at(MATSOLVERPETSC).first / ours.first);
  if (!all.count("cudss")) return;
  const Times &cudss = all.at("cudss");
  printf(",\"again_vs_cudss\":%.2f,\"first_vs_cudss\":%.2f,\"mb_of_cudss\":%.2f", cudss.Again() / ours.Again(),
         cudss.first / ours.first, ours.mb / cudss.mb);
  if (ours.many > 0 && cudss.many > 0) printf(",\"columns_vs_cudss\":%.2f", cudss.many / ours.many);
}

/// Solvers that fail tell so, and lose.
PetscErrorCode Bench(Mat A, const std::string &name, const Settings &settings, std::map<std::string, double> *slow)
{
  std::map<std::string, Times> all;
  std::string                  best;
  MatInfo                      info;
  PetscInt                     n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  for (const std::string &solver : settings.solvers) {
    PetscBool there;
    Times     t;
    PetscCall(MatGetFactorAvailable(A, solver.c_str(), MAT_FACTOR_LU, &there));
    const bool outside = solver == "cusolverrf" || solver == "cudss";
    if (outside) there = HasOutside(solver) ? PETSC_TRUE : PETSC_FALSE;
    if (solver == "cusparse") there = PetscDefined(HAVE_CUDA) ? PETSC_TRUE : PETSC_FALSE;
    if (!there || ((*slow)[solver] > 0 && info.nz_used > (*slow)[solver])) continue;
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
    const PetscErrorCode error = outside ? TimeOutside(A, solver, settings, &t) : TimePetsc(A, solver, settings, &t);
    PetscCall(PetscPopErrorHandler());
    if (error) {
      printf("{\"matrix\":\"%s\",\"rows\":%d,\"solver\":\"%s\",\"failed\":%d}\n", name.c_str(), (int)n, solver.c_str(),
             (int)error);
      fflush(stdout);
      continue;
    }
    if (t.first > settings.most) (*slow)[solver] = info.nz_used;
    if (!(t.error < 1)) { // NaN, too: a zero pivot, or factors that do not solve
      printf("{\"matrix\":\"%s\",\"rows\":%d,\"solver\":\"%s\",\"unsolved\":true}\n", name.c_str(), (int)n,
             solver.c_str());
      continue;
    }
    all[solver] = t;
    if (!outside && solver != MATSOLVERSPARSEGPU && t.error < 1e-6 && (best.empty() || t.Again() < all[best].Again()))
      best = solver;
  }
  for (const auto &entry : all) {
    const Times &t = entry.second;
    printf("{\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%.0f,\"solver\":\"%s\",\"first_ms\":%.3f,\"refactor_ms\":%.3f,"
           "\"solve_ms\":%.3f,\"error\":%.1e,\"mb\":%.1f",
           name.c_str(), (int)n, info.nz_used, entry.first.c_str(), 1e3 * t.first, 1e3 * t.refactor, 1e3 * t.solve,
           t.error, t.mb);
    if (t.many > 0) printf(",\"columns\":%d,\"columns_ms\":%.3f", (int)settings.columns, 1e3 * t.many);
    if (entry.first == MATSOLVERSPARSEGPU) PrintRatios(all, best);
    printf("}\n");
  }
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Names(const char option[], std::vector<std::string> *names)
{
  char     *found[64];
  PetscInt  count = 64;
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, option, found, &count, &given));
  if (given) names->clear();
  for (PetscInt k = 0; given && k < count; k++) {
    names->push_back(found[k]);
    PetscCall(PetscFree(found[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  Settings                      settings;
  std::vector<std::string>      generated, files, grids[2];
  std::map<std::string, double> slow;
  PetscInt                      size = 1000000;
  Mat                           A;

  PetscFunctionBegin;
  settings.solvers = {"petsc",        "umfpack",  "klu",        "superlu", "mumps",
                      "superlu_dist", "cusparse", "cusolverrf", "cudss",   "sparsegpu"};
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-runs", &settings.runs, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-firsts", &settings.firsts, nullptr));
  PetscCheck(settings.firsts >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-firsts %" PetscInt_FMT " must be positive", settings.firsts);
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-columns", &settings.columns, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-most", &settings.most, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-cudss_hybrid", &settings.hybrid, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-gen_size", &size, nullptr));
  PetscCall(Names("-solvers", &settings.solvers));
  PetscCall(Names("-grid2", &grids[0]));
  PetscCall(Names("-grid3", &grids[1]));
  PetscCall(Names("-gen", &generated));
  PetscCall(Names("-f", &files));
  for (int d = 0; d < 2; d++)
    for (const std::string &grid : grids[d]) {
      const PetscInt n = static_cast<PetscInt>(std::stoll(grid));
      PetscCall(GenerateMatrix(PETSC_COMM_SELF, d ? "stencil7" : "stencil5",
                               d ? 7 * n * n * n - 6 * n * n : 5 * n * n - 4 * n, PETSC_FALSE, &A));
      PetscCall(Bench(A, (d ? "stencil7 " : "stencil5 ") + grid, settings, &slow));
      PetscCall(MatDestroy(&A));
    }
  for (const std::string &name : generated) {
    PetscCall(GenerateMatrix(PETSC_COMM_SELF, name.c_str(), size, PETSC_FALSE, &A));
    PetscCall(Bench(A, name, settings, &slow));
    PetscCall(MatDestroy(&A));
  }
  for (const std::string &file : files) {
    PetscCall(LoadMatrix(PETSC_COMM_SELF, file.c_str(), &A));
    slow.clear();
    PetscCall(Bench(A, file.substr(file.find_last_of('/') + 1), settings, &slow));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
