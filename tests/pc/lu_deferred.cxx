static const char help[] = "LU factorizations whose fronts have columns that no row of theirs is a pivot for.\n\n";

#include "backward.hpp"

using namespace testing;

/// Leaves of `size` unknowns each, the first `singular` of them all ones but for the rest of an ordinary matrix in
/// their first size - 1 rows and columns, so that the last pivot of each is zero; a path couples their last unknowns,
/// which the elimination meets when the leaves are done.
static Problem Leaves(PetscInt leaves, PetscInt size, PetscInt singular, PetscScalar shift)
{
  Problem p{"leaves " + std::to_string(leaves) + " x " + std::to_string(size),
            leaves * (size + 1),
            leaves * (size + 1),
            {},
            {}};
  for (PetscInt l = 0; l < leaves; ++l) {
    const PetscInt first = l * size, joint = leaves * size + l;
    for (PetscInt i = 0; i < size; ++i)
      for (PetscInt j = 0; j < size; ++j) {
        PetscScalar v = i == j ? (PetscScalar)(PetscReal)(2 + i % 3) : (PetscScalar)(PetscReal)1;
        if (i == size - 1 || j == size - 1) // the sum of the two before, in both directions
          v = 0;
        p.entries.push_back({first + i, first + j, v});
      }
    const auto at = [&](PetscInt i, PetscInt j) -> PetscScalar & {
      return p.entries[(size_t)((l * (size * size + 5)) + i * size + j)].v;
    };
    for (PetscInt i = 0; i < size - 1; ++i) at(i, size - 1) = at(i, 0) + at(i, 1);
    for (PetscInt j = 0; j < size; ++j) at(size - 1, j) = at(0, j) + at(1, j);
    if (l >= singular) at(size - 1, size - 1) += (PetscScalar)(PetscReal)3;
    // five more entries for each leaf
    p.entries.push_back({first + size - 1, joint, (PetscScalar)(PetscReal)1 + shift});
    p.entries.push_back({joint, first + size - 1, (PetscScalar)(PetscReal)-2});
    p.entries.push_back({joint, joint, (PetscScalar)(PetscReal)4});
    p.entries.push_back({joint, leaves * size + (l + 1) % leaves, (PetscScalar)(PetscReal)1});
    p.entries.push_back({leaves * size + (l + 1) % leaves, joint, (PetscScalar)(PetscReal)-1 - shift});
  }
  return p;
}

/// All are solved to the bound without partial pivoting, with few pivots replaced, and the view tells.
static PetscErrorCode Moved()
{
  const Option pivoted("-mat_sparsegpu_lu_pivoted", "off");

  PetscFunctionBeginUser;
  for (const PetscInt size : {3, 4, 20, 50})
    for (const PetscInt leaves : {5, 40, 200})
      for (const PetscInt singular : {(PetscInt)1, leaves / 2, leaves}) {
        const Problem p = Leaves(leaves, size, singular, 0);
        Backward      error;
        Mat           A, F;
        PetscCall(CreateOn(on, p, &A));
        PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
        PetscCall(SolveAll(p, A, F, &error));
        PetscCheck(error.norm <= Bound(p), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %d singular: backward error %g",
                   p.name.c_str(), (int)singular, (double)error.norm);
        PetscCall(CheckView(F, p.name, " 0 pivots replaced", PETSC_VIEWER_ASCII_INFO_DETAIL));
        if (size >= 20 && leaves >= 40) // smaller ones may share a front with the rows that they need
          PetscCall(CheckView(F, p.name, " columns moved to the end of the order", PETSC_VIEWER_ASCII_INFO_DETAIL));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One factor through values that need it, and others.
static PetscErrorCode Sequence()
{
  const PetscInt LEAVES = 30;

  PetscFunctionBeginUser;
  Mat A, F;
  PetscCall(CreateOn(on, Leaves(LEAVES, 20, 0, 0), &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
  for (const PetscInt singular : {0, 3, 30, 0, 30, 1, 0}) {
    const Problem       p    = Leaves(LEAVES, 20, singular, (PetscScalar)(PetscReal)(0.1 * singular));
    const MatFactorInfo info = Info(0);
    Backward            error;
    for (const Entry &e : p.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatLUFactorNumeric(F, A, &info));
    PetscCall(SolveAll(p, A, F, &error));
    PetscCheck(error.norm <= Bound(p), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %d singular: backward error %g",
               p.name.c_str(), (int)singular, (double)error.norm);
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A leaf that nothing couples: the matrix is singular, and the factorization says so.
static PetscErrorCode Singular()
{
  MatFactorError failed;
  Problem        p = Leaves(20, 10, 20, 0);
  Mat            A, F;

  PetscFunctionBeginUser;
  for (Entry &e : p.entries)
    if ((e.i == 9) != (e.j == 9) && (e.i >= 200 || e.j >= 200)) e.v = 0;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
  PetscCall(MatFactorGetError(F, &failed));
  PetscCheck(failed == MAT_FACTOR_NUMERIC_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Error %d", (int)failed);
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"moved", OnEach<Moved>}, {"sequence", OnEach<Sequence>}, {"singular", OnEach<Singular>}});
}
