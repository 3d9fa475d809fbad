static const char help[] = "KSPSPARSEGPUCG: conjugate residuals against PETSc's cr, the flexible form against fcg.\n\n";

#include "against_petsc.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
const char *const CR = " -ksp_sparsegpucg_type cr";
/// PETSc's with one direction, as ours.
const char *const FLEXIBLE = " -ksp_sparsegpucg_flexible -ksp_fcg_mmax 1 -ksp_fcg_truncation_type standard";

PetscErrorCode Residuals()
{
  PetscFunctionBeginUser;
  for (const Problem &p : spd::All()) {
    System s;
    PetscCall(s.Create(p));
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *norm : {"preconditioned", "natural"}) {
        const std::string options = std::string("-ksp_rtol 1e-4 -pc_type ") + pc + " -ksp_norm_type " + norm + CR;
        PetscCall(Compare(KSPSPARSEGPUCG, KSPCR, s.A, s.b, nullptr, options));
        if (!strcmp(norm, "preconditioned")) PetscCall(Compare(KSPSPARSEGPUCG, KSPCR, s.A, s.b, s.guess, options));
      }
    for (const char *limit : {"0", "3"}) // without norms
      PetscCall(CompareEnd(KSPSPARSEGPUCG, KSPCR, p.name, s.A, s.b, nullptr,
                           std::string("-pc_type jacobi -ksp_norm_type none -ksp_max_it ") + limit + CR));
    // PETSc's adds what is to be subtracted from the unpreconditioned residual: the true one is ours
    const Options options(std::string("-ksp_rtol 1e-4 -pc_type jacobi -ksp_norm_type unpreconditioned") + CR);
    Outcome       out;
    PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &out));
    const PetscReal bound = 100 * (PetscReal)(out.iterations + 1) * PETSC_MACHINE_EPSILON * out.rhs;
    PetscCheck(out.reason > 0 && std::abs(out.residual - out.told) <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: reason %d, residual %g, told %g", p.name.c_str(), (int)out.reason, (double)out.residual,
               (double)out.told);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flexible()
{
  PetscFunctionBeginUser;
  for (const Problem &p : spd::All()) {
    System s;
    PetscCall(s.Create(p));
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural"})
        PetscCall(Compare(KSPSPARSEGPUCG, KSPFCG, s.A, s.b, strcmp(norm, "natural") ? nullptr : s.guess,
                          std::string("-ksp_rtol 1e-4 -pc_type ") + pc + " -ksp_norm_type " + norm + FLEXIBLE));
  }
  // a preconditioner that is a solve of its own, to another tolerance each time
  System s;
  PetscCall(s.Create(spd::Diffusion(5, 40, 35, 1, true)));
  const std::string inner = "-ksp_rtol 1e-6 -ksp_norm_type unpreconditioned -pc_type ksp -ksp_ksp_type gmres "
                            "-ksp_ksp_rtol 1e-1 -ksp_pc_type jacobi";
  Outcome           ours, petsc;
  const Options     options(inner + FLEXIBLE);
  PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &ours));
  PetscCall(SolveAs(KSPFCG, s.A, s.b, nullptr, &petsc));
  PetscCheck(ours.reason > 0 && petsc.reason > 0 && ours.iterations <= petsc.iterations + petsc.iterations / 4 + 1,
             PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Inner solves: reason %d after %" PetscInt_FMT "; PETSc's %d, %" PetscInt_FMT, (int)ours.reason,
             ours.iterations, (int)petsc.reason, petsc.iterations);
  const PetscReal bound =
      (PetscReal)1e-6 * ours.rhs + 100 * (PetscReal)(ours.iterations + 1) * PETSC_MACHINE_EPSILON * ours.rhs;
  PetscCheck(ours.residual <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Inner solves: residual %g > %g",
             (double)ours.residual, (double)bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Zeros, NaN, an exact guess, indefinite and singular matrices, indefinite preconditioners.
PetscErrorCode Ends()
{
  constexpr PetscInt   n   = 24;
  const PetscReal      nan = std::numeric_limits<PetscReal>::quiet_NaN();
  conformance::Builder identity("identity", n, n), indefinite("indefinite", n, n), flat("zero curvature", 2, 2),
      singular("singular", n, n);

  PetscFunctionBeginUser;
  flat.Add(0, 0, 1).Add(1, 1, -1);
  for (PetscInt r = 0; r < n; ++r) {
    identity.Add(r, r, 4);
    indefinite.Add(r, r, r % 3 ? (PetscReal)(1 + r % 5) : -(PetscReal)(2 + r % 5));
    singular.Add(r, r, r ? (PetscReal)(1 + r % 2) : 0);
  }
  struct Case {
    Problem     p;
    const char *type, *pc;
    PetscScalar b;
    bool        exact;
    int         reason; ///< 1: converges
  };
  const Case cases[] = {{identity, CR, "none", 1, false, 1},
                        {identity, CR, "jacobi", 0, false, KSP_CONVERGED_ATOL},
                        {identity, CR, "none", nan, false, KSP_DIVERGED_NANORINF},
                        {identity, CR, "none", 2, true, KSP_CONVERGED_ATOL},
                        {indefinite, CR, "none", 1, false, 1}, // which conjugate gradients may not solve
                        {indefinite, CR, "jacobi", 1, false, 1},
                        {flat, CR, "none", 1, false, KSP_DIVERGED_INDEFINITE_MAT},
                        {singular, CR, "none", 1, false, KSP_DIVERGED_INDEFINITE_PC},
                        {identity, FLEXIBLE, "none", 1, false, 1},
                        {identity, FLEXIBLE, "jacobi", 0, false, KSP_CONVERGED_ATOL},
                        {identity, FLEXIBLE, "none", nan, false, KSP_DIVERGED_NANORINF},
                        {flat, FLEXIBLE, "none", 1, false, KSP_DIVERGED_INDEFINITE_MAT}};
  for (const Case &c : cases) {
    const Options options(std::string("-ksp_rtol 1e-8 -ksp_max_it 200 -pc_type ") + c.pc + c.type);
    System        s;
    Outcome       out;
    PetscCall(s.Create(c.p));
    PetscCall(VecSet(s.b, c.b));
    PetscCall(SolveAs(KSPSPARSEGPUCG, s.A, s.b, c.exact ? s.guess : nullptr, &out));
    const bool right = c.reason == 1 ? out.reason > 0 && out.residual <= (PetscReal)1e-7 * out.rhs
                                     : out.reason == (KSPConvergedReason)c.reason;
    PetscCheck(right, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s,%s, pc %s: reason %d after %" PetscInt_FMT ", residual %g",
               c.p.name.c_str(), c.type, c.pc, (int)out.reason, out.iterations, (double)out.residual);
  }
  const Options options("-ksp_sparsegpucg_type cr -ksp_sparsegpucg_flexible");
  std::string   message;
  System        s;
  Outcome       out;
  PetscCall(s.Create(identity));
  PetscCall(ExpectError(
      "flexible residuals", [&] { return SolveAs(KSPSPARSEGPUCG, s.A, s.b, nullptr, &out); }, &message,
      PETSC_ERR_ARG_INCOMP));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"residuals", Residuals}, {"flexible", Flexible}, {"ends", Ends}});
}
