static const char help[] = "Multigrid where it is not easy: singular and indefinite matrices, odd rows and sizes.\n\n";

#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

/// Periodic grids: constants are the null space, of each unknown alone where there are two.
static PetscErrorCode TestSingular()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (PetscInt unknowns : {1, 2}) {
      const Grid   g{30, 32, 1, unknowns, true, Faces};
      Mat          A;
      MatNullSpace null;
      Vec          vectors[2] = {nullptr, nullptr};
      Result       result;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A));
      for (PetscInt u = 0; u < unknowns && unknowns > 1; ++u) {
        PetscInt begin, end;
        PetscCall(MatCreateVecs(A, &vectors[u], nullptr));
        PetscCall(VecGetOwnershipRange(vectors[u], &begin, &end));
        for (PetscInt r = begin; r < end; ++r)
          if (r % unknowns == u) PetscCall(VecSetValue(vectors[u], r, 1, INSERT_VALUES));
        PetscCall(VecAssemblyBegin(vectors[u]));
        PetscCall(VecAssemblyEnd(vectors[u]));
        PetscCall(VecNormalize(vectors[u], nullptr));
      }
      PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, unknowns == 1 ? PETSC_TRUE : PETSC_FALSE,
                                   unknowns == 1 ? 0 : unknowns, vectors, &null));
      PetscCall(MatSetNullSpace(A, null));
      if (unknowns > 1) PetscCall(MatSetNearNullSpace(A, null));
      PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &result));
      PetscCall(CheckConverged(std::string("periodic, ") + type, result, 16));
      PetscCall(SolveOnce(A, KSPGMRES, PCSPARSEGPUAMG, &result));
      PetscCall(CheckConverged(std::string("periodic, gmres, ") + type, result, 20));
      PetscCall(MatNullSpaceDestroy(&null));
      for (Vec &v : vectors) PetscCall(VecDestroy(&v));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every seventh row Dirichlet's, rows and columns of zeros with a diagonal, the same rows without one, and rows that
/// lack a diagonal entry.
static PetscErrorCode TestRows()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const PetscScalar diagonal : {(PetscScalar)1, (PetscScalar)1e4}) {
      Mat                   A;
      PetscInt              begin, end;
      std::vector<PetscInt> rows;
      Result                result;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {40, 41, 1, 1, false, Faces}, &A));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt r = begin; r < end; ++r)
        if (r % 7 == 3 || r < 40) rows.push_back(r);
      PetscCall(MatZeroRowsColumns(A, (PetscInt)rows.size(), rows.data(), diagonal, nullptr, nullptr));
      PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &result));
      PetscCall(CheckConverged(std::string("Dirichlet, ") + type, result, 16));
      PetscCall(MatDestroy(&A));
    }
  for (const char *type : TYPES) { // zero rows: right-hand sides there must be zero, too
    Mat                A;
    KSP                ksp;
    Vec                x, b;
    PetscInt           begin, end;
    PetscReal          norm;
    KSPConvergedReason reason;

    PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, 1000, 1, 3, &A));
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt r = begin; r < end; ++r) {
      if (r % 5 == 0) continue; // neither a diagonal entry nor a coupling
      PetscCall(MatSetValue(A, r, r, 2, INSERT_VALUES));
      if (r % 5 > 1) PetscCall(MatSetValue(A, r, r - 1, -1, INSERT_VALUES));
      if (r % 5 < 4) PetscCall(MatSetValue(A, r, r + 1, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(A, x, b));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Zero rows, %s: %s", type, KSPConvergedReasons[reason]);
    PetscCheck(std::abs(norm - std::sqrt((PetscReal)800)) < 1e-2, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "Zero rows, %s: norm %g of the solution, sqrt(800) expected", type, (double)norm);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Diagonal matrices, small and large; one row; fewer rows than processes; all rows on the last process.
static PetscErrorCode TestSizes()
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (const char *type : TYPES) {
    for (PetscInt n : {1, 2, 60, 30000}) {
      Mat      A;
      Result   result;
      PetscInt begin, end;

      PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, n, 1, 1, &A));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt r = begin; r < end; ++r) PetscCall(MatSetValue(A, r, r, 1 + r % 9, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &result));
      PetscCall(CheckConverged("diagonal of " + std::to_string(n) + ", " + type, result, 2));
      PetscCall(MatDestroy(&A));
    }
    Mat      A;
    Result   result;
    PetscInt n = 900, mine = rank == size - 1 ? n : 0;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, mine, mine, n, n));
    PetscCall(MatSetType(A, type));
    PetscCall(MatSeqAIJSetPreallocation(A, 5, nullptr));
    PetscCall(MatMPIAIJSetPreallocation(A, 5, nullptr, 5, nullptr));
    PetscCall(SetGrid(A, {30, 30, 1, 1, false, Faces}));
    PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &result));
    PetscCall(CheckConverged(std::string("all on the last process, ") + type, result, 13));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One to six unknowns a node, with couplings between them.
