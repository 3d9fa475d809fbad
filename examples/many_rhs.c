/* Many right-hand sides at once: the resistances between electrodes on a square sheet of n x n nodes, whose edges are
 * resistors of one ohm and whose nodes leak a little to ground. KSPMatSolve() solves A X = B with one column for each
 * electrode, where a unit current goes in; X at the electrodes is their resistance matrix, which is symmetric.
 * With -ksp_type preonly -pc_type lu all columns are solved together.
 *
 * On the CPU:
 *   $ ./many_rhs -n 60 -electrodes 6 -ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu \
 *       -dll_append libsparsegpu.so -mat_type sparsegpu
 *   3600 nodes, 6 electrodes: resistance 2.52724 of the first, 0.22195 between first and last, symmetric: yes
 *   $ mpiexec -n 2 ./many_rhs -n 60 -electrodes 6 -ksp_type cg -ksp_rtol 1e-12 -pc_type gamg \
 *       -dll_append libsparsegpu.so -mat_type sparsegpu
 *   3600 nodes, 6 electrodes: resistance 2.52724 of the first, 0.22195 between first and last, symmetric: yes
 * On a GPU, with a PETSc that has CUDA: the first line with -n 700 -electrodes 32.
 */
#include <petscksp.h>

static PetscErrorCode Assemble(PetscInt n, Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt  x = row % n, y = row / n, column[4] = {row - 1, row + 1, row - n, row + n};
    const PetscBool edge[4] = {(PetscBool)(x > 0), (PetscBool)(x < n - 1), (PetscBool)(y > 0), (PetscBool)(y < n - 1)};
    PetscScalar     sum     = 1e-3; /* to ground */
    for (int k = 0; k < 4; k++) {
      if (!edge[k]) continue;
      PetscCall(MatSetValue(A, row, column[k], -1, INSERT_VALUES));
      sum += 1;
    }
    PetscCall(MatSetValue(A, row, row, sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  Mat         A, B, X, R;
  KSP         ksp;
  PetscInt    n = 60, electrodes = 6, rows;
  PetscScalar first = 0, between = 0, here[2] = {0, 0}, sum[2];
  PetscReal   asymmetry, size;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-electrodes", &electrodes, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(A)); /* -mat_type */
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
  PetscCall(Assemble(n, A));

  /* Column k of B: a unit current into electrode k, at node (7 k, 5 k). */
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, n * n, electrodes, NULL, &B));
  for (PetscInt k = 0; k < electrodes; k++) {
    const PetscInt node = 5 * k % n * n + 7 * k % n;
    PetscInt       begin, end;
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    if (node >= begin && node < end) PetscCall(MatSetValue(B, node, k, 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp)); /* -ksp_type, -pc_type */
  PetscCall(KSPMatSolve(ksp, B, X));

  PetscCall(MatTransposeMatMult(B, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R)); /* the resistances */
  {
    Mat      T;
    PetscInt begin, end, row = 0, columns[2] = {0, electrodes - 1};
    PetscCall(MatTranspose(R, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatAXPY(T, -1, R, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(T, NORM_FROBENIUS, &asymmetry));
    PetscCall(MatNorm(R, NORM_FROBENIUS, &size));
    PetscCall(MatDestroy(&T));
    PetscCall(MatGetOwnershipRange(R, &begin, &end));
    if (begin == 0 && end > 0) PetscCall(MatGetValues(R, 1, &row, 2, columns, here));
    PetscCallMPI(MPI_Allreduce(here, sum, 2, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
    first   = sum[0];
    between = sum[1];
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " nodes, %" PetscInt_FMT
                        " electrodes: resistance %.5f of the first, %.5f between "
                        "first and last, symmetric: %s\n",
                        n * n, electrodes, (double)PetscRealPart(first), (double)PetscRealPart(between),
                        asymmetry < 1e-10 * size ? "yes" : "no"));
  PetscCall(MatDestroy(&R));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
