static char help[] =
    "Incomplete factorizations through PETSc: MATSOLVERSPARSEGPU against PETSc's own on the CPU and on aijcusparse, the\n"
    "same matrix, fill and ordering. Prints one JSON line per matrix and peer.\n"
    "  -gen name,... -gen_size n, -f FILE,... : matrices, as in bench/trisolve\n"
    "  -levels 0,1,2                          : of fill\n"
    "  -orderings natural,rcm,abmc\n"
    "  -icc                                   : ICC of the upper triangles\n"
    "  -runs n -solves n                      : medians of n set-ups; means of n solves\n";

#include <cmath>
#include <cstdio>
#include <petscksp.h>
#include "petsc/compat.hpp"
#include "sparsegpu.h"
#include "triangular.hpp"

#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && \
    defined(PETSC_USE_REAL_DOUBLE)

namespace
{
struct Settings {
  PetscInt                 runs = 3, solves = 20;
  PetscBool                icc = PETSC_FALSE;
  std::vector<PetscInt>    levels;
  std::vector<std::string> orderings;
};

/// Milliseconds. The first solve may do what others call set-up.
struct Times {
  double order, symbolic, numeric, refactor, first_solve, solve, mb;

  double SetUp() const { return order + symbolic + numeric; }
};
struct Peer {
  const char *name, *type, *solver;
};
} // namespace

/// Milliseconds of wall time of a call, and everything that it started.
template <class F> static double Milliseconds(F call)
{
  return 1e3 * WallSeconds([](void *f) { PetscCallAbort(PETSC_COMM_SELF, (*static_cast<F *>(f))()); }, &call);
}

