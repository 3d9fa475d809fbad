static const char help[] = "The smoothers of multigrid: iterations, symmetric cycles, options and views.\n\n";

#include "amg.hpp"
#include "amg_list.hpp"

using namespace amg_tests;
using namespace testing;

namespace
{
const char *const SMOOTHERS[] = {"chebyshev", "l1jacobi", "gauss_seidel", "symmetric_gauss_seidel", "ilu"};

/// Of 64^2 points, GMRES or conjugate gradients to 1e-8, in the order of SMOOTHERS: a fifth more, but at least two,
/// than one to three processes take; 0: not tried.
struct Case {
  const char *problem;
  bool        classical;
  PetscInt    most[5];
};
const Case CASES[] = {{"stencil5", false, {11, 14, 14, 11, 10}}, {"stencil5", true, {10, 13, 12, 9, 8}},
                      {"rotated", true, {15, 19, 16, 15, 0}},    {"jumps", true, {9, 10, 11, 9, 8}},
                      {"vortex:1", true, {13, 18, 17, 12, 11}},  {"shear:1000", true, {24, 24, 27, 38, 17}}};
} // namespace

static PetscErrorCode TestIterations()
{
  PetscFunctionBeginUser;
  for (const Case &c : CASES)
    for (int s = 0; s < 5; ++s) {
      const Options set(std::string("-pc_sparsegpuamg_type ") + (c.classical ? "classical" : "aggregation") +
                        " -pc_sparsegpuamg_smoother " + SMOOTHERS[s]);
      NamedGrid     grid;
      Mat           A;
      Result        result;

      if (c.most[s] == 0) continue;
      PetscCall(FindGrid(c.problem, 64, &grid));
      PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, grid.grid, &A));
      PetscCall(SolveOnce(A, grid.symmetric ? KSPCG : KSPGMRES, PCSPARSEGPUAMG, &result));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT "\n",
                            c.problem, SMOOTHERS[s], result.iterations, c.most[s]));
      PetscCall(CheckConverged(std::string(c.problem) + ", " + SMOOTHERS[s], result, c.most[s], 1000));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ILU whose triangular solves are products with sparse approximate inverses: told, in the fused cycle, and with a
