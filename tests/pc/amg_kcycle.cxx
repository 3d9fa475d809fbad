static const char help[] =
    "K-cycles of multigrid: against a recursion that solves small systems, iterations against V and W, and the view.\n\n";

#include "amg_cycle.hpp"
#include "amg_list.hpp"
#include "amg_recursion.hpp"

using namespace amg_tests;
using namespace testing;

namespace
{
/// The preconditioner with K-cycles is that of the recursion, after new values, too. Residuals after a first step have
/// rounding errors of the size of the coefficients' `contrast`.
PetscErrorCode Compare(const std::string &what, Mat A, bool hermitian, PetscReal contrast)
{
  KSP       ksp;
  PC        pc;
  Vec       r, z, w;
  PetscReal norm, difference;
  PetscInt  levels;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, KSPFGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatCreateVecs(A, &r, &z));
  PetscCall(VecDuplicate(z, &w));
  for (int round = 0; round < 2; ++round) {
    PetscCall(KSPSetUp(ksp));
    PetscCall(PCMGGetLevels(pc, &levels));
    PetscCheck(levels > 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " levels", what.c_str(), levels);
    PetscCall(SetNoise(r));
    PetscCall(PCApply(pc, r, z));
    PetscCall(Recursion{pc, hermitian}.Visit(levels - 1, r, w));
    PetscCall(VecNorm(w, NORM_2, &norm));
    PetscCall(VecAXPY(w, -1, z));
    PetscCall(VecNorm(w, NORM_2, &difference));
    PetscCheck(norm > 0 && difference <= 1e4 * contrast * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "%s: the cycle differs from the recursion by %g of %g", what.c_str(), (double)difference,
               (double)norm);
    PetscCall(VecSet(r, 0)); // directions of length zero
    PetscCall(PCApply(pc, r, z));
    PetscCall(VecNorm(z, NORM_INFINITY, &norm));
    PetscCheck(norm == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %g of a zero vector", what.c_str(), (double)norm);
    PetscCall(MatScale(A, 3));
    PetscCall(KSPSetOperators(ksp, A, A));
  }
  for (Vec *v : {&r, &z, &w}) PetscCall(VecDestroy(v));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

static PetscErrorCode TestRecursion()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *problem : {"rotated", "jumps", "shear:1"})
      for (bool known : {false, true})
        for (const char *limit : {"0", "1000"}) {
          const Options set(std::string("-pc_sparsegpuamg_cycle_type k -pc_sparsegpuamg_coarse_eq_limit 8 "
                                        "-pc_sparsegpuamg_process_eq_limit ") +
                            limit);
          NamedGrid     grid;
          Mat           A;

          PetscCall(FindGrid(problem, 64, &grid));
          if (known && !grid.symmetric) continue;
          PetscCall(CreateGrid(PETSC_COMM_WORLD, type, grid.grid, &A));
          if (known) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
          PetscCall(Compare(std::string(problem) + ", " + type + ", limit " + limit, A, grid.symmetric,
                            std::string(problem) == "jumps" ? 1000 : 10)); // 10^6 : 1 in energy
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where V-cycles leave much of what is smooth, K-cycles take fewer iterations, and no more than W-cycles but for one.
static PetscErrorCode TestIterations()
{
  struct Case {
    const char *problem, *options;
    PetscReal   gain; ///< of V's iterations at most this part
  };
  const Case cases[] = {{"stencil5", "-pc_sparsegpuamg_agg_nsmooths 0 -pc_sparsegpuamg_aggressive_coarsening 0",
                         0.5}, // plain aggregation
                        {"jumps", "-pc_sparsegpuamg_type aggregation", 0.7},
                        {"rotated", "-pc_sparsegpuamg_type classical", 0.8},
                        {"differences", "-pc_sparsegpuamg_type classical", 0.8},
                        {"vortex:1", "-pc_sparsegpuamg_agg_nsmooths 0 -pc_sparsegpuamg_aggressive_coarsening 0", 0.8},
                        {"rotated", "-pc_sparsegpuamg_type aggregation", 1}};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *solver : {KSPFCG, KSPFGMRES, KSPSPARSEGPUGMRES})
      for (const Case &c : cases) {
        const bool    ours = !strcmp(solver, KSPSPARSEGPUGMRES);
        const Options set(std::string(c.options) + (ours ? " -ksp_sparsegpugmres_flexible" : ""));
        NamedGrid     grid;
        Mat           A;
        Result        results[3];

        PetscCall(FindGrid(c.problem, 100, &grid));
        if (!grid.symmetric && !strcmp(solver, KSPFCG)) continue;
        PetscCall(CreateGrid(PETSC_COMM_WORLD, type, grid.grid, &A));
        if (grid.symmetric) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
        const std::string what = std::string(c.problem) + " " + c.options + ", " + solver + ", " + type;
        for (int k = 0; k < 3; ++k) {
          const Option cycle("-pc_sparsegpuamg_cycle_type", k == 0 ? "v" : (k == 1 ? "w" : "k"));
          PetscCall(SolveOnce(A, solver, PCSPARSEGPUAMG, &results[k]));
          PetscCall(CheckConverged(what, results[k], 100, 1000));
        }
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " V, %" PetscInt_FMT " W, %" PetscInt_FMT " K\n",
                              what.c_str(), results[0].iterations, results[1].iterations, results[2].iterations));
        PetscCheck((PetscReal)results[2].iterations <= c.gain * (PetscReal)results[0].iterations, PETSC_COMM_WORLD,
                   PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations with K-cycles, %" PetscInt_FMT " with V",
                   what.c_str(), results[2].iterations, results[0].iterations);
        PetscCheck(results[2].iterations <= results[1].iterations + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s: %" PetscInt_FMT " iterations with K-cycles, %" PetscInt_FMT " with W", what.c_str(),
                   results[2].iterations, results[1].iterations);
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the view says, where the cycle has to be PCMG's, and a name that is none.
static PetscErrorCode TestOptions()
{
  struct Case {
    std::string options, fact;
  };
  const Case  cases[] = {{"-pc_sparsegpuamg_cycle_type k", "cycle: fused, K"},
                         {"-pc_sparsegpuamg_cycle_type w", "cycles=w"},
                         {"-pc_sparsegpuamg_cycle_type v -pc_mg_cycle_type w", "cycles=v"},
                         {"-pc_sparsegpuamg_cycle_type mg -pc_mg_cycle_type w", "cycles=w"},
                         {"-pc_sparsegpuamg_cycle_type k -mg_levels_pc_type sor", "monitor; not K"},
                         {"-pc_sparsegpuamg_cycle_type k -pc_sparsegpuamg_fused_cycle 0", "fused_cycle 0; not K"},
                         {"-pc_sparsegpuamg_cycle_type k -pc_mg_type full", "not multiplicative; not K"}};
  Mat         A;
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, {70, 72, 1, 1, false, Faces}, &A));
  for (const Case &c : cases) {
    const Options set(c.options);
    KSP           ksp;
    Result        result;

    PetscCall(CreateSolver(A, KSPFGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(CheckConverged(c.options, result, 14));
    PetscCall(View(ksp, &text));
    if (!PetscGlobalRank) PetscCall(CheckText(c.options, text, {c.fact}));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(CreateGrid(PETSC_COMM_SELF, MATAIJ, {10, 10, 1, 1, false, Faces}, &A));
  PetscCall(
      ExpectBadOption(A, "-pc_sparsegpuamg_cycle_type", "f", "f must be v, w, k, or mg", PETSC_ERR_ARG_UNKNOWN_TYPE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A column of a block is what a vector of the hierarchy's own type is, wherever the columns are: on the host, on the
/// device, and in vectors of the parallel type on one process.
static PetscErrorCode CheckColumns(const std::string &what, KSP ksp, Mat A)
{
  std::vector<std::string> types = {MATDENSE, MATMPIDENSE};
  PetscBool                device;
  PetscInt                 rows, all;
  PC                       pc;
  Vec                      b, x, z, copy;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
#if defined(PETSC_HAVE_CUDA)
  if (device) types.push_back(MATDENSECUDA);
#endif
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  PetscCall(MatGetSize(A, &all, nullptr));
  PetscCall(MatCreateVecs(A, &z, &b));
  PetscCall(VecDuplicate(z, &copy));
  PetscCall(SetNoise(b));
  PetscCall(VecShift(b, 1));
  PetscCall(PCApply(pc, b, z));
  for (const std::string &type : types) {
    Mat B, X;
    for (Mat *M : {&B, &X}) {
      PetscCall(MatCreate(PETSC_COMM_WORLD, M));
      PetscCall(MatSetSizes(*M, rows, PETSC_DECIDE, all, 2));
      PetscCall(MatSetType(*M, type.c_str()));
      PetscCall(MatSetUp(*M));
    }
    for (PetscInt c = 0; c < 2; ++c) {
      PetscCall(MatDenseGetColumnVecWrite(B, c, &x));
      PetscCall(SetNoise(x));
      PetscCall(VecShift(x, (PetscReal)c));
      PetscCall(MatDenseRestoreColumnVecWrite(B, c, &x));
    }
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(PCMatApply(pc, B, X));
    PetscCall(MatDenseGetColumnVecRead(X, 1, &x));
    PetscCall(CopyEntries(x, copy));
    PetscCall(MatDenseRestoreColumnVecRead(X, 1, &x));
    PetscCall(CheckSame(what + ", columns of " + type, copy, z));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
  }
  for (Vec *one : {&z, &b, &copy}) PetscCall(VecDestroy(one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As many iterations with vectors of other types; a step of KSPRICHARDSON is the same preconditioner.
static PetscErrorCode CheckOtherVectors(const std::string &what, KSP ksp, Mat A, PetscInt expected)
{
  std::vector<std::string> types;
  KSP                      step;
  PC                       pc;
  Vec                      b, x, z, like;
  PetscInt                 iterations;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  types.push_back(VECMPI);
  PetscCall(MatCreateVecs(A, &like, nullptr));
  for (const std::string &type : types) {
    PetscCall(VecDuplicate(like, &b));
    PetscCall(VecSetType(b, type.c_str()));
    PetscCall(VecDuplicate(b, &x));
    PetscCall(SetNoise(b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCheck(iterations == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, vectors of type %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " expected", what.c_str(),
               type.c_str(), iterations, expected);
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &step));
  PetscCall(KSPSetType(step, KSPRICHARDSON));
  PetscCall(KSPSetOperators(step, A, A));
  PetscCall(KSPSetPC(step, pc));
  PetscCall(KSPSetNormType(step, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(step, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 1));
  for (Vec *v : {&b, &x, &z}) PetscCall(VecDuplicate(like, v));
  PetscCall(SetNoise(b));
  PetscCall(KSPSolve(step, b, x));
  PetscCall(PCApply(pc, b, z));
  PetscCall(CheckSame(what + ", a step of Richardson's method", x, z));
  PetscCall(KSPDestroy(&step));
  for (Vec *v : {&b, &x, &z, &like}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Another cycle from the next set-up on, and with it blocks of vectors and vectors that are elsewhere.
static PetscErrorCode TestLater()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat       A;
    KSP       ksp;
    Result    v, k, again;
    NamedGrid grid;

    PetscCall(FindGrid("jumps", 100, &grid));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, grid.grid, &A));
    PetscCall(CreateSolver(A, KSPFGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(Solve(ksp, A, &v));
    {
      const Option cycle("-pc_sparsegpuamg_cycle_type", "k");
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(Solve(ksp, A, &k));
      PetscCheck(k.iterations < v.iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %" PetscInt_FMT " iterations with V-cycles, then %" PetscInt_FMT " with K", type, v.iterations,
                 k.iterations);
      PetscCall(CheckColumns(type, ksp, A));
      PetscCall(CheckOtherVectors(type, ksp, A, k.iterations));
    }
    const Option cycle("-pc_sparsegpuamg_cycle_type", "mg"); // PCMG's default, V
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(Solve(ksp, A, &again));
    PetscCheck(again.iterations == v.iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " iterations with V-cycles, later %" PetscInt_FMT, type, v.iterations,
               again.iterations);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(
      argc, argv, help,
      {{"recursion", TestRecursion}, {"iterations", TestIterations}, {"options", TestOptions}, {"later", TestLater}});
}
