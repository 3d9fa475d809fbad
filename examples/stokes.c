/* A saddle point problem: Stokes' equations in a square cavity with a moving lid, on n^2 cells, velocities on their
 * sides and pressures in their middles (MAC grid): K u + B^T p = f, B u = 0. The preconditioner is block diagonal:
 * multigrid for K, and the mass of a cell, h^2, for the Schur complement B K^-1 B^T.
 *
 * On the CPU:
 *   $ ./stokes -n 32 -ksp_type minres -pc_type fieldsplit -fieldsplit_velocity_pc_type sparsegpuamg \
 *       -fieldsplit_pressure_pc_type jacobi -dll_append libsparsegpu.so -mat_type sparsegpu
 *   3008 unknowns, 45 iterations, kinetic energy 0.032666
 *   $ mpiexec -n 2 ./stokes -n 32 -ksp_type minres -pc_type fieldsplit -fieldsplit_velocity_pc_type gamg \
 *       -fieldsplit_pressure_pc_type jacobi -dll_append libsparsegpu.so -mat_type sparsegpu
 *   3008 unknowns, 49 iterations, kinetic energy 0.032666
 * On a GPU, with a PETSc that has CUDA: the first line with -n 500.
 */
#include <petscksp.h>

/* Numbers of the velocity through the left side of cell (i, j), 0 < i, the one through its lower side, 0 < j, and its
 * pressure. */
static PetscInt U(PetscInt n, PetscInt i, PetscInt j)
{
  return j * (n - 1) + i - 1;
}
static PetscInt V(PetscInt n, PetscInt i, PetscInt j)
{
  return n * (n - 1) + (j - 1) * n + i;
}
static PetscInt P(PetscInt n, PetscInt i, PetscInt j)
{
  return 2 * n * (n - 1) + j * n + i;
}

static PetscErrorCode Add(Mat A, PetscInt row, PetscInt column, PetscScalar value)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetValues(A, 1, &row, 1, &column, &value, ADD_VALUES));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Row of a velocity, times h^2. Across its direction a wall is half a cell away; the lid is such a wall, and moves. */
static PetscErrorCode VelocityRow(PetscInt n, PetscInt row, PetscBool isu, Mat A, Mat M, Vec b)
{
  const PetscInt local = isu ? row : row - n * (n - 1), i = isu ? local % (n - 1) + 1 : local % n;
  const PetscInt j     = isu ? local / (n - 1) : local / n + 1;
  const PetscInt di[4] = {-1, 1, 0, 0}, dj[4] = {0, 0, -1, 1};

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    const PetscInt  ni = i + di[k], nj = j + dj[k];
    const PetscBool across = (PetscBool)(isu ? k > 1 : k < 2),
                    inside = (PetscBool)(ni >= !!isu && ni < n && nj >= !isu && nj < n);
    for (int m = 0; m < 2; m++) {
      PetscCall(Add(m ? M : A, row, row, across && !inside ? 2 : 1));
      if (inside) PetscCall(Add(m ? M : A, row, isu ? U(n, ni, nj) : V(n, ni, nj), -1));
    }
    if (isu && nj == n) PetscCall(VecSetValue(b, row, 2, INSERT_VALUES));
  }
  PetscCall(Add(A, row, P(n, i, j), 1.0 / n));
  PetscCall(Add(A, row, isu ? P(n, i - 1, j) : P(n, i, j - 1), -1.0 / n));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode PressureRow(PetscInt n, PetscInt row, Mat A, Mat M)
{
  const PetscInt local = row - 2 * n * (n - 1), i = local % n, j = local / n;

  PetscFunctionBeginUser;
  if (i > 0) PetscCall(Add(A, row, U(n, i, j), 1.0 / n));
  if (i < n - 1) PetscCall(Add(A, row, U(n, i + 1, j), -1.0 / n));
  if (j > 0) PetscCall(Add(A, row, V(n, i, j), 1.0 / n));
  if (j < n - 1) PetscCall(Add(A, row, V(n, i, j + 1), -1.0 / n));
  PetscCall(Add(A, row, row, 0)); /* PETSc wants a diagonal */
  PetscCall(Add(M, row, row, 1.0 / (n * n)));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  Mat          A, M; /* the operator; what the preconditioner is made of */
  Vec          x, b, constant, energy;
  KSP          ksp;
  PC           pc;
  IS           velocity, pressure;
  MatNullSpace null;
  PetscInt     n = 32, all, velocities, begin, end, iterations;
  PetscReal    norm;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  velocities = 2 * n * (n - 1);
  all        = velocities + n * n;
  for (int m = 0; m < 2; m++) {
    Mat *which = m ? &M : &A;
    PetscCall(MatCreate(PETSC_COMM_WORLD, which));
    PetscCall(MatSetSizes(*which, PETSC_DECIDE, PETSC_DECIDE, all, all));
    PetscCall(MatSetFromOptions(*which)); /* -mat_type */
    PetscCall(MatSeqAIJSetPreallocation(*which, 7, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*which, 7, NULL, 7, NULL));
  }
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    if (row < velocities)
      PetscCall(VelocityRow(n, row, (PetscBool)(row < n * (n - 1)), A, M, b));
    else
      PetscCall(PressureRow(n, row, A, M));
  }
  for (int m = 0; m < 2; m++) {
    PetscCall(MatAssemblyBegin(m ? M : A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(m ? M : A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));

  /* The two fields; a constant pressure is no force. */
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, PetscMax(0, PetscMin(end, velocities) - begin), begin, 1, &velocity));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, PetscMax(0, end - PetscMax(begin, velocities)),
                           PetscMax(begin, velocities), 1, &pressure));
  PetscCall(VecDuplicate(x, &constant));
  PetscCall(VecISSet(constant, pressure, 1.0 / n));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &constant, &null));
  PetscCall(MatSetNullSpace(A, null));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, M));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCFIELDSPLIT));
  PetscCall(PCFieldSplitSetType(pc, PC_COMPOSITE_ADDITIVE));
  PetscCall(PCFieldSplitSetIS(pc, "velocity", velocity));
  PetscCall(PCFieldSplitSetIS(pc, "pressure", pressure));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(VecGetSubVector(x, velocity, &energy));
  PetscCall(VecNorm(energy, NORM_2, &norm));
  PetscCall(VecRestoreSubVector(x, velocity, &energy));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, kinetic energy %.6f\n", all,
                        iterations, (double)(norm * norm / (2 * n * n))));
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(VecDestroy(&constant));
  PetscCall(ISDestroy(&velocity));
  PetscCall(ISDestroy(&pressure));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&M));
  PetscCall(PetscFinalize());
  return 0;
}
