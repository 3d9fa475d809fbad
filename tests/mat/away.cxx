static const char help[] =
    "Values that are newest on the device come to the host when somebody reads them, and only then.\n\n";

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
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
  PetscCall(MatSeqAIJGetArrayRead(A, &read));
  a     = read;
  first = a[0];
  PetscCall(MatSeqAIJRestoreArrayRead(A, &read));
  for (int round = 0; round < 3; ++round) {
    PetscCall(MatMult(A, x, y));
    PetscCheck(a[0] != a[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host's array has its values: they never went away");
    PetscCall(MatNorm(A, NORM_FROBENIUS, &again));
    PetscCheck(a[0] == first && again == norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatNorm() %g is not %g", (double)again,
               (double)norm);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSetValuesCOO() from device memory and products copy no values; the first reader on the host does, once.
static PetscErrorCode Device()
{
#if defined(PETSC_HAVE_CUDA)
  const Problem         p = conformance::Grid("grid", 100, 100, false);
  std::vector<PetscInt> i, j;
  PetscBool             device;
  PetscReal             norm;
  Mat                   A;
  Vec                   x, y;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<PetscScalar> ones(p.entries.size(), 1);
  for (const conformance::Entry &e : p.entries) {
    i.push_back(e.i);
    j.push_back(e.j);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, p.rows, p.cols, p.rows, p.cols));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatSetPreallocationCOO(A, (PetscCount)i.size(), i.data(), j.data()));
  ScalarArray values(ones, true);
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

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"hidden", Hidden}, {"device", Device}});
}
