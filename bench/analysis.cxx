static char help[] =
    "The analysis of direct factorizations: orderings and what MATSOLVERSPARSEGPU makes of them, without numbers.\n"
    "Prints one JSON line per matrix and ordering.\n"
    "  -grid2 n,... -grid3 n,...   : five-point stencils n x n, seven-point stencils n x n x n\n"
    "  -f FILE,...                 : files\n"
    "  -orderings name,...         : of PETSc's and ours, default leastfill\n"
    "  -pc_type lu|cholesky -runs n : the least time of n runs (default lu, 1)\n"
    "  -solve                      : factorize on the host and solve A x = A e, too: backward error, and the factors as\n"
    "                                they are when rows have been matched as the values ask\n";

#include <petscksp.h>
#include <petsctime.h>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>
#include "generate.hpp"
#include "load.hpp"
#include "pc/lu/direct.hpp"
#include "pc/lu/factorize.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace
{
struct Outcome {
  double ordering = HUGE_VAL, symbolic = HUGE_VAL, numeric = -1, flops = 0, entries = 0, error = -1;
};

PetscErrorCode Seconds(const std::function<PetscErrorCode()> &call, double *seconds)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(call());
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ||b - A x|| / (||A|| ||x|| + ||b||), maximum norms, b = A e.
PetscErrorCode SolveOnce(Mat A, Mat F, double *error)
{
  PetscReal nr, na, nx, nb;
  Vec       b, x, r;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_INFINITY, &nr));
  PetscCall(VecNorm(x, NORM_INFINITY, &nx));
  PetscCall(VecNorm(b, NORM_INFINITY, &nb));
  PetscCall(MatNorm(A, NORM_INFINITY, &na));
  *error = static_cast<double>(nr / (na * nx + nb));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Analyse(Mat A, const char ordering[], bool cholesky, bool solve, Outcome *outcome)
{
  MatFactorInfo       info;
  const MatFactorType type = cholesky ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU;
  IS                  row, column;
  Mat                 F;
  MatFactorError      error;
  double              seconds = 0;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(Seconds([&] { return MatGetOrdering(A, ordering, &row, &column); }, &seconds));
  outcome->ordering = std::min(outcome->ordering, seconds);
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, type, &F));
  PetscCall(Seconds(
      [&] {
        return cholesky ? MatCholeskyFactorSymbolic(F, A, row, &info) : MatLUFactorSymbolic(F, A, row, column, &info);
      },
      &seconds));
  outcome->symbolic = std::min(outcome->symbolic, seconds);
  if (solve) {
    PetscCall(Seconds(
        [&] { return cholesky ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info); }, &seconds));
    outcome->numeric = seconds;
    PetscCall(MatFactorGetError(F, &error));
    if (!error) PetscCall(SolveOnce(A, F, &outcome->error));
  }
  outcome->flops   = sparsegpu::lu::DirectOf(F)->Flops(); // after the numeric part, which may match rows anew
  outcome->entries = static_cast<double>(sparsegpu::lu::DirectOf(F)->Nonzeros());
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bench(Mat A, const std::string &name, const std::vector<std::string> &orderings)
{
  char      type[64] = "lu";
  PetscInt  runs     = 1, n;
  PetscBool solve;
  Mat       B;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-runs", &runs, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-pc_type", type, sizeof(type), nullptr));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-solve", &solve));
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatGetSize(A, &n, nullptr));
  for (const std::string &ordering : orderings) {
    Outcome o;
    for (PetscInt k = 0; k < runs; k++)
      PetscCall(Analyse(B, ordering.c_str(), std::string(type) == "cholesky", solve, &o));
    printf("{\"matrix\":\"%s\",\"rows\":%.0f,\"ordering\":\"%s\",\"ordering_s\":%.3f,\"symbolic_s\":%.3f,"
           "\"flops\":%.3e,\"factors_mb\":%.1f",
           name.c_str(), (double)n, ordering.c_str(), o.ordering, o.symbolic, o.flops,
           o.entries * (double)sizeof(PetscScalar) / 1e6);
    if (solve) printf(",\"numeric_s\":%.3f,\"error\":%.1e", o.numeric, o.error);
    printf("}\n");
    fflush(stdout);
  }
  PetscCall(MatDestroy(&B));
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
  std::vector<std::string> files, grids[2], orderings{MATORDERINGLEASTFILL};
  Mat                      A;

  PetscFunctionBegin;
  PetscCall(Names("-orderings", &orderings));
  PetscCall(Names("-grid2", &grids[0]));
  PetscCall(Names("-grid3", &grids[1]));
  PetscCall(Names("-f", &files));
  for (int d = 0; d < 2; d++)
    for (const std::string &grid : grids[d]) {
      const PetscInt n = static_cast<PetscInt>(std::stoll(grid));
      PetscCall(GenerateMatrix(PETSC_COMM_SELF, d ? "stencil7" : "stencil5",
                               d ? 7 * n * n * n - 6 * n * n : 5 * n * n - 4 * n, PETSC_FALSE, &A));
      PetscCall(Bench(A, (d ? "stencil7 " : "stencil5 ") + grid, orderings));
      PetscCall(MatDestroy(&A));
    }
  for (const std::string &file : files) {
    PetscCall(LoadMatrix(PETSC_COMM_SELF, file.c_str(), &A));
    PetscCall(Bench(A, file.substr(file.find_last_of('/') + 1), orderings));
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