/// few iterations more than exact solves take.
static PetscErrorCode TestISAI()
{
  PetscFunctionBeginUser;
  for (const char *problem : {"stencil5", "vortex:1"}) {
    PetscInt exact = 0;
    for (const char *solve : {"auto", "isai"}) {
      const Options set(std::string("-pc_sparsegpuamg_smoother ilu -mg_levels_pc_sparsegpu_solve ") + solve);
      NamedGrid     grid;
      Mat           A;
      KSP           ksp;
      Result        result;
      std::string   text;

      PetscCall(FindGrid(problem, 64, &grid));
      PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, grid.grid, &A));
      PetscCall(CreateSolver(A, grid.symmetric ? KSPCG : KSPGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(Solve(ksp, A, &result));
      if (solve == std::string("auto")) exact = result.iterations;
      PetscCall(CheckConverged(std::string(problem) + ", " + solve, result, exact + 6, 1000));
      PetscCall(View(ksp, &text));
      if (!PetscGlobalRank && solve == std::string("isai"))
        PetscCall(CheckText(problem, text, {"isai", "cycle: fused"}));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// (B x, y) = (x, B y) of cycles for a Hermitian matrix, as conjugate gradients need it.
static PetscErrorCode TestSymmetric()
{
  PetscFunctionBeginUser;
  for (const char *smoother : SMOOTHERS)
    for (const char *steps : {"1", "2"}) {
      const Options set(std::string("-pc_sparsegpuamg_smoother ") + smoother + " -mg_levels_ksp_max_it " + steps);
      Mat           A;
      KSP           ksp;
      PC            pc;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, {20, 18, 1, 1, false, Faces}, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(KSPSetUp(ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(CheckAdjoint(std::string(smoother) + ", " + steps + " steps", pc, A, PCApply, VecDot, 1e4));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What smooths is told; a smoother that is set later is the next set-up's; options of a program go before.
static PetscErrorCode TestTold()
{
  struct Told {
    const char              *options;
    std::vector<std::string> facts;
  };
  const Told  told[] = {{"-pc_sparsegpuamg_smoother gauss_seidel",
                         {"type: sparsegpusmoother", "colours, forward", "colours, backward", "cycle: fused",
                          "Up solver (post-smoother) on level 1"}},
                        {"-pc_sparsegpuamg_smoother symmetric_gauss_seidel", {"colours, symmetric", "cycle: fused"}},
                        {"-pc_sparsegpuamg_smoother l1jacobi", {"l1-Jacobi", "maximum iterations=2", "cycle: fused"}},
                        {"-pc_sparsegpuamg_smoother ilu", {"type: sparsegpu\n", "cycle: fused"}},
                        {"-pc_sparsegpuamg_smoother chebyshev", {"type: chebyshev", "type: jacobi", "cycle: fused"}},
                        {"-pc_sparsegpuamg_smoother gauss_seidel -mg_levels_pc_type sor",
                         {"type: richardson", "type: sor", "cycle: PCMG's"}},
                        {"-pc_sparsegpuamg_smoother l1jacobi -mg_levels_ksp_richardson_scale 0.9",
                         {"l1-Jacobi", "damping factor=0.9", "cycle: PCMG's"}},
                        {"-pc_sparsegpuamg_smoother chebyshev", {"cycle: fused", "not using a second smoother"}}};
  Mat         A;
  KSP         ksp;
  PC          pc;
  Result      result;
  std::string text, message;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, {40, 42, 1, 1, false, Faces}, &A));
  PetscCall(CreateSolver(A, KSPFGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  for (const Told &t : told) { // one preconditioner in turn
    const Options set(t.options);

    PetscCall(PCSetFromOptions(pc));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(CheckConverged(t.options, result, 20));
    PetscCall(View(ksp, &text));
    if (text.find("Up solver (post-smoother) same") != std::string::npos) text += "not using a second smoother";
    if (!PetscGlobalRank) PetscCall(CheckText(t.options, text, t.facts));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateGrid(PETSC_COMM_SELF, MATAIJ, {10, 10, 1, 1, false, Faces}, &A));
  PetscCall(ExpectBadOption(A, "-pc_sparsegpuamg_smoother", "sor", "must be chebyshev, l1jacobi",
                            PETSC_ERR_ARG_UNKNOWN_TYPE));
  PetscCall(ExpectBadOption(A, "-pc_sparsegpuamg_tail", "-1", "-1 must be positive, or 0"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ILU on the finest level where convection dominates, on a host and by its own choice; else what the others have.
static PetscErrorCode TestFinest()
{
  struct Finest {
    const char *problem, *options;
    bool        ilu;
  };
  const Finest cases[] = {{"shear:1000", "", true},
                          {"vortex:100", "", true},
                          {"shear:1000", "-pc_sparsegpuamg_finest_smoother same", false},
                          {"shear:1000", "-mg_levels_ksp_type chebyshev", false},
                          {"shear:1000", "-pc_sparsegpuamg_smoother l1jacobi", false},
                          {"shear:0.5", "", false},
                          {"central:10", "", false}, // no M-matrix: ILU diverges
                          {"rotated", "", false},
                          {"rotated", "-pc_sparsegpuamg_finest_smoother gauss_seidel", false}};
  PetscInt     iterations[3];

  PetscFunctionBeginUser;
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); ++k) {
    const Finest &c = cases[k];
    const Options set(std::string("-pc_sparsegpuamg_type classical") + (*c.options ? " " : "") + c.options);
    NamedGrid     grid;
    Mat           A;
    KSP           ksp;
    Result        result;
    std::string   text;

    PetscCall(FindGrid(c.problem, 100, &grid));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, MATAIJ, grid.grid, &A)); // on the host
    PetscCall(CreateSolver(A, grid.symmetric ? KSPCG : KSPGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
    for (int round = 0; round < 2; ++round) { // new values keep it
      PetscCall(Solve(ksp, A, &result));
      PetscCall(CheckConverged(std::string(c.problem) + " " + c.options, result, 100, 1000));
      PetscCall(MatScale(A, 2));
      PetscCall(KSPSetOperators(ksp, A, A));
    }
    if (k < 3) iterations[k] = result.iterations;
    PetscCall(View(ksp, &text));
    const bool ilu = text.find("type: sparsegpu\n") != std::string::npos;
    PetscCheck(PetscGlobalRank || ilu == c.ilu, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: %s", c.problem, c.options,
               ilu ? "ILU" : "no ILU");
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscCheck((PetscReal)iterations[0] <= 0.7 * (PetscReal)iterations[2], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " iterations with ILU, %" PetscInt_FMT " without", iterations[0], iterations[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"iterations", TestIterations},
               {"isai", TestISAI},
               {"symmetric", TestSymmetric},
               {"told", TestTold},
               {"finest", TestFinest}});
}