static PetscErrorCode TestBlocks()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (PetscInt unknowns = 1; unknowns <= 6; ++unknowns) {
      Mat      A;
      Result   result;
      PetscInt begin, end;

      PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, 20 * 21, unknowns, 9 * unknowns, &A));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt r = begin; r < end; ++r) // symmetric, definite: a weaker mass couples unknowns of a node
        for (PetscInt u = 0; u < unknowns; ++u)
          PetscCall(MatSetValue(A, r, r / unknowns * unknowns + u, r % unknowns == u ? 0.1 : 0.1 / (PetscReal)unknowns,
                                ADD_VALUES));
      PetscCall(SetGrid(A, {20, 21, 1, unknowns, false, Faces}));
      PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &result));
      PetscCall(CheckConverged(std::to_string(unknowns) + " unknowns a node, " + type, result, 16));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Upwind convection: not symmetric, with GMRES. Where it is strong, Chebyshev's method does not see that eigenvalues
/// are not real, and PCGAMG does not converge either: Gauss-Seidel smooths.
static PetscErrorCode TestConvection()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (PetscReal strength : {0.1, 1., 10.}) {
      const Grid g{40, 42, 1, 1, false, [strength](PetscInt, PetscInt y, PetscInt, int dx, int dy, int) -> PetscScalar {
                     if (std::abs(dx) + std::abs(dy) != 1) return 0;
                     const PetscReal wind = dx ? strength * ((PetscReal)y / 21 - 1) * dx : strength / 2 * dy;
                     return 1 + PetscMax(-wind, (PetscReal)0); // from where the wind comes
                   }};
      const Options smoother(strength < 5 ? "-mg_levels_ksp_type chebyshev"
                                          : "-mg_levels_ksp_type richardson -mg_levels_pc_type sor");
      Mat           A;
      Result        result;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A));
      PetscCall(SolveOnce(A, KSPGMRES, PCSPARSEGPUAMG, &result));
      PetscCall(CheckConverged("convection " + std::to_string(strength) + ", " + type, result, 20, 100));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Helmholtz's equation with a few negative eigenvalues, a zero matrix, NaN: the solver converges or gives a reason,
/// and never ends with a number that is none and no word of it.
static PetscErrorCode TestIndefinite()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const PetscScalar shift : {(PetscScalar)-0.02, (PetscScalar)-1.0, (PetscScalar)-4.0, (PetscScalar)-8.0}) {
      Grid   g{40, 42, 1, 1, false, Faces};
      Mat    A;
      Result result;

      g.shift = shift;
      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A));
      PetscCall(SolveOnce(A, KSPGMRES, PCSPARSEGPUAMG, &result));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "shift %g, %s: %s, %" PetscInt_FMT " iterations, residual %g\n",
                            (double)PetscRealPart(shift), type, KSPConvergedReasons[result.reason], result.iterations,
                            (double)result.residual));
      PetscCheck(result.reason != KSP_CONVERGED_ITERATING, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no reason", type);
      PetscCheck(result.reason < 0 || result.residual < 1e-3, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, shift %g: %s, but the residual is %g", type, (double)PetscRealPart(shift),
                 KSPConvergedReasons[result.reason], (double)result.residual);
      PetscCall(MatDestroy(&A));
    }
  for (const char *type : TYPES) {
    Mat    A;
    Result result;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {20, 20, 1, 1, false, Faces}, &A));
    PetscCall(MatScale(A, 0));
    PetscCall(SolveOnce(A, KSPGMRES, PCSPARSEGPUAMG, &result));
    PetscCheck(result.reason < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a zero matrix: %s", type,
               KSPConvergedReasons[result.reason]);
    PetscCall(MatDestroy(&A));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {20, 20, 1, 1, false, Faces}, &A));
    PetscCall(MatScale(A, std::nan("")));
    PetscCall(SolveOnce(A, KSPGMRES, PCSPARSEGPUAMG, &result));
    PetscCheck(result.reason < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a matrix of NaN: %s", type,
               KSPConvergedReasons[result.reason]);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"singular", TestSingular},
               {"rows", TestRows},
               {"sizes", TestSizes},
               {"blocks", TestBlocks},
               {"convection", TestConvection},
               {"indefinite", TestIndefinite}});
}