static PetscErrorCode Numeric(Mat F, Mat A, const MatFactorInfo *info, bool icc)
{
  PetscFunctionBegin;
  PetscCall(icc ? MatCholeskyFactorNumeric(F, A, info) : MatLUFactorNumeric(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Time(Mat A, const char solver[], PetscInt levels, const char ordering[], const Settings &settings,
                           Times *times, std::vector<double> *solution)
{
  std::vector<double> order, symbolic, numeric, refactor, first;
  const bool          icc = settings.icc == PETSC_TRUE;
  MatFactorInfo       info;
  const PetscScalar  *array;
  PetscInt            n;
  Vec                 b, x;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels    = static_cast<PetscReal>(levels);
  info.fill      = 1 + static_cast<PetscReal>(levels);
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  for (PetscInt run = 0; run < settings.runs; run++) {
    IS      rows, columns;
    Mat     F;
    MatInfo facts;
    PetscCall(MatGetFactor(A, solver, icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, &F));
    order.push_back(Milliseconds([&] { return MatGetOrdering(A, ordering, &rows, &columns); }));
    symbolic.push_back(Milliseconds([&] {
      return icc ? MatICCFactorSymbolic(F, A, rows, &info) : MatILUFactorSymbolic(F, A, rows, columns, &info);
    }));
    numeric.push_back(Milliseconds([&] { return Numeric(F, A, &info, icc); }));
    PetscCall(MatScale(A, 1)); // new values, as far as anybody knows
    refactor.push_back(Milliseconds([&] { return Numeric(F, A, &info, icc); }));
    first.push_back(Milliseconds([&] { return MatSolve(F, b, x); }));
    if (run + 1 == settings.runs) {
      times->solve = Milliseconds([&]() -> PetscErrorCode {
                       PetscFunctionBegin;
                       for (PetscInt k = 0; k < settings.solves; k++) PetscCall(MatSolve(F, b, x));
                       PetscFunctionReturn(PETSC_SUCCESS);
                     }) /
                     static_cast<double>(settings.solves);
      PetscCall(MatGetInfo(F, MAT_LOCAL, &facts));
      times->mb = facts.memory / 1e6;
    }
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&columns));
    PetscCall(MatDestroy(&F));
  }
  times->order       = Median(order);
  times->symbolic    = Median(symbolic);
  times->numeric     = Median(numeric);
  times->refactor    = Median(refactor);
  times->first_solve = Median(first);
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &array));
  solution->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bench(const HostRows &rows, const Settings &settings)
{
  const Peer peers[] = {{"petsc on the CPU", MATSEQAIJ, MATSOLVERPETSC},
                        {"aijcusparse", MATSEQAIJCUSPARSE, MATSOLVERCUSPARSE},
                        {"sparsegpu", MATSEQAIJSPARSEGPU, MATSOLVERSPARSEGPU},
                        {"sparsegpu of aijcusparse", MATSEQAIJCUSPARSE, MATSOLVERSPARSEGPU}};
  HostRows   A       = rows; // PETSc keeps the arrays
  Mat        host;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, A.rows, A.rows, A.i.data(), A.j.data(), A.a.data(), &host));
  for (const PetscInt levels : settings.levels)
    for (const std::string &ordering : settings.orderings) {
      std::vector<double> reference;
      Times               cusparse{};
      for (const Peer &peer : peers) {
        const bool          is_cusparse = &peer == peers + 1, ours = &peer > peers + 1;
        std::vector<double> solution;
        Times               t;
        double              off = 0, norm = 0;
        Mat                 M;
        PetscCall(MatConvert(host, peer.type, MAT_INITIAL_MATRIX, &M));
        if (!strcmp(peer.type, MATSEQAIJSPARSEGPU)) PetscCall(MatSparseGPUSetBackend(M, "cuda"));
        PetscCall(Time(M, peer.solver, levels, ordering.c_str(), settings, &t, &solution));
        PetscCall(MatDestroy(&M));
        if (is_cusparse) cusparse = t;
        if (reference.empty()) reference = solution;
        for (size_t r = 0; r < solution.size(); r++) {
          off += (solution[r] - reference[r]) * (solution[r] - reference[r]);
          norm += reference[r] * reference[r];
        }
        off = std::sqrt(off / norm);
        printf("{\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%d,\"factor\":\"%s(%d)\",\"ordering\":\"%s\",\"what\":\"%s\"",
               A.name.c_str(), A.rows, (int)A.j.size(), settings.icc ? "icc" : "ilu", (int)levels, ordering.c_str(),
               peer.name);
        printf(
            ",\"order_ms\":%.3f,\"symbolic_ms\":%.3f,\"numeric_ms\":%.3f,\"refactor_ms\":%.3f,\"first_solve_ms\":%.3f,"
            "\"solve_ms\":%.4f,\"mb\":%.1f,\"difference\":%.1e",
            t.order, t.symbolic, t.numeric, t.refactor, t.first_solve, t.solve, t.mb, off);
        for (const int applies : {1, 10, 50, 200})
          printf(",\"total_%d_ms\":%.3f", applies, t.SetUp() + t.first_solve + (applies - 1) * t.solve);
        if (ours)
          printf(",\"set_up_vs_aijcusparse\":%.2f,\"refactor_vs_aijcusparse\":%.2f,\"solve_vs_aijcusparse\":%.2f",
                 cusparse.SetUp() / t.SetUp(), cusparse.refactor / t.refactor, cusparse.solve / t.solve);
        printf("}\n");
        fflush(stdout);
        PetscCheck(off < 1e-8, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: the solution is off by %g", A.name.c_str(),
                   peer.name, off);
      }
    }
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && \
    defined(PETSC_USE_REAL_DOUBLE)
  Settings  settings;
  PetscInt  levels[8] = {0}, count = 8;
  char     *names[16];
  PetscBool given;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-runs", &settings.runs, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-solves", &settings.solves, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-icc", &settings.icc, nullptr));
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-levels", levels, &count, &given));
  settings.levels.assign(levels, levels + (given ? count : 1));
  count = 16;
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-orderings", names, &count, &given));
  if (!given) settings.orderings = {MATORDERINGNATURAL};
  for (PetscInt k = 0; given && k < count; k++) {
    settings.orderings.push_back(names[k]);
    PetscCall(PetscFree(names[k]));
  }
  EachRows(
      [](const HostRows &A, void *s) { PetscCallAbort(PETSC_COMM_SELF, Bench(A, *static_cast<const Settings *>(s))); },
      &settings);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "This benchmark needs a PETSc with CUDA, double precision, real scalars and 32-bit integers");
#endif
  PetscCall(PetscFinalize());
  return 0;
}
