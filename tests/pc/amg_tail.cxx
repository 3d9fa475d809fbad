static const char help[] = "The coarse tail of multigrid gives what its levels give one by one.\n\n";

#include "amg_cycle.hpp"

#include <cstdlib>

using namespace amg_tests;
using namespace testing;

/// Constants are A's null space, by themselves or as a vector.
static PetscErrorCode SetConstantNullSpace(Mat A, bool by_vector)
{
  MatNullSpace null;
  Vec          ones;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &ones, nullptr));
  PetscCall(VecSet(ones, 1));
  PetscCall(VecNormalize(ones, nullptr));
  PetscCall(
      MatNullSpaceCreate(PETSC_COMM_WORLD, by_vector ? PETSC_FALSE : PETSC_TRUE, by_vector ? 1 : 0, &ones, &null));
  PetscCall(MatSetNullSpace(A, null));
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The coarse tail as one recursion gives what its levels give one by one, on the host and on several processes, too,
/// where it has the levels whose unknowns are on one; the view tells where it begins. `tail`: how many levels of three
/// or four it has beside the coarsest.
static PetscErrorCode TestTail()
{
  struct TailCase {
    const char *options;
    PetscInt    tail;
  };
  const TailCase cases[] = {
      {"-pc_sparsegpuamg_tail 100000", 3},
      {"-pc_sparsegpuamg_tail 1000", 2},
      {"-pc_sparsegpuamg_tail 100000 -mg_levels_ksp_max_it 1", 3},
      {"-pc_sparsegpuamg_tail 100000 -mg_levels_ksp_max_it 3 -mg_levels_1_ksp_max_it 4 -pc_mg_cycle_type w", 3},
      {"-pc_sparsegpuamg_tail 1000 -mg_levels_ksp_max_it 3 -pc_mg_cycle_type w", 2},
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_smoother l1jacobi", 3},
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_smoother l1jacobi -mg_levels_ksp_max_it 3 -pc_mg_cycle_type w",
       3},
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_smoother gauss_seidel", 3},
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_smoother gauss_seidel -mg_levels_ksp_max_it 2 -pc_mg_cycle_type w",
       3},
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_smoother symmetric_gauss_seidel", 3},
      {"-pc_sparsegpuamg_tail 100000 -mg_levels_2_ksp_type richardson -mg_levels_2_pc_type sparsegpusmoother", 3},
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_cycle_type k", 1}, // without the levels that Krylov steps visit
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_smoother ilu", 0},
      {"-pc_sparsegpuamg_tail 0", 0},
      {"-pc_sparsegpuamg_tail 100000 -mg_coarse_pc_type svd", 0},
      {"-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_coarse_eq_limit 1000", 0}};
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (const char *type : TYPES)
    for (const TailCase &c : cases)
      for (int null = 0; null < 3; ++null) {
        // rounding grows with each visit of a level, and Krylov steps divide by what little is left of a residual
        if ((null == 2 && strstr(c.options, "_type w")) || (null && strstr(c.options, "_type k"))) continue;
        const char *const names[]  = {"", ", singular", ", singular by a vector"};
        const bool        singular = null > 0;
        const Options     set(c.options);
        const std::string what = std::string(type) + " " + c.options + names[null];
        Mat               A;
        KSP               ksp;
        std::string       text;

        PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {70, 72, 1, 1, singular, Faces}, &A));
        if (singular) PetscCall(SetConstantNullSpace(A, null == 2));
        PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
        PetscCall(KSPSetUp(ksp));
        PetscCall(View(ksp, &text));
        const size_t   at     = text.find("coarse tail in one launch: levels ");
        const PetscInt told   = at == std::string::npos ? 0 : (PetscInt)std::atoi(text.c_str() + at + 34);
        const PetscInt wanted = size > 1 ? PetscMin(c.tail, 2) : c.tail; // several processes have the finest level
        PetscCheck(PetscGlobalRank || told == wanted, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: a tail of %" PetscInt_FMT " levels", what.c_str(), told);
        PetscCall(KSPDestroy(&ksp));
        Vec      together, apart;
        PetscInt runs;
        PetscCall(Apply(A, nullptr, true, &together, &runs));
        {
          const Option none("-pc_sparsegpuamg_tail", "0");
          PetscCall(Apply(A, nullptr, true, &apart, &runs));
        }
        PetscCall(CheckSame(what, together, apart));
        PetscCall(VecDestroy(&together));
        PetscCall(VecDestroy(&apart));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values, and other numbers of steps after the set-up, are the tail's, too.
static PetscErrorCode TestTailChanges()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *smoother : {"chebyshev", "gauss_seidel"}) {
      const Options set(std::string("-pc_sparsegpuamg_tail 100000 -pc_sparsegpuamg_smoother ") + smoother);
      Mat           A;
      KSP           ksp, at;
      PC            pc;
      Vec           b, x, y;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {70, 72, 1, 1, false, Faces}, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecDuplicate(x, &y));
      PetscCall(SetNoise(b));
      for (int round = 0; round < 2; ++round) {
        PetscCall(KSPSetUp(ksp));
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(PCMGGetSmoother(pc, 1, &at));
        PetscCall(KSPSetTolerances(at, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3 + round));
        PetscCall(PCApply(pc, b, x));
        {
          const Option apart("-pc_sparsegpuamg_fused_cycle", "0");
          PetscCall(PCSetFromOptions(pc)); // which leaves the hierarchy as it is
          PetscCall(PCMGGetSmoother(pc, 1, &at));
          PetscCall(PCApply(pc, b, y));
        }
        {
          const Option together("-pc_sparsegpuamg_fused_cycle", "1");
          PetscCall(PCSetFromOptions(pc));
        }
        PetscCall(CheckSame(std::string(type) + ", " + smoother + ", round " + std::to_string(round), x, y));
        PetscCall(MatScale(A, 7));
        PetscCall(KSPSetOperators(ksp, A, A));
      }
      for (Vec *v : {&b, &x, &y}) PetscCall(VecDestroy(v));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountNorms(KSP, PetscInt, PetscReal, void *count)
{
  PetscFunctionBeginUser;
  ++*(PetscInt *)count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A monitor of the coarsest solver that one process alone has counts from the next set-up on; no process waits.
static PetscErrorCode TestOneSided()
{
  const Options set("-pc_sparsegpuamg_tail 100000");

  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat                A;
    KSP                ksp, coarsest, *blocks;
    PC                 pc;
    Vec                b, x, y;
    PetscInt           norms = 0, before = 0, count, rows;
    KSPConvergedReason reason;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {70, 72, 1, 1, false, Faces}, &A));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(SetNoise(b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCMGGetCoarseSolve(pc, &coarsest));
    PetscCall(KSPGetPC(coarsest, &pc));
    PetscCall(PCBJacobiGetSubKSP(pc, &count, nullptr, &blocks));
    Mat own;
    PetscCall(KSPGetOperators(blocks[0], nullptr, &own));
    PetscCall(MatGetLocalSize(own, &rows, nullptr));
    if (rows) PetscCall(KSPMonitorSet(blocks[0], CountNorms, &norms, nullptr));
    for (const bool again : {false, true}) {
      if (again) PetscCall(PetscObjectStateIncrease((PetscObject)A));
      if (again) PetscCall(KSPSetOperators(ksp, A, A));
      before = norms;
      PetscCall(KSPSolve(ksp, b, y));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", type, KSPConvergedReasons[reason]);
    }
    PetscCheck(!rows || norms > before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the monitor was not called", type);
    PetscCall(CheckSame(std::string(type) + ", watched", x, y));
    for (Vec *v : {&b, &x, &y}) PetscCall(VecDestroy(v));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Logged<TestTail>}, {"changes", TestTailChanges}, {"one_sided", TestOneSided}});
}
