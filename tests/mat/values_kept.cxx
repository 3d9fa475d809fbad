static const char help[] =
    "Values that are away from the host, and what PETSc keeps of a matrix or makes of it: its properties and operations,\n"
    "products of matrices, MAIJ.\n\n";

#include <cmath>
#include "values.hpp"

using namespace testing;

namespace
{
/// What PETSc keeps of a matrix whose values are away: the address of an operation, symmetry.
PetscErrorCode Kept()
{
  const Problem            p = conformance::Grid("grid", 12, 12, false);
  std::vector<PetscScalar> product;
  Mat                      A, B;
  PetscBool                set, is;
  PetscViewer              viewer;
  PetscReal                norm;

  PetscFunctionBeginUser;
  PetscCall(MakeMatrix(p, MATSPARSEGPU, 0, &A));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(Multiply(A, &product));
  PetscCall(MatScale(A, 2));
  for (MatDuplicateOption option : {MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN}) {
    PetscCall(MatDuplicate(A, option, &B)); // B gets A's MatView() from PETSc
    PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "values_view.txt", &viewer));
    PetscCall(MatView(B, viewer));
    PetscCall(MatView(A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(MatDestroy(&B));
    PetscCall(Multiply(A, &product));
  }
  PetscCall(MatShift(A, -100));
  PetscCall(MatIsSPDKnown(A, &set, &is));
  PetscCheck(!set, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Still known to be positive definite after MatShift()");
  PetscCall(MatDestroy(&A));

  PetscCall(MakeMatrix(p, MATSPARSEGPU, 0, &A));
  PetscCall(MatSetValue(A, 3, 3, (PetscScalar)NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Multiply(A, &product));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCheck(norm > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Norm %g of rows of which one is NaN", (double)norm);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The result of a product of matrices, scaled, and computed again by the routine that made it.
PetscErrorCode Again()
{
  const Problem            p = conformance::Grid("grid", 12, 12, false);
  std::vector<PetscScalar> product[2];

  PetscFunctionBeginUser;
  for (MatProductType type : {MATPRODUCT_AB, MATPRODUCT_AtB, MATPRODUCT_ABt, MATPRODUCT_PtAP, MATPRODUCT_RARt}) {
    for (int ours = 0; ours < 2; ++ours) {
      Mat A, B, D;
      PetscCall(MakeMatrix(p, ours ? MATSPARSEGPU : MATAIJ, 0, &A));
      PetscCall(MakeMatrix(p, ours ? MATSPARSEGPU : MATAIJ, 1, &B));
      PetscCall(Multiply(A, &product[ours]));
      PetscCall(Multiply(B, &product[ours]));
      PetscCall(MatProductCreate(A, B, nullptr, &D));
      PetscCall(MatProductSetType(D, type));
      PetscCall(MatProductSetFromOptions(D));
      PetscCall(MatProductSymbolic(D));
      PetscCall(MatProductNumeric(D));
      PetscCall(Multiply(D, &product[ours]));
      PetscCall(MatScale(D, 3));
      PetscCall(MatScale(A, 2));
      PetscCall(MatProductNumeric(D));
      PetscCall(Multiply(D, &product[ours]));
      for (Mat *M : {&A, &B, &D}) PetscCall(MatDestroy(M));
    }
    PetscCall(Compare(MatProductTypes[type], product[1], product[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// MAIJ reads the array of the matrix that it is made of, before and after that changes.
PetscErrorCode Maij()
{
  const Problem            p = conformance::Grid("grid", 12, 12, false);
  std::vector<PetscScalar> product[2];

  PetscFunctionBeginUser;
  for (bool later : {false, true}) {
    for (int ours = 0; ours < 2; ++ours) {
      Mat A, M;
      PetscCall(MakeMatrix(p, ours ? MATSPARSEGPU : MATAIJ, 0, &A));
      PetscCall(Multiply(A, &product[ours]));
      PetscCall(MatScale(A, 3));
      PetscCall(MatCreateMAIJ(A, 2, &M));
      if (later) {
        PetscCall(Multiply(A, &product[ours]));
        PetscCall(MatScale(A, 5));
      }
      PetscCall(Multiply(M, &product[ours]));
      PetscCall(MatDestroy(&M));
      PetscCall(MatScale(A, 7));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(Compare("MAIJ", product[1], product[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"kept", Kept}, {"again", Again}, {"maij", Maij}});
}
