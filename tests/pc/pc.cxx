static const char help[] =
    "PCSPARSEGPU under KSP: the iterations of PETSc's block Jacobi with ILU, in parallel, too.\n\n";

#include "factors.hpp"

#include <memory>

using namespace testing;

/// Solves with the options that are set; PETSc's own factors if `native`. A second solve has new values.
static PetscErrorCode Solve(const Problem &p, Layout layout, bool native, PetscInt iterations[2],
                            KSPConvergedReason reason[2])
{
  const Option type("-pc_type", native ? PCBJACOBI : PCSPARSEGPU);
  Mat          A;
  Vec          x, b;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, layout, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  // seven digits are all that single precision has
  PetscCall(
      KSPSetTolerances(ksp, PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-7, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; ++round) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[round]));
    PetscCall(KSPGetConvergedReason(ksp, &reason[round]));
    PetscCall(MatShift(A, (PetscReal)0.5));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterations()
{
  const Problem p = conformance::Grid("grid_40x37", 40, 37, false);
  const Option  ordering("-pc_sparsegpu_ordering", MATORDERINGNATURAL);

  PetscFunctionBeginUser;
  for (const char *levels : {"0", "2"})
    for (const char *ksp : {KSPGMRES, KSPBICG}) // the latter applies the transpose
      for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
        if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
        const Option       ours_levels("-pc_sparsegpu_levels", levels), levels_of_sub("-sub_pc_factor_levels", levels);
        const Option       method("-ksp_type", ksp);
        const std::string  what = std::string(ksp) + ", ILU(" + levels + "), " + Name(layout);
        PetscInt           ours[2], petsc[2];
        KSPConvergedReason reason[2];
        PetscCall(Solve(p, layout, false, ours, reason));
        for (int round = 0; round < 2; ++round)
          PetscCheck(reason[round] > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: reason %d", what.c_str(),
                     (int)reason[round]);
        PetscCall(Solve(p, layout, true, petsc, reason));
        for (int round = 0; round < 2; ++round)
          PetscCheck(std::abs(ours[round] - petsc[round]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                     "%s: %d iterations, block Jacobi takes %d", what.c_str(), (int)ours[round], (int)petsc[round]);
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The orderings change the path, not the place: all converge.
static PetscErrorCode Orderings()
{
  const Problem p = conformance::Grid("grid_40x37", 40, 37, true);

  PetscFunctionBeginUser;
  for (const char *name : {"", MATORDERINGABMC, MATORDERINGRCM}) {
    const Option       ordering(*name ? "-pc_sparsegpu_ordering" : "-no_option_of_ours", *name ? name : "1");
    PetscInt           iterations[2];
    KSPConvergedReason reason[2];
    PetscCall(Solve(p, Layout::Even, false, iterations, reason));
    PetscCheck(reason[0] > 0 && reason[1] > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: reasons %d, %d", name,
               (int)reason[0], (int)reason[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A zero pivot ends the solve with the reason PETSc's users know; the next values are a new chance.
static PetscErrorCode ZeroPivot()
{
  const Option         method("-ksp_type", KSPRICHARDSON); // PETSc's GMRES takes the failed solution for its next guess
  conformance::Builder b("zero_pivot", 50, 50);
  PetscInt             iterations[2];
  KSPConvergedReason   reason[2];

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 50; ++r) b.Add(r, r, r == 49 ? 0 : 2);
  PetscCall(Solve(b, Layout::Even, false, iterations, reason));
  PetscCheck(reason[0] == KSP_DIVERGED_PC_FAILED, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %d", (int)reason[0]);
  PetscCheck(reason[1] > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "After the shift: reason %d", (int)reason[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A system, solved for a known solution with the options that are set, plain or transposed; the relative error of the
/// solution is at most the tolerance times what the matrix's condition makes of it. `normal`: the preconditioner is
/// made for the normal equations.
static PetscErrorCode SolveKnown(const Problem &p, bool transpose, bool normal, const std::string &what)
{
  constexpr PetscReal tolerance = 1e-8;
  Mat                 A, P;
  Vec                 x, b, exact;
  KSP                 ksp;
  KSPConvergedReason  reason;
  PetscReal           residual, norm;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(SetVector(exact, Input(p.rows, 7, Poison::None)));
  PetscCall(transpose ? MatMultTranspose(A, exact, b) : MatMult(A, exact, b));
  if (normal) {
    PetscCall(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &P));
  } else {
    PetscCall(PetscObjectReference((PetscObject)A));
    P = A;
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPSetTolerances(ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 2; ++round) {
    PetscCall(VecSet(x, 0));
    PetscCall(transpose ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: reason %d", what.c_str(), (int)reason);
    // A is twice as dominant as it need be (Dominant()), and so are its blocks and its factors: the condition of the
    // preconditioned matrix is at most 9, its square 81 for the normal equations
    PetscCall(VecAXPY(x, -1, exact));
    PetscCall(VecNorm(x, NORM_2, &residual));
    PetscCall(VecNorm(exact, NORM_2, &norm));
    PetscCheck(residual <= 100 * tolerance * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: off by %g of %g",
               what.c_str(), (double)residual, (double)norm);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets options for as long as it lives: name, value, name, value, ...
class OptionList
{
public:
  explicit OptionList(const std::vector<std::string> &words)
  {
    for (size_t k = 0; k + 1 < words.size(); k += 2) list_.emplace_back(new Option(words[k], words[k + 1]));
  }

private:
  std::vector<std::unique_ptr<Option>> list_;
};

/// What else reaches the preconditioner: Krylov methods that need its transpose, its options, and those above it.
static PetscErrorCode Krylov()
{
  const Problem general                            = Dominant(conformance::Grid("grid_40x37", 40, 37, false), true),
                spd                                = Symmetric(conformance::Grid("grid_40x37", 40, 37, true));
  const std::string                           type = "-pc_type";
  const std::vector<std::vector<std::string>> both = {
      {type, PCSPARSEGPU, "-ksp_type", KSPGMRES},
      {type, PCSPARSEGPU, "-ksp_type", KSPBICG},
      {type, PCSPARSEGPU, "-ksp_type", KSPLSQR},
      {type, PCSPARSEGPU, "-pc_sparsegpu_solve", "syncfree"},
      {type, PCSPARSEGPU, "-pc_sparsegpu_solve", "level"},
      {type, PCSPARSEGPU, "-pc_sparsegpu_solve", "jacobi", "-mat_sparsegpu_trisolve_sweeps", "3"},
      {type, PCSPARSEGPU, "-pc_sparsegpu_solve", "isai", "-ksp_type", KSPBICG},
      {type, PCSPARSEGPU, "-pc_sparsegpu_solve", "isai", "-mat_sparsegpu_trisolve_power", "2"},
      {type, PCSPARSEGPU, "-pc_sparsegpu_check", "1", "-pc_sparsegpu_solve", "auto"},
      {type, PCSPARSEGPU, "-pc_sparsegpu_factor", "none"},
      {type, PCSPARSEGPU, "-pc_factor_levels", "2"},
      {type, PCSPARSEGPU, "-pc_factor_shift_type", "nonzero", "-pc_factor_zeropivot", "1e-10"},
      {type, PCSPARSEGPU, "-pc_factor_mat_ordering_type", "rcm", "-pc_factor_reuse_ordering", "1"},
      {type, PCSPARSEGPU, "-pc_factor_diagonal_fill", "1"},
      {type, PCSPARSEGPU, "-pc_factor_reuse_fill", "1", "-pc_factor_fill", "2"},
      {type, PCBJACOBI, "-sub_pc_type", PCSPARSEGPU},
      {type, PCBJACOBI, "-sub_pc_type", PCSPARSEGPU, "-sub_pc_sparsegpu_solve", "level"},
      {type, PCBJACOBI, "-sub_pc_factor_mat_solver_type", MATSOLVERSPARSEGPU},
      {type, PCBJACOBI, "-sub_pc_factor_mat_solver_type", MATSOLVERSPARSEGPU, "-sub_pc_factor_reuse_fill", "1",
       "-sub_pc_factor_reuse_ordering", "1"},
      {type, PCASM, "-sub_pc_type", PCSPARSEGPU},
      {type, PCASM, "-sub_pc_factor_mat_solver_type", MATSOLVERSPARSEGPU},
  };
  const std::vector<std::vector<std::string>> symmetric = {
      {type, PCSPARSEGPU, "-pc_sparsegpu_factor", "icc", "-ksp_type", KSPCG},
      {type, PCSPARSEGPU, "-pc_sparsegpu_factor", "icc", "-ksp_type", KSPCG, "-pc_factor_levels", "1"},
      {type, PCSPARSEGPU, "-pc_sparsegpu_factor", "icc", "-ksp_type", KSPCG, "-pc_sparsegpu_solve", "isai"},
      {type, PCSPARSEGPU, "-pc_sparsegpu_factor", "none", "-ksp_type", KSPCG},
      {type, PCBJACOBI, "-sub_pc_type", PCICC, "-sub_pc_factor_mat_solver_type", MATSOLVERSPARSEGPU, "-ksp_type",
       KSPCG},
      {type, PCGAMG, "-mg_levels_pc_type", PCSPARSEGPU, "-mg_levels_ksp_type", KSPRICHARDSON},
      {type, PCGAMG, "-mg_levels_pc_type", PCBJACOBI, "-mg_levels_sub_pc_factor_mat_solver_type", MATSOLVERSPARSEGPU},
  };

  PetscFunctionBeginUser;
  for (bool transpose : {false, true})
    for (const auto &options : both) {
      const OptionList set(options);
      std::string      what = transpose ? "transposed" : "plain";
      for (const std::string &word : options) what += " " + word;
      PetscCall(SolveKnown(general, transpose, options[3] == KSPLSQR, what));
    }
  for (const auto &options : symmetric) {
    const OptionList set(options);
    std::string      what;
    for (const std::string &word : options) what += " " + word;
    PetscCall(SolveKnown(spd, false, false, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls of an event on the main stage so far.
static PetscErrorCode Calls(const char name[], int *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCheck(event >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No log event %s", name);
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What -pc_view and -log_view tell. The grid's levels are its diagonals: 24 + 23 - 1 = 46, of 552 rows.
static PetscErrorCode Face()
{
  const Problem            p = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  const Option             ordering("-pc_sparsegpu_ordering", MATORDERINGNATURAL);
  const char *const        events[] = {"MatILUFactorSym", "MatLUFactorNum", "SparseGPUAnalys", "SparseGPUTriSlv"};
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  PetscCall(PetscLogDefaultBegin());
  for (const std::string &backend : backends)
    for (const char *engine : ENGINES) {
      const Option             solve("-pc_sparsegpu_solve", engine);
      const std::string        what     = backend + ", " + engine;
      const bool               knows    = backend != "cuda" || !strcmp(engine, "auto") || !strcmp(engine, "level");
      std::vector<std::string> expected = {"ilu(0), ordering: natural, solves: " + std::string(engine),
                                           backend == "cuda" ? "on cuda" : "on the host"};
      std::string              text, again;
      int                      before[4], after[4];
      Mat                      A;
      Vec                      b, x;
      PC                       pc;
      for (int e = 0; e < 4; ++e) PetscCall(Calls(events[e], &before[e]));
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecSet(b, 1));
      PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
      PetscCall(PCSetType(pc, PCSPARSEGPU));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetUp(pc));
      PetscCall(TextOf(PETSC_COMM_SELF, "pc_face", &text, [&](PetscViewer viewer) { return PCView(pc, viewer); }));
      PetscCall(CheckText(what, text, expected));
      PetscCall(PCApply(pc, b, x)); // engine level knows the levels from then on
      PetscCall(TextOf(PETSC_COMM_SELF, "pc_face", &again, [&](PetscViewer viewer) { return PCView(pc, viewer); }));
      PetscCheck(again == text, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: before a solve\n%s\nand after\n%s", what.c_str(),
                 text.c_str(), again.c_str());
      PetscCall(TextOf(PETSC_COMM_SELF, "pc_face", &text, [&](PetscViewer viewer) {
        PetscFunctionBeginUser;
        PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO_DETAIL));
        PetscCall(PCView(pc, viewer));
        PetscCall(PetscViewerPopFormat(viewer));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
      expected.push_back(" MB on the ");
      if (knows) expected.push_back("46 levels of L (12.0 rows each), 46 of U (12.0 rows each)");
      PetscCall(CheckText(what, text, expected));
      PetscCheck(text.find(" 0 MB") == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no memory in\n%s",
                 what.c_str(), text.c_str());
      for (int e = 0; e < 4; ++e) {
        PetscCall(Calls(events[e], &after[e]));
        PetscCheck(after[e] == before[e] + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d events %s, not one",
                   what.c_str(), after[e] - before[e], events[e]);
      }
      PetscCall(PCDestroy(&pc));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"iterations", Iterations},
               {"orderings", Orderings},
               {"zero_pivot", ZeroPivot},
               {"krylov", Krylov},
               {"face", Face}});
}
