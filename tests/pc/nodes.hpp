/// Matrices of strongly coupled blocks, and solves with them.
#pragma once

#include "factors.hpp"

namespace testing
{

/// Blocks of these sizes, one after the other, round and round; each full, its neighbours coupled to it.
struct Nodes {
  PetscInt              count; ///< of every process
  std::vector<PetscInt> sizes;

  PetscInt Size(PetscInt node) const { return sizes[(size_t)(node % (PetscInt)sizes.size())]; }
  PetscInt Rows(PetscInt nodes) const
  {
    PetscInt rows = 0;
    for (PetscInt k = 0; k < nodes; ++k) rows += Size(k);
    return rows;
  }
};

/// The same matrix in every type. Not symmetric; the strong entry of each row is its block's diagonal, or, `turned`,
/// the opposite corner's: factors then need pivots.
inline PetscErrorCode CreateNodes(const Nodes &nodes, const char type[], const std::string &backend, bool turned,
                                  Mat *A)
{
  const PetscInt        local = nodes.Rows(nodes.count);
  std::vector<PetscInt> sizes;
  PetscInt              first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, local, local, PETSC_DETERMINE, PETSC_DETERMINE));
  if (nodes.sizes.size() == 1) PetscCall(MatSetBlockSize(*A, nodes.sizes[0]));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 40, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*A, 40, nullptr, 40, nullptr));
  if (!strcmp(type, MATSPARSEGPU)) PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt node = 0, row = first; node < nodes.count; row += nodes.Size(node), ++node) {
    const PetscInt n = nodes.Size(node);
    sizes.push_back(n);
    for (PetscInt i = row; i < row + n; ++i) {
      for (PetscInt j = row; j < row + n; ++j) {
        const bool        strong = turned ? i - row == row + n - 1 - j : i == j;
        const PetscScalar v      = conformance::Value((unsigned long long)(i * 131 + j));
        PetscCall(MatSetValue(*A, i, j, strong ? v + (PetscReal)(3 * n + 3) : v, INSERT_VALUES));
      }
      for (PetscInt j : {i - 7, i + 9, i - 30, i + 32})
        if (j >= 0 && j < local * PetscGlobalSize && (j < row || j >= row + n))
          PetscCall(MatSetValue(*A, i, j, (PetscReal)(j < i ? 1.5 : 0.5), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (nodes.sizes.size() > 1) PetscCall(MatSetVariableBlockSizes(*A, nodes.count, sizes.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two solves, the second with new values of the same pattern.
inline PetscErrorCode Solve(Mat A, const char pc_type[], const char ksp_type[], PetscInt iterations[2],
                            KSPConvergedReason reason[2])
{
  Vec x, b;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; ++round) {
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[round]));
    PetscCall(KSPGetConvergedReason(ksp, &reason[round]));
    PetscCall(MatShift(A, (PetscReal)0.5));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
