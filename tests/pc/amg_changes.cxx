static const char help[] =
    "Multigrid after changes: of values, patterns, sizes, options; what it views; no memory is lost.\n\n";

#include "amg.hpp"
#include "in_use.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

static PetscScalar Smooth(PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz)
{
  if (std::abs(dx) + std::abs(dy) + std::abs(dz) != 1) return 0;
  return (PetscReal)(1 + 0.5 * std::sin(0.1 * (double)(2 * x + dx)) * std::cos(0.2 * (double)(2 * y + dy)));
}

/// z = B noise of the preconditioner of a solver.
static PetscErrorCode Apply(KSP ksp, Mat A, Vec *z)
{
  PC  pc;
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatCreateVecs(A, z, &r));
  PetscCall(SetNoise(r));
  PetscCall(PCApply(pc, r, *z));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The preconditioner of `ksp` is that of a new solver but for rounding, which a cycle of a few products a level hardly
/// raises: a thousand roundings.
static PetscErrorCode CompareWithFresh(const std::string &what, KSP ksp, Mat A)
{
  KSP       fresh;
  Vec       z, w;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &fresh));
  PetscCall(KSPSetUp(fresh));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Apply(fresh, A, &z));
  PetscCall(Apply(ksp, A, &w));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCall(VecAXPY(w, -1, z));
  PetscCall(VecNorm(w, NORM_2, &difference));
  PetscCheck(difference <= 1000 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: differs from a new set-up by %g of %g", what.c_str(), (double)difference, (double)norm);
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscCall(KSPDestroy(&fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values: with the prolongators of the old ones where those are right (multiples of a matrix), else with new ones,
/// from old aggregates or new ones. After each the preconditioner is that of a new set-up.
static PetscErrorCode TestValues()
{
  const Grid before{40, 42, 1, 1, false, Faces}, after{40, 42, 1, 1, false, Smooth};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *options : {"-pc_sparsegpuamg_reuse_interpolation 1",
                                "-pc_sparsegpuamg_reuse_interpolation 0 -pc_sparsegpuamg_threshold 0",
                                "-pc_sparsegpuamg_reuse_interpolation 0 -pc_sparsegpuamg_threshold_scale 0.5",
                                "-pc_sparsegpuamg_reuse_interpolation 0 -pc_sparsegpuamg_agg_nsmooths 2"}) {
      const Options     set(options);
      const std::string what = std::string(type) + " " + options;
      const bool        keep = std::string(options).find("interpolation 1") != std::string::npos;
      Mat               A;
      KSP               ksp;
      Result            result;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, before, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(CompareWithFresh(what, ksp, A));
      for (int round = 0; round < 3; ++round) {
        if (round == 1 && !keep) {
          PetscCall(MatZeroEntries(A));
          PetscCall(SetGrid(A, after));
        } else {
          PetscCall(MatScale(A, 3));
        }
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(CompareWithFresh(what + ", new values", ksp, A));
      }
      PetscCall(MatZeroEntries(A));
      PetscCall(SetGrid(A, after));
      PetscCall(Solve(ksp, A, &result)); // sets up by itself
      PetscCall(CheckConverged(what, result, 15));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values of a matrix that has moved to the host since, and of another one of another type.
static PetscErrorCode TestMoved()
{
  const Option none("-pc_sparsegpuamg_threshold", "-1"), anew("-pc_sparsegpuamg_reuse_interpolation", "0");
  const Grid   grid{40, 42, 1, 1, false, Faces};

  PetscFunctionBeginUser;
  for (const char *steps : {"1", "2"}) {
    const Option      smoothing("-pc_sparsegpuamg_agg_nsmooths", steps);
    const std::string what = std::string(steps) + " smoothing steps";
    Mat               A, plain;
    KSP               ksp;
    Result            result;
    PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, grid, &A));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
    PetscCall(MatScale(A, 3));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(CheckConverged(what + ", on the host", result, 15));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
    PetscCall(MatScale(plain, 2));
    PetscCall(KSPSetOperators(ksp, plain, plain));
    PetscCall(Solve(ksp, plain, &result));
    PetscCall(CheckConverged(what + ", of type aij", result, 15));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&plain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same without a threshold, where aggregates depend on the pattern alone.
static PetscErrorCode TestSameAggregates()
{
  const Option none("-pc_sparsegpuamg_threshold", "-1"), anew("-pc_sparsegpuamg_reuse_interpolation", "0");
  const Grid   before{40, 42, 1, 1, false, Faces}, after{40, 42, 1, 1, false, Smooth};

  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat A;
    KSP ksp;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, before, &A));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(MatZeroEntries(A));
    PetscCall(SetGrid(A, after));
    PetscCall(CompareWithFresh(type, ksp, A));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Another pattern in the same matrix, another matrix, another size after PCReset(), another near null space.
static PetscErrorCode TestPatterns()
{
  const Grid five{40, 42, 1, 1, false, Faces}, nine{40, 42, 1, 1, false, All}, small{31, 30, 1, 1, false, Faces};

  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat          A, B, C;
    KSP          ksp;
    PC           pc;
    Vec          vector;
    MatNullSpace near;
    Result       result;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, five, &A));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, nine, &B));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, small, &C));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(CompareWithFresh("first", ksp, A));
    PetscCall(CompareWithFresh("twice", ksp, A));
    PetscCall(MatCopy(B, A, DIFFERENT_NONZERO_PATTERN));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(CompareWithFresh("another pattern", ksp, A));
    PetscCall(KSPSetOperators(ksp, B, B));
    PetscCall(CompareWithFresh("another matrix", ksp, B));
    PetscCall(MatCreateVecs(B, &vector, nullptr));
    PetscCall(SetNoise(vector));
    PetscCall(VecShift(vector, 3));
    PetscCall(VecNormalize(vector, nullptr));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &vector, &near));
    PetscCall(MatSetNearNullSpace(B, near));
    PetscCall(MatScale(B, 2)); // else nothing is set up again
    PetscCall(CompareWithFresh("another near null space", ksp, B));
    PetscCall(MatNullSpaceDestroy(&near));
    PetscCall(VecDestroy(&vector));
    PetscCall(PCReset(pc));
    PetscCall(KSPReset(ksp));
    PetscCall(KSPSetOperators(ksp, C, C));
    PetscCall(CompareWithFresh("another size", ksp, C));
    PetscCall(Solve(ksp, C, &result));
    PetscCall(CheckConverged("another size", result, 13));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(PCSetType(pc, PCSPARSEGPUAMG));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(CompareWithFresh("another type and back", ksp, C));
    PetscCall(KSPDestroy(&ksp));
    for (Mat *M : {&A, &B, &C}) PetscCall(MatDestroy(M));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a set-up for new values does again: coarse operators and spectra always, prolongators and aggregates as asked.
