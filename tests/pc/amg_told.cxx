static const char help[] =
    "What the view of multigrid says of matrices that it is not made for, and of coarsening that ends early.\n\n";

#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

namespace
{
PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// [L B; B^T 0], L a Laplacian: half of the unknowns have no diagonal. A shifted Laplacian. The view says that they
/// look indefinite, nothing is NaN, and a reason is given if the solver does not converge.
static PetscErrorCode TestIndefinite()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (bool saddle : {false, true}) {
      const std::string what = std::string(saddle ? "saddle point, " : "shifted, ") + type;
      const PetscInt    n    = 900;
      Mat               A;
      Result            result;
      std::string       view;

      if (saddle) {
        PetscInt begin, end;
        PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, 2 * n, 1, 6, &A));
        PetscCall(MatGetOwnershipRange(A, &begin, &end));
        for (PetscInt r = begin; r < end; ++r) {
          const PetscInt k = r % n;
          if (r >= n) {
            PetscCall(MatSetValue(A, r, k, 1, INSERT_VALUES));
            if (k + 1 < n) PetscCall(MatSetValue(A, r, k + 1, -1, INSERT_VALUES));
            continue;
          }
          PetscCall(MatSetValue(A, r, r, 2, INSERT_VALUES));
          if (k > 0) PetscCall(MatSetValue(A, r, r - 1, -1, INSERT_VALUES));
          if (k + 1 < n) PetscCall(MatSetValue(A, r, r + 1, -1, INSERT_VALUES));
          PetscCall(MatSetValue(A, r, r + n, 1, INSERT_VALUES));
          if (k > 0) PetscCall(MatSetValue(A, r, r + n - 1, -1, INSERT_VALUES));
        }
        PetscCall(Assemble(A));
      } else {
        Grid g{60, 62, 1, 1, false, Faces};
        g.shift = -1;
        PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A));
      }
      PetscCall(SolveAndView(what, A, KSPGMRES, &result, &view));
      PetscCheck(result.reason != KSP_CONVERGED_ITERATING, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no reason",
                 what.c_str());
      if (!PetscGlobalRank)
        PetscCall(CheckText(what, view, {"looks indefinite", saddle ? "900 rows have couplings" : "diagonal from"}));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Pairs of unknowns with a near null space of two vectors: each has as many unknowns on the next level. Couplings that
/// are all weak. The view says why there is no next level, and the solver converges.
static PetscErrorCode TestStagnation()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    const PetscInt pairs = 400;
    Mat            A;
    Vec            vectors[2];
    MatNullSpace   near;
    Result         result;
    std::string    view;
    PetscInt       begin, end;

    PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, pairs, 2, 2, &A));
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt r = begin; r < end; ++r) {
      PetscCall(MatSetValue(A, r, r, 2, INSERT_VALUES));
      PetscCall(MatSetValue(A, r, r ^ 1, -1, INSERT_VALUES));
    }
    PetscCall(Assemble(A));
    PetscCall(MatSetBlockSize(A, 2));
    PetscCall(SolveAndView(std::string("pairs as nodes, ") + type, A, KSPCG, &result, &view));
    PetscCall(CheckConverged("pairs as nodes", result, 30));
    if (!PetscGlobalRank) PetscCall(CheckText(type, view, {"coarsening ended: "}));
    PetscCall(MatDestroy(&A));

    PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, 2 * pairs, 1, 2, &A));
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt r = begin; r < end; ++r) {
      PetscCall(MatSetValue(A, r, r, 2, INSERT_VALUES));
      PetscCall(MatSetValue(A, r, r ^ 1, -1, INSERT_VALUES));
    }
    PetscCall(Assemble(A));
    for (Vec &v : vectors) PetscCall(MatCreateVecs(A, &v, nullptr));
    PetscCall(VecSet(vectors[0], 1));
    for (PetscInt r = begin; r < end; ++r)
      PetscCall(VecSetValue(vectors[1], r, r % 2 ? (PetscReal)1 : (PetscReal)-1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(vectors[1]));
    PetscCall(VecAssemblyEnd(vectors[1]));
    for (Vec v : vectors) PetscCall(VecNormalize(v, nullptr));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 2, vectors, &near));
    PetscCall(MatSetNearNullSpace(A, near));
    PetscCall(SolveAndView(std::string("two vectors a pair, ") + type, A, KSPCG, &result, &view));
    PetscCall(CheckConverged("two vectors a pair", result, 30));
    PetscBool classical = PETSC_FALSE;
    char      name[32]  = "";
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-pc_sparsegpuamg_type", name, sizeof(name), nullptr));
    PetscCall(PetscStrcmp(name, "classical", &classical));
    if (!PetscGlobalRank && !classical)
      PetscCall(CheckText(type, view, {"coarsening stagnates: the next level would have "}));
    PetscCall(MatNullSpaceDestroy(&near));
    for (Vec &v : vectors) PetscCall(VecDestroy(&v));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"indefinite", TestIndefinite}, {"stagnation", TestStagnation}});
}
