static const char help[] = "KSPSPARSEGPUCG: PETSc's iterations, norms, options and reasons.\n\n";

#include "counted_shell.hpp"
#include "lost.hpp"
#include "residual_monitor.hpp"
#include "spd.hpp"

using namespace testing;

static PetscErrorCode SolveAs(const char type[], Mat A, Vec b, Vec guess, Outcome *out)
{
  const Option option("-ksp_type", type);

  PetscFunctionBeginUser;
  PetscCall(SolveWith(A, b, guess, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Mat A, Vec b, Vec guess, const std::string &options)
{
  const Options set(options);
  Outcome       ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(SolveAs(KSPSPARSEGPUCG, A, b, guess, &ours));
  PetscCall(SolveAs(KSPCG, A, b, guess, &petsc));
  PetscCall(CheckSame(options, ours, petsc));
  // where rounding errors have not grown yet, norms are those of PETSc's
  for (size_t k = 0; k < std::min<size_t>(3, std::min(ours.history.size(), petsc.history.size())); ++k)
    PetscCheck(std::abs(ours.history[k] - petsc.history[k]) <= PetscSqrtReal(PETSC_MACHINE_EPSILON) * petsc.history[0],
               PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: norm %d is %g, PETSc's %g", options.c_str(), (int)k,
               (double)ours.history[k], (double)petsc.history[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same reason, iteration and number of norms where a solve breaks off.
static PetscErrorCode CompareEnd(const std::string &what, Mat A, Vec b, Vec guess, const std::string &options)
{
  const Options set(options);
  Outcome       ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(SolveAs(KSPSPARSEGPUCG, A, b, guess, &ours));
  PetscCall(SolveAs(KSPCG, A, b, guess, &petsc));
  PetscCheck(ours.reason == petsc.reason && ours.iterations == petsc.iterations &&
                 ours.history.size() == petsc.history.size(),
             PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s %s: reason %d after %" PetscInt_FMT " iterations with %d norms; PETSc's %d, %" PetscInt_FMT ", %d",
             what.c_str(), options.c_str(), (int)ours.reason, ours.iterations, (int)ours.history.size(),
             (int)petsc.reason, petsc.iterations, (int)petsc.history.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of ours with a right-hand side and a guess.
struct System {
  Mat A = nullptr;
  Vec b = nullptr, guess = nullptr;

  System()                          = default;
  System(const System &)            = delete;
  System &operator=(const System &) = delete;
  ~System()
  {
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&guess));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&b));
    PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&A));
  }
  PetscErrorCode Create(const Problem &p, const char format[] = nullptr, Layout layout = Layout::Even)
  {
    PetscFunctionBeginUser;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format, layout, &A));
    PetscCall(MatCreateVecs(A, &guess, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(VecSet(guess, (PetscReal)0.5));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// Matrices, norms, preconditioners, a guess, first iterations without a test.
static PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  for (const Problem &p : spd::All())
    for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
      if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
      System s;
      PetscCall(s.Create(p, nullptr, layout));
      for (const char *pc : {"none", "jacobi", "bjacobi"})
        for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
          const std::string common = std::string("-pc_type ") + pc + " -ksp_rtol 1e-4 -ksp_norm_type " + norm;
          PetscCall(Compare(s.A, s.b, nullptr, common));
          PetscCall(Compare(s.A, s.b, s.guess, common));
          if (p.rows > 1) PetscCall(Compare(s.A, s.b, nullptr, common + " -ksp_check_norm_iteration 4"));
        }
      if (p.rows == 1) continue; // solved by a step
      PetscCall(Compare(s.A, s.b, nullptr, "-pc_type jacobi -ksp_norm_type none -ksp_max_it 7"));
      PetscCall(Compare(s.A, s.b, s.guess, "-pc_type jacobi -ksp_converged_use_initial_residual_norm -ksp_rtol 1e-3"));
      PetscCall(Compare(s.A, s.b, nullptr, "-pc_type jacobi -pc_jacobi_type rowmax -ksp_rtol 1e-3"));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every format that takes the matrix: those with a product that leaves its sums, and those without.
static PetscErrorCode InFormats()
{
  std::vector<std::string> formats;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  for (const Problem &p : spd::All())
    for (const std::string &format : formats) {
      if (conformance::Refuses(p, format)) continue;
      System s;
      PetscCall(s.Create(p, format.c_str()));
      PetscCall(Compare(s.A, s.b, nullptr, "-pc_type jacobi -ksp_rtol 1e-4"));
      PetscCall(Compare(s.A, s.b, nullptr, "-pc_type none -ksp_rtol 1e-4"));
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
  PetscCall(s.Create(spd::Diffusion(5, 19, 21, 1, true)));
  PetscCall(SolveAs(KSPCG, s.A, s.b, nullptr, &whole));
  PetscCheck(whole.reason > 0 && whole.iterations > 5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %d, %d iterations",
             (int)whole.reason, (int)whole.iterations);
  for (PetscInt limit : {(PetscInt)0, (PetscInt)1, (PetscInt)2, whole.iterations - 1, whole.iterations})
    for (const char *more : {"", " -ksp_converged_maxits", " -ksp_norm_type none", " -ksp_error_if_not_converged 0"})
      PetscCall(CompareEnd("limit", s.A, s.b, nullptr, "-ksp_max_it " + std::to_string(limit) + more));
#if PETSC_VERSION_GE(3, 19, 0)
  PetscCall(CompareEnd("least", s.A, s.b, nullptr, "-ksp_min_it 40"));
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
                           Problem(one), spd::Diffusion(5, 6, 5, 1, true)})
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural", "none"}) {
        if (p.name == "zero" && strcmp(pc, "none")) continue; // no diagonal
        if (p.name == "NaN" && !strcmp(pc, "bjacobi")) continue;
        System            s;
        const std::string options = // without norms few steps: later ones are made of rounding errors
            std::string(strcmp(norm, "none") ? "-ksp_max_it 9" : "-ksp_max_it 1") + " -ksp_rtol 1e-5 -pc_type " + pc +
            " -ksp_norm_type " + norm;
        PetscCall(s.Create(p));
        PetscCall(VecSet(s.b, 1));
        PetscCall(CompareEnd(p.name, s.A, s.b, nullptr, options));
        PetscCall(VecSet(s.b, 0));
        PetscCall(CompareEnd(p.name + ", b = 0", s.A, s.b, nullptr, options));
        PetscCall(VecSet(s.b, nan));
        PetscCall(CompareEnd(p.name + ", b = NaN", s.A, s.b, nullptr, options));
        if (p.name == "NaN" || p.name == "zero") continue;
        PetscCall(VecSet(s.guess, 2)); // small integers: the residual is exactly zero
        PetscCall(MatMult(s.A, s.guess, s.b));
        if (p.name.find("points") == std::string::npos)
          PetscCall(CompareEnd(p.name + ", exact guess", s.A, s.b, s.guess, options));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Indefinite matrices and preconditioners are told as PETSc's cg tells them; a singular consistent system converges,
/// with the null space attached and without.
static PetscErrorCode Hard()
{
  constexpr PetscInt   n = 30;
  conformance::Builder indefinite("indefinite", n, n), chain("Neumann", n, n), flat("zero curvature", 2, 2);
  MatNullSpace         constant;

  PetscFunctionBeginUser;
  flat.Add(0, 0, 1).Add(1, 1, -1);
  for (PetscInt r = 0; r < n; ++r) {
    indefinite.Add(r, r, r % 3 ? (PetscReal)(r + 1) : -(PetscReal)(r + 1));
    chain.Add(r, r, r == 0 || r == n - 1 ? 1 : 2);
    if (r > 0) chain.Add(r, r - 1, -1);
    if (r + 1 < n) chain.Add(r, r + 1, -1);
  }
  for (const char *norm : {"preconditioned", "unpreconditioned", "natural", "none"}) {
    const std::string options = std::string("-ksp_rtol 1e-6 -ksp_norm_type ") + norm;
    System            s, z, c;
    PetscCall(s.Create(indefinite));
    PetscCall(VecSet(s.b, 1));
    PetscCall(CompareEnd("indefinite matrix", s.A, s.b, nullptr, options + " -pc_type none"));
    // D A = I, but (r, D r) is negative for some r: the sign of its first value decides
    PetscCall(CompareEnd("indefinite preconditioner", s.A, s.b, nullptr, options + " -pc_type jacobi -ksp_max_it 3"));
    PetscCall(z.Create(flat));
    PetscCall(VecSet(z.b, 1));
    PetscCall(CompareEnd("zero curvature", z.A, z.b, nullptr, options + " -pc_type none"));
    PetscCall(c.Create(chain));
    PetscCall(Compare(c.A, c.b, nullptr, options + " -pc_type jacobi -ksp_max_it 20"));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constant));
    PetscCall(MatSetNullSpace(c.A, constant));
    PetscCall(MatNullSpaceDestroy(&constant));
    PetscCall(Compare(c.A, c.b, nullptr, options + " -pc_type jacobi -ksp_max_it 20"));
  }
#if !defined(PETSC_USE_COMPLEX) // with complex numbers PETSc's does not look
  {                             // the preconditioner of a matrix whose sign changes while the operator is definite
    const Options      options("-pc_type jacobi -ksp_type cg");
    Mat                definite;
    System             s;
    KSPConvergedReason reasons[2];
    PetscInt           its[2];
    PetscCall(s.Create(indefinite));
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, chain, MATSPARSEGPU, nullptr, Layout::Even, &definite));
    PetscCall(MatShift(definite, 1));
    for (int k = 0; k < 2; ++k) {
      KSP ksp;
      Vec x;
      PetscCall(VecDuplicate(s.b, &x));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, definite, s.A));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSetType(ksp, k ? KSPCG : KSPSPARSEGPUCG));
      PetscCall(KSPSolve(ksp, s.b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reasons[k]));
      PetscCall(KSPGetIterationNumber(ksp, &its[k]));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
    }
    PetscCheck(reasons[0] == reasons[1] && its[0] == its[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Indefinite preconditioner: reason %d after %d iterations, PETSc's %d after %d", (int)reasons[0],
               (int)its[0], (int)reasons[1], (int)its[1]);
    PetscCheck(reasons[0] < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "An indefinite preconditioner converges: %d",
               (int)reasons[0]);
    PetscCall(MatDestroy(&definite));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Conditions of 1e8 to 1e12. The true residual that is attained when rounding errors are all that is left; where
/// rounding errors keep PETSc's from getting there, the smallest norm on the way, which swings by a few powers of ten.
static PetscErrorCode Accuracy()
{
  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("conditions of 1e8 and more are for double precision");
  for (PetscReal digits : {8, 10, 12})
    for (const Problem &p : {spd::Spectrum(80, digits), spd::Layers(400, digits), spd::Layers(2000, digits)})
      for (const char *pc : {"none", "jacobi"}) {
        if (p.rows == 2000 && digits < 12) continue; // tens of thousands of iterations
        // these are of one rank's recurrence; several add up their sums, which one of each kind shows
        if (PetscGlobalSize > 1 && (p.rows == 2000 || digits < 12)) continue;
        System        s;
        Outcome       ours, petsc;
        const Options options(
            std::string("-ksp_rtol 1e-30 -ksp_atol 1e-300 -ksp_norm_type unpreconditioned -pc_type ") + pc +
            " -ksp_max_it " + std::to_string((p.rows == 80 ? 16 : 8) * p.rows));
        PetscCall(s.Create(p));
        PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &ours));
        PetscCall(SolveAs(KSPCG, s.A, s.b, nullptr, &petsc));
        const PetscReal low     = *std::min_element(ours.history.begin(), ours.history.end());
        const PetscReal theirs  = *std::min_element(petsc.history.begin(), petsc.history.end());
        const bool      limited = petsc.residual <= 1e-12 * petsc.rhs;
        PetscCheck(limited ? ours.residual <= 4 * petsc.residual : low <= 10 * theirs, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s, condition 1e%g, %s: true residual %g, PETSc's %g; smallest norm %g, PETSc's %g", p.name.c_str(),
                   (double)digits, pc, (double)ours.residual, (double)petsc.residual, (double)low, (double)theirs);
        PetscCheck(limited || strcmp(pc, "jacobi") || p.rows == 80, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s, condition 1e%g: PETSc's cg has not converged", p.name.c_str(), (double)digits);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One KSP whose operator gets other values and another pattern between solves; each solve is that of a new KSP.
static PetscErrorCode Changed()
{
  const Options options("-pc_type jacobi -ksp_rtol 1e-5");
  KSP           ksp;
  PetscBool     same;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPSPARSEGPUCG));
  PetscCall(KSPSetFromOptions(ksp));
  for (int k = 0; k < 4; ++k) {
    System  s;
    Outcome alone;
    Vec     x;
    PetscCall(s.Create(k < 2 ? spd::Diffusion(5, 20, 15, 1, true) : spd::Diffusion(7, 10, 6, 5, k == 3)));
    PetscCall(VecDuplicate(s.b, &x));
    if (k == 1) PetscCall(MatScale(s.A, 3));
    PetscCall(KSPSetOperators(ksp, s.A, s.A));
    for (int twice = 0; twice < 2; ++twice) {
      PetscCall(VecSet(x, 0));
      PetscCall(KSPSolve(ksp, s.b, x));
      PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &alone));
      PetscCall(VecEqual(x, alone.x, &same));
      PetscCheck(same && alone.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Solve %d.%d: other bits than alone", k,
                 twice);
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
  for (const Problem &p : {spd::Diffusion(5, 211, 200, 1, false), spd::Diffusion(27, 41, 37, 30, true)}) {
    const Options options("-pc_type jacobi -ksp_rtol 1e-5");
    System        s;
    Outcome       one, two;
    PetscBool     same;
    PetscCall(s.Create(p));
    PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &one));
    PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &two));
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
  const Options options(std::string("-ksp_sparsegpucg_persistent off -pc_type jacobi -ksp_norm_type unpreconditioned "
                                    "-ksp_rtol 1e-5 -ksp_type ") +
                        KSPSPARSEGPUCG);
  System        s;
  Outcome       watched, alone;
  Seen          seen;
  PetscBool     same;

  PetscFunctionBeginUser;
  PetscCall(s.Create(spd::Diffusion(5, 37, 30, 1, true)));
  for (Vec guess : {(Vec) nullptr, s.guess}) {
    seen = Seen();
    PetscCall(VecDestroy(&watched.x));
    PetscCall(VecDestroy(&alone.x));
    PetscCall(SolveWith(s.A, s.b, guess, &watched, SetMonitor, &seen));
    PetscCall(SolveWith(s.A, s.b, guess, &alone));
    PetscCheck(seen.calls == watched.iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " calls of the monitor in %" PetscInt_FMT " iterations", seen.calls,
               watched.iterations);
    // each step and the residual built from it lose a few rounding errors of |A| |x|, |A| < 10
    const PetscReal bound = 100 * (watched.iterations + 1) * PETSC_MACHINE_EPSILON;
    PetscCheck(seen.worst <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A norm is off by %g, %g allowed",
               (double)seen.worst, (double)bound);
    PetscCall(VecEqual(watched.x, alone.x, &same));
    PetscCheck(same && watched.history == alone.history && watched.reason == alone.reason, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "Other bits with a monitor: %d iterations, %d without", (int)watched.iterations,
               (int)alone.iterations);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Estimates {
  PetscReal              most = 0, least = 0;
  std::vector<PetscReal> values;
};
static PetscErrorCode Estimate(const System &s, const char type[], Estimates *e)
{
  constexpr PetscInt ROOM = 100;
  PetscReal          re[ROOM], im[ROOM];
  PetscInt           count;
  KSP                ksp;
  Vec                x;
  const Option       option("-ksp_type", type);

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s.b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, s.A, s.A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, s.b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, &e->most, &e->least));
  PetscCall(KSPComputeEigenvalues(ksp, ROOM, re, im, &count));
  e->values.assign(re, re + count);
  for (PetscInt k = 0; k < count; ++k)
    PetscCheck(im[k] == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: an imaginary part of %g", type, (double)im[k]);
  std::sort(e->values.begin(), e->values.end());
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The estimates of the spectrum are PETSc's.
static PetscErrorCode CheckSpectrum()
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(spd::Diffusion(5, 21, 20, 1, true)));
  for (const char *pc : {"none", "jacobi", "bjacobi"})
    for (const char *limit : {"12", "2", "1"}) {
      const Options options(std::string("-ksp_rtol 1e-30 -pc_type ") + pc + " -ksp_max_it " + limit);
      Estimates     ours, petsc;
      PetscCall(Estimate(s, KSPSPARSEGPUCG, &ours));
      PetscCall(Estimate(s, KSPCG, &petsc));
      PetscCheck(ours.values.size() == petsc.values.size() && !ours.values.empty(), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, %s: %d eigenvalues, PETSc has %d", pc, limit, (int)ours.values.size(), (int)petsc.values.size());
      // A is symmetric: what rounding changes in the Lanczos matrix, it changes in its eigenvalues at most; a step of
      // these twelve magnifies rounding errors of 420 rows by less than ten
      const PetscReal bound = 100 * 12 * 420 * PETSC_MACHINE_EPSILON * petsc.most;
      for (size_t k = 0; k < ours.values.size(); ++k)
        PetscCheck(std::abs(ours.values[k] - petsc.values[k]) <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s, %s: eigenvalue %g, PETSc's %g, more than %g apart", pc, limit, (double)ours.values[k],
                   (double)petsc.values[k], (double)bound);
      PetscCheck(std::abs(ours.most - petsc.most) <= bound && std::abs(ours.least - petsc.least) <= bound,
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: singular values %g to %g, PETSc's %g to %g", pc, limit,
                 (double)ours.least, (double)ours.most, (double)petsc.least, (double)petsc.most);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices of other types, matrices without entries of their own, and vectors that no array can be laid under.
static PetscErrorCode OtherTypes()
{
  const Problem p = spd::Diffusion(5, 15, 16, 1, true);

  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATBAIJ, MATSHELL}) {
    System s;
    Mat    A;
    PetscCall(s.Create(p));
    if (!strcmp(type, MATSHELL)) {
      PetscCall(MatCreateTranspose(s.A, &A)); // of a Hermitian matrix: of complex numbers its conjugate
    } else {
      PetscCall(MatConvert(s.A, type, MAT_INITIAL_MATRIX, &A));
    }
    PetscCall(Compare(A, s.b, nullptr, "-pc_type none -ksp_rtol 1e-4"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_USE_COMPLEX)
/// Complex symmetric matrices, with inner products that do not conjugate.
static PetscErrorCode Symmetric()
{
  PetscFunctionBeginUser;
  constexpr PetscInt   n = 200;
  conformance::Builder b("complex symmetric", n, n);
  for (PetscInt r = 0; r < n; ++r) {
    b.Add(r, r, PetscCMPLX(4, 0.5));
    if (r > 0) b.Add(r, r - 1, PetscCMPLX(-1, 0.2));
    if (r + 1 < n) b.Add(r, r + 1, PetscCMPLX(-1, 0.2));
  }
  System s;
  PetscCall(s.Create(b));
  PetscCall(MatMult(s.A, s.guess, s.b)); // nearly real: the first (p, A p) have the same sign of their real parts
  PetscCall(Compare(s.A, s.b, nullptr, "-ksp_cg_type symmetric -pc_type jacobi -ksp_rtol 1e-2"));
  PetscCall(CompareEnd("symmetric", s.A, s.b, nullptr, "-ksp_cg_type symmetric -pc_type jacobi -ksp_rtol 1e-5"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode Symmetric()
{
  return Skip("real numbers know one kind of symmetry");
}
#endif

/// Vectors on the host, products on the GPU: what a PETSc without CUDA has on a machine with one. The solve runs on the
/// GPU, with and without a monitor that asks for the iterates.
static PetscErrorCode HostVectors()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  const Options backend("-sparsegpu_backend cuda");
  System        s;
  Vec           b, guess;
  PetscCall(s.Create(spd::Diffusion(5, 33, 30, 1, true)));
  PetscCall(HostVector(s.A, &guess));
  PetscCall(HostVector(s.A, &b));
  PetscCall(KnownRhs(s.A, b));
  PetscCall(VecSet(guess, (PetscReal)0.5));
  // of a Hermitian matrix ICC is not Hermitian, ILU is
  for (const char *pc : {"none", "jacobi", PetscDefined(USE_COMPLEX) ? "ilu" : "icc"}) {
    const std::string options =
        std::string("-ksp_rtol 1e-4 -ksp_norm_type unpreconditioned -pc_factor_mat_solver_type sparsegpu -pc_type ") +
        pc;
    Outcome watched;
    Seen    seen;
    PetscCall(Compare(s.A, b, nullptr, options));
    PetscCall(Compare(s.A, b, guess, options));
    const Options type(options + " -ksp_type " + KSPSPARSEGPUCG); // comparisons clear the options they set
    PetscCall(SolveWith(s.A, b, nullptr, &watched, SetMonitor, &seen));
    PetscCheck(watched.reason > 0 && seen.calls == watched.iterations + 1 &&
                   seen.worst <= 100 * seen.calls * PETSC_MACHINE_EPSILON,
               PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Monitored: reason %d, %d calls, norms off by %g", (int)watched.reason,
               (int)seen.calls, (double)seen.worst);
  }
  PetscCall(VecDestroy(&guess));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Which way a solve takes: the view tells.
static PetscErrorCode Ways()
{
  const Option type("-ksp_type", KSPSPARSEGPUCG), by_step("-ksp_sparsegpucg_persistent", "off");
  System       s;
  PetscBool    cuda;
  std::string  text;

  PetscFunctionBeginUser;
  PetscCall(s.Create(spd::Diffusion(5, 12, 11, 1, true)));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)s.b, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(ViewText(s.A, PETSC_VIEWER_ASCII_INFO_DETAIL, "cg_matrix", &text));
  const bool peers = text.find("by peer memory") != std::string::npos;
  for (const char *pc : {"none", "jacobi", "bjacobi"}) {
    const bool        diagonal = strcmp(pc, "bjacobi") != 0;
    const char *const together = !peers     ? "on vectors of PETSc"
                                 : diagonal ? "three kernels an iteration on each GPU"
                                            : "five kernels";
    const char *const way      = cuda && PetscGlobalSize > 1 ? together
                                 : cuda && diagonal          ? "two kernels an iteration on the GPU"
                                 : cuda                      ? "four kernels an iteration on the GPU"
                                 : diagonal                  ? "two passes an iteration on the host"
                                                             : "four passes an iteration on the host";
    const Option      option("-pc_type", pc);
    bool              tells;
    PetscCall(ViewTells(s.A, s.b, "cg_view", way, &tells));
    PetscCheck(tells || PetscGlobalRank > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "-pc_type %s: no \"%s\" in the view", pc,
               way);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A preconditioner of the user's is applied as often as in PETSc's cg, or once less: not after the last iteration.
static PetscErrorCode Applications()
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(spd::Diffusion(5, 25, 24, 1, true)));
  for (const char *norm : {"preconditioned", "unpreconditioned", "natural", "none"})
    for (const char *limit : {"1000", "7"}) {
      const bool    none = !strcmp(norm, "none");
      const Options options(std::string("-ksp_rtol 1e-5 -ksp_norm_type ") + norm + " -ksp_max_it " +
                            (none ? "7" : limit));
      Outcome       ours, petsc;
      PetscInt      count[2];
      PetscCall(SolveCounted(KSPSPARSEGPUCG, s.A, s.b, &ours, &count[0]));
      PetscCall(SolveCounted(KSPCG, s.A, s.b, &petsc, &count[1]));
      PetscCall(CheckSame(norm, ours, petsc));
      const PetscInt more = count[0] - ours.iterations, theirs = count[1] - petsc.iterations;
      PetscCheck(theirs - 1 <= more && more <= theirs, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %d applications in %d iterations, PETSc's %d in %d", norm, (int)count[0], (int)ours.iterations,
                 (int)count[1], (int)petsc.iterations);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A rank that never comes.
static PetscErrorCode Lost()
{
  PetscFunctionBeginUser;
  PetscCall(CheckLost(KSPSPARSEGPUCG, spd::Diffusion(5, 19, 21, 1, true),
                      {"-pc_type jacobi", "-pc_type jacobi -ksp_initial_guess_nonzero",
                       "-pc_type jacobi -ksp_monitor_true_residual :/dev/null",
                       "-pc_type none -ksp_norm_type none -ksp_max_it 5"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"formats", InFormats},
               {"limits", Limits},
               {"ends", Ends},
               {"hard", Hard},
               {"accuracy", Accuracy},
               {"changed", Changed},
               {"reproducible", Reproducible},
               {"monitored", Monitored},
               {"spectrum", CheckSpectrum},
               {"other_types", OtherTypes},
               {"symmetric", Symmetric},
               {"host_vectors", HostVectors},
               {"ways", Ways},
               {"applications", Applications},
               {"lost", Lost}});
}
