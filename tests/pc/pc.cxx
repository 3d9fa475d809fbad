static const char help[] =
    "PCSPARSEGPU under KSP: the iterations of PETSc's block Jacobi with ILU, in parallel, too.\n\n";

#include "../family.hpp"

using namespace testing;

/// Solves with the options that are set; PETSc's own factors if `native`. A second solve has new values.
static PetscErrorCode Solve(const Problem &p, Layout layout, bool native, PetscInt iterations[2],
                            KSPConvergedReason reason[2])
{
  const Option type("-pc_type", native ? PCBJACOBI : PCSPARSEGPU);
  Mat          A;
  Vec          x, b;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, layout, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-7, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; ++round) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[round]));
    PetscCall(KSPGetConvergedReason(ksp, &reason[round]));
    PetscCall(MatShift(A, (PetscReal)0.5));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterations()
{
  const Problem p = battery::Grid("grid_40x37", 40, 37, false);
  const Option  ordering("-pc_sparsegpu_ordering", MATORDERINGNATURAL);

  PetscFunctionBeginUser;
  for (const char *levels : {"0", "2"})
    for (const char *ksp : {KSPGMRES, KSPBICG}) // the latter applies the transpose
      for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
        if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
        const Option       ours_levels("-pc_sparsegpu_levels", levels), levels_of_sub("-sub_pc_factor_levels", levels);
        const Option       method("-ksp_type", ksp);
        const std::string  what = std::string(ksp) + ", ILU(" + levels + "), " + Name(layout);
        PetscInt           ours[2], petsc[2];
        KSPConvergedReason reason[2];
        PetscCall(Solve(p, layout, false, ours, reason));
        for (int round = 0; round < 2; ++round)
          PetscCheck(reason[round] > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: reason %d", what.c_str(),
                     (int)reason[round]);
        PetscCall(Solve(p, layout, true, petsc, reason));
        for (int round = 0; round < 2; ++round)
          PetscCheck(std::abs(ours[round] - petsc[round]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                     "%s: %d iterations, block Jacobi takes %d", what.c_str(), (int)ours[round], (int)petsc[round]);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The orderings change the path, not the place: all converge.
static PetscErrorCode Orderings()
{
  const Problem p = battery::Grid("grid_40x37", 40, 37, true);

  PetscFunctionBeginUser;
  for (const char *name : {"", MATORDERINGABMC, MATORDERINGRCM}) {
    const Option       ordering(*name ? "-pc_sparsegpu_ordering" : "-no_option_of_ours", *name ? name : "1");
    PetscInt           iterations[2];
    KSPConvergedReason reason[2];
    PetscCall(Solve(p, Layout::Even, false, iterations, reason));
    PetscCheck(reason[0] > 0 && reason[1] > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: reasons %d, %d", name,
               (int)reason[0], (int)reason[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A zero pivot ends the solve with the reason PETSc's users know; the next values are a new chance.
static PetscErrorCode ZeroPivot()
{
  const Option       method("-ksp_type", KSPRICHARDSON); // PETSc's GMRES takes the failed solution for its next guess
  battery::Builder   b("zero_pivot", 50, 50);
  PetscInt           iterations[2];
  KSPConvergedReason reason[2];

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 50; ++r) b.Add(r, r, r == 49 ? 0 : 2);
  PetscCall(Solve(b, Layout::Even, false, iterations, reason));
  PetscCheck(reason[0] == KSP_DIVERGED_PC_FAILED, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %d", (int)reason[0]);
  PetscCheck(reason[1] > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "After the shift: reason %d", (int)reason[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"iterations", Iterations}, {"orderings", Orderings}, {"zero_pivot", ZeroPivot}});
}
