static const char help[] = "KSPSPARSEGPUBCGS, BiCGStab(l): residuals of PETSc's bcgsl, strong convection, ends.\n\n";

#include "against_petsc.hpp"
#include "nonsymmetric.hpp"

using namespace testing;

namespace
{
/// What a residual of true norm and the recurrence's differ by: each iteration loses some rounding errors of the
/// largest residual so far, of 2 l products and as many updates.
PetscReal Drift(const Outcome &out)
{
  PetscReal most = out.rhs;
  for (PetscReal norm : out.history) most = std::max(most, norm);
  return 100 * (PetscReal)(out.iterations + 1) * PETSC_MACHINE_EPSILON * most;
}

/// With norms that are true: a residual as small as asked for, in about as many products as PETSc's bcgsl takes, which
/// takes twice as many with complex scalars.
PetscErrorCode Against(const System &s, Vec guess, const std::string &options, int ell, PetscReal rtol)
{
  const std::string l = std::to_string(ell);
  const Options     set(options + " -ksp_rtol " + std::to_string(rtol) + " -ksp_bcgsl_ell " + l +
                        " -ksp_sparsegpubcgs_ell " + l);
  Outcome           ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, guess, &ours));
  PetscCall(SolveAs(KSPBCGSL, s.A, s.b, guess, &petsc));
  PetscCheck(ours.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, l = %d: reason %d, PETSc's %d", options.c_str(),
             ell, (int)ours.reason, (int)petsc.reason); // PETSc's breaks down at the exact solution
  PetscCheck(petsc.reason < 0 || ours.iterations <= petsc.iterations + ell + petsc.iterations / 4, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "%s, l = %d: %" PetscInt_FMT " iterations, PETSc's %" PetscInt_FMT, options.c_str(), ell,
             ours.iterations, petsc.iterations);
  PetscCheck((PetscInt)ours.history.size() == ours.iterations / ell + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s, l = %d: %d norms of %" PetscInt_FMT " iterations", options.c_str(), ell, (int)ours.history.size(),
             ours.iterations);
  if (options.find("right") == std::string::npos && options.find("none") == std::string::npos)
    PetscFunctionReturn(PETSC_SUCCESS); // of a preconditioned residual
  const PetscReal bound = rtol * ours.rhs + Drift(ours);
  PetscCheck(ours.residual <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, l = %d: residual %g > %g", options.c_str(),
             ell, (double)ours.residual, (double)bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Same()
{
  PetscFunctionBeginUser;
  for (const Problem &p : nonsymmetric::All()) {
    System s;
    PetscCall(s.Create(p));
    for (const char *options : {"-pc_type none", "-pc_type jacobi", "-pc_type jacobi -ksp_pc_side right",
                                "-pc_type bjacobi -ksp_pc_side right"})
      for (int ell : {2, 4}) {
        PetscCall(Against(s, nullptr, options, ell, (PetscReal)1e-4));
        if (ell == 2) PetscCall(Against(s, s.guess, options, ell, (PetscReal)1e-4));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Central differences of a flow that diffusion does not damp: eigenvalues d + i c, c up to 2 / d of it. Polynomials of
/// degree one lose what the steps of BiCG gain, less so where their coefficients are complex.
Problem Flow(PetscInt n, PetscReal damping)
{
  conformance::Builder b("flow", n * n, n * n);

  for (PetscInt r = 0; r < n * n; ++r) {
    const PetscInt x = r % n, y = r / n;
    if (y > 0) b.Add(r, r - n, -1);
    if (x > 0) b.Add(r, r - 1, -1);
    b.Add(r, r, damping);
    if (x + 1 < n) b.Add(r, r + 1, 1);
    if (y + 1 < n) b.Add(r, r + n, 1);
  }
  return b;
}

PetscErrorCode Convective()
{
  System    s;
  PetscReal least = PETSC_MAX_REAL;

  PetscFunctionBeginUser;
  PetscCall(s.Create(Flow(40, (PetscReal)0.1)));
  const std::string common = "-pc_type none -ksp_rtol 1e-4 -ksp_max_it 600";
  PetscInt          taken[2];
  for (int ell : {1, 2, 4}) {
    const Options options(common + " -ksp_sparsegpubcgs_ell " + std::to_string(ell));
    Outcome       out;
    PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &out));
    PetscCall(PetscInfo(nullptr, "l = %d: reason %d after %" PetscInt_FMT " iterations\n", ell, (int)out.reason,
                        out.iterations));
    if (ell == 1) {
      least    = out.residual;
      taken[0] = out.reason > 0 ? out.iterations : 10000;
      continue;
    }
    taken[1] = out.iterations;
    PetscCheck(out.reason > 0 && (PetscDefined(USE_COMPLEX) ? 1 : 2) * taken[1] < taken[0] &&
                   out.residual <= (PetscReal)1e-4 * out.rhs + Drift(out),
               PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "l = %d: reason %d, %" PetscInt_FMT " iterations, residual %g; BiCGStab %" PetscInt_FMT ", %g", ell,
               (int)out.reason, out.iterations, (double)out.residual, taken[0], (double)least);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ends that are known; of a skew matrix of pairs every (r, K r) is zero, and two products are all that is needed.
PetscErrorCode Ends()
{
  constexpr PetscInt   n   = 24;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  conformance::Builder identity("identity", n, n), pairs("skew pairs", n, n), zero("zero", n, n);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    identity.Add(r, r, 4);
    pairs.Add(r, r ^ 1, r % 2 ? -1 : 1);
    zero.Add(r, r, 0);
  }
  struct Case {
    Problem     p;
    PetscScalar b;
    bool        exact; ///< the guess
    const char *more;
    bool        converges;
    int         reason; ///< 0: any
  };
  const Case cases[] = {{identity, 1, false, "", true, 0},
                        {identity, 0, false, "", true, KSP_CONVERGED_ATOL},
                        {identity, nan, false, "", false, KSP_DIVERGED_NANORINF},
                        {identity, 2, true, "", true, 0},
                        {pairs, 1, false, "", true, 0},
                        {zero, 1, false, "", false, KSP_DIVERGED_BREAKDOWN},
                        {pairs, 1, false, " -ksp_norm_type none -ksp_max_it 2", false, KSP_DIVERGED_ITS}};
  for (const Case &c : cases)
    for (const char *ell : {"2", "3"}) {
      const Options options(std::string("-pc_type none -ksp_rtol 1e-6 -ksp_max_it 50 -ksp_sparsegpubcgs_ell ") + ell +
                            c.more);
      System        s;
      Outcome       out;
      PetscCall(s.Create(c.p));
      PetscCall(VecSet(s.b, c.b));
      PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, c.exact ? s.guess : nullptr, &out)); // 4 * 0.5 = 2
      const bool exact = c.more[0] && out.reason > 0 && out.residual <= 100 * PETSC_MACHINE_EPSILON * out.rhs;
      PetscCheck(exact || ((out.reason > 0) == c.converges && (!c.reason || out.reason == c.reason)), PETSC_COMM_WORLD,
                 PETSC_ERR_PLIB, "%s, l = %s%s: reason %d after %" PetscInt_FMT, c.p.name.c_str(), ell, c.more,
                 (int)out.reason, out.iterations);
      PetscCheck(out.reason < 0 || out.residual <= (PetscReal)1e-6 * out.rhs + Drift(out), PETSC_COMM_WORLD,
                 PETSC_ERR_PLIB, "%s, l = %s: residual %g", c.p.name.c_str(), ell, (double)out.residual);
    }
  std::string message;
  for (const char *bad : {"0", "9"}) {
    const Options options(std::string("-ksp_sparsegpubcgs_ell ") + bad);
    System        s;
    Outcome       out;
    PetscCall(s.Create(identity));
    PetscCall(ExpectError(
        "a degree out of range", [&] { return SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &out); }, &message,
        PETSC_ERR_ARG_OUTOFRANGE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckIterate(KSP ksp, PetscInt, PetscReal norm, void *worst)
{
  Vec       b, r, t, v;
  PetscReal exact;

  PetscFunctionBeginUser;
  PetscCall(KSPGetRhs(ksp, &b)); // vectors of its kind: of b they are subtracted
  PetscCall(VecDuplicate(b, &t));
  PetscCall(VecDuplicate(b, &v));
  PetscCall(KSPBuildResidual(ksp, t, v, &r));
  PetscCall(VecNorm(r, NORM_2, &exact));
  *static_cast<PetscReal *>(worst) = std::max(*static_cast<PetscReal *>(worst), std::abs(norm - exact));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Watch(KSP ksp, void *worst)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorSet(ksp, CheckIterate, worst, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The iterate that monitors see has the norm that they are told, from the right, too; a solve repeats bit for bit.
PetscErrorCode Monitored()
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 37, 30, 1, 0.3, true)));
  for (const char *more : {"-pc_type none", "-pc_type bjacobi -ksp_pc_side right"}) {
    const Options options(std::string("-ksp_type sparsegpubcgs -ksp_sparsegpubcgs_ell 2 ") + more);
    Outcome       watched, one, two;
    PetscReal     worst = 0;
    PetscBool     same;
    PetscCall(SolveWith(s.A, s.b, s.guess, &watched, Watch, &worst));
    PetscCheck(worst <= 10 * Drift(watched), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a norm is off by %g, %g allowed",
               more, (double)worst, (double)(10 * Drift(watched)));
    PetscCall(SolveWith(s.A, s.b, nullptr, &one));
    PetscCall(SolveWith(s.A, s.b, nullptr, &two));
    PetscCall(VecEqual(one.x, two.x, &same));
    PetscCheck(same && one.history == two.history, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: other bits", more);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"convective", Convective}, {"ends", Ends}, {"monitored", Monitored}});
}
