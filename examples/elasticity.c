/* Linear elasticity by multigrid: a cantilever in plane stress, 4 x 1, held at its left end, under its own weight;
 * bilinear square elements on a DMDA with two unknowns a node. Algebraic multigrid needs the rigid body modes: they are
 * made from the coordinates and attached to the matrix as its near null space.
 *
 * On the CPU:
 *   $ ./elasticity -elements 32 -ksp_type cg -pc_type sparsegpuamg -dll_append libsparsegpu.so -dm_mat_type sparsegpu
 *   8514 unknowns, 10 iterations, the end sinks by 406.3
 *   $ mpiexec -n 2 ./elasticity -elements 32 -ksp_type cg -pc_type gamg \
 *       -dll_append libsparsegpu.so -dm_mat_type sparsegpu
 *   8514 unknowns, 13 iterations, the end sinks by 406.3
 * On a GPU, with a PETSc that has CUDA:
 *   $ ./elasticity -elements 500 -ksp_type cg -pc_type sparsegpuamg \
 *       -dll_append libsparsegpu.so -dm_mat_type sparsegpu -dm_vec_type cuda
 */
#include <petscdmda.h>
#include <petscksp.h>

/* Stiffness of a square element in plane stress, Young's modulus 1, Poisson's ratio 0.3; nodes counter-clockwise. */
static void Stiffness(PetscScalar K[8][8])
{
  const PetscReal nu   = 0.3;
  const PetscReal k[8] = {
      1.0 / 2 - nu / 6,  1.0 / 8 + nu / 8, -1.0 / 4 - nu / 12,  -1.0 / 8 + 3 * nu / 8, -1.0 / 4 + nu / 12,
      -1.0 / 8 - nu / 8, nu / 6,           1.0 / 8 - 3 * nu / 8};
  const int which[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 7, 6, 5, 4, 3, 2}, {2, 7, 0, 5, 6, 3, 4, 1},
                           {3, 6, 5, 0, 7, 2, 1, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 3, 2, 1, 0, 7, 6},
                           {6, 3, 4, 1, 2, 7, 0, 5}, {7, 2, 1, 4, 3, 6, 5, 0}};
  for (int r = 0; r < 8; r++)
    for (int c = 0; c < 8; c++) K[r][c] = k[which[r][c]] / (1 - nu * nu);
}

/* Adds up the elements, each by the rank that owns its lower left node; both unknowns of the left end are held. */
static PetscErrorCode Assemble(DM da, Mat A, Vec b)
{
  DMDALocalInfo  grid;
  PetscScalar    K[8][8], ***load;
  const PetscInt di[4] = {0, 1, 1, 0}, dj[4] = {0, 0, 1, 1};

  PetscFunctionBeginUser;
  Stiffness(K);
  PetscCall(DMDAGetLocalInfo(da, &grid));
  for (PetscInt j = grid.ys; j < PetscMin(grid.ys + grid.ym, grid.my - 1); j++) {
    for (PetscInt i = grid.xs; i < PetscMin(grid.xs + grid.xm, grid.mx - 1); i++) {
      MatStencil  node[8];
      PetscScalar value[8][8];
      for (int a = 0; a < 8; a++) node[a] = (MatStencil){.j = j + dj[a / 2], .i = i + di[a / 2], .c = a % 2};
      for (int a = 0; a < 8; a++)
        for (int c = 0; c < 8; c++)
          value[a][c] = node[a].i && node[c].i ? K[a][c] : (a == c ? 0.5 : 0); /* of one or two elements */
      PetscCall(MatSetValuesStencil(A, 8, node, 8, node, &value[0][0], ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMDAVecGetArrayDOF(da, b, &load));
  for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++)
    for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
      const PetscReal area = (i == grid.mx - 1 ? 0.5 : 1) * (j == 0 || j == grid.my - 1 ? 0.5 : 1); /* of the node */
      load[j][i][0]        = 0;
      load[j][i][1]        = i == 0 ? 0 : -area / PetscSqr(grid.my - 1);
    }
  PetscCall(DMDAVecRestoreArrayDOF(da, b, &load));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  DM           da;
  Mat          A;
  Vec          x, b, coordinates;
  KSP          ksp;
  MatNullSpace rigid;
  PetscInt     elements = 32, unknowns, iterations;
  PetscReal    sunk;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-elements", &elements, NULL)); /* across the height */
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 4 * elements + 1,
                         elements + 1, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da)); /* -dm_mat_type, -dm_vec_type */
  PetscCall(DMSetUp(da));
  PetscCall(DMDASetUniformCoordinates(da, 0, 4, 0, 1, 0, 0));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(Assemble(da, A, b));
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &rigid));
  PetscCall(MatSetNearNullSpace(A, rigid));
  PetscCall(MatNullSpaceDestroy(&rigid));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp)); /* -ksp_type, -pc_type */
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(VecGetSize(x, &unknowns));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(VecNorm(x, NORM_INFINITY, &sunk));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, the end sinks by %.1f\n", unknowns,
                        iterations, (double)sunk));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
