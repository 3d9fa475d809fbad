/* The heat equation with a conductivity that changes in time, du/dt = k(t) div grad u in the unit square, u = 0 on its
 * boundary, k(t) = 1 + sin(10 t)^2; backward Euler, so each step solves (I + dt k L) u_new = u_old with new values in
 * the same pattern. MatSetPreallocationCOO() names the places of the values once, MatSetValuesCOO() gives the values of
 * each step. This program computes them on the host, from where they are copied to the GPU and summed up there. A
 * program that computes them in a kernel gives MatSetValuesCOO() the GPU's array instead, and nothing is copied. The
 * first sine wave is an eigenvector of L, so what is left of it after some steps is known.
 *
 * On the CPU:
 *   $ ./heat_coo -steps 20 -ksp_type cg -pc_type jacobi -dll_append libsparsegpu.so -mat_type sparsegpu
 *   20 steps, 20 iterations, amplitude 0.09132, expected 0.09132
 *   $ mpiexec -n 3 ./heat_coo -steps 20 -ksp_type cg -pc_type gamg -dll_append libsparsegpu.so -mat_type sparsegpu
 *   20 steps, 180 iterations, amplitude 0.09132, expected 0.09132
 * On a GPU, with a PETSc that has CUDA:
 *   $ ./heat_coo -n 1000 -ksp_type sparsegpucg -pc_type jacobi -dll_append libsparsegpu.so -mat_type sparsegpu
 */
#include <petscksp.h>

/* Rows begin to end of the five-point differences, entry by entry; value is NULL when only the places are asked for. */
static PetscCount Entries(PetscInt n, PetscInt begin, PetscInt end, PetscReal weight, PetscInt *i, PetscInt *j,
                          PetscScalar *value)
{
  PetscCount count = 0;
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt  x = row % n, y = row / n;
    const PetscInt  column[5] = {row, row - 1, row + 1, row - n, row + n};
    const PetscBool inside[5] = {PETSC_TRUE, (PetscBool)(x > 0), (PetscBool)(x < n - 1), (PetscBool)(y > 0),
                                 (PetscBool)(y < n - 1)};
    for (int k = 0; k < 5; k++) {
      if (!inside[k]) continue;
      if (value) {
        value[count] = k ? -weight : 1 + 4 * weight;
      } else {
        i[count] = row;
        j[count] = column[k];
      }
      count++;
    }
  }
  return count;
}

int main(int argc, char **argv)
{
  Mat          A;
  Vec          u;
  KSP          ksp;
  PetscInt     n = 63, steps = 20, begin, end, iterations, all = 0, *i, *j;
  PetscReal    dt = 0.005, h, eigenvalue, expected = 1, amplitude;
  PetscScalar *value;
  PetscCount   count;
  PetscLayout  rows;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  h          = 1.0 / (n + 1);
  eigenvalue = 8 / (h * h) * PetscSqr(PetscSinReal(PETSC_PI * h / 2));

  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(A)); /* -mat_type */
  PetscCall(MatGetLayouts(A, &rows, NULL));
  PetscCall(PetscLayoutSetUp(rows)); /* the rows of this rank are wanted before there is a pattern */
  PetscCall(PetscLayoutGetRange(rows, &begin, &end));
  PetscCall(PetscMalloc3(5 * (end - begin), &i, 5 * (end - begin), &j, 5 * (end - begin), &value));
  count = Entries(n, begin, end, 0, i, j, NULL);
  PetscCall(MatSetPreallocationCOO(A, count, i, j));

  PetscCall(MatCreateVecs(A, &u, NULL)); /* a vector that lives where the matrix does */
  for (PetscInt row = begin; row < end; row++)
    PetscCall(VecSetValue(u, row,
                          PetscSinReal(PETSC_PI * h * (row % n + 1)) * PetscSinReal(PETSC_PI * h * (row / n + 1)),
                          INSERT_VALUES));
  PetscCall(VecAssemblyBegin(u));
  PetscCall(VecAssemblyEnd(u));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp)); /* -ksp_type, -pc_type */
  for (PetscInt step = 1; step <= steps; step++) {
    const PetscReal k = 1 + PetscSqr(PetscSinReal(10 * step * dt));
    Entries(n, begin, end, dt * k / (h * h), NULL, NULL, value);
    PetscCall(MatSetValuesCOO(A, value, INSERT_VALUES));
    PetscCall(KSPSolve(ksp, u, u)); /* in place */
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    all += iterations;
    expected /= 1 + dt * k * eigenvalue;
  }
  PetscCall(VecNorm(u, NORM_INFINITY, &amplitude));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " steps, %" PetscInt_FMT " iterations, amplitude %.5f, expected %.5f\n", steps,
                        all, (double)amplitude, (double)expected));
  PetscCall(PetscFree3(i, j, value));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
