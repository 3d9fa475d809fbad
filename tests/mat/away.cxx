static const char help[] =
    "Values that are newest on the device are copied to the host when they are read, and only then.\n\n";

#include "../family.hpp"
#include "../device_array.hpp"

using namespace testing;

/// With -sparsegpu_test_away a product leaves NaN in the host's array, and a reader finds the values again.
static PetscErrorCode Hidden()
{
  const Problem      p = conformance::Grid("grid", 20, 20, false);
  const PetscScalar *a, *read;
  PetscScalar        first;
  PetscReal          norm, again;
  Mat                A;
  Vec                x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, "csr", &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatNorm(A, NORM_1, &norm));
  PetscCall(MatSeqAIJGetArrayRead(A, &read));
  a     = read;
  first = a[0];
  PetscCall(MatSeqAIJRestoreArrayRead(A, &read));
  for (int round = 0; round < 3; ++round) {
    PetscCall(MatMult(A, x, y));
    PetscCheck(a[0] != a[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host's array has its values: they never went away");
    PetscCall(MatNorm(A, NORM_1, &again)); // of columns: the host's
    PetscCheck(a[0] == first && again == norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatNorm() %g is not %g", (double)again,
               (double)norm);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
/// A matrix of ours that takes values for the entries of p, in their order.
static PetscErrorCode CreateByCoordinates(const Problem &p, Mat *A)
{
  std::vector<PetscInt> i, j;

  PetscFunctionBeginUser;
  for (const conformance::Entry &e : p.entries) {
    i.push_back(e.i);
    j.push_back(e.j);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, p.rows, p.cols, p.rows, p.cols));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetPreallocationCOO(*A, (PetscCount)i.size(), i.data(), j.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// MatSetValuesCOO() from device memory and products copy no values; the first reader on the host does, once.
static PetscErrorCode Device()
{
#if defined(PETSC_HAVE_CUDA)
  const Problem p = conformance::Grid("grid", 100, 100, false);
  PetscBool     device;
  PetscReal     norm;
  Mat           A;
  Vec           x, y;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ScalarArray values(std::vector<PetscScalar>(p.entries.size(), 1), true);
  PetscCall(CreateByCoordinates(p, &A));
  PetscCall(MatSetValuesCOO(A, values.Get(), INSERT_VALUES));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (int round = 0; round < 20; ++round) PetscCall(MatMult(A, x, y)); // past a conversion that waited
  PetscCall(PetscLogDefaultBegin());
  const PetscLogDouble before = petsc_gtoc_ct + petsc_ctog_ct;
  for (int round = 0; round < 5; ++round) {
    PetscCall(MatSetValuesCOO(A, values.Get(), round ? ADD_VALUES : INSERT_VALUES));
    PetscCall(MatMult(A, x, y));
  }
  PetscCheck(petsc_gtoc_ct + petsc_ctog_ct == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Five assemblies make %g copies",
             petsc_gtoc_ct + petsc_ctog_ct - before);
  PetscCall(MatNorm(A, NORM_1, &norm));
  PetscCall(MatNorm(A, NORM_1, &norm));
  PetscCheck(petsc_gtoc_ct == before - petsc_ctog_ct + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Two norms make %g copies",
             petsc_gtoc_ct + petsc_ctog_ct - before);
  PetscCheck(norm == 25, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The norm is %g, not 25", (double)norm); // 5 entries of 5
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
#else
  PetscFunctionBeginUser;
  PetscCall(Skip("PETSc has no CUDA"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A time loop: assembled again, shifted, scaled and added to on the device, multiplied: nothing is copied.
static PetscErrorCode Loop()
{
#if defined(PETSC_HAVE_CUDA)
  const Problem  p = conformance::Grid("grid", 100, 100, false);
  PetscBool      device;
  PetscLogDouble before = 0;
  PetscReal      norm, found;
  Mat            A, M;
  Vec            x, y, d;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ScalarArray values(std::vector<PetscScalar>(p.entries.size(), 1), true);
  PetscCall(CreateByCoordinates(p, &A));
  PetscCall(MatSetValuesCOO(A, values.Get(), INSERT_VALUES));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecSet(x, 1));
  for (int round = 0; round < 20; ++round) PetscCall(MatMult(A, x, y)); // past a conversion that waited
  PetscCall(MatSetValuesCOO(A, values.Get(), INSERT_VALUES));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &M));
  PetscCall(PetscLogDefaultBegin());
  for (int round = 0; round < 4; ++round) {
    if (round == 1) before = petsc_gtoc_ct + petsc_ctog_ct;     // patterns and diagonals are there
    PetscCall(MatSetValuesCOO(A, values.Get(), INSERT_VALUES)); // row r: as many ones as it has entries
    PetscCall(MatScale(A, 2));
    PetscCall(MatShift(A, 3));
    PetscCall(MatAXPY(A, 0.5, M, SAME_NONZERO_PATTERN));
    PetscCall(MatGetDiagonal(A, d)); // 5.5
    PetscCall(MatDiagonalScale(A, x, nullptr));
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMultTranspose(A, x, d));
  }
  PetscCheck(petsc_gtoc_ct + petsc_ctog_ct == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Three rounds make %g copies",
             petsc_gtoc_ct + petsc_ctog_ct - before);
  for (Vec v : {y, d}) {
    PetscCall(VecNorm(v, NORM_INFINITY, &found));
    norm = 2.5 * 5 + 3; // inside the grid
    PetscCheck(PetscAbsReal(found - norm) < 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g, not %g", (double)found,
               (double)norm);
  }
  for (Vec *v : {&x, &y, &d}) PetscCall(VecDestroy(v));
  for (Mat *m : {&A, &M}) PetscCall(MatDestroy(m));
#else
  PetscFunctionBeginUser;
  PetscCall(Skip("PETSc has no CUDA"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"hidden", Hidden}, {"device", Device}, {"loop", Loop}});
}