static PetscErrorCode TestWork()
{
  struct Case {
    const char *options;
    bool        prolongators, aggregates;
  };
  const Case cases[] = {
      {"-pc_sparsegpuamg_reuse_interpolation", false, false},
      {"-pc_sparsegpuamg_reuse_interpolation 0", true, true}, // the default threshold reads values
      {"-pc_sparsegpuamg_reuse_interpolation 0 -pc_sparsegpuamg_aggressive_coarsening 0", true, true}};
  const char *const events[] = {"SparseGPUGalerk", "SparseGPUSpectr", "SparseGPUProlong", "SparseGPUAggreg"};

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  for (const char *type : TYPES)
    for (const Case &c : cases) {
      const Options set(c.options);
      Mat           A;
      KSP           ksp;
      PetscInt      before[4], after[4];

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {40, 42, 1, 1, false, Faces}, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(KSPSetUp(ksp));
      for (int e = 0; e < 4; ++e) PetscCall(EventCount(events[e], &before[e]));
      PetscCall(MatScale(A, 3));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetUp(ksp));
      const bool expected[4] = {true, true, c.prolongators, c.aggregates};
      for (int e = 0; e < 4; ++e) {
        PetscCall(EventCount(events[e], &after[e]));
        PetscCheck((after[e] > before[e]) == expected[e], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "%s, %s: %s from %" PetscInt_FMT " to %" PetscInt_FMT " times", type, c.options, events[e],
                   before[e], after[e]);
      }
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Set-ups for new values, and from nothing, over and over: what is in use stays the same, but for a little that the
/// allocator and MPI keep by themselves.
static PetscErrorCode TestMemory()
{
  const Grid   grid{40, 42, 1, 1, false, Faces};
  const double slack = 64e3; // a level's matrix alone has more

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (bool fresh : {false, true}) {
      Mat    A;
      KSP    ksp;
      PC     pc;
      double before = 0;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, grid, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      for (int round = 0; round < 40; ++round) {
        if (round == 10) before = InUse();
        if (fresh) PetscCall(PCReset(pc));
        PetscCall(MatScale(A, round % 2 ? 2 : 0.5));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSetUp(ksp));
      }
      const double grown = InUse() - before;
      PetscCheck(grown < slack, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s, %s: 30 set-ups keep %g bytes", type,
                 fresh ? "from nothing" : "new values", grown);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"values", TestValues},
               {"moved", TestMoved},
               {"same_aggregates", TestSameAggregates},
               {"patterns", TestPatterns},
               {"work", TestWork},
               {"memory", TestMemory}});
}
