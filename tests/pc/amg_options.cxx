static const char help[] =
    "Options and views of multigrid: those of PCMG and those of its own, good ones and bad ones.\n\n";

#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

/// Sets `options`, sets up for a grid and checks that the view has these facts, on the first process.
static PetscErrorCode Expect(const std::string &options, const std::vector<std::string> &facts, PetscInt at_most = 30)
{
  const Options set(options);
  Mat           A;
  KSP           ksp;
  Result        result;
  std::string   text;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, {70, 72, 1, 1, false, Faces}, &A));
  PetscCall(CreateSolver(A, KSPFGMRES, PCSPARSEGPUAMG, "a_", &ksp));
  PetscCall(Solve(ksp, A, &result));
  PetscCall(CheckConverged(options, result, at_most));
  PetscCall(View(ksp, &text));
  if (!PetscGlobalRank) PetscCall(CheckText(options, text, facts));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOptions()
{
  PetscFunctionBeginUser;
  PetscCall(Expect("-a_x", {"type: sparsegpuamg", "4 levels: operator complexity", "type: chebyshev", "type: jacobi",
                            "cycle: fused", "eigenvalue targets used", "coarsening ended: not more unknowns",
                            "type: lu", "cycles=v", "maximum iterations=2"}));
  PetscCall(
      Expect("-a_pc_sparsegpuamg_levels 2", {"2 levels:", "coarsening ended: -pc_sparsegpuamg_levels 2 reached"}));
  PetscCall(Expect("-a_pc_mg_levels 2", {"2 levels:"}));
  PetscCall(Expect("-a_pc_mg_levels 7 -a_pc_mg_distinct_smoothup -a_mg_levels_up_ksp_max_it 3",
                   {"4 levels:", "Up solver (post-smoother) on level 1", "maximum iterations=3"}));
  PetscCall(Expect("-a_pc_sparsegpuamg_levels 1", {"1 levels:", "levels=1"}));
  PetscCall(Expect("-a_pc_sparsegpuamg_coarse_eq_limit 1000", {"2 levels:"}));
  PetscCall(Expect("-a_pc_sparsegpuamg_coarse_eq_limit 6000", {"1 levels:", "coarse_eq_limit 6000"}));
  PetscCall(Expect("-a_pc_mg_cycle_type w", {"cycles=w"}));
  PetscCall(Expect("-a_pc_mg_type full", {"type is FULL"}));
  PetscCall(Expect("-a_pc_mg_type additive", {"type is ADDITIVE"}, 200));
  PetscCall(Expect("-a_mg_levels_ksp_type richardson -a_mg_levels_pc_type sor -a_mg_levels_ksp_max_it 1",
                   {"type: richardson", "type: sor", "maximum iterations=1,"}));
  PetscCall(Expect("-a_mg_levels_pc_type sor", {"type: chebyshev", "type: sor", "eigenvalues estimated"}));
  PetscCall(Expect("-a_mg_levels_ksp_chebyshev_esteig 0,0.2,0,1.05", {"eigenvalues estimated", "[0. 0.2; 0. 1.05]"}));
  PetscCall(Expect("-a_mg_levels_ksp_chebyshev_eigenvalues 0.3,2.3", {"targets used: min 0.3, max 2.3"}));
  PetscCall(Expect("-a_pc_sparsegpuamg_use_sa_esteig 0", {"eigenvalues estimated"}));
  PetscCall(Expect("-a_pc_sparsegpuamg_esteig_ksp_type cg -a_pc_sparsegpuamg_esteig_ksp_max_it 20", {"4 levels:"}));
  PetscCall(Expect("-a_mg_levels_1_pc_type sor -a_mg_levels_2_pc_type jacobi", {"type: sor", "type: jacobi"}));
  PetscCall(Expect("-a_mg_coarse_pc_type svd", {"type: svd"}));
  PetscCall(Expect("-a_pc_sparsegpuamg_agg_nsmooths 0", {"agg_nsmooths 0"}, 60));
  PetscCall(Expect("-a_pc_sparsegpuamg_agg_nsmooths 2", {"agg_nsmooths 2"}));
  PetscCall(
      Expect("-a_pc_sparsegpuamg_threshold 0.02,0.03 -a_pc_sparsegpuamg_threshold_scale 0.5", {" 0.02 ", " 0.03 "}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Options that cannot be are errors that name the value and what is allowed.
static PetscErrorCode TestBad()
{
  const char *const cases[][3] = {{"-pc_sparsegpuamg_levels", "0", "0 must be between 1 and"},
                                  {"-pc_sparsegpuamg_levels", "99", "99 must be between 1 and"},
                                  {"-pc_mg_levels", "-5", "-pc_mg_levels -5 must be between 1 and"},
                                  {"-pc_sparsegpuamg_coarse_eq_limit", "-3", "-3 must be non-negative"},
                                  {"-pc_sparsegpuamg_agg_nsmooths", "-1", "-1 must be non-negative"},
                                  {"-pc_sparsegpuamg_agg_nsmooths", "101", "at most 100"},
                                  {"-pc_sparsegpuamg_aggressive_coarsening", "-1", "-1 must be non-negative"},
                                  {"-pc_sparsegpuamg_threshold", "1.5", "1.5 of level 0 must be below 1"},
                                  {"-pc_sparsegpuamg_threshold_scale", "0", "must be positive"}};
  Mat               A, B;
  std::string       message;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(PETSC_COMM_SELF, MATAIJ, {10, 10, 1, 1, false, Faces}, &A));
  for (const auto &c : cases) PetscCall(ExpectBadOption(A, c[0], c[1], c[2]));
  for (const char *type : {MATBAIJ, MATDENSE}) {
    PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
    PetscCall(ExpectError(
        type,
        [&] {
          PC pc;
          PetscFunctionBeginUser;
          PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
          PetscCall(PCSetOperators(pc, B, B));
          PetscCall(PCSetType(pc, PCSPARSEGPUAMG));
          PetscCall(PCSetUp(pc));
          PetscFunctionReturn(PETSC_SUCCESS);
        },
        &message, PETSC_ERR_SUP));
    PetscCall(CheckText(type, message, {"matrices of type aij", type}));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A shifted operator whose smooth eigenvectors have negative eigenvalues is told from a definite one.
static PetscErrorCode TestIndefinite()
{
  PetscFunctionBeginUser;
  for (const PetscScalar shift : {(PetscScalar)0, (PetscScalar)-1}) {
    Grid        g{70, 72, 1, 1, false, Faces};
    Mat         A;
    KSP         ksp;
    std::string text;

    g.shift = shift;
    PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, g, &A));
    PetscCall(CreateSolver(A, KSPGMRES, PCSPARSEGPUAMG, "a_", &ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(View(ksp, &text));
    const bool told = text.find("looks indefinite") != std::string::npos;
    PetscCheck(PetscGlobalRank || told == (shift != (PetscScalar)0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Shift %g: %s",
               (double)PetscRealPart(shift), text.c_str());
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Options that are set after a set-up hold from the next one on, which comes without new values.
static PetscErrorCode TestLater()
{
  Mat         A;
  KSP         ksp;
  Result      result;
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, {70, 72, 1, 1, false, Faces}, &A));
  PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, "a_", &ksp));
  PetscCall(View(ksp, &text));
  if (!PetscGlobalRank) PetscCall(CheckText("before", text, {"not yet set up"}));
  PetscCall(Solve(ksp, A, &result));
  {
    const Options set("-a_pc_sparsegpuamg_levels 2 -a_mg_levels_ksp_max_it 3");
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(CheckConverged("two levels", result, 13));
    PetscCall(View(ksp, &text));
    if (!PetscGlobalRank) PetscCall(CheckText("later", text, {"2 levels:", "levels=2", "maximum iterations=3"}));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"options", TestOptions}, {"bad", TestBad}, {"later", TestLater}, {"indefinite", TestIndefinite}});
}
