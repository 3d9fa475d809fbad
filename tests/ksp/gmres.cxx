static const char help[] = "KSPSPARSEGPUGMRES: PETSc's iterations, options and reasons.\n\n";

#include "lost.hpp"
#include "residual_monitor.hpp"

using namespace testing;

static PetscErrorCode Compare(Mat A, Vec b, Vec guess, const std::string &options, const char native[] = KSPGMRES,
                              const std::string &only_ours = "")
{
  const Options set(options);
  Outcome       ours, petsc;

  PetscFunctionBeginUser;
  {
    const Options type(std::string("-ksp_type ") + KSPSPARSEGPUGMRES + only_ours);
    PetscCall(SolveWith(A, b, guess, &ours));
  }
  {
    const Options type(std::string("-ksp_type ") + native);
    PetscCall(SolveWith(A, b, guess, &petsc));
  }
  PetscCall(CheckSame(options, ours, petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sides, norms, restarts, orthogonalisations, preconditioners, a guess.
static PetscErrorCode Same()
{
  Mat A;
  Vec b, guess;

  PetscFunctionBeginUser;
  for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
    if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(31, 29), MATSPARSEGPU, nullptr, layout, &A));
    PetscCall(MatCreateVecs(A, &guess, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(VecSet(guess, (PetscReal)0.5));
    for (const char *pc : {"none", "jacobi", "bjacobi"}) {
      const std::string common = std::string("-pc_type ") + pc + " -ksp_rtol 1e-4 ";
      PetscCall(Compare(A, b, nullptr, common + "-ksp_pc_side left"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_pc_side right"));
      PetscCall(Compare(A, b, guess, common + "-ksp_gmres_restart 7"));
      PetscCall(Compare(A, b, guess, common + "-ksp_pc_side right -ksp_gmres_restart 3"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_gmres_cgs_refinement_type refine_ifneeded"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_gmres_cgs_refinement_type refine_always"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_gmres_modifiedgramschmidt"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_norm_type none -ksp_max_it 11"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_max_it 5"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_max_it 0"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_converged_maxits -ksp_max_it 4"));
      PetscCall(Compare(A, b, nullptr, common + "-ksp_gmres_restart 9", KSPFGMRES, " -ksp_sparsegpugmres_flexible"));
    }
    PetscCall(VecDestroy(&guess));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A preconditioner that is itself an inexact solve needs the flexible variant.
static PetscErrorCode Flexible()
{
  Mat     A;
  Vec     b;
  Outcome out;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(40, 40), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(Compare(A, b, nullptr, "-pc_type ksp -ksp_ksp_type gmres -ksp_ksp_rtol 1e-1 -ksp_pc_type jacobi", KSPFGMRES,
                    " -ksp_sparsegpugmres_flexible"));
  const Options options(std::string("-ksp_sparsegpugmres_flexible -ksp_pc_side left -ksp_type ") + KSPSPARSEGPUGMRES);
  std::string   message;
  PetscCall(ExpectError(
      "flexible from the left", [&] { return SolveWith(A, b, nullptr, &out); }, &message, PETSC_ERR_SUP));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Restarts()
{
  Mat A;
  Vec b;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(25, 24), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  for (PetscInt restart : {1, 2, 5, 8, 9, 16, 17, 50, 200})
    PetscCall(Compare(A, b, nullptr, "-pc_type jacobi -ksp_rtol 1e-4 -ksp_gmres_restart " + std::to_string(restart)));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A monitor sees every iterate, whose true residual the norm is; without it, where the host may hear late, the
/// iterations and the history are the same.
static PetscErrorCode Monitored()
{
  const Options options(
      std::string("-pc_type jacobi -ksp_pc_side right -ksp_gmres_restart 11 -ksp_rtol 1e-4 -ksp_type ") +
      KSPSPARSEGPUGMRES);
  Mat     A;
  Vec     b;
  Outcome watched, alone;
  Seen    seen;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(37, 30), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(SolveWith(A, b, nullptr, &watched, SetMonitor, &seen));
  PetscCall(SolveWith(A, b, nullptr, &alone));
  PetscCheck(seen.calls == watched.iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " calls of the monitor in %" PetscInt_FMT " iterations", seen.calls, watched.iterations);
  // each step and the residual built from it lose a few rounding errors of |A| |x|, |A| < 10
  const PetscReal bound = 100 * (watched.iterations + 1) * PETSC_MACHINE_EPSILON;
  PetscCheck(seen.worst <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A norm is off by %g, %g allowed",
             (double)seen.worst, (double)bound);
  PetscCheck(std::abs(watched.iterations - alone.iterations) <= 1 && watched.reason == alone.reason, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "%d iterations with a monitor, %d without", (int)watched.iterations,
             (int)alone.iterations);
  for (size_t k = 0; k < std::min(watched.history.size(), alone.history.size()); ++k)
    PetscCheck(std::abs(watched.history[k] - alone.history[k]) <= bound * seen.first, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Iteration %d: norm %g with a monitor, %g without", (int)k, (double)watched.history[k],
               (double)alone.history[k]);
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves a system given by its entries, b = 1, and checks the reason; `least` iterations at least.
static PetscErrorCode Expect(const Problem &p, const std::string &options, KSPConvergedReason low,
                             KSPConvergedReason high, PetscInt least, PetscInt most, PetscReal rhs = 1)
{
  const Options set("-ksp_type " + std::string(KSPSPARSEGPUGMRES) + " " + options);
  Mat           A;
  Vec           b;
  Outcome       out;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(VecSet(b, rhs));
  PetscCall(SolveWith(A, b, nullptr, &out));
  PetscCheck(low <= out.reason && out.reason <= high, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: reason %d",
             p.name.c_str(), options.c_str(), (int)out.reason);
  PetscCheck(least <= out.iterations && out.iterations <= most, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s %s: %" PetscInt_FMT " iterations", p.name.c_str(), options.c_str(), out.iterations);
  PetscCheck(out.reason < 0 || out.residual <= 1e-4 * out.rhs, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: residual %g",
             p.name.c_str(), options.c_str(), (double)out.residual);
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Systems whose Krylov spaces are known.
static PetscErrorCode Ends()
{
  constexpr PetscInt       n    = 12;
  const PetscReal          nan  = std::numeric_limits<PetscReal>::quiet_NaN();
  const KSPConvergedReason rtol = KSP_CONVERGED_RTOL, atol = KSP_CONVERGED_ATOL, happy = KSP_CONVERGED_HAPPY_BREAKDOWN;
  const KSPConvergedReason breakdown = KSP_DIVERGED_BREAKDOWN, notfinite = KSP_DIVERGED_NANORINF;
  conformance::Builder     identity("identity", n, n), two("two eigenvalues", n, n), cycle("cyclic shift", n, n);
  conformance::Builder     zero("zero", n, n), nilpotent("nilpotent", n, n), poisoned("NaN", n, n);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    identity.Add(r, r, 3);
    two.Add(r, r, r % 2 ? 1 : 5);
    cycle.Add(r, (r + 1) % n, r ? 1 : 2);
    zero.Add(r, r, 0);
    if (r + 1 < n) nilpotent.Add(r, r + 1, 1);
    poisoned.Add(r, r, r == n / 2 ? nan : 2);
  }
  nilpotent.Add(n - 1, n - 1, 0);
  const Options none("-pc_type none");
  PetscCall(Expect(identity, "-ksp_rtol 1e-5", rtol, atol, 1, 1));
  PetscCall(Expect(identity, "-ksp_norm_type none", happy, happy, 1, 1));
  PetscCall(Expect(identity, "-ksp_pc_side right", rtol, atol, 1, 1));
  PetscCall(Expect(two, "-ksp_rtol 1e-5", rtol, atol, 2, 2));
  PetscCall(Expect(cycle, "-ksp_rtol 1e-5", rtol, atol, 2, n));
  PetscCall(Expect(identity, "-ksp_rtol 1e-5", atol, atol, 0, 0, 0)); // b = 0
  PetscCall(Expect(zero, "-ksp_rtol 1e-5", breakdown, breakdown, 1, 1));
  PetscCall(Expect(nilpotent, "-ksp_rtol 1e-5", breakdown, breakdown, 1, n));
  PetscCall(Expect(poisoned, "-ksp_rtol 1e-5", notfinite, notfinite, 0, 1));
  PetscCall(Expect(identity, "-ksp_rtol 1e-5", notfinite, notfinite, 0, 0, nan)); // in b
  PetscCall(Expect(conformance::Builder("1 x 1", 1, 1).Add(0, 0, 4), "-ksp_rtol 1e-5", rtol, atol, 1, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A singular consistent system, an indefinite and a nonnormal one. Orthogonality is kept by both: without, rounding
/// errors decide how many iterations the last two take.
static PetscErrorCode Hard()
{
  // rounding errors grow as 1.84^n in the last matrix: to about 1
  constexpr PetscInt   n = PetscDefined(USE_REAL_SINGLE) ? 30 : 60;
  conformance::Builder neumann("Neumann", n, n), indefinite("indefinite", n, n), nonnormal("nonnormal", n, n);
  Mat                  A;
  Vec                  b;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    neumann.Add(r, r, r == 0 || r == n - 1 ? 1 : 2);
    indefinite.Add(r, r, r % 3 ? (PetscReal)(r + 1) : -(PetscReal)(r + 1));
    nonnormal.Add(r, r, 1 + (PetscReal)0.01 * r);
    if (r > 0) neumann.Add(r, r - 1, -1);
    if (r + 1 < n) neumann.Add(r, r + 1, -1).Add(r, r, 0);
    for (PetscInt k = 1; k < 4 && r + k < n; ++k) nonnormal.Add(r, r + k, -1);
  }
  for (const Problem &p : {Problem(neumann), Problem(indefinite), Problem(nonnormal)}) {
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(MatCreateVecs(A, nullptr, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(
        Compare(A, b, nullptr,
                "-pc_type none -ksp_rtol 1e-4 -ksp_gmres_cgs_refinement_type refine_always -ksp_gmres_restart 60"));
    PetscCall(Compare(
        A, b, nullptr,
        "-pc_type none -ksp_rtol 1e-4 -ksp_gmres_cgs_refinement_type refine_always -ksp_gmres_restart 60 -ksp_pc_side right"));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A long cycle, in which the residual falls so far that directions made orthogonal once would no longer be: ours sees
/// that by itself, PETSc's is told.
static PetscErrorCode Long()
{
  constexpr PetscInt   n    = 50;
  const char          *rtol = sizeof(PetscReal) == sizeof(double) ? "1e-9" : "1e-5";
  conformance::Builder poisson("Poisson", n * n, n * n);
  Mat                  A;
  Vec                  x, b;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n * n; ++r) {
    if (r >= n) poisson.Add(r, r - n, -1);
    if (r % n > 0) poisson.Add(r, r - 1, -1);
    poisson.Add(r, r, 4);
    if (r % n < n - 1) poisson.Add(r, r + 1, -1);
    if (r + n < n * n) poisson.Add(r, r + n, -1);
  }
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, poisson, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  for (const char *restart : {"60", "200"})
    PetscCall(Compare(A, b, nullptr, std::string("-pc_type none -ksp_rtol ") + rtol + " -ksp_gmres_restart " + restart,
                      KSPGMRES " -ksp_gmres_cgs_refinement_type refine_always"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRestart(KSP ksp, void *)
{
  PetscInt restart;

  PetscFunctionBeginUser;
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  PetscCheck(restart == 4, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "-ksp_gmres_restart 4 gave %" PetscInt_FMT, restart);
  PetscCall(KSPGMRESSetRestart(ksp, 200));
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  PetscCheck(restart == 200, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "KSPGMRESSetRestart() gave %" PetscInt_FMT, restart);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode SolveTwice(KSP ksp, void *context)
{
  Vec *b = static_cast<Vec *>(context), x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(*b, &x)); // with short cycles first: the next solve needs a larger basis
  PetscCall(KSPSolve(ksp, *b, x));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPGMRESSetRestart(ksp, 40));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The restart by option, by call, between solves and by itself.
static PetscErrorCode SettingRestart()
{
  const Options options(std::string("-pc_type jacobi -ksp_gmres_restart 4 -ksp_rtol 1e-4 -ksp_type ") +
                        KSPSPARSEGPUGMRES);
  Mat           A;
  Vec           b;
  Outcome       small, large, grown, automatic;

  PetscFunctionBeginUser;
  PetscCall(
      CreateMatrix(PETSC_COMM_WORLD, conformance::Grid("grid", 40, 40, true), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(SolveWith(A, b, nullptr, &small));
  PetscCall(SolveWith(A, b, nullptr, &large, CheckRestart));
  PetscCall(SolveWith(A, b, nullptr, &grown, SolveTwice, &b));
  {
    const Option by_itself("-ksp_sparsegpugmres_restart_auto", "1");
    PetscCall(SolveWith(A, b, nullptr, &automatic));
  }
  for (const Outcome *o : {&small, &large, &grown, &automatic})
    PetscCheck(o->reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Reason %d", (int)o->reason);
  PetscCheck(large.iterations <= grown.iterations && grown.iterations <= small.iterations &&
                 automatic.iterations <= small.iterations,
             PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Iterations %d with a restart of 4, %d with 40, %d with 200, %d by itself", (int)small.iterations,
             (int)grown.iterations, (int)large.iterations, (int)automatic.iterations);
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two solves give the same bits: no sum depends on who comes first.
static PetscErrorCode Reproducible()
{
  const Options options(std::string("-pc_type jacobi -ksp_type ") + KSPSPARSEGPUGMRES);
  Mat           A;
  Vec           b;
  Outcome       one, two;
  PetscBool     same;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(70, 61), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(SolveWith(A, b, nullptr, &one));
  PetscCall(SolveWith(A, b, nullptr, &two));
  PetscCall(VecEqual(one.x, two.x, &same));
  PetscCheck(same && one.history == two.history, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The second solve has other bits");
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does the KSP say after a solve that it ran whole cycles in one launch?
static PetscErrorCode RunsWholeCycles(Mat A, Vec b, bool *whole)
{
  PetscFunctionBeginUser;
  PetscCall(ViewTells(A, b, "gmres_view", "whole cycles in one launch", whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whole cycles in one launch are those of launches by step: bases in shared memory and in global, matrices of other
/// formats, more iterations than one launch has records for.
static PetscErrorCode Persistent()
{
  struct Case {
    Problem     problem;
    std::string format, options;
  };
  constexpr PetscInt   n = 2000; // of a chain, which takes many short cycles
  conformance::Builder chain("chain", n, n);
  const Option         type("-ksp_type", KSPSPARSEGPUGMRES);
  PetscBool            device;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    if (r > 0) chain.Add(r, r - 1, -1);
    chain.Add(r, r, 2);
    if (r + 1 < n) chain.Add(r, r + 1, -1);
  }
  const Case cases[] = {
      {Convection(40, 40), "auto", "-pc_type jacobi -ksp_gmres_restart 5"},
      {Convection(40, 40), "auto", "-pc_type jacobi -ksp_pc_side right -ksp_gmres_cgs_refinement_type refine_always"},
      {Convection(40, 40), "dia", "-pc_type none"},
      {Convection(1, 700), "ell", "-pc_type jacobi -ksp_gmres_restart 200"},
      {Convection(150, 150), "auto", "-pc_type jacobi -ksp_gmres_restart 100"},
      {Convection(300, 300), "auto", "-pc_type jacobi -ksp_gmres_restart 100"},
      {Convection(300, 300), "auto", "-pc_type none -ksp_gmres_restart 20"},
      {chain, "auto", "-pc_type none -ksp_gmres_restart 3 -ksp_rtol 1e-12 -ksp_max_it 4500"},
  };
  PetscCall(SparseGPUHasDevice(&device));
  for (const Case &c : cases) {
    const Options options(c.options);
    Mat           A;
    Vec           b;
    Outcome       whole, steps;
    bool          runs;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, c.problem, MATSPARSEGPU, c.format.c_str(), Layout::Even, &A));
    PetscCall(MatCreateVecs(A, nullptr, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(SolveWith(A, b, nullptr, &whole));
    PetscCall(RunsWholeCycles(A, b, &runs));
    PetscCheck(runs == (device && PetscGlobalSize == 1), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: runs %s",
               c.options.c_str(), runs ? "whole cycles" : "step by step");
    {
      const Option off("-ksp_sparsegpugmres_persistent", "off");
      PetscCall(SolveWith(A, b, nullptr, &steps));
      PetscCall(RunsWholeCycles(A, b, &runs));
      PetscCheck(!runs, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: off is not heard", c.options.c_str());
    }
    PetscCall(CheckSame(c.options, whole, steps));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Spectrum {
  PetscReal              most = 0, least = 0;
  std::vector<PetscReal> size; ///< of the eigenvalues, ascending
};
static PetscErrorCode Estimate(Mat A, Vec b, const char type[], Spectrum *s)
{
  constexpr PetscInt ROOM = 100;
  PetscReal          re[ROOM], im[ROOM];
  PetscInt           count;
  KSP                ksp;
  Vec                x;
  const Option       option("-ksp_type", type);

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, &s->most, &s->least));
  PetscCall(KSPComputeEigenvalues(ksp, ROOM, re, im, &count));
  for (PetscInt k = 0; k < count; ++k) s->size.push_back(std::hypot(re[k], im[k]));
  std::sort(s->size.begin(), s->size.end());
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The estimates of the spectrum are PETSc's, of the whole solve and of a cycle cut short.
static PetscErrorCode CheckSpectrum()
{
  Mat A;
  Vec b;

  PetscFunctionBeginUser;
  PetscCall(
      CreateMatrix(PETSC_COMM_WORLD, conformance::Grid("grid", 21, 20, true), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(KnownRhs(A, b));
  for (const char *text : {"-ksp_max_it 12", "-ksp_max_it 12 -ksp_gmres_restart 7", "-ksp_max_it 1"}) {
    const Options options(std::string("-pc_type none -ksp_rtol 1e-30 -ksp_gmres_cgs_refinement_type refine_always ") +
                          text);
    Spectrum      ours, petsc;
    PetscCall(Estimate(A, b, KSPSPARSEGPUGMRES, &ours));
    PetscCall(Estimate(A, b, KSPGMRES, &petsc));
    PetscCheck(ours.size.size() == petsc.size.size() && !ours.size.empty(), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %d eigenvalues, PETSc has %d", text, (int)ours.size.size(), (int)petsc.size.size());
    // A is symmetric: what rounding changes in the projected matrix, it changes in its eigenvalues at most. Starting
    // from vectors that differ in rounding, steps magnify that by the inverse of what is left of a direction, over 1 /
    // 10
    const PetscReal bound = 100 * 12 * 420 * PETSC_MACHINE_EPSILON * petsc.most;
    for (size_t k = 0; k < ours.size.size(); ++k)
      PetscCheck(std::abs(ours.size[k] - petsc.size[k]) <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: eigenvalue %g, PETSc's %g, more than %g apart", text, (double)ours.size[k], (double)petsc.size[k],
                 (double)bound);
    PetscCheck(std::abs(ours.most - petsc.most) <= bound && std::abs(ours.least - petsc.least) <= bound,
               PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: singular values %g to %g, PETSc's %g to %g", text,
               (double)ours.least, (double)ours.most, (double)petsc.least, (double)petsc.most);
  }
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A system with its right-hand side and a guess on the host.
static PetscErrorCode HostSystem(Mat *A, Vec *b, Vec *guess)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(33, 30), MATSPARSEGPU, nullptr, Layout::Even, A));
  PetscCall(HostVector(*A, guess));
  PetscCall(HostVector(*A, b));
  PetscCall(KnownRhs(*A, *b));
  PetscCall(VecSet(*guess, (PetscReal)0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors on the host, products on the GPU: what a PETSc without CUDA has on a machine with one. The solve runs on the
/// GPU, with and without a monitor that asks for the iterates.
static PetscErrorCode HostVectors()
{
  const Options common("-pc_type jacobi -ksp_rtol 1e-4 -ksp_gmres_restart 9");
  Mat           A;
  Vec           b, guess;
  PetscBool     device, single;
  char          basis[16] = "";

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-ksp_sparsegpugmres_basis", basis, sizeof(basis), nullptr));
  PetscCall(PetscStrcmp(basis, "single", &single));
  const PetscReal rounding = single ? (PetscReal)6e-8 : PETSC_MACHINE_EPSILON; // of a column of the basis
  const Options   backend("-sparsegpu_backend cuda");
  PetscCall(HostSystem(&A, &b, &guess));
  for (const char *persistent : {"auto", "off"}) {
    const Option option("-ksp_sparsegpugmres_persistent", persistent);
    for (const char *side : {"left", "right"}) {
      const std::string options = std::string("-ksp_pc_side ") + side;
      Outcome           watched;
      Seen              seen;
      PetscCall(Compare(A, b, nullptr, options));
      PetscCall(Compare(A, b, guess, options));
      if (side[0] == 'l') continue;
      const Options type(options + " -ksp_type " + KSPSPARSEGPUGMRES); // comparisons clear the options they set
      PetscCall(SolveWith(A, b, nullptr, &watched, SetMonitor, &seen));
      PetscCheck(watched.reason > 0 && seen.calls == watched.iterations + 1 &&
                     seen.worst <= 100 * seen.calls * rounding,
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Monitored: reason %d, %d calls, norms off by %g",
                 (int)watched.reason, (int)seen.calls, (double)seen.worst);
    }
  }
  PetscCall(VecDestroy(&guess));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same with incomplete factorizations, which solve on the GPU, too: nothing is copied but right-hand side, guess
/// and solution.
static PetscErrorCode HostFactors()
{
  Mat       A;
  Vec       b, guess;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  PetscCall(PetscLogDefaultBegin());
  const Options backend("-sparsegpu_backend cuda");
  PetscCall(HostSystem(&A, &b, &guess));
  for (const char *pc : {"-pc_type ilu -pc_factor_mat_solver_type sparsegpu", "-pc_type sparsegpu",
                         "-pc_type sparsegpu -pc_sparsegpu_factor none"}) {
    const std::string options = std::string(pc) + " -ksp_rtol 1e-10 -ksp_gmres_restart ";
    PetscInt          before = 0, after = 0;
    Outcome           outcome;
    PetscCall(Compare(A, b, nullptr, options + "9"));
    PetscCall(Compare(A, b, guess, options + "3"));
    PetscCall(Compare(A, b, nullptr, options + "9 -ksp_pc_side right")); // through vectors
    const Options all(options + "9 -ksp_type " + KSPSPARSEGPUGMRES);
    PetscCall(EventCount("SparseGPUCopy", &before));
    PetscCall(SolveWith(A, b, nullptr, &outcome));
    PetscCall(EventCount("SparseGPUCopy", &after));
    PetscCheck(outcome.reason > 0 && outcome.iterations > 4 && after - before <= 4, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: reason %d, %d iterations, %d copies", pc, (int)outcome.reason, (int)outcome.iterations,
               (int)(after - before));
  }
  PetscCall(VecDestroy(&guess));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's own matrix types, and the transposed system.
static PetscErrorCode OtherTypes()
{
  const Options options(std::string("-pc_type jacobi -ksp_rtol 1e-4 -ksp_type ") + KSPSPARSEGPUGMRES);
  Mat           A;
  Vec           b, x, r;
  KSP           ksp;
  PetscReal     norm, first;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Convection(23, 21), MATAIJ, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(KnownRhs(A, b));
  PetscCall(Compare(A, b, nullptr, "-pc_type jacobi"));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolveTranspose(ksp, b, x));
  PetscCall(MatMultTranspose(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &first));
  PetscCheck(norm <= 1e-3 * first, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Transposed: residual %g of %g", (double)norm,
             (double)first);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A rank that never comes.
static PetscErrorCode Lost()
{
  PetscFunctionBeginUser;
  PetscCall(CheckLost(KSPSPARSEGPUGMRES, Convection(19, 17),
                      {"-pc_type jacobi", "-pc_type jacobi -ksp_gmres_restart 7", "-pc_type none -ksp_pc_side right"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"flexible", Flexible},
               {"restarts", Restarts},
               {"monitored", Monitored},
               {"ends", Ends},
               {"hard", Hard},
               {"long", Long},
               {"setting_restart", SettingRestart},
               {"reproducible", Reproducible},
               {"persistent", Persistent},
               {"spectrum", CheckSpectrum},
               {"host_vectors", HostVectors},
               {"host_factors", HostFactors},
               {"other_types", OtherTypes},
               {"lost", Lost}});
}
