static char help[] =
    "Incomplete factorizations through PETSc: MATSOLVERSPARSEGPU against PETSc's own on the CPU and on aijcusparse, the\n"
    "same matrix, fill and ordering. Prints one JSON line per matrix and baseline.\n"
    "  -gen name,... -gen_size n, -f FILE,... -seconds n : matrices, as in bench/trisolve\n"
    "  -levels 0,1,2                          : of fill\n"
    "  -orderings natural,rcm,abmc\n"
    "  -icc                                   : ICC of the upper triangles\n"
    "  -baselines petsc,sparsegpu_cpu,aijcusparse,sparsegpu,sparsegpu_of_aijcusparse : only these\n"
    "  -rhs n                                 : up to n right-hand sides of 1, 4, 16\n"
    "  -runs n -solves n                      : medians of n set-ups; of five batches of n solves in all\n";

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <petscksp.h>
#include "petsc/compat.hpp"
#include "sparsegpu.h"
#include "triangular.hpp"

#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)

namespace
{
struct Settings {
  PetscInt                 runs = 3, solves = 20, rhs = 16;
  PetscBool                icc = PETSC_FALSE;
  std::vector<PetscInt>    levels;
  std::vector<std::string> orderings, baselines;
  int                      failures = 0;
};

/// Milliseconds, a solve each, also of many right-hand sides; negative: not measured. The first solve may do what
/// others call set-up.
struct Times {
  double order, symbolic, numeric, refactor, first_solve, solve, transposed = -1, solve_4 = -1, solve_16 = -1, mb;

