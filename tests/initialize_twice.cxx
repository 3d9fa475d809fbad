static const char help[] = "PetscInitialize() and PetscFinalize() twice in one process, our type used each time.\n\
  Compiled with SPARSEGPU_LINKED it links the library, else it is a program that -dll_append must give the type.\n\n";

#include <petscmat.h>

#if defined(SPARSEGPU_LINKED)
  #include <sparsegpu.h>
#endif
#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

/// A = 2 I + the subdiagonal of ones, y = A 1: 2 in the first row, 3 in the others.
static PetscErrorCode Use()
{
  const PetscInt     n = 12;
  PetscInt           begin, end;
  Mat                A;
  Vec                x, y;
  PetscBool          ours;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(A, "sparsegpu"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    PetscCall(MatSetValue(A, i, i, 2, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(A, i, i - 1, 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, "seqaijsparsegpu", "mpiaijsparsegpu", ""));
  PetscCheck(ours, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The matrix is not of our type");
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt i = begin; i < end; ++i)
    PetscCheck(a[i - begin] == (PetscScalar)(i ? 3 : 2), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " is %g",
               i, (double)PetscRealPart(a[i - begin]));
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  if (MPI_Init(&argc, &argv)) return 1; // ours: PetscFinalize() leaves it alone then
  for (int times = 0; times < 2; ++times) {
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
#if defined(SPARSEGPU_LINKED)
    PetscCall(SparseGPUInitializePackage());
    PetscCall(SparseGPUInitializePackage()); // a second call changes nothing
#endif
    PetscCall(Use());
    PetscCall(Use());
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize();
}
