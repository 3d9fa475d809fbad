/* Eigenvalues inside the spectrum by SLEPc: those of the five-point Laplacian of a rectangle, n x (n + 1) points, next
 * to a target. Shift-and-invert factors A - target I once and solves with the factors in each step: here with our LU.
 *
 * On the CPU:
 *   $ ./eigenvalues -n 40 -eps_nev 3 -eps_target 1.01 -st_type sinvert -st_pc_type lu \
 *       -st_pc_factor_mat_solver_type sparsegpu -dll_append libsparsegpu.so -mat_type sparsegpu
 *   3 eigenvalues next to 1.01: 1.00586840 1.00379580 1.01687105
 * Without the plug-in, by PETSc's LU, which exchanges no rows: with -eps_target 1.0 it meets a zero pivot.
 *   $ ./eigenvalues -n 40 -eps_nev 3 -eps_target 1.01 -st_type sinvert -st_pc_type lu
 *   3 eigenvalues next to 1.01: 1.00586840 1.00379580 1.01687105
 * With Cholesky factors, whose inertia counts eigenvalues below a shift, all of an interval (spectrum slicing):
 *   $ ./eigenvalues -n 40 -eps_all -eps_interval 0.99,1.02 -st_type sinvert -st_pc_type cholesky \
 *       -st_pc_factor_mat_solver_type sparsegpu -dll_append libsparsegpu.so -mat_type sparsegpu
 *   7 eigenvalues from 0.99 to 1.02: 0.99091790 0.99529385 1.00171929 1.00379580 1.00586840 1.01687105 1.01835498
 * On a GPU, with a PETSc that has CUDA: the first line with -n 500.
 */
#include <slepceps.h>

static PetscErrorCode Assemble(PetscInt nx, PetscInt ny, Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt x = row % nx, y = row / nx;
    PetscCall(MatSetValue(A, row, row, 4, INSERT_VALUES));
    if (x > 0) PetscCall(MatSetValue(A, row, row - 1, -1, INSERT_VALUES));
    if (x < nx - 1) PetscCall(MatSetValue(A, row, row + 1, -1, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(A, row, row - nx, -1, INSERT_VALUES));
    if (y < ny - 1) PetscCall(MatSetValue(A, row, row + nx, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  Mat         A;
  EPS         eps;
  PetscInt    n = 40, found, wanted;
  PetscReal   from, to;
  PetscScalar target;

  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * (n + 1), n * (n + 1)));
  PetscCall(MatSetFromOptions(A)); /* -mat_type */
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
  PetscCall(Assemble(n, n + 1, A));

  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
  PetscCall(EPSSetFromOptions(eps)); /* -eps_nev, -eps_target, -st_type, -st_pc_type ... */
  PetscCall(EPSSolve(eps));

  PetscCall(EPSGetConverged(eps, &found));
  PetscCall(EPSGetDimensions(eps, &wanted, NULL, NULL));
  PetscCall(EPSGetTarget(eps, &target));
  PetscCall(EPSGetInterval(eps, &from, &to)); /* both 0: none */
  if (from < to)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " eigenvalues from %.2f to %.2f:", found, (double)from,
                          (double)to));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " eigenvalues next to %.2f:", PetscMin(found, wanted),
                          (double)PetscRealPart(target)));
  for (PetscInt k = 0; k < (from < to ? found : PetscMin(found, wanted)); k++) {
    PetscScalar value;
    PetscCall(EPSGetEigenvalue(eps, k, &value, NULL));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %.8f", (double)PetscRealPart(value)));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscCall(SlepcFinalize());
  return 0;
}
