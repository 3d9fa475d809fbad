static const char help[] =
    "Several matrices on several communicators at once, and many of them one after the other.\n\n";

#include "../family.hpp"

using namespace testing;

/// World, halves of it, and self: products in turn, in every format, then destruction in another order.
static PetscErrorCode Together()
{
  const Problem p = conformance::Grid("grid_14x9", 14, 9, false),
                q = conformance::Banded("bands_70", 70, 40, {-33, 0, 5});
  std::vector<std::string> formats;
  MPI_Comm                 half;
  std::vector<Mat>         grid, bands;

  PetscFunctionBeginUser;
  PetscCallMPI(
      MPI_Comm_split(PETSC_COMM_WORLD, PetscGlobalRank % 2, -PetscGlobalRank, &half)); // ranks in reverse order
  PetscCall(Formats(&formats));
  for (const std::string &format : formats)
    for (MPI_Comm comm : {PETSC_COMM_WORLD, half, PETSC_COMM_SELF}) {
      Mat A, B;
      PetscCall(CreateMatrix(comm, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
      PetscCall(CreateMatrix(comm, q, MATSPARSEGPU, format.c_str(), Layout::FirstEmpty, &B));
      grid.push_back(A);
      bands.push_back(B);
    }
  for (int times = 0; times < 2; ++times)
    for (size_t k = 0; k < grid.size(); ++k) {
      PetscCall(CheckProducts(grid[k], p, "grid " + std::to_string(k)));
      PetscCall(CheckProducts(bands[grid.size() - 1 - k], q, "bands " + std::to_string(k)));
    }
  for (Mat &A : grid) PetscCall(MatDestroy(&A));
  for (size_t k = 0; k < bands.size(); ++k) PetscCall(CheckProducts(bands[k], q, "bands, the grids gone"));
  while (!bands.empty()) {
    PetscCall(MatDestroy(&bands.back()));
    bands.pop_back();
  }
  PetscCallMPI(MPI_Comm_free(&half));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The memory that PETSc's logged objects hold after `times` matrices is that after a few: nothing piles up.
static PetscErrorCode Repeated()
{
  const Problem  p       = conformance::Grid("grid_9x8", 9, 8, false);
  PetscLogDouble held[2] = {0, 0};

  PetscFunctionBeginUser;
  for (int times = 0; times < 60; ++times) {
    MPI_Comm comm;
    Mat      A, B;
    PetscCallMPI(MPI_Comm_dup(PETSC_COMM_WORLD, &comm));
    PetscCall(CreateMatrix(comm, p, MATSPARSEGPU, times % 2 ? "hyb" : "dia", Layout::Even, &A));
    PetscCall(CheckOneProduct(A, p, Op::Plain, Poison::None, VECSTANDARD, VECSTANDARD, "repeated"));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatConvert(B, MATSPARSEGPU, MAT_INPLACE_MATRIX, &B));
    PetscCall(CheckOneProduct(B, p, Op::Transpose, Poison::None, VECSTANDARD, VECSTANDARD, "repeated"));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCallMPI(MPI_Comm_free(&comm));
    if (times == 9) PetscCall(PetscMallocGetCurrentUsage(&held[0])); // 0 where PETSc does not count; valgrind does
  }
  PetscCall(PetscMallocGetCurrentUsage(&held[1]));
  PetscCheck(held[1] <= held[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes held after 60 rounds, %g after 10", held[1],
             held[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"together", Together}, {"repeated", Repeated}});
}
