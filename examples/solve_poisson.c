/* Poisson's equation by five-point differences on m x n points, with whatever -mat_type, -ksp_type and -pc_type say:
 * the smallest whole program. The solution is one everywhere, so the error is known.
 *
 * On the CPU:
 *   $ ./solve_poisson -ksp_type sparsegpucg -pc_type jacobi -dll_append libsparsegpu.so -mat_type sparsegpu
 *   seqaijsparsegpu: 10000 unknowns, 147 iterations, error 6.498e-06
 * Without the plug-in:
 *   $ ./solve_poisson -ksp_type cg -pc_type jacobi
 *   seqaij: 10000 unknowns, 147 iterations, error 6.498e-06
 *   $ mpiexec -n 2 ./solve_poisson -ksp_type sparsegpucg -pc_type sparsegpuamg -dll_append libsparsegpu.so \
 *       -mat_type sparsegpu
 *   mpiaijsparsegpu: 10000 unknowns, 6 iterations, error 4.647e-06
 * On a GPU, with a PETSc that has CUDA: the first line with -m 1000 -n 1000.
 */
static char help[] =
    "Solves the 5-point Poisson problem on an m x n grid with whatever -mat_type, -ksp_type and -pc_type say.\n"
    "The program knows nothing of sparsegpu: -dll_append libsparsegpu.so -mat_type sparsegpu brings it in.\n"
    "  -m, -n: points in each direction (100)\n\n";

#include <petscksp.h>

int main(int argc, char **argv)
{
  Mat         A;
  Vec         x, b, exact;
  KSP         ksp;
  PetscInt    m = 100, n = 100, begin, end, its;
  PetscReal   error, norm;
  const char *type;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-m", &m, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));

  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, m * n, m * n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt i = row / n, j   = row % n;
    PetscInt       column[5], count = 0;
    PetscScalar    value[5];

    if (i > 0) column[count++] = row - n;
    if (j > 0) column[count++] = row - 1;
    if (j < n - 1) column[count++] = row + 1;
    if (i < m - 1) column[count++] = row + n;
    for (PetscInt k = 0; k < count; k++) value[k] = -1;
    column[count]  = row;
    value[count++] = 4;
    PetscCall(MatSetValues(A, 1, &row, count, column, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));

  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecSet(exact, 1));
  PetscCall(MatMult(A, exact, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecNorm(exact, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, error %.3e\n",
                        type, m * n, its, (double)(error / norm)));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
