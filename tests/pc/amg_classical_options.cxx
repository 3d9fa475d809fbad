static const char help[] = "Options and views of classical multigrid.\n\n";

#include "amg.hpp"
#include "amg_list.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const CLASSICAL = "-pc_sparsegpuamg_type";

/// Sets `options` for a solver with the prefix a_, and checks that its view has these facts, and not `absent`, on the
/// first process.
static PetscErrorCode Expect(const char problem[], const std::string &options, const std::vector<std::string> &facts,
                             PetscInt at_most, PetscInt unknowns = 1, const std::string &absent = "")
{
  const Options set(options + " -a_pc_sparsegpuamg_type classical");
  NamedGrid     grid;
  Mat           A;
  KSP           ksp;
  Result        result;
  std::string   text;

  PetscFunctionBeginUser;
  PetscCall(FindGrid(problem, 64, &grid));
  grid.grid.unknowns = unknowns;
  PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, grid.grid, &A));
  if (unknowns > 1) {
    MatNullSpace near;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &near));
    PetscCall(MatSetNearNullSpace(A, near));
    PetscCall(MatNullSpaceDestroy(&near));
  }
  PetscCall(CreateSolver(A, KSPFGMRES, PCSPARSEGPUAMG, "a_", &ksp));
  PetscCall(Solve(ksp, A, &result));
  PetscCall(CheckConverged(options, result, at_most, 1000));
  PetscCall(View(ksp, &text));
  if (!PetscGlobalRank) PetscCall(CheckText(options, text, facts));
  PetscCheck(absent.empty() || text.find(absent) == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: \"%s\" in %s", options.c_str(), absent.c_str(), text.c_str());
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOptions()
{
  const std::string VISITED = "level 3 is visited 2 times for each visit of level 4\n", VISITS = "times for each visit";

  PetscFunctionBeginUser;
  PetscCall(
      Expect("stretched", "",
             {"classical, 6 levels: operator complexity 2.", "strong_threshold 0.25, max_row_sum 0.9",
              "max_elements 4, truncation 0.2", "aggressive_coarsening as needed", "complexity 2.5",
              "splitting and interpolation on the ", "cycle: fused", VISITED, "coarsening ended: not more unknowns"},
             8));
  PetscCall(Expect("shear:1000", "", {"the level below the finest was left out: operator complexity about"}, 28));
  PetscCall(Expect("stretched", "-a_pc_sparsegpuamg_aggressive_coarsening 1",
                   {"aggressive_coarsening 1,", "operator complexity 1."}, 12));
  PetscCall(Expect("stretched", "-a_pc_sparsegpuamg_aggressive_coarsening 0 -a_pc_sparsegpuamg_max_elements 0",
                   {"aggressive_coarsening 0,", "max_elements 0"}, 8));
  PetscCall(Expect("shear:1000", "-a_pc_sparsegpuamg_complexity 0 -a_pc_sparsegpuamg_truncation 0",
                   {"operator complexity 3.", "truncation 0"}, 16));
  PetscCall(Expect("stretched", "-a_pc_sparsegpuamg_strong_threshold 0.0001",
                   {"strong_threshold 0.0001", "      0.0001 "}, 60));
  PetscCall(Expect("jumps", "-a_pc_sparsegpuamg_max_row_sum 1 -a_pc_sparsegpuamg_levels 3",
                   {"max_row_sum 1", "classical, 3 levels", "-pc_sparsegpuamg_levels 3 reached"}, 10));
  PetscCall(Expect("jumps", "-a_mg_levels_ksp_type richardson -a_mg_levels_pc_type sor",
                   {"type: richardson", "type: sor", "cycle: PCMG's"}, 10));
  PetscCall(Expect("jumps", "-a_pc_mg_cycle_type w", {"cycles=w"}, 10, 1, VISITS));
  PetscCall(Expect("stretched", "-a_pc_mg_cycle_type v", {"cycles=v"}, 8, 1, VISITS));
  PetscCall(Expect("stretched", "-a_pc_sparsegpuamg_cycle_type v", {"cycles=v"}, 8, 1, VISITS));
  PetscCall(Expect("stretched", "-a_pc_sparsegpuamg_visits 1,1,2",
                   {"level 2 is visited 2 times for each visit of level 3\n"}, 8, 1, VISITED));
  PetscCall(Expect("stretched", "-a_pc_sparsegpuamg_cycle_type k", {"cycle: fused, K"}, 8, 1, VISITS));
  PetscCall(Expect("stretched", "", {"the near null space is ignored", "the 2 unknowns of a block"}, 9, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Options that cannot be are errors that name the value and what is allowed.
static PetscErrorCode TestBad()
{
  const char *const cases[][3] = {
      {"-pc_sparsegpuamg_type", "geometric", "geometric must be auto, aggregation or classical"},
      {"-pc_sparsegpuamg_strong_threshold", "1.5", "1.5 must be at least 0 and below 1"},
      {"-pc_sparsegpuamg_strong_threshold", "-0.5", "-0.5 must be at least 0 and below 1"},
      {"-pc_sparsegpuamg_max_row_sum", "-0.5", "-0.5 must be positive"},
      {"-pc_sparsegpuamg_truncation", "1.5", "1.5 must be at least 0 and below 1"},
      {"-pc_sparsegpuamg_complexity", "0.5", "0.5 must be at least 1, or 0"},
      {"-pc_sparsegpuamg_max_elements", "33", "33 must be between 1 and 32, or 0"},
      {"-pc_sparsegpuamg_max_elements", "-1", "-1 must be between 1 and 32, or 0"}};
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(PETSC_COMM_SELF, MATAIJ, {10, 10, 1, 1, false, Faces}, &A));
  for (const auto &c : cases)
    PetscCall(ExpectBadOption(A, c[0], c[1], c[2],
                              strcmp(c[0], CLASSICAL) ? PETSC_ERR_ARG_OUTOFRANGE : PETSC_ERR_ARG_UNKNOWN_TYPE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The type is changed after a set-up, and back, and the cycle with it, until the program sets one.
static PetscErrorCode TestLater()
{
  NamedGrid   problem;
  Mat         A;
  KSP         ksp;
  Result      result;
  PC          pc;
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(FindGrid("jumps", 64, &problem));
  PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, problem.grid, &A));
  PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, "a_", &ksp));
  for (const char *type : {"classical", "aggregation", "Classical"}) {
    const Option option("-a_pc_sparsegpuamg_type", type);
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(CheckConverged(type, result, strcmp(type, "aggregation") ? 9 : 90, 1000));
    PetscCall(View(ksp, &text));
    const bool classical = strcmp(type, "aggregation") != 0, visits = text.find("times for each visit") != text.npos;
    if (PetscGlobalRank) continue;
    PetscCall(CheckText(type, text, {classical ? "classical, " : "smoothed aggregation, ", "cycles=v"}));
    PetscCheck(visits == classical, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", type, text.c_str());
  }
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGSetCycleType(pc, PC_MG_CYCLE_V));
  for (const PetscReal by : {(PetscReal)2, (PetscReal)1}) { // new values
    const Option type("-a_pc_sparsegpuamg_type", "classical");
    PetscCall(MatScale(A, by));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(View(ksp, &text));
    PetscCheck(text.find("times for each visit") == text.npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "V: %s", text.c_str());
  }
  PetscCall(PCMGSetCycleType(pc, PC_MG_CYCLE_W));
  for (const char *levels : {"10", "4"}) {
    const Option option("-a_pc_sparsegpuamg_levels", levels), type("-a_pc_sparsegpuamg_type", "classical");
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(View(ksp, &text));
    if (PetscGlobalRank) continue;
    PetscCall(CheckText("W by the program", text, {"cycles=w"}));
    PetscCheck(text.find("times for each visit") == text.npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "W: %s", text.c_str());
  }
  PetscCall(KSPDestroy(&ksp));
  for (const char *option : {"-a_pc_sparsegpuamg_visits", "-a_pc_mg_cycle_type"}) { // an option that comes later
    const Option type("-a_pc_sparsegpuamg_type", "classical");
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, "a_", &ksp));
    PetscCall(Solve(ksp, A, &result));
    const Option v(option, strstr(option, "visits") ? "1" : "v");
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(View(ksp, &text));
    PetscCheck(text.find("times for each visit") == text.npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s later: %s", option,
               text.c_str());
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"options", TestOptions}, {"bad", TestBad}, {"later", TestLater}});
}
