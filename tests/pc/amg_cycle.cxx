static const char help[] = "The fused cycle gives what PCMG's gives, and is PCMG's where it has to be.\n\n";

#include "amg_cycle.hpp"

using namespace amg_tests;
using namespace testing;

/// Both cycles.
static PetscErrorCode Compare(const std::string &what, Mat A, bool fuses)
{
  Vec      fused, plain;
  PetscInt runs;

  PetscFunctionBeginUser;
  PetscCall(Apply(A, nullptr, true, &fused, &runs));
  PetscCheck(runs == (fuses ? 2 : 0), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " fused cycles",
             what.c_str(), runs);
  PetscCall(Apply(A, nullptr, false, &plain, &runs));
  PetscCheck(runs == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a fused cycle that was not asked for", what.c_str());
  PetscCall(CheckSame(what, fused, plain));
  PetscCall(VecDestroy(&fused));
  PetscCall(VecDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSame()
{
  const char *const options[] = {"-mg_levels_ksp_max_it 2",
                                 "-mg_levels_ksp_max_it 1",
                                 "-mg_levels_ksp_max_it 3 -mg_levels_1_ksp_max_it 4",
                                 "-pc_mg_cycle_type w",
                                 "-pc_mg_cycle_type w -mg_levels_ksp_max_it 3",
                                 "-pc_mg_multiplicative_cycles 2",
                                 "-pc_sparsegpuamg_visits 2,1,3",
                                 "-pc_sparsegpuamg_agg_nsmooths 0",
                                 "-pc_sparsegpuamg_levels 2 -mg_coarse_pc_type jacobi",
                                 "-pc_sparsegpuamg_smoother l1jacobi -mg_levels_ksp_max_it 3",
                                 "-pc_sparsegpuamg_smoother gauss_seidel",
                                 "-pc_sparsegpuamg_smoother gauss_seidel -mg_levels_ksp_max_it 2 -pc_mg_cycle_type w",
                                 "-pc_sparsegpuamg_smoother symmetric_gauss_seidel",
                                 "-pc_sparsegpuamg_smoother ilu -mg_levels_ksp_max_it 2",
                                 "-pc_sparsegpuamg_finest_smoother ilu",
                                 "-pc_sparsegpuamg_smoother l1jacobi -pc_sparsegpuamg_finest_smoother gauss_seidel"};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *option : options) {
      const Options set(option);
      Mat           A;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {70, 72, 1, 1, false, Faces}, &A));
      PetscCall(Compare(std::string(type) + " " + option, A, true));
      PetscCall(MatDestroy(&A));
      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {20, 22, 1, 3, true, Faces, 0.5}, &A));
      PetscCall(Compare(std::string(type) + ", three unknowns, " + option, A, true));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where a smoother, the kind of cycle or an operator is another, the cycle is PCMG's.
static PetscErrorCode TestFallsBack()
{
  const char *const options[] = {"-mg_levels_pc_type sor",
                                 "-mg_levels_1_pc_type sor",
                                 "-mg_levels_ksp_type richardson",
                                 "-mg_levels_pc_jacobi_type rowmax",
                                 "-mg_levels_ksp_chebyshev_eigenvalues 0.2,2",
                                 "-pc_sparsegpuamg_use_sa_esteig 0",
                                 "-pc_mg_distinct_smoothup",
                                 "-pc_mg_type full",
                                 "-pc_mg_type additive",
                                 "-pc_sparsegpuamg_levels 1"};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *option : options) {
      const Options set(option);
      Mat           A;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {70, 72, 1, 1, false, Faces}, &A));
      PetscCall(Compare(std::string(type) + " " + option, A, false));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors on the host and on the device, and of the parallel type on one process: the cycle is this one, and gives the
/// same as for vectors of the levels' own type. PCMG has no K-cycle.
static PetscErrorCode TestVectors()
{
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  types.push_back(VECMPI);
  for (const char *of_matrix : TYPES)
    for (const char *cycle : {"v", "k"}) {
      const Option set("-pc_sparsegpuamg_cycle_type", cycle);
      Mat          A;
      Vec          own;
      PetscInt     runs;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, of_matrix, {70, 72, 1, 1, false, Faces}, &A));
      PetscCall(Apply(A, nullptr, true, &own, &runs));
      for (const std::string &type : types) {
        const std::string what = std::string(of_matrix) + ", " + type + ", " + cycle;
        Vec               other, copy;

        PetscCall(Apply(A, type.c_str(), true, &other, &runs));
        PetscCheck(runs == 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " fused cycles", what.c_str(),
                   runs);
        PetscCall(VecDuplicate(own, &copy));
        PetscCall(CopyEntries(other, copy));
        PetscCall(CheckSame(what, copy, own));
        PetscCall(VecDestroy(&other));
        PetscCall(VecDestroy(&copy));
      }
      PetscCall(VecDestroy(&own));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(KSP, PetscInt, PetscReal, void *calls)
{
  ++*static_cast<PetscInt *>(calls);
  return PETSC_SUCCESS;
}

/// A program that takes a smoother and changes or monitors it after the set-up sees PCMG's cycle from then on.
static PetscErrorCode TestChangedSmoother()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat      A;
    KSP      ksp, smoother;
    PC       pc;
    Result   first, second;
    PetscInt before, after, calls = 0;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {70, 72, 1, 1, false, Faces}, &A));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(Solve(ksp, A, &first));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCMGGetSmoother(pc, 1, &smoother));
    PetscCall(KSPMonitorSet(smoother, Monitor, &calls, nullptr));
    PetscCall(EventCount("SparseGPUCycle", &before));
    PetscCall(Solve(ksp, A, &second));
    PetscCall(EventCount("SparseGPUCycle", &after));
    PetscCheck(after == before, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " fused cycles", type,
               after - before);
    PetscCheck(first.iterations == second.iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with PCMG's cycle", type, first.iterations,
               second.iterations);
    PetscCall(KSPMonitorCancel(smoother));
    PetscCall(KSPSetType(smoother, KSPRICHARDSON));
    PetscCall(Solve(ksp, A, &second));
    PetscCall(CheckConverged(type, second, 30));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The transpose is PCMG's, and is one: (B x, y) = (x, B^T y).
static PetscErrorCode TestTranspose()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    const Grid g{40, 42, 1, 1, false, [](PetscInt, PetscInt, PetscInt, int dx, int dy, int) -> PetscScalar {
                   return std::abs(dx) + std::abs(dy) == 1 ? (dx > 0 ? 2 : 1) : 0;
                 }};
    Mat        A;
    KSP        ksp;
    PC         pc;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A));
    PetscCall(CreateSolver(A, KSPGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(CheckAdjoint(type, pc, A, PCApplyTranspose, VecTDot, 1e4));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Logged<TestSame>},
               {"falls_back", Logged<TestFallsBack>},
               {"vectors", Logged<TestVectors>},
               {"changed_smoother", Logged<TestChangedSmoother>},
               {"transpose", Logged<TestTranspose>}});
}
