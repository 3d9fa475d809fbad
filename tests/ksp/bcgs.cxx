static const char help[] = "KSPSPARSEGPUBCGS: PETSc's iterations, norms, options and reasons.\n\n";

#include "against_petsc.hpp"
#include "nonsymmetric.hpp"
#include "residual_monitor.hpp"

using namespace testing;

static PetscErrorCode CompareBoth(const System &s, Vec guess, const std::string &options)
{
  PetscFunctionBeginUser;
  PetscCall(Compare(KSPSPARSEGPUBCGS, KSPBCGS, s.A, s.b, guess, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode CompareEnds(const std::string &what, const System &s, Vec guess, const std::string &options)
{
  PetscFunctionBeginUser;
  PetscCall(CompareEnd(KSPSPARSEGPUBCGS, KSPBCGS, what, s.A, s.b, guess, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices, sides with their norms, preconditioners, a guess, first iterations without a test.
static PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  for (const Problem &p : nonsymmetric::All())
    for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
      if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
      System s;
      PetscCall(s.Create(p, nullptr, layout));
      for (const char *pc : {"none", "jacobi", "bjacobi"})
        for (const char *side : {"left", "right"}) {
          const std::string common = std::string("-pc_type ") + pc + SameSteps() + " -ksp_pc_side " + side;
          PetscCall(CompareBoth(s, nullptr, common));
          PetscCall(CompareBoth(s, s.guess, common));
          if (p.rows == 1) continue; // solved by a step
          PetscCall(CompareBoth(s, nullptr, common + " -ksp_check_norm_iteration 4"));
          PetscCall(CompareBoth(s, s.guess, common + " -ksp_norm_type none -ksp_max_it 3"));
        }
      if (p.rows == 1) continue;
      PetscCall(CompareBoth(s, s.guess, "-pc_type jacobi -ksp_converged_use_initial_residual_norm -ksp_rtol 1e-3"));
      PetscCall(CompareBoth(s, nullptr, "-pc_type jacobi -pc_jacobi_type rowmax -ksp_rtol 1e-3"));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every format that takes the matrix: those with a product that leaves its sums, and those without.
static PetscErrorCode InFormats()
{
  std::vector<std::string> formats;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  for (const Problem &p : nonsymmetric::All())
    for (const std::string &format : formats) {
      if (conformance::Refuses(p, format)) continue;
      System s;
      PetscCall(s.Create(p, format.c_str()));
      for (const char *side : {"left", "right"})
        PetscCall(CompareBoth(s, nullptr, std::string("-pc_type jacobi -ksp_rtol 1e-4 -ksp_pc_side ") + side));
      PetscCall(CompareBoth(s, nullptr, "-pc_type none -ksp_rtol 1e-4"));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products of large grids, whose threads have several rows on a GPU. Steps are those of PETSc's until rounding errors
/// have grown. The tolerance is of D^-1 r, and diagonals differ by a factor of 3.
static PetscErrorCode Large()
{
  constexpr PetscInt N       = 90;
  const std::string  options = "-pc_type jacobi -ksp_rtol 1e-5";
  const Options      set(options);
  PetscBool          device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("there is no GPU");
  for (const char *format : {"stencil", "dia", "csr"}) {
    System  s;
    Outcome ours, petsc, again;
    PetscCall(s.Create(nonsymmetric::Convection(7, N, N, N, 0.2, !strcmp(format, "dia")), format));
    PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &ours));
    PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &again));
    PetscCall(SolveAs(KSPBCGS, s.A, s.b, nullptr, &petsc));
    PetscCheck(ours.history == again.history, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: other bits again", format);
    PetscCheck(ours.reason > 0 && ours.residual <= 4e-5 * ours.rhs && ours.history.size() > 10, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "%s: reason %d, residual %g of %g", format, (int)ours.reason, (double)ours.residual,
               (double)ours.rhs);
    for (size_t k = 0; k < 3; ++k)
      PetscCheck(std::abs(ours.history[k] - petsc.history[k]) <=
                     PetscSqrtReal(PETSC_MACHINE_EPSILON) * petsc.history[0],
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: norm %d is %g, PETSc's %g", format, (int)k,
                 (double)ours.history[k], (double)petsc.history[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Limits of iterations, reached, met exactly and not at all.
static PetscErrorCode Limits()
{
  System        s;
  const Options jacobi("-pc_type jacobi -ksp_rtol 1e-4");
  Outcome       whole;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 19, 21, 1, 0.4, true)));
  PetscCall(SolveAs(KSPBCGS, s.A, s.b, nullptr, &whole));
  PetscCheck(whole.reason > 0 && whole.iterations > 5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %d, %d iterations",
             (int)whole.reason, (int)whole.iterations);
  for (PetscInt limit : {(PetscInt)0, (PetscInt)1, (PetscInt)2, whole.iterations - 1, whole.iterations})
    for (const char *more : {"", " -ksp_converged_maxits", " -ksp_norm_type none", " -ksp_error_if_not_converged 0"})
      PetscCall(CompareEnds("limit", s, nullptr, "-ksp_max_it " + std::to_string(limit) + more));
#if PETSC_VERSION_GE(3, 19, 0)
  PetscCall(CompareEnds("least", s, nullptr, "-ksp_min_it 20"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Systems whose end is known: right-hand sides of zeros and with NaN, an exact guess, matrices of few eigenvalues.
static PetscErrorCode Ends()
{
  constexpr PetscInt   n   = 24;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  conformance::Builder identity("identity", n, n), two("two eigenvalues", n, n), zero("zero", n, n),
      poisoned("NaN", n, n), negative("negative definite", n, n), one("1 x 1", 1, 1);

  PetscFunctionBeginUser;
  one.Add(0, 0, 4);
  for (PetscInt r = 0; r < n; ++r) {
    identity.Add(r, r, 4);
    two.Add(r, r, r % 2 ? 1 : 5);
    zero.Add(r, r, 0);
    negative.Add(r, r, -1 - r % 3);
    poisoned.Add(r, r, r == n / 2 ? nan : 2);
  }
  for (const Problem &p : {Problem(identity), Problem(two), Problem(zero), Problem(poisoned), Problem(negative),
                           Problem(one), nonsymmetric::Convection(5, 6, 5, 1, 0.3, true)})
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *more : {"-ksp_pc_side left", "-ksp_pc_side right", "-ksp_norm_type none"}) {
        if (p.name == "zero" && strcmp(pc, "none")) continue; // no diagonal
        if (p.name == "NaN" && !strcmp(pc, "bjacobi")) continue;
        System            s;
        const bool        none    = !strcmp(more, "-ksp_norm_type none");
        const std::string options = // without norms few steps: later ones are made of rounding errors
            std::string(none ? "-ksp_max_it 1 " : "-ksp_max_it 9 ") + more + " -ksp_rtol 1e-5 -pc_type " + pc;
        PetscCall(s.Create(p));
        PetscCall(VecSet(s.b, 1));
        PetscCall(CompareEnds(p.name, s, nullptr, options));
        PetscCall(VecSet(s.b, 0));
        PetscCall(CompareEnds(p.name + ", b = 0", s, nullptr, options));
        PetscCall(VecSet(s.b, nan));
        PetscCall(CompareEnds(p.name + ", b = NaN", s, nullptr, options));
        if (p.name == "NaN" || p.name == "zero") continue;
        PetscCall(VecSet(s.guess, 2)); // small integers: the residual is exactly zero
        PetscCall(MatMult(s.A, s.guess, s.b));
        if (p.name.find("points") == std::string::npos)
          PetscCall(CompareEnds(p.name + ", exact guess", s, s.guess, options));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Indefinite matrices; singular consistent systems, with the null space attached and without.
static PetscErrorCode Hard()
{
  constexpr PetscInt   n = 30;
  conformance::Builder indefinite("indefinite", n, n), chain("circle", n, n);
  MatNullSpace         constant;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    indefinite.Add(r, r, r % 3 ? (PetscReal)(r + 1) : -(PetscReal)(r + 1));
    chain.Add(r, (r + n - 1) % n, (PetscReal)-1.5).Add(r, r, 2).Add(r, (r + 1) % n, (PetscReal)-0.5); // sums are zero
  }
  for (const char *side : {"left", "right"}) {
    const std::string options = std::string("-ksp_rtol 1e-4 -ksp_pc_side ") + side;
    System            s, c;
    PetscCall(s.Create(indefinite));
    PetscCall(VecSet(s.b, 1));
    PetscCall(CompareEnds("indefinite matrix, six steps", s, nullptr, options + " -pc_type none -ksp_max_it 6"));
    PetscCall(CompareEnds("indefinite preconditioner", s, nullptr, options + " -pc_type jacobi -ksp_max_it 3"));
    PetscCall(c.Create(chain));
    PetscCall(CompareBoth(c, nullptr, options + " -pc_type jacobi"));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constant));
    PetscCall(MatSetNullSpace(c.A, constant));
    PetscCall(MatNullSpaceDestroy(&constant));
    PetscCall(CompareBoth(c, nullptr, options + " -pc_type jacobi"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One KSP whose operator gets other values and another pattern between solves, and the side changes; each solve is
/// that of a new KSP.
static PetscErrorCode Changed()
{
  KSP       ksp;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  for (int k = 0; k < 4; ++k) {
    const Options options(
        std::string("-ksp_rtol 1e-5 -pc_type ") + (k == 2 ? "bjacobi" : "jacobi") + " -ksp_pc_side " +
        (k == 1 || k == 2 ? "right -ksp_norm_type unpreconditioned" : "left -ksp_norm_type preconditioned"));
    System  s;
    Outcome alone;
    Vec     x;
    PetscCall(KSPReset(ksp)); // a side is chosen before set-up
    PetscCall(KSPSetType(ksp, KSPSPARSEGPUBCGS));
    PetscCall(KSPSetFromOptions(ksp)); // those of its type, too
    PetscCall(s.Create(k < 2 ? nonsymmetric::Convection(5, 20, 15, 1, 0.3, true)
                             : nonsymmetric::Convection(7, 10, 6, 5, 0.3, k == 3)));
    PetscCall(VecDuplicate(s.b, &x));
    if (k == 1) PetscCall(MatScale(s.A, 3));
    PetscCall(KSPSetOperators(ksp, s.A, s.A));
    for (int twice = 0; twice < 2; ++twice) {
      PetscCall(VecSet(x, 0));
      PetscCall(KSPSolve(ksp, s.b, x));
      PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &alone));
      PetscCall(VecEqual(x, alone.x, &same));
      PetscCheck(same && alone.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "Solve %d.%d: other bits than alone, or reason %d", k, twice, (int)alone.reason);
      PetscCall(VecDestroy(&alone.x));
      PetscCall(MatShift(s.A, 1));
    }
    PetscCall(VecDestroy(&x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two solves give the same bits: no sum depends on who comes first.
static PetscErrorCode Reproducible()
{
  PetscFunctionBeginUser;
  for (const Problem &p :
       {nonsymmetric::Convection(5, 211, 200, 1, 0.3, false), nonsymmetric::Convection(7, 41, 37, 30, 0.3, true)}) {
    const Options options("-pc_type jacobi -ksp_rtol 1e-5");
    System        s;
    Outcome       one, two;
    PetscBool     same;
    PetscCall(s.Create(p));
    PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &one));
    PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &two));
    PetscCall(VecEqual(one.x, two.x, &same));
    PetscCheck(same && one.history == two.history && one.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: the second solve has other bits", p.name.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A monitor sees every iterate, whose true residual the norm is; without it, where the host may hear late, the
/// solution and the history have the same bits.
static PetscErrorCode Monitored()
{
  const Options options(std::string("-ksp_sparsegpubcgs_persistent off -ksp_pc_side right -ksp_rtol 1e-5 -ksp_type ") +
                        KSPSPARSEGPUBCGS);
  System        s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 37, 30, 1, 0.3, true)));
  for (const char *pc : {"none", "jacobi", "bjacobi"})
    for (Vec guess : {(Vec) nullptr, s.guess}) {
      const Option type("-pc_type", pc);
      Outcome      watched, alone;
      Seen         seen;
      PetscBool    same;
      PetscCall(SolveWith(s.A, s.b, guess, &watched, SetMonitor, &seen));
      PetscCall(SolveWith(s.A, s.b, guess, &alone));
      PetscCheck(seen.calls == watched.iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%" PetscInt_FMT " calls of the monitor in %" PetscInt_FMT " iterations", seen.calls,
                 watched.iterations);
      // each step and the residual built from it lose a few rounding errors of |A| |x|, |A| < 10; residuals grow in
      // between, by less than ten
      const PetscReal bound = 1000 * (watched.iterations + 1) * PETSC_MACHINE_EPSILON;
      PetscCheck(seen.worst <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a norm is off by %g, %g allowed", pc,
                 (double)seen.worst, (double)bound);
      PetscCall(VecEqual(watched.x, alone.x, &same));
      PetscCheck(same && watched.history == alone.history && watched.reason == alone.reason, PETSC_COMM_WORLD,
                 PETSC_ERR_PLIB, "Other bits with a monitor: %d iterations, %d without", (int)watched.iterations,
                 (int)alone.iterations);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"formats", InFormats},
               {"large", Large},
               {"limits", Limits},
               {"ends", Ends},
               {"hard", Hard},
               {"changed", Changed},
               {"reproducible", Reproducible},
               {"monitored", Monitored}});
}
