static const char help[] = "Galerkin operators that the host makes equal MatPtAP()'s.\n\n";

#include <petscmat.h>
#include "../testing.hpp"
#include "pc/amg/galerkin.hpp"
#include "sparsegpu.h"

using namespace testing;
using namespace sparsegpu;

namespace
{
/// Some number of both signs.
PetscScalar Value(PetscInt k)
{
  return (PetscReal)((7919 * k) % 31 - 15) / 8;
}

PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not symmetric; row 5 is empty.
PetscErrorCode CreateOperator(MatType type, PetscInt n, PetscInt seed, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, nullptr));
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt d : {-7, -2, -1, 0, 1, 3})
      if (r != 5 && r + d >= 0 && r + d < n)
        PetscCall(MatSetValue(*A, r, r + d, Value(r + 3 * d + seed), INSERT_VALUES));
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of up to two runs of `width` columns; every ninth is empty, and so is the last run of columns. `broken`: one
/// run lacks an entry.
PetscErrorCode CreateProlongator(MatType type, PetscInt n, PetscInt nodes, PetscInt width, bool broken, PetscInt seed,
                                 Mat *P)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, P));
  PetscCall(MatSetSizes(*P, n, nodes * width, n, nodes * width));
  PetscCall(MatSetBlockSizes(*P, 1, width));
  PetscCall(MatSetType(*P, type));
  PetscCall(MatSeqAIJSetPreallocation(*P, 2 * width, nullptr));
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt node : {(r / 5) % (nodes - 1), (r / 3 + 1) % (nodes - 1)})
      for (PetscInt c = 0; c < width; c++)
        if (r % 9 && !(broken && r == 10 && c == 0))
          PetscCall(MatSetValue(*P, r, node * width + c, Value(r + 5 * node + c + seed), INSERT_VALUES));
  PetscCall(Assemble(*P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C is P^T A P, entry by entry, in its type and with its nonzeros.
PetscErrorCode Check(Mat A, Mat P, Mat C, const std::string &what)
{
  Mat       expected;
  MatInfo   ours, theirs;
  MatType   type, of_a;
  PetscReal norm, size;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &of_a));
  PetscCall(MatGetType(C, &type));
  PetscCheck(std::string(type) == of_a, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: type %s, not %s", what.c_str(), type,
             of_a);
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected));
  PetscCall(MatGetInfo(C, MAT_LOCAL, &ours));
  PetscCall(MatGetInfo(expected, MAT_LOCAL, &theirs));
  PetscCheck(ours.nz_used == theirs.nz_used, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g nonzeros, not %g", what.c_str(),
             ours.nz_used, theirs.nz_used);
  PetscCall(MatNorm(expected, NORM_INFINITY, &size));
  PetscCall(MatAXPY(expected, -1, C, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(expected, NORM_INFINITY, &norm));
  // some hundred terms an entry, each of a few times the largest value
  PetscCheck(norm <= 1e3 * PETSC_MACHINE_EPSILON * size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: off by %g of %g",
             what.c_str(), (double)norm, (double)size);
  PetscCall(MatDestroy(&expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Same()
{
  const PetscInt n = 120, nodes = 11;

  PetscFunctionBeginUser;
  for (MatType type : {MATSEQAIJ, MATSEQAIJSPARSEGPU})
    for (PetscInt width : {1, 2, 3, 4, 6})
      for (bool broken : {false, true}) {
        const std::string what = std::string(type) + ", width " + std::to_string(width) + (broken ? ", broken" : "");
        Mat               A, B, P, Q, C;

        PetscCall(CreateOperator(type, n, 0, &A));
        PetscCall(CreateProlongator(type, n, nodes, width, broken, 0, &P));
        PetscCall(amg::GalerkinOnHost(A, P, MAT_INITIAL_MATRIX, &C));
        PetscCall(Check(A, P, C, what));
        PetscCall(CreateOperator(type, n, 11, &B)); // other values in the same patterns
        PetscCall(CreateProlongator(type, n, nodes, width, broken, 4, &Q));
        PetscCall(amg::GalerkinOnHost(B, Q, MAT_REUSE_MATRIX, &C));
        PetscCall(Check(B, Q, C, what + ", again"));
        for (Mat *M : {&A, &B, &P, &Q, &C}) PetscCall(MatDestroy(M));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Another pattern is refused.
PetscErrorCode Changed()
{
  Mat            A, P, Q, C;
  PetscErrorCode code;

  PetscFunctionBeginUser;
  PetscCall(CreateOperator(MATSEQAIJ, 60, 0, &A));
  PetscCall(CreateProlongator(MATSEQAIJ, 60, 8, 1, false, 0, &P));
  PetscCall(CreateProlongator(MATSEQAIJ, 60, 8, 1, true, 0, &Q));
  PetscCall(amg::GalerkinOnHost(A, Q, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(C, 7, 7, 1, INSERT_VALUES)); // of the run that has no rows
  PetscCall(Assemble(C));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  code = amg::GalerkinOnHost(A, P, MAT_REUSE_MATRIX, &C);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(code == PETSC_ERR_ARG_WRONGSTATE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Error %d, not %d", (int)code,
             (int)PETSC_ERR_ARG_WRONGSTATE);
  for (Mat *M : {&A, &P, &Q, &C}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"changed", Changed}});
}
