static char help[] =
    "Direct factorizations as a PC of type lu sets them up: MATSOLVERSPARSEGPU against every solver that PETSc has there.\n"
    "Prints one JSON line per matrix and solver; ratios are to the fastest of PETSc's, and to cusolverRf.\n"
    "  -grid2 n,... -grid3 n,...        : five-point stencils n x n, seven-point stencils n x n x n\n"
    "  -gen name,... -gen_size nonzeros : generated matrices, see examples/compare\n"
    "  -f FILE,...                      : files\n"
    "  -solvers name,...                : of petsc, umfpack, klu, superlu, mumps, superlu_dist, cusparse,\n"
    "                                     cusolverrf, sparsegpu\n"
    "  -pc_type lu|cholesky -runs n     : medians of n refactorizations and solves\n"
    "  -most seconds                    : a solver whose first factorization took so long has no more larger matrices\n";

#include <petscksp.h>
#include <petsctime.h>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
#include "generate.hpp"
#include "load.hpp"
#include "petsc/compat.hpp"
#include "refactor_baseline.hpp"
#include "sparsegpu.h"

namespace
{
struct Settings {
  PetscInt                 runs = 5;
  PetscReal                most = 60;
  std::vector<std::string> solvers;
};
struct Times { ///< seconds
  double first = -1, refactor = -1, solve = -1, error = -1, mb = -1;
  double Again() const { return refactor + solve; }
};

double Median(std::vector<double> v)
{
  std::sort(v.begin(), v.end());
  return v.empty() ? -1 : v[v.size() / 2];
}
template <class F> PetscErrorCode Seconds(F call, double *seconds)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(call());
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ||b - A x|| / (||A|| ||x|| + ||b||), maximum norms, on the host.
PetscErrorCode BackwardError(Mat A, Vec b, Vec x, double *error)
{
  const PetscScalar *array;
  PetscScalar       *to;
  Vec                hx, hb, r;
  PetscReal          nr, na, nx, nb;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &hx));
  PetscCall(VecDuplicate(hx, &hb));
  PetscCall(VecDuplicate(hx, &r));
  for (const auto &pair : {std::make_pair(x, hx), std::make_pair(b, hb)}) {
    PetscCall(VecGetArrayRead(pair.first, &array));
    PetscCall(VecGetArray(pair.second, &to));
    std::copy_n(array, n, to);
    PetscCall(VecRestoreArray(pair.second, &to));
    PetscCall(VecRestoreArrayRead(pair.first, &array));
  }
  PetscCall(MatMult(A, hx, r));
  PetscCall(VecAXPY(r, -1, hb));
  PetscCall(VecNorm(r, NORM_INFINITY, &nr));
  PetscCall(VecNorm(hx, NORM_INFINITY, &nx));
  PetscCall(VecNorm(hb, NORM_INFINITY, &nb));
  PetscCall(MatNorm(A, NORM_INFINITY, &na));
  *error = static_cast<double>(nr / (na * nx + nb));
  PetscCall(VecDestroy(&hx));
  PetscCall(VecDestroy(&hb));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && \
    defined(PETSC_USE_REAL_DOUBLE)
constexpr bool HAVE_CUSOLVER = true;

