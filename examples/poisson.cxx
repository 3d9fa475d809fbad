/* Poisson's equation in C++: -div grad u = f in the unit cube, u = 0 on its surface, seven-point differences on n^3
 * inner points. f belongs to u = sin(pi x) sin(pi y) sin(pi z), so the error of the differences is known and printed.
 *
 * On the CPU:
 *   $ mpiexec -n 2 ./poisson -n 31 -ksp_type cg -pc_type gamg -dll_append libsparsegpu.so -mat_type sparsegpu
 *   29791 unknowns, 6 iterations, error 8.02e-04
 *   $ ./poisson -n 31 -ksp_type sparsegpucg -pc_type sparsegpuamg -dll_append libsparsegpu.so -mat_type sparsegpu
 *   29791 unknowns, 5 iterations, error 7.95e-04
 * On a GPU, with a PETSc that has CUDA:
 *   $ ./poisson -n 200 -ksp_type sparsegpucg -pc_type sparsegpuamg -dll_append libsparsegpu.so -mat_type sparsegpu
 */
#include <petscksp.h>

#include <array>
#include <cmath>
#include <vector>

namespace
{

struct Grid {
  PetscInt n; // inner points in each direction

  PetscReal Spacing() const { return PetscReal(1) / (n + 1); }
  PetscInt  Size() const { return n * n * n; }
  // Point of a row: x runs fastest.
  std::array<PetscInt, 3> Point(PetscInt row) const { return {row % n, row / n % n, row / (n * n)}; }
  PetscReal               Exact(PetscInt row) const
  {
    PetscReal product = 1;
    for (PetscInt i : Point(row)) product *= std::sin(PETSC_PI * (i + 1) * Spacing());
    return product;
  }
};

PetscErrorCode Assemble(const Grid &grid, Mat A)
{
  const std::array<PetscInt, 3> stride{1, grid.n, grid.n * grid.n};
  PetscInt                      begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const auto               point = grid.Point(row);
    std::vector<PetscInt>    columns{row};
    std::vector<PetscScalar> values{6};
    for (int d = 0; d < 3; d++) {
      if (point[d] > 0) columns.push_back(row - stride[d]);
      if (point[d] < grid.n - 1) columns.push_back(row + stride[d]);
    }
    values.resize(columns.size(), -1);
    PetscCall(MatSetValues(A, 1, &row, PetscInt(columns.size()), columns.data(), values.data(), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

int main(int argc, char **argv)
{
  Grid      grid{31};
  Mat       A;
  Vec       x, b, exact;
  KSP       ksp;
  PetscInt  begin, end, iterations;
  PetscReal error;

  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &grid.n, nullptr));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, grid.Size(), grid.Size()));
  PetscCall(MatSetFromOptions(A)); // -mat_type
  PetscCall(MatSeqAIJSetPreallocation(A, 7, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(A, 7, nullptr, 7, nullptr));
  PetscCall(Assemble(grid, A));

  PetscCall(MatCreateVecs(A, &x, &b)); // vectors live where the matrix does
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecGetOwnershipRange(exact, &begin, &end));
  for (PetscInt row = begin; row < end; row++) PetscCall(VecSetValue(exact, row, grid.Exact(row), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(exact));
  PetscCall(VecAssemblyEnd(exact));
  // h^2 f with f = 3 pi^2 u
  PetscCall(VecCopy(exact, b));
  PetscCall(VecScale(b, 3 * PETSC_PI * PETSC_PI * grid.Spacing() * grid.Spacing()));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp)); // -ksp_type, -pc_type
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, error %.2e\n",
                        grid.Size(), iterations, double(error)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
