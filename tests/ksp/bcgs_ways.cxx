static const char help[] = "KSPSPARSEGPUBCGS: breakdowns, attained accuracy, and the ways that a solve takes.\n\n";

#include "against_petsc.hpp"
#include "lost.hpp"
#include "counted_shell.hpp"
#include "nonsymmetric.hpp"
#include "residual_monitor.hpp"

using namespace testing;

/// A rotation of the plane by a quarter, n / 2 times: skew-symmetric, so that (r, A r) = 0 for every r.
static Problem Skew(PetscInt n)
{
  conformance::Builder b("skew-symmetric", n, n);
  for (PetscInt r = 0; r < n; ++r) b.Add(r, r % 2 ? r - 1 : r + 1, (PetscReal)(r % 2 ? -1 : 1) * (1 + r / 2 % 3));
  return b;
}
/// A cyclic shift: with one entry in the right-hand side every early inner product is zero.
static Problem Shift(PetscInt n)
{
  conformance::Builder b("cyclic shift", n, n);
  for (PetscInt r = 0; r < n; ++r) b.Add(r, (r + 1) % n, 1);
  return b;
}

static PetscErrorCode CheckSolved(const std::string &what, const Outcome &out)
{
  PetscFunctionBeginUser;
  PetscCheck(out.reason > 0 && out.residual <= (PetscReal)1e-3 * out.rhs, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: reason %d after %" PetscInt_FMT " iterations, true residual %g of %g", what.c_str(), (int)out.reason,
             out.iterations, (double)out.residual, (double)out.rhs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where PETSc's bcgs breaks down, or ends with NaN, ours restarts and solves the system; only where the operator makes
/// the residual zero, it ends like PETSc's.
static PetscErrorCode Breakdowns()
{
  PetscFunctionBeginUser;
  for (const Problem &p : {Skew(2), Skew(20), Shift(4), Shift(7)})
    for (const char *more :
         {" -pc_type none", " -pc_type none -ksp_pc_side right", " -pc_type bjacobi -sub_pc_type none"}) {
      const Options options(std::string("-ksp_rtol 1e-4 -ksp_max_it 300") + more);
      System        s;
      Outcome       ours, petsc;
      PetscCall(s.Create(p));
      PetscCall(VecSet(s.b, 0));
      PetscCall(VecSetValue(s.b, 0, 1, INSERT_VALUES));
      PetscCall(VecAssemblyBegin(s.b));
      PetscCall(VecAssemblyEnd(s.b));
      PetscCall(SolveAs(KSPBCGS, s.A, s.b, nullptr, &petsc));
      PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &ours));
      PetscCheck(petsc.reason < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: PETSc's bcgs ends with %d: no breakdown",
                 p.name.c_str(), (int)petsc.reason);
      PetscCall(CheckSolved(p.name + more, ours));
    }
  for (const char *side : {"left", "right"}) { // A b = 0
    const std::string    options = std::string("-pc_type none -ksp_pc_side ") + side;
    conformance::Builder nilpotent("nilpotent", 6, 6);
    System               s;
    for (PetscInt r = 0; r < 5; ++r) nilpotent.Add(r, r + 1, 1);
    nilpotent.Add(5, 5, 0);
    PetscCall(s.Create(nilpotent));
    PetscCall(VecSet(s.b, 0));
    PetscCall(VecSetValue(s.b, 0, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(s.b));
    PetscCall(VecAssemblyEnd(s.b));
    PetscCall(CompareEnd(KSPSPARSEGPUBCGS, KSPBCGS, "A b = 0", s.A, s.b, nullptr, options));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A singular inconsistent system ends with a reason below zero and finite entries, whatever happens on the way.
static PetscErrorCode Inconsistent()
{
  constexpr PetscInt   n = 40;
  conformance::Builder b("two zero rows", n, n);
  System               s;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) b.Add(r, r, r < 2 ? 0 : 2 + r % 5).Add(r, (r + 3) % n, r < 2 ? 0 : -1);
  PetscCall(s.Create(b));
  PetscCall(VecSet(s.b, 1));
  for (const char *side : {"left", "right"}) {
    const Options options(std::string("-pc_type none -ksp_max_it 500 -ksp_rtol 1e-6 -ksp_pc_side ") + side);
    Outcome       ours;
    PetscReal     norm;
    PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &ours));
    PetscCall(VecNorm(ours.x, NORM_2, &norm));
    PetscCheck(ours.reason < 0 && !PetscIsInfOrNanReal(norm), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Reason %d, solution of norm %g", (int)ours.reason, (double)norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The true residual that is attained when rounding errors are all that is left is PETSc's, but for a factor that the
/// intermediate residuals of both decide.
static PetscErrorCode Accuracy()
{
  PetscFunctionBeginUser;
  if (sizeof(PetscReal) != sizeof(double)) return Skip("tolerances are of double precision");
  for (PetscReal flow : {0.05, 0.3, 0.9})
    for (const char *pc : {"none", "jacobi", "bjacobi"})
      for (const char *side : {"left", "right"}) {
        System        s;
        Outcome       ours, petsc;
        const Options options(std::string("-ksp_rtol 1e-30 -ksp_atol 1e-300 -ksp_max_it 300 -pc_type ") + pc +
                              " -ksp_pc_side " + side);
        PetscCall(s.Create(nonsymmetric::Convection(7, 11, 12, 13, flow, true)));
        PetscCall(SolveAs(KSPSPARSEGPUBCGS, s.A, s.b, nullptr, &ours));
        PetscCall(SolveAs(KSPBCGS, s.A, s.b, nullptr, &petsc));
        PetscCheck(petsc.residual <= 1e-12 * petsc.rhs, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "PETSc's bcgs has not converged: %g of %g", (double)petsc.residual, (double)petsc.rhs);
        PetscCheck(ours.residual <= 20 * petsc.residual, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "flow %g, %s, %s: true residual %g, PETSc's %g", (double)flow, pc, side, (double)ours.residual,
                   (double)petsc.residual);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices of other types, and matrices without entries of their own.
static PetscErrorCode OtherTypes()
{
  const Problem p = nonsymmetric::Convection(5, 15, 16, 1, 0.3, true);

  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATBAIJ, MATSHELL}) {
    System s;
    Mat    A;
    PetscCall(s.Create(p));
    if (!strcmp(type, MATSHELL)) {
      PetscCall(MatCreateTranspose(s.A, &A));
    } else {
      PetscCall(MatConvert(s.A, type, MAT_INITIAL_MATRIX, &A));
    }
    PetscCall(Compare(KSPSPARSEGPUBCGS, KSPBCGS, A, s.b, nullptr, "-pc_type none -ksp_rtol 1e-4"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// KSPSolveTranspose() solves with A^T.
static PetscErrorCode Transposed()
{
  System    s;
  PetscReal norm, rhs;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 15, 16, 1, 0.3, true)));
  for (const char *pc : {"none", "jacobi"})
    for (const char *side : {"left", "right"}) {
      const Options options(std::string("-ksp_rtol 1e-5 -pc_type ") + pc + " -ksp_pc_side " + side + " -ksp_type " +
                            KSPSPARSEGPUBCGS);
      KSP           ksp;
      Vec           x, r;
      PetscCall(VecDuplicate(s.b, &x));
      PetscCall(VecDuplicate(s.b, &r));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, s.A, s.A));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSolveTranspose(ksp, s.b, x));
      PetscCall(MatMultTranspose(s.A, x, r));
      PetscCall(VecAXPY(r, -1, s.b));
      PetscCall(VecNorm(r, NORM_2, &norm));
      PetscCall(VecNorm(s.b, NORM_2, &rhs));
      // the preconditioned norm is tested: the diagonal varies by less than ten
      PetscCheck(norm <= (PetscReal)1e-4 * rhs, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: residual %g of %g", pc, side,
                 (double)norm, (double)rhs);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&r));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(s.Create(nonsymmetric::Convection(5, 33, 30, 1, 0.3, true)));
  PetscCall(HostVector(s.A, &guess));
  PetscCall(HostVector(s.A, &b));
  PetscCall(KnownRhs(s.A, b));
  PetscCall(VecSet(guess, (PetscReal)0.5));
  for (const char *pc : {"none", "jacobi", "ilu"}) {
    const std::string options =
        std::string("-ksp_rtol 1e-4 -ksp_pc_side right -pc_factor_mat_solver_type sparsegpu -pc_type ") + pc;
    Outcome watched;
    Seen    seen;
    PetscCall(Compare(KSPSPARSEGPUBCGS, KSPBCGS, s.A, b, nullptr, options));
    PetscCall(Compare(KSPSPARSEGPUBCGS, KSPBCGS, s.A, b, guess, options));
    const Options type(options + " -ksp_type " + KSPSPARSEGPUBCGS); // comparisons clear the options they set
    PetscCall(SolveWith(s.A, b, nullptr, &watched, SetMonitor, &seen));
    PetscCheck(watched.reason > 0 && seen.calls == watched.iterations + 1 &&
                   seen.worst <= 1000 * seen.calls * PETSC_MACHINE_EPSILON,
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
  const Option type("-ksp_type", KSPSPARSEGPUBCGS), by_step("-ksp_sparsegpubcgs_persistent", "off");
  System       s;
  PetscBool    cuda;
  std::string  text;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 12, 11, 1, 0.3, true)));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)s.b, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(ViewText(s.A, PETSC_VIEWER_ASCII_INFO_DETAIL, "bcgs_matrix", &text));
  const std::string together = text.find("by peer memory") != std::string::npos
                                   ? "six or more kernels an iteration on each GPU"
                                   : "on vectors of PETSc";
  for (const char *pc : {"none", "jacobi", "bjacobi"}) {
    const std::string place = cuda ? "four kernels an iteration on the GPU" : "four passes an iteration on the host";
    const std::string more  = strcmp(pc, "bjacobi") ? "\n" : ", and the preconditioner\n";
    const std::string way   = cuda && PetscGlobalSize > 1 ? together : place + more;
    const Option      option("-pc_type", pc);
    bool              tells;
    PetscCall(ViewTells(s.A, s.b, "bcgs_view", way.c_str(), &tells));
    PetscCheck(tells || PetscGlobalRank > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "-pc_type %s: no \"%s\" in the view", pc,
               way.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A preconditioner of the user's is applied as often as in PETSc's bcgs, or once less: from the right the solution is
/// there without a last application.
static PetscErrorCode Applications()
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 25, 24, 1, 0.3, true)));
  for (const char *side : {"left", "right"})
    for (const char *more : {"", " -ksp_max_it 7", " -ksp_norm_type none -ksp_max_it 7"}) {
      const Options options(SameSteps() + " -ksp_pc_side " + side + more);
      Outcome       ours, petsc;
      PetscInt      count[2];
      PetscCall(SolveCounted(KSPSPARSEGPUBCGS, s.A, s.b, &ours, &count[0]));
      PetscCall(SolveCounted(KSPBCGS, s.A, s.b, &petsc, &count[1]));
      PetscCall(CheckSame(side, ours, petsc));
      const PetscInt extra = count[0] - 2 * ours.iterations, theirs = count[1] - 2 * petsc.iterations;
      PetscCheck(theirs - 1 <= extra && extra <= theirs, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %d applications in %d iterations, PETSc's %d in %d", side, (int)count[0], (int)ours.iterations,
                 (int)count[1], (int)petsc.iterations);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Lost()
{
  PetscFunctionBeginUser;
  PetscCall(CheckLost(KSPSPARSEGPUBCGS, nonsymmetric::Convection(5, 19, 21, 1, 0.3, true),
                      {"-pc_type jacobi", "-pc_type jacobi -ksp_initial_guess_nonzero",
                       "-pc_type jacobi -ksp_pc_side right", "-pc_type jacobi -ksp_monitor_true_residual :/dev/null",
                       "-pc_type none -ksp_norm_type none -ksp_max_it 5"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"breakdowns", Breakdowns},
               {"inconsistent", Inconsistent},
               {"accuracy", Accuracy},
               {"other_types", OtherTypes},
               {"transposed", Transposed},
               {"host_vectors", HostVectors},
               {"ways", Ways},
               {"lost", Lost},
               {"applications", Applications}});
}