/// cusolverRf, which is not one of PETSc's.
PetscErrorCode TimeCusolver(Mat A, const Settings &settings, Times *times)
{
  const PetscInt    *i, *j;
  const PetscScalar *a, *b;
  PetscScalar       *x;
  PetscInt           n;
  PetscBool          done;
  Vec                rhs, solution;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &solution, &rhs));
  PetscCall(VecSet(solution, 1));
  PetscCall(MatMult(A, solution, rhs));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(VecGetArrayRead(rhs, &b));
  PetscCall(VecGetArray(solution, &x));
  const BaselineRefactor baseline = CusolverRefactor(n, i[n], i, j, a, b, x, static_cast<int>(settings.runs));
  PetscCall(VecRestoreArray(solution, &x));
  PetscCall(VecRestoreArrayRead(rhs, &b));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  times->first    = baseline.first;
  times->refactor = baseline.refactor;
  times->solve    = baseline.solve;
  PetscCall(BackwardError(A, rhs, solution, &times->error));
  PetscCall(VecDestroy(&rhs));
  PetscCall(VecDestroy(&solution));
  PetscCheck(baseline.first >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSOLVER: %s failed", baseline.why);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
constexpr bool HAVE_CUSOLVER = false;

PetscErrorCode TimeCusolver(Mat, const Settings &, Times *)
{
  return PETSC_ERR_SUP;
}
#endif

PetscErrorCode Time(Mat host, const std::string &solver, const Settings &settings, Times *times)
{
  const char         *type = solver == MATSOLVERSPARSEGPU ? MATSEQAIJSPARSEGPU
                             : solver == "cusparse"       ? "seqaijcusparse"
                                                          : MATSEQAIJ;
  std::vector<double> refactor, solve;
  double              seconds;
  MatInfo             info;
  PetscScalar         scale = 2;
  PetscBool           has   = PETSC_FALSE;
  KSP                 ksp;
  PC                  pc;
  Mat                 A, F;
  Vec                 b, x;

  PetscFunctionBegin;
  PetscCall(MatConvert(host, type, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(PCFactorSetMatSolverType(pc, solver.c_str()));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Seconds([&] { return PCSetUp(pc); }, &times->first));
  for (PetscInt k = 0; k < settings.runs && (k == 0 || times->first < settings.most / 4); k++) {
    PetscCall(MatScale(A, scale)); // new values
    PetscCall(VecScale(b, scale));
    scale = 1 / scale;
    PetscCall(Seconds([&] { return PCSetUp(pc); }, &seconds));
    refactor.push_back(seconds);
    PetscCall(Seconds([&] { return PCApply(pc, b, x); }, &seconds));
    solve.push_back(seconds);
  }
  if (scale != (PetscScalar)2) PetscCall(VecScale(b, scale)); // b is that of twice the matrix
  PetscCall(BackwardError(host, b, x, &times->error));
  PetscCall(PCFactorGetMatrix(pc, &F));
  info.memory = 0;
  if (F) PetscCall(MatHasOperation(F, MATOP_GETINFO, &has));
  if (has) PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  times->mb       = info.memory / 1e6;
  times->refactor = Median(refactor);
  times->solve    = Median(solve);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solvers that fail tell so, and lose.
PetscErrorCode Bench(Mat A, const std::string &name, const Settings &settings, std::map<std::string, double> *slow)
{
  std::map<std::string, Times> all;
  std::string                  best;
  Times                        first;
  MatInfo                      info;
  PetscInt                     n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  for (const std::string &solver : settings.solvers) {
    PetscBool there;
    Times     t;
    PetscCall(MatGetFactorAvailable(A, solver.c_str(), MAT_FACTOR_LU, &there));
    if (solver == "cusolverrf") there = HAVE_CUSOLVER ? PETSC_TRUE : PETSC_FALSE;
    if (solver == "cusparse") there = PetscDefined(HAVE_CUDA) ? PETSC_TRUE : PETSC_FALSE;
    if (!there || ((*slow)[solver] > 0 && info.nz_used > (*slow)[solver])) continue;
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
    const PetscErrorCode error = solver == "cusolverrf" ? TimeCusolver(A, settings, &t) : Time(A, solver, settings, &t);
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
    if (solver == MATSOLVERPETSC) first = t;
    const bool on_host = solver != MATSOLVERSPARSEGPU && solver != "cusolverrf";
    if (on_host && t.error < 1e-6 && (best.empty() || t.Again() < all[best].Again())) best = solver;
  }
  for (const auto &entry : all) {
    const Times &t = entry.second;
    printf("{\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%.0f,\"solver\":\"%s\",\"first_ms\":%.3f,\"refactor_ms\":%.3f,"
           "\"solve_ms\":%.3f,\"error\":%.1e,\"mb\":%.1f",
           name.c_str(), (int)n, info.nz_used, entry.first.c_str(), 1e3 * t.first, 1e3 * t.refactor, 1e3 * t.solve,
           t.error, t.mb);
    if (entry.first == MATSOLVERSPARSEGPU && !best.empty())
      printf(",\"again_vs\":\"%s\",\"again_ratio\":%.2f", best.c_str(), all[best].Again() / t.Again());
    if (entry.first == MATSOLVERSPARSEGPU && all.count("cusolverrf"))
      printf(",\"again_vs_cusolverrf\":%.2f", all["cusolverrf"].Again() / t.Again());
    if (entry.first == MATSOLVERSPARSEGPU && first.first > 0) printf(",\"first_vs_petsc\":%.2f", first.first / t.first);
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
  settings.solvers = {"petsc",        "umfpack",  "klu",        "superlu",  "mumps",
                      "superlu_dist", "cusparse", "cusolverrf", "sparsegpu"};
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-runs", &settings.runs, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-most", &settings.most, nullptr));
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
