/* A nonlinear problem by Newton's method: -div grad u = lambda exp(u) in the unit square, u = 0 on its boundary
 * (Bratu's problem, the ignition of a solid), five-point differences on a DMDA. SNES calls Residual() and Jacobian();
 * the matrix that the DMDA makes is ours by -dm_mat_type.
 *
 * On the CPU:
 *   $ ./bratu -da_grid_x 65 -da_grid_y 65 -pc_type ilu -dll_append libsparsegpu.so -dm_mat_type sparsegpu
 *   4225 points, 4 Newton steps, 148 iterations, largest u 0.7971
 *   $ mpiexec -n 2 ./bratu -da_grid_x 65 -da_grid_y 65 -pc_type gamg -dll_append libsparsegpu.so -dm_mat_type sparsegpu
 *   4225 points, 5 Newton steps, 36 iterations, largest u 0.7971
 * On a GPU, with a PETSc that has CUDA:
 *   $ ./bratu -da_grid_x 1025 -da_grid_y 1025 -ksp_type sparsegpucg -pc_type sparsegpuamg -dll_append libsparsegpu.so \
 *       -dm_mat_type sparsegpu -dm_vec_type cuda
 */
#include <petscdmda.h>
#include <petscsnes.h>

/* f = -h^2 (div grad u + lambda exp(u)) in the owned part of the grid; u has ghost points. */
static PetscErrorCode Residual(DMDALocalInfo *grid, PetscScalar **u, PetscScalar **f, PetscReal *lambda)
{
  const PetscReal hx = 1.0 / (grid->mx - 1), hy = 1.0 / (grid->my - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = grid->ys; j < grid->ys + grid->ym; j++) {
    for (PetscInt i = grid->xs; i < grid->xs + grid->xm; i++) {
      if (i == 0 || j == 0 || i == grid->mx - 1 || j == grid->my - 1)
        f[j][i] = u[j][i];
      else
        f[j][i] = hy / hx * (2 * u[j][i] - u[j][i - 1] - u[j][i + 1]) +
                  hx / hy * (2 * u[j][i] - u[j - 1][i] - u[j + 1][i]) - hx * hy * *lambda * PetscExpScalar(u[j][i]);
    }
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Jacobian(DMDALocalInfo *grid, PetscScalar **u, Mat A, Mat P, PetscReal *lambda)
{
  const PetscReal hx = 1.0 / (grid->mx - 1), hy = 1.0 / (grid->my - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = grid->ys; j < grid->ys + grid->ym; j++) {
    for (PetscInt i = grid->xs; i < grid->xs + grid->xm; i++) {
      const MatStencil row       = {.j = j, .i = i};
      const MatStencil column[5] = {
          row, {.j = j, .i = i - 1}, {.j = j, .i = i + 1}, {.j = j - 1, .i = i}, {.j = j + 1, .i = i}};
      const PetscScalar inner    = 2 * hy / hx + 2 * hx / hy - hx * hy * *lambda * PetscExpScalar(u[j][i]);
      const PetscScalar value[5] = {inner, -hy / hx, -hy / hx, -hx / hy, -hx / hy}, one = 1;
      if (i == 0 || j == 0 || i == grid->mx - 1 || j == grid->my - 1) {
        PetscCall(MatSetValuesStencil(P, 1, &row, 1, column, &one, INSERT_VALUES));
      } else {
        PetscCall(MatSetValuesStencil(P, 1, &row, 5, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  DM        da;
  SNES      snes;
  Vec       u;
  PetscReal lambda = 6, largest;
  PetscInt  points, steps, iterations;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lambda", &lambda, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 65, 65, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da)); /* -dm_mat_type, -dm_vec_type */
  PetscCall(DMSetUp(da));
  PetscCall(DMDASNESSetFunctionLocal(da, INSERT_VALUES,
                                     (PetscErrorCode(*)(DMDALocalInfo *, void *, void *, void *))Residual, &lambda));
  PetscCall(
      DMDASNESSetJacobianLocal(da, (PetscErrorCode(*)(DMDALocalInfo *, void *, Mat, Mat, void *))Jacobian, &lambda));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, da));
  PetscCall(SNESSetFromOptions(snes)); /* -ksp_type, -pc_type */
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecSet(u, 0));
  PetscCall(SNESSolve(snes, NULL, u));

  PetscCall(VecGetSize(u, &points));
  PetscCall(SNESGetIterationNumber(snes, &steps));
  PetscCall(SNESGetLinearSolveIterations(snes, &iterations));
  PetscCall(VecNorm(u, NORM_INFINITY, &largest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " points, %" PetscInt_FMT " Newton steps, %" PetscInt_FMT
                        " iterations, largest u %.4f\n",
                        points, steps, iterations, (double)largest));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
