static const char help[] = "KSPSPARSEGPUGMRES: applications of the preconditioner, and operators that change.\n\n";

#include "against_petsc.hpp"
#include "counted_shell.hpp"
#include "nonsymmetric.hpp"

using namespace testing;

/// A preconditioner of the user's is applied as often as in PETSc's gmres, wherever the vectors are: no step is
/// launched ahead of what is known of the one before.
static PetscErrorCode Applications()
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(s.Create(nonsymmetric::Convection(5, 125, 124, 1, 0.3, true)));
  for (const char *more : {"-ksp_pc_side left", "-ksp_pc_side right", "-ksp_gmres_restart 7", "-ksp_max_it 7",
                           "-ksp_norm_type none -ksp_max_it 7", "-ksp_gmres_cgs_refinement_type refine_always"}) {
    const Options options(std::string("-ksp_rtol 1e-3 ") + more);
    Outcome       ours, petsc;
    PetscInt      count[2];
    PetscCall(SolveCounted(KSPSPARSEGPUGMRES, s.A, s.b, &ours, &count[0]));
    PetscCall(SolveCounted(KSPGMRES, s.A, s.b, &petsc, &count[1]));
    PetscCall(CheckSame(more, ours, petsc));
    PetscCheck(count[0] - ours.iterations == count[1] - petsc.iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %d applications in %d iterations, PETSc's %d in %d", more, (int)count[0], (int)ours.iterations,
               (int)count[1], (int)petsc.iterations);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One KSP whose operator gets other values and another pattern between solves; each solve is that of a new KSP.
static PetscErrorCode Changed()
{
  KSP       ksp;
  PetscBool same;

  PetscFunctionBeginUser;
  for (const char *more : {"", " -ksp_sparsegpugmres_persistent off", " -ksp_sparsegpugmres_flexible"}) {
    const Options options(std::string("-pc_type jacobi -ksp_rtol 1e-5 -ksp_gmres_restart 9") + more);
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPSPARSEGPUGMRES));
    PetscCall(KSPSetFromOptions(ksp));
    for (int k = 0; k < 4; ++k) {
      System  s;
      Outcome alone;
      Vec     x;
      PetscCall(s.Create(k < 2 ? nonsymmetric::Convection(5, 20, 15, 1, 0.3, true)
                               : nonsymmetric::Convection(7, 10, 6, 5, 0.2, k == 3)));
      PetscCall(VecDuplicate(s.b, &x));
      if (k == 1) PetscCall(MatScale(s.A, 3));
      PetscCall(KSPSetOperators(ksp, s.A, s.A));
      for (int twice = 0; twice < 2; ++twice) {
        PetscCall(VecSet(x, 0));
        PetscCall(KSPSolve(ksp, s.b, x));
        PetscCall(SolveAs(KSPSPARSEGPUGMRES, s.A, s.b, nullptr, &alone));
        PetscCall(VecEqual(x, alone.x, &same));
        PetscCheck(same && alone.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Solve %d.%d%s: other bits than alone",
                   k, twice, more);
        PetscCall(VecDestroy(&alone.x));
        PetscCall(MatShift(s.A, 1));
      }
      PetscCall(VecDestroy(&x));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where ranks reach each other's memory no sum of an iteration goes through MPI, whatever the preconditioner.
static PetscErrorCode Sums()
{
  System s;

  PetscFunctionBeginUser;
  if (PetscGlobalSize == 1) return Skip("one process");
  PetscCall(s.Create(nonsymmetric::Convection(5, 31, 29, 1, 0.3, true)));
  for (const char *more : {"-pc_type jacobi", "-pc_type bjacobi", "-pc_type bjacobi -ksp_pc_side right",
                           "-pc_type bjacobi -ksp_sparsegpugmres_flexible", "-pc_type asm -ksp_gmres_restart 7"}) {
    PetscLogDouble sums[2];
    for (int more_steps : {0, 1}) { // after a solve that has set everything up
      const Options options(std::string("-ksp_rtol 1e-12 -ksp_max_it ") + (more_steps ? "26 " : "16 ") + more);
      KSP           ksp;
      Vec           x;
      PetscInt      iterations;
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetType(ksp, KSPSPARSEGPUGMRES));
      PetscCall(KSPSetOperators(ksp, s.A, s.A));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(VecDuplicate(s.b, &x));
      PetscCall(KSPSolve(ksp, s.b, x));
      PetscCall(VecSet(x, 0));
      const PetscLogDouble before = petsc_allreduce_ct;
      PetscCall(KSPSolve(ksp, s.b, x));
      sums[more_steps] = petsc_allreduce_ct - before;
      PetscCall(KSPGetIterationNumber(ksp, &iterations));
      PetscCheck(iterations == (more_steps ? 26 : 16), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %d iterations", more,
                 (int)iterations);
      PetscCall(VecDestroy(&x));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCheck(sums[0] == sums[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %g sums by MPI in 16 iterations, %g in 26",
               more, sums[0], sums[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"applications", Applications}, {"changed", Changed}, {"sums", Sums}});
}