  double SetUp() const { return order + symbolic + numeric; }
};
/// `type` null: PETSc has no such matrices.
struct Baseline {
  const char *name, *type, *solver;
  bool        device;
};
  #if defined(PETSC_HAVE_CUDA)
constexpr const char *CUSPARSE = MATSEQAIJCUSPARSE, *CUSPARSE_SOLVER = MATSOLVERCUSPARSE;
constexpr const char *DEVICE_DENSE = MATSEQDENSECUDA;
  #else
constexpr const char *CUSPARSE = nullptr, *CUSPARSE_SOLVER = nullptr, *DEVICE_DENSE = MATSEQDENSE;
  #endif
const Baseline PEERS[] = {{"petsc", MATSEQAIJ, MATSOLVERPETSC, false},
                          {"sparsegpu_cpu", MATSEQAIJSPARSEGPU, MATSOLVERSPARSEGPU, false},
                          {"aijcusparse", CUSPARSE, CUSPARSE_SOLVER, true},
                          {"sparsegpu", MATSEQAIJSPARSEGPU, MATSOLVERSPARSEGPU, true},
                          {"sparsegpu_of_aijcusparse", CUSPARSE, MATSOLVERSPARSEGPU, true}};
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

/// Of one call, after a first one, which may build what the others use: the median of five batches.
template <class F> static double Repeated(PetscInt calls, F call)
{
  const PetscInt      batch = (calls + 4) / 5;
  std::vector<double> batches;
  PetscCallAbort(PETSC_COMM_SELF, call());
  for (int k = 0; k < 5; k++)
    batches.push_back(Milliseconds([&]() -> PetscErrorCode {
      PetscFunctionBegin;
      for (PetscInt c = 0; c < batch; c++) PetscCall(call());
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  return Median(batches) / static_cast<double>(batch);
}

static PetscErrorCode TimeMany(Mat F, PetscInt rows, PetscInt columns, const char type[], PetscInt calls, double *ms)
{
  Mat B, X;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &B));
  PetscCall(MatSetSizes(B, rows, columns, rows, columns));
  PetscCall(MatSetType(B, type));
  PetscCall(MatSetUp(B));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &X));
  *ms = Repeated(calls, [&] { return MatMatSolve(F, B, X); });
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Time(Mat A, const Baseline &baseline, PetscInt levels, const char ordering[],
                           const Settings &settings, Times *times, std::vector<double> *solution)
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
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  for (PetscInt run = 0; run < settings.runs; run++) {
    IS      rows, columns;
    Mat     F;
    MatInfo facts;
    PetscCall(MatGetFactor(A, baseline.solver, icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, &F));
    order.push_back(Milliseconds([&] { return MatGetOrdering(A, ordering, &rows, &columns); }));
    symbolic.push_back(Milliseconds([&] {
      return icc ? MatICCFactorSymbolic(F, A, rows, &info) : MatILUFactorSymbolic(F, A, rows, columns, &info);
    }));
    numeric.push_back(Milliseconds([&] { return Numeric(F, A, &info, icc); }));
    PetscCall(MatScale(A, 1)); // new values, as far as anybody knows
    refactor.push_back(Milliseconds([&] { return Numeric(F, A, &info, icc); }));
    first.push_back(Milliseconds([&] { return MatSolve(F, b, x); }));
    if (run + 1 == settings.runs) {
      const PetscInt few   = (settings.solves + 3) / 4;
      const char    *dense = baseline.device ? DEVICE_DENSE : MATSEQDENSE;
      if (!icc) times->transposed = Repeated(few, [&] { return MatSolveTranspose(F, b, x); });
      if (settings.rhs >= 4) PetscCall(TimeMany(F, n, 4, dense, few, &times->solve_4));
      if (settings.rhs >= 16) PetscCall(TimeMany(F, n, 16, dense, (few + 3) / 4, &times->solve_16));
      times->solve = Repeated(settings.solves, [&] { return MatSolve(F, b, x); });
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
  PetscCall(VecGetArrayRead(x, &array));
  solution->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bool Wanted(const Baseline &baseline, const Settings &settings, bool device)
{
  const std::vector<std::string> &names = settings.baselines;
  return baseline.type && (device || !baseline.device) &&
         (names.empty() || std::find(names.begin(), names.end(), baseline.name) != names.end());
}

static void Report(const HostRows &A, PetscInt levels, const std::string &ordering, const Settings &settings,
                   const Baseline &baseline, const Times &t, double off, JsonLine *line)
{
  line->Add("\"matrix\":\"%s\",\"rows\":%d,\"nnz\":%d,\"factor\":\"%s(%d)\",\"ordering\":\"%s\",\"what\":\"%s\"",
            A.name.c_str(), A.rows, (int)A.j.size(), settings.icc ? "icc" : "ilu", (int)levels, ordering.c_str(),
            baseline.name);
  line->Add("\"order_ms\":%.3f,\"symbolic_ms\":%.3f,\"numeric_ms\":%.3f,\"refactor_ms\":%.3f,\"first_solve_ms\":%.3f,"
            "\"solve_ms\":%.4f,\"mb\":%.1f,\"difference\":%.1e",
            t.order, t.symbolic, t.numeric, t.refactor, t.first_solve, t.solve, t.mb, off);
  const struct {
    const char *what;
    double      ms;
  } more[] = {{"transposed", t.transposed}, {"4", t.solve_4}, {"16", t.solve_16}};
  for (const auto &m : more)
    if (m.ms >= 0) line->Add("\"solve_%s_ms\":%.4f", m.what, m.ms);
  for (const int applies : {1, 10, 50, 200})
    line->Add("\"total_%d_ms\":%.3f", applies, t.SetUp() + t.first_solve + (applies - 1) * t.solve);
}

static PetscErrorCode Bench(const HostRows &rows, Settings *settings)
{
  HostRows  A = rows; // PETSc keeps the arrays
  PetscBool device;
  Mat       host;

  PetscFunctionBegin;
  PetscCall(SparseGPUHasDevice(&device));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, A.rows, A.rows, A.i.data(), A.j.data(), A.a.data(), &host));
  for (const PetscInt levels : settings->levels)
    for (const std::string &ordering : settings->orderings) {
      std::vector<double> reference;
      Times               petsc{}, cusparse{};
      for (const Baseline &baseline : PEERS) {
        if (!Wanted(baseline, *settings, device == PETSC_TRUE)) continue;
        const bool          ours = !strcmp(baseline.solver, MATSOLVERSPARSEGPU);
        const Times        &best = baseline.device ? cusparse : petsc;
        std::vector<double> solution;
        JsonLine            line;
        Times               t{};
        double              off = 0, norm = 0;
        Mat                 M;
        PetscCall(MatConvert(host, baseline.type, MAT_INITIAL_MATRIX, &M));
        if (!strcmp(baseline.type, MATSEQAIJSPARSEGPU))
          PetscCall(MatSparseGPUSetBackend(M, baseline.device ? "cuda" : "kokkos"));
        PetscCall(Time(M, baseline, levels, ordering.c_str(), *settings, &t, &solution));
        PetscCall(MatDestroy(&M));
        if (!ours) (baseline.device ? cusparse : petsc) = t;
        if (reference.empty()) reference = solution;
        for (size_t r = 0; r < solution.size(); r++) {
          off += (solution[r] - reference[r]) * (solution[r] - reference[r]);
          norm += reference[r] * reference[r];
        }
        off = std::sqrt(off / norm);
        Report(A, levels, ordering, *settings, baseline, t, off, &line);
        if (ours && best.solve > 0) {
          const char *name = baseline.device ? "aijcusparse" : "petsc";
          line.Add("\"set_up_vs_%s\":%.2f,\"refactor_vs_%s\":%.2f,\"solve_vs_%s\":%.2f", name, best.SetUp() / t.SetUp(),
                   name, best.refactor / t.refactor, name, best.solve / t.solve);
        }
        if (!(off < 1e-8)) {
          line.Add("\"failed\":\"the solution is off\"");
          settings->failures++;
        }
        line.Print();
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
#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
  Settings  settings;
  PetscInt  levels[8] = {0}, count = 8;
  char     *names[16];
  PetscBool given;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-runs", &settings.runs, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-solves", &settings.solves, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-icc", &settings.icc, nullptr));
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-levels", levels, &count, &given));
  settings.levels.assign(levels, levels + (given ? count : 1));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-rhs", &settings.rhs, nullptr));
  settings.orderings = {MATORDERINGNATURAL};
  for (const bool baselines : {false, true}) {
    std::vector<std::string> *list = baselines ? &settings.baselines : &settings.orderings;
    count                          = 16;
    PetscCall(
        PetscOptionsGetStringArray(nullptr, nullptr, baselines ? "-baselines" : "-orderings", names, &count, &given));
    if (given) list->clear();
    for (PetscInt k = 0; given && k < count; k++) {
      list->push_back(names[k]);
      PetscCall(PetscFree(names[k]));
    }
  }
  EachRows([](const HostRows &A, void *s) { PetscCallAbort(PETSC_COMM_SELF, Bench(A, static_cast<Settings *>(s))); },
           &settings);
  PetscCheck(settings.failures == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d results were wrong", settings.failures);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "This benchmark needs a PETSc with double precision, real scalars and 32-bit integers");
#endif
  PetscCall(PetscFinalize());
  return 0;
}
