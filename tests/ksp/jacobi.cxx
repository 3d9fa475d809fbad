static const char help[] = "KSPSPARSEGPUJACOBI: the iterates of Richardson's method with PCJACOBI.\n\n";

#include "lost.hpp"

using namespace testing;

static PetscErrorCode Compare(Mat A, Vec b, Vec guess, const std::string &options, const char ours_only[],
                              const char petsc_only[])
{
  const Options set(options + " -ksp_max_it 400 -ksp_rtol 1e-4");
  Outcome       ours, petsc;
  PetscReal     size, difference;

  PetscFunctionBeginUser;
  {
    const Options type(std::string("-ksp_type ") + KSPSPARSEGPUJACOBI + ours_only);
    PetscCall(SolveWith(A, b, guess, &ours));
  }
  {
    const Options type(std::string("-ksp_type ") + KSPRICHARDSON + " -pc_type jacobi" + petsc_only);
    PetscCall(SolveWith(A, b, guess, &petsc));
  }
  PetscCall(CheckSame(options + ours_only, ours, petsc));
  if (ours.iterations != petsc.iterations) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(petsc.x, NORM_INFINITY, &size));
  PetscCall(VecAXPY(petsc.x, -1, ours.x));
  PetscCall(VecNorm(petsc.x, NORM_INFINITY, &difference));
  // a sweep of a diagonally dominant matrix passes errors on without growth and adds those of a row of 5 entries
  const PetscReal bound = 20 * (ours.iterations + 1) * PETSC_MACHINE_EPSILON * size;
  PetscCheck(difference <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %g away from Richardson's, %g allowed",
             options.c_str(), (double)difference, (double)bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same()
{
  Mat A;
  Vec b, guess;

  PetscFunctionBeginUser;
  for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
    if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(19, 17), MATSPARSEGPU, nullptr, layout, &A));
    PetscCall(MatCreateVecs(A, &guess, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(VecSet(guess, (PetscReal)0.5));
    for (Vec x : {(Vec) nullptr, guess})
      for (const char *norm : {"preconditioned", "unpreconditioned"}) {
        const std::string common = std::string("-ksp_norm_type ") + norm;
        PetscCall(Compare(A, b, x, common, "", ""));
        PetscCall(Compare(A, b, x, common, " -pc_type jacobi", ""));
        PetscCall(Compare(A, b, x, common, " -ksp_sparsegpujacobi_damping 0.75", " -ksp_richardson_scale 0.75"));
        PetscCall(Compare(A, b, x, common + " -ksp_max_it 3", "", ""));
        PetscCall(Compare(A, b, x, common + " -ksp_converged_maxits -ksp_max_it 4", "", ""));
      }
    PetscCall(Compare(A, b, guess, "-ksp_norm_type none -ksp_max_it 12", "", ""));
    PetscCall(VecDestroy(&guess));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Watch {
  Vec                    before = nullptr;
  std::vector<PetscReal> off; ///< |norm told - change seen| of the second sweep and on
};
/// Not by VecNorm(), which on a GPU takes the largest |re| + |im| for the largest entry.
static PetscErrorCode LargestOf(Vec v, PetscReal *largest)
{
  const PetscScalar *entries;
  PetscInt           n;

  PetscFunctionBeginUser;
  *largest = 0;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &entries));
  for (PetscInt k = 0; k < n; ++k) *largest = std::max(*largest, (PetscReal)PetscAbsScalar(entries[k]));
  PetscCall(VecRestoreArrayRead(v, &entries));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Monitor(KSP ksp, PetscInt iteration, PetscReal norm, void *context)
{
  Watch    *watch = static_cast<Watch *>(context);
  Vec       x;
  PetscReal largest;

  PetscFunctionBeginUser;
  PetscCall(KSPBuildSolution(ksp, nullptr, &x));
  if (watch->before) {
    PetscCall(VecAXPY(watch->before, -1, x));
    PetscCall(LargestOf(watch->before, &largest));
    watch->off.push_back(std::abs(largest - norm));
  } else {
    PetscCall(VecDuplicate(x, &watch->before));
  }
  PetscCall(VecCopy(x, watch->before));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode SetMonitor(KSP ksp, void *context)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorSet(ksp, Monitor, context, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// -ksp_sparsegpujacobi_test difference: the count is that of the first sweep that changed little enough, with a
/// monitor and without; the norm is the change that the monitor sees.
static PetscErrorCode Difference()
{
  const Options options(std::string("-ksp_sparsegpujacobi_test difference -ksp_rtol 0 -ksp_atol 2e-3 -ksp_type ") +
                        KSPSPARSEGPUJACOBI);
  Mat           A;
  Vec           b;
  Outcome       watched, alone;
  Watch         watch;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(19, 17), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(SolveWith(A, b, nullptr, &watched, SetMonitor, &watch));
  PetscCall(SolveWith(A, b, nullptr, &alone));
  PetscCheck(watched.reason == KSP_CONVERGED_ATOL && alone.reason == KSP_CONVERGED_ATOL, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "Reasons %d and %d", (int)watched.reason, (int)alone.reason);
  PetscCheck(watched.iterations == alone.iterations && watched.history == alone.history, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "%d sweeps with a monitor, %d without", (int)watched.iterations, (int)alone.iterations);
  PetscCheck((PetscInt)watch.off.size() == watched.iterations - 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%d changes seen",
             (int)watch.off.size());
  for (PetscReal change : watch.off) // the difference of two rounded iterates of size under 8
    PetscCheck(change <= 16 * PETSC_MACHINE_EPSILON, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A change is off by %g",
               (double)change);
  for (size_t k = 0; k < watched.history.size(); ++k)
    PetscCheck((watched.history[k] < (PetscReal)2e-3) == (k + 1 == watched.history.size()), PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "Sweep %d of %d changed by %g", (int)k + 1, (int)watched.iterations,
               (double)watched.history[k]);
  PetscCall(VecDestroy(&watch.before));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Look(KSP, PetscInt, PetscReal, void *)
{
  return PETSC_SUCCESS;
}
static PetscErrorCode SetLook(KSP ksp, void *)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorSet(ksp, Look, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With a monitor the host hears of each sweep before the next, else later: the same norms, the same count, the same
/// bits, wherever the end falls between the sweeps that the host launches at a time.
static PetscErrorCode Late()
{
  const Options type(std::string("-ksp_type ") + KSPSPARSEGPUJACOBI);
  Mat           A;
  Vec           b;
  PetscBool     same;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(19, 17), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  std::vector<std::string> ends;
  for (int sweeps : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 34, 64, 65, 66, 129})
    ends.push_back("-ksp_rtol 0 -ksp_atol 0 -ksp_max_it " + std::to_string(sweeps));
  for (const char *tolerance : {"0.5", "0.1", "3e-2", "1e-2", "3e-3", "1e-3", "1e-4", "1e-5"})
    ends.push_back(std::string("-ksp_max_it 2000 -ksp_rtol ") + tolerance);
  for (const char *test :
       {"-ksp_norm_type preconditioned", "-ksp_norm_type unpreconditioned", "-ksp_sparsegpujacobi_test difference"})
    for (const std::string &end : ends) {
      const std::string what = std::string(test) + " " + end;
      const Options     options(what);
      Outcome           seen, late;
      PetscCall(SolveWith(A, b, nullptr, &seen, SetLook));
      PetscCall(SolveWith(A, b, nullptr, &late));
      PetscCall(VecEqual(seen.x, late.x, &same));
      PetscCheck(seen.iterations == late.iterations && seen.reason == late.reason, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %d sweeps, reason %d with a monitor, %d, %d without", what.c_str(), (int)seen.iterations,
                 (int)seen.reason, (int)late.iterations, (int)late.reason);
      PetscCheck(seen.history == late.history && same, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: other norms or another solution without a monitor", what.c_str());
    }
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does the view tell that the solve launched many sweeps at a time?
static PetscErrorCode LaunchesRuns(Mat A, Vec b, bool *runs)
{
  PetscFunctionBeginUser;
  PetscCall(ViewTells(A, b, "jacobi_view", "many sweeps in one launch", runs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBits(const std::string &what, const Outcome &ours, const Outcome &single)
{
#if defined(PETSC_USE_COMPLEX) // compilers contract complex products in more than one way
  constexpr PetscInt OFF = 1;
#else
  constexpr PetscInt OFF = 0;
#endif
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(VecEqual(ours.x, single.x, &same));
  PetscCheck(std::abs(ours.iterations - single.iterations) <= OFF && ours.reason == single.reason, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "%s: %d sweeps in runs, reason %d, else %d, %d", what.c_str(), (int)ours.iterations,
             (int)ours.reason, (int)single.iterations, (int)single.reason);
  PetscCheck(OFF || (ours.history == single.history && same), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: other norms or another solution in runs", what.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The solves with `options`, in runs and sweep by sweep, told and seen; `expected`: runs are possible.
static PetscErrorCode CompareRuns(Mat A, Vec b, Vec guess, const std::string &options, bool expected)
{
  const Options set(std::string("-ksp_type ") + KSPSPARSEGPUJACOBI + " " + options);
  Outcome       ours, single, seen;
  bool          runs;

  PetscFunctionBeginUser;
  PetscCall(SolveWith(A, b, guess, &ours));
  PetscCall(LaunchesRuns(A, b, &runs));
  PetscCheck(runs == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: launches %s", options.c_str(),
             runs ? "runs" : "single sweeps");
  PetscCall(SolveWith(A, b, guess, &seen, SetLook));
  {
    const Option off("-ksp_sparsegpujacobi_persistent", "off"); // last: clears what `options` may say
    PetscCall(SolveWith(A, b, guess, &single));
    PetscCall(LaunchesRuns(A, b, &runs));
    PetscCheck(!runs, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: off is not heard", options.c_str());
  }
  PetscCall(CheckBits(options, ours, single));
  PetscCall(CheckBits(options + ", monitored", ours, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckEnds(const char format[], const std::vector<std::string> &ends)
{
  PetscBool device;
  Mat       A;
  Vec       b, guess;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  const bool expected = device && PetscGlobalSize == 1 && !strcmp(format, "csr");
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(19, 17), MATSPARSEGPU, format, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, &guess, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(VecSet(guess, (PetscReal)0.5));
  for (const char *test : {"-ksp_norm_type preconditioned", "-ksp_norm_type unpreconditioned -pc_type jacobi",
                           "-ksp_sparsegpujacobi_test difference", "-ksp_norm_type none"})
    for (const std::string &end : ends)
      for (Vec x : {(Vec) nullptr, guess})
        PetscCall(CompareRuns(A, b, x, std::string("-ksp_rtol 0 -ksp_atol 0 ") + test + " " + end, expected));
  PetscCall(VecDestroy(&guess));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs stop at the sweeps of single ones, with their bits: every norm and test; ends at 0 to 3 sweeps, at the sweeps
/// that the host is told of at a time, and within a run. Other formats, and several processes, have no runs.
static PetscErrorCode Persistent()
{
  std::vector<std::string> ends = {"-ksp_max_it 260 -ksp_rtol 1e-3 -ksp_sparsegpujacobi_damping 0.75"};

  PetscFunctionBeginUser;
  for (int sweeps : {0, 1, 2, 3, 32, 33, 34, 64, 65, 66, 193}) ends.push_back("-ksp_max_it " + std::to_string(sweeps));
  for (const char *tolerance : {"0.5", "0.1", "3e-2", "1e-2", "3e-3", "1e-3", "1e-4", "1e-5"})
    ends.push_back(std::string("-ksp_max_it 260 -ksp_rtol ") + tolerance);
  PetscCall(CheckEnds("csr", ends));
  PetscCall(CheckEnds("ell", {"-ksp_max_it 70", "-ksp_max_it 70 -ksp_rtol 1e-2"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A few of them, for a sanitizer.
static PetscErrorCode FewRuns()
{
  PetscFunctionBeginUser;
  PetscCall(CheckEnds("csr", {"-ksp_max_it 68", "-ksp_max_it 20 -ksp_rtol 0.1"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs one after the other, more sweeps than there are records; all widths; A in shared memory and not; blocks with
/// the rows of several, and with several turns.
static PetscErrorCode Runs()
{
  const std::string forever = "-ksp_rtol 0 -ksp_atol 0 -ksp_max_it ";
  struct Case {
    Problem     problem;
    std::string matrix, options;
    bool        runs;
  };
  PetscBool            device;
  conformance::Builder grows("grows", 300, 300);
  std::vector<Case>    cases = {
         {Convection(67, 64), "", "-ksp_rtol 1e-5 -ksp_max_it 20000", true},
         {Convection(67, 64), "", forever + "5000", true},
         {Convection(67, 64), "", "-ksp_norm_type none -ksp_max_it 5000", true},
         {Convection(67, 64), "", "-ksp_sparsegpujacobi_test difference " + forever + "5000", true},
         {Convection(300, 300), "", forever + "300", true},
         {Convection(400, 300), "", forever + "100", false},
         {Convection(400, 300), "", "-ksp_sparsegpujacobi_persistent on " + forever + "300", true},
         {grows, "", "-ksp_max_it 5000 -ksp_divtol 1e30", true},
         {grows, "", "-ksp_max_it 5000 -ksp_divtol 1e150 -ksp_sparsegpujacobi_test difference", true},
  };
  for (PetscInt r = 0; r < 300; ++r) grows.Add(r, r, 1).Add(r, (r + 1) % 300, 3);
  for (size_t c = cases.size() - 2; c < cases.size(); ++c) cases[c].problem = grows;
  for (const char *width : {"1", "2", "4", "8", "16", "32"}) {
    cases.push_back({Convection(41, 37), width, forever + "200", true});
    cases.push_back({Convection(150, 140), width, forever + "100", true});
  }

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  for (const Case &c : cases) {
    const Options width(c.matrix.empty() ? "" : "-mat_sparsegpu_csr_width " + c.matrix);
    Mat           A;
    Vec           b;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, c.problem, MATSPARSEGPU, "csr", Layout::Even, &A));
    PetscCall(MatCreateVecs(A, nullptr, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(CompareRuns(A, b, nullptr, c.options, c.runs));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Errors name the row and the preconditioner.
static PetscErrorCode Errors()
{
  const Option         type("-ksp_type", KSPSPARSEGPUJACOBI);
  conformance::Builder zero("zero", 9, 9), missing("missing", 9, 9);
  std::string          message;
  Mat                  A;
  Vec                  b;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 9; ++r) {
    if (r != 5) missing.Add(r, r, 2);
    zero.Add(r, r, r < 7 ? 2 : 0);
    if (r > 0) missing.Add(r, r - 1, -1);
  }
  for (const Problem &p : {Problem(zero), Problem(missing)}) {
    Outcome out;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(MatCreateVecs(A, nullptr, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(ExpectError(
        p.name, [&] { return SolveWith(A, b, nullptr, &out); }, &message, PETSC_ERR_ARG_WRONGSTATE));
    if (PetscGlobalRank == 0)
      PetscCall(CheckText(p.name, message, {p.name == "zero" ? "row 7 " : "row 5 ", KSPSPARSEGPUJACOBI}));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(5, 5), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(VecSet(b, 1));
  for (const char *pc : {"sor", "bjacobi", "jacobi -pc_jacobi_type rowmax"}) {
    const Options options(std::string("-pc_type ") + pc);
    Outcome       out;
    PetscCall(ExpectError(
        pc, [&] { return SolveWith(A, b, nullptr, &out); }, &message, PETSC_ERR_SUP));
    if (PetscGlobalRank == 0) PetscCall(CheckText(pc, message, {strchr(pc, ' ') ? "ROWMAX" : pc}));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Zero right-hand side, exact guess, NaN, divergence, no sweeps; new values after a solve.
static PetscErrorCode Ends()
{
  const Options        options(std::string("-ksp_rtol 1e-4 -ksp_type ") + KSPSPARSEGPUJACOBI);
  conformance::Builder grows("grows", 8, 8);
  Mat                  A;
  Vec                  b, x;
  KSP                  ksp;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 8; ++r) grows.Add(r, r, 1).Add(r, (r + 1) % 8, 3);
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, grows, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(Compare(A, b, nullptr, "-ksp_max_it 100", "", "")); // divergence is told as Richardson tells it
  PetscCall(Compare(A, b, nullptr, "-ksp_max_it 0", "", ""));
  {
    Outcome      out;
    const Option none("-ksp_norm_type", "none"), few("-ksp_max_it", "0");
    PetscCall(SolveWith(A, b, nullptr, &out));
    PetscCheck(out.iterations == 0 && out.residual == out.rhs, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "x has changed");
  }
  PetscCall(VecSet(b, std::numeric_limits<PetscReal>::quiet_NaN()));
  for (const char *test : {"residual", "difference"}) {
    Outcome      out;
    const Option option("-ksp_sparsegpujacobi_test", test);
    PetscCall(SolveWith(A, b, nullptr, &out));
    PetscCheck(out.reason == KSP_DIVERGED_NANORINF, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "NaN, %s: reason %d", test,
               (int)out.reason);
  }
  PetscCall(VecSet(b, 0));
  {
    Outcome out;
    PetscCall(SolveWith(A, b, nullptr, &out));
    PetscCheck(out.reason > 0 && out.iterations == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "b = 0: reason %d",
               (int)out.reason);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));

  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(9, 9), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; ++round) {
    KSPConvergedReason reason;
    PetscReal          norm, first;
    Vec                r;
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(b, NORM_2, &first));
    // |r| <= max |d| |D^-1 r| and |D^-1 b| <= |b| / min |d|, whose quotient is under 2
    PetscCheck(reason > 0 && norm <= 2e-4 * first, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Round %d: reason %d, residual %g",
               round, (int)reason, (double)norm);
    PetscCall(VecDestroy(&r));
    PetscCall(MatScale(A, 3)); // the diagonal must be inverted again
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors on the host, products on the GPU, with and without a monitor that reads each iterate.
static PetscErrorCode HostVectors()
{
  const Options backend("-sparsegpu_backend cuda");
  Mat           A;
  Vec           b, guess;
  PetscBool     device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  for (const char *format : {"csr", "dia", "sell", "bsr", "hyb"}) { // within the sweep; of the last, before it
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(33, 30), MATSPARSEGPU, format, Layout::Even, &A));
    PetscCall(HostVector(A, &guess));
    PetscCall(HostVector(A, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(VecSet(guess, (PetscReal)0.5));
    for (Vec x : {(Vec) nullptr, guess})
      for (const char *options : {"", "-ksp_max_it 4", "-ksp_monitor_true_residual ascii:/dev/null"})
        PetscCall(Compare(A, b, x, options, "", ""));
    PetscCall(VecDestroy(&guess));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A rank that never comes.
static PetscErrorCode Lost()
{
  PetscFunctionBeginUser;
  PetscCall(CheckLost(KSPSPARSEGPUJACOBI, Convection(19, 17),
                      {"-pc_type none", "-ksp_sparsegpujacobi_test difference", "-ksp_norm_type unpreconditioned"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"difference", Difference},
               {"late", Late},
               {"persistent", Persistent},
               {"few_runs", FewRuns},
               {"runs", Runs},
               {"errors", Errors},
               {"ends", Ends},
               {"host_vectors", HostVectors},
               {"lost", Lost}});
}
