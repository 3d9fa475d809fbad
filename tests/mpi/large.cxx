static const char help[] =
    "A matrix of 27 points on a grid of -n x -n x (-planes a rank) nodes, small by default and as large as memory allows by\n"
    "hand: assembled from coordinates, multiplied, scaled, multiplied again and transposed, each entry of the products\n"
    "against the sum of its row. Row numbers, numbers of entries and bytes pass 2^31 where the grid is large.\n"
    "  -print: nonzeros, seconds and bytes on the GPU, and the view.\n\n";

#include <petsctime.h>
#include <cmath>
#include <cstdint>
#include "../family.hpp"

using namespace testing;

namespace
{
struct Grid {
  PetscInt n, planes, depth, first; ///< of this rank's rows: n * n * planes from `first` on

  PetscInt rows() const { return n * n * planes; }
  /// each(j) for the columns of row i, ascending.
  template <class Each> void ForRow(PetscInt i, Each each) const
  {
    const PetscInt x = i % n, y = i / n % n, z = i / n / n;
    for (PetscInt c = PetscMax(z - 1, 0); c <= PetscMin(z + 1, depth - 1); c++)
      for (PetscInt b = PetscMax(y - 1, 0); b <= PetscMin(y + 1, n - 1); b++)
        for (PetscInt a = PetscMax(x - 1, 0); a <= PetscMin(x + 1, n - 1); a++) each((c * n + b) * n + a);
  }
};

PetscReal Entry(PetscInt i, PetscInt j)
{
  const std::uint64_t kind = (static_cast<std::uint64_t>(i) * 31 + static_cast<std::uint64_t>(j) * 17) % 1021;
  return i == j ? PetscReal(60) : -1 - static_cast<PetscReal>(kind) / 1021;
}
PetscReal Unknown(PetscInt j)
{
  return 1 + static_cast<PetscReal>(j % 7) / 8;
}

PetscErrorCode ReadGrid(Grid *grid, PetscBool *print)
{
  PetscMPIInt rank, ranks;
  PetscInt    n = 9, planes = 5;

  PetscFunctionBeginUser;
  *print = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-planes", &planes, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-print", print, nullptr));
  const double most = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(planes) * ranks;
  PetscCheck(n > 0 && planes > 0 && most < static_cast<double>(PETSC_MAX_INT), PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "%g rows, of at most %" PetscInt_FMT, most, PETSC_MAX_INT);
  *grid = {n, planes, planes * ranks, n * n * planes * rank};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Assemble(const Grid &grid, Mat *A)
{
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> v;

  PetscFunctionBeginUser;
  PetscCallCXX(i.reserve(static_cast<size_t>(grid.rows()) * 27));
  PetscCallCXX(j.reserve(static_cast<size_t>(grid.rows()) * 27));
  for (PetscInt r = grid.first; r < grid.first + grid.rows(); r++)
    grid.ForRow(r, [&](PetscInt c) {
      i.push_back(r);
      j.push_back(c);
    });
  const PetscCount entries = static_cast<PetscCount>(i.size());
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, grid.rows(), grid.rows(), PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetPreallocationCOO(*A, entries, i.data(), j.data()));
  i = {};
  j = {};
  PetscCallCXX(v.reserve(static_cast<size_t>(entries)));
  for (PetscInt r = grid.first; r < grid.first + grid.rows(); r++)
    grid.ForRow(r, [&](PetscInt c) { v.push_back(Entry(r, c)); });
  PetscCall(MatSetValuesCOO(*A, v.data(), INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each entry of y against scale times the sum of its row of A, or of A^T.
PetscErrorCode Check(const Grid &grid, const char what[], PetscReal scale, bool transposed, Vec y)
{
  const PetscScalar *values;
  PetscInt           wrong = -1;
  PetscReal          error = 0, allowed = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &values));
  for (PetscInt r = grid.first; r < grid.first + grid.rows() && wrong < 0; r++) {
    PetscReal sum = 0, size = 0;
    grid.ForRow(r, [&](PetscInt c) {
      const PetscReal term = scale * (transposed ? Entry(c, r) : Entry(r, c)) * Unknown(c);
      sum += term;
      size += std::abs(term);
    });
    const PetscReal bound = 2 * 28 * PETSC_MACHINE_EPSILON * size; // two orders of 27 products, each scaled
    error                 = PetscAbsScalar(values[r - grid.first] - sum);
    if (!(error <= bound)) wrong = r, allowed = bound;
  }
  PetscCall(VecRestoreArrayRead(y, &values));
  PetscCheck(wrong < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, row %" PetscInt_FMT ": error %g > %g", what, wrong,
             (double)error, (double)allowed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Products()
{
  Grid             grid = {};
  Mat              A;
  Vec              x, y;
  PetscScalar     *values;
  PetscBool        print;
  PetscLogDouble   begin, assembled;
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(ReadGrid(&grid, &print));
  PetscCall(PetscTime(&begin));
  PetscCall(Assemble(grid, &A));
  PetscCall(PetscTime(&assembled));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt r = 0; r < grid.rows(); r++) values[r] = Unknown(grid.first + r);
  PetscCall(VecRestoreArrayWrite(x, &values));
  for (PetscInt k = 0; k < 3; k++) PetscCall(MatMult(A, x, y)); // conversions may come after some products
  PetscCall(Check(grid, "product", 1, false, y));
  PetscCall(MatScale(A, 2));
  PetscCall(MatMult(A, x, y));
  PetscCall(Check(grid, "product of new values", 2, false, y));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(Check(grid, "transposed product", 2, true, y));
  PetscCall(MatSparseGPUGetInfo(A, &info));
  if (print) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.0f nonzeros, %s, assembled in %.1f s, %.1f GB on the GPU of one rank\n",
                          (double)info.nonzeros, info.format, assembled - begin, info.bytes_device / 1e9));
    PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO_DETAIL));
    PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"products", Products}});
}
