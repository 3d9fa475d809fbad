static const char help[] =
    "Subdomains under KSP: the residuals of PETSc's block Jacobi with the same blocks, in parallel, too.\n\n";

#include "factors.hpp"
#include "pc/subdomains/cut.hpp"

using namespace testing;
using namespace sparsegpu::subdomains;

/// Rows of each range that MakeCut() makes of this process's diagonal block.
static PetscErrorCode Lengths(Mat A, PetscInt count, std::vector<PetscInt> *lengths)
{
  std::vector<PetscInt> i{0}, j;
  PetscInt              rows;
  Mat                   block;
  Cut                   cut;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(A, &block));
  PetscCall(MatGetLocalSize(block, &rows, nullptr));
  for (PetscInt r = 0; r < rows; ++r) {
    const PetscInt *columns;
    PetscInt        length;
    PetscCall(MatGetRow(block, r, &length, &columns, nullptr));
    j.insert(j.end(), columns, columns + length);
    i.push_back((PetscInt)j.size());
    PetscCall(MatRestoreRow(block, r, &length, &columns, nullptr));
  }
  PetscCall(MakeCut(sparsegpu::rows::CsrView{rows, rows, i.back(), i.data(), j.data(), nullptr}, count, CutKind::Ranges,
                    nullptr, nullptr, &cut));
  for (PetscInt s = 0; s < count; ++s) lengths->push_back(cut.begin[(size_t)s + 1] - cut.begin[(size_t)s]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The residuals of three solves: with A, with new values, and with the rows of B, another pattern. count 0: ours, with
/// the options that are set.
static PetscErrorCode Histories(const Problem &a, const Problem &b, Layout layout, const char ksp_type[],
                                const std::string &backend, PetscInt count, std::vector<PetscReal> histories[3])
{
  PetscReal history[1000];
  PetscInt  length;
  Mat       A, B;
  Vec       x, rhs;
  KSP       ksp;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, a, MATSPARSEGPU, nullptr, layout, &A));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, b, MATSPARSEGPU, nullptr, layout, &B));
  for (Mat M : {A, B}) PetscCall(MatSparseGPUSetBackend(M, backend.c_str()));
  PetscCall(MatCreateVecs(A, &x, &rhs));
  PetscCall(VecSet(rhs, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(
      KSPSetTolerances(ksp, PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-7, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetResidualHistory(ksp, history, 1000, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, count ? PCBJACOBI : PCSPARSEGPU));
  for (int round = 0; round < 3; ++round) {
    KSPConvergedReason    reason;
    std::vector<PetscInt> lengths;
    Mat                   M = round < 2 ? A : B;
    if (count) PetscCall(PCReset(pc)); // other blocks
    PetscCall(KSPSetOperators(ksp, M, M));
    if (count) {
      PetscCall(Lengths(M, count, &lengths));
      PetscCall(PCBJacobiSetLocalBlocks(pc, count, lengths.data()));
    }
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, rhs, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s, %s, round %d: reason %d", a.name.c_str(),
               ksp_type, round, (int)reason);
    PetscCall(KSPGetResidualHistory(ksp, nullptr, &length));
    histories[round].assign(history, history + length);
    PetscCall(MatShift(A, (PetscReal)0.5));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&rhs));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residuals()
{
  std::vector<std::string> backends;
  const Problem            first  = conformance::Grid("grid_40x37", 40, 37, true);
  Problem                  second = first;

  PetscFunctionBeginUser;
  second.entries.erase(std::remove_if(second.entries.begin(), second.entries.end(),
                                      [](const Entry &e) { return e.i != e.j && (e.i + e.j) % 7 == 3; }),
                       second.entries.end());
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *factor : {PCILU, PCICC})
      for (const char *ksp : {KSPGMRES, KSPBICG, KSPCG}) // bicg applies the transpose
        for (const PetscInt count : {2, 9, 100}) {
          const Option      ours("-pc_sparsegpu_factor", factor), theirs("-sub_pc_type", factor);
          const Option      subdomains("-pc_sparsegpu_subdomains", std::to_string(count));
          const Option      cut("-pc_sparsegpu_subdomains_cut", "ranges");
          const Option      solver("-sub_pc_factor_mat_solver_type", MATSOLVERPETSC);
          const std::string what = std::string(factor) + ", " + ksp + ", " + std::to_string(count) + ", " + backend;
          std::vector<PetscReal> got[3], expected[3];
          PetscCall(Histories(first, second, Layout::Even, ksp, backend, 0, got));
          PetscCall(Histories(first, second, Layout::Even, ksp, backend, count, expected));
          for (int round = 0; round < 3; ++round) {
            const size_t length = PetscMin(got[round].size(), expected[round].size());
            PetscCheck(PetscMax(got[round].size(), expected[round].size()) <= length + 1, PETSC_COMM_WORLD,
                       PETSC_ERR_PLIB, "%s, round %d: %d residuals, not %d", what.c_str(), round,
                       (int)got[round].size(), (int)expected[round].size());
            for (size_t k = 0; k < length; ++k)
              // half of the digits: recurrences of Krylov methods magnify rounding errors
              PetscCheck(PetscAbsReal(got[round][k] - expected[round][k]) <=
                             PetscSqrtReal(PETSC_MACHINE_EPSILON) * expected[round][0],
                         PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, round %d: residual %d is %g, not %g", what.c_str(),
                         round, (int)k, (double)got[round][k], (double)expected[round][k]);
          }
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One subdomain is none, bit for bit; auto on the host is one; processes without rows have none.
static PetscErrorCode One()
{
  const Problem            p = conformance::Grid("grid_40x37", 40, 37, false);
  std::vector<std::string> backends;
  std::vector<PetscReal>   without[3], with[3];

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
      if (PetscGlobalSize == 1 && layout != Layout::Even) continue;
      PetscCall(Histories(p, p, layout, KSPGMRES, backend, 0, without));
      for (const char *count : {"1", "auto", "4"}) {
        const Option subdomains("-pc_sparsegpu_subdomains", count);
        PetscCall(Histories(p, p, layout, KSPGMRES, backend, 0, with));
        // auto: at least 1024 rows of a process would make two
        const bool same = *count == '1' || (*count == 'a' && (backend == "kokkos" || PetscGlobalSize > 1));
        for (int round = 0; round < 3; ++round)
          PetscCheck((with[round] == without[round]) == same, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                     "%s subdomains on %s, round %d: %s residuals as without subdomains", count, backend.c_str(), round,
                     same ? "not the same" : "the same");
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is asked for wrongly says so, on all processes.
static PetscErrorCode Told()
{
  const Problem     p    = conformance::Grid("grid_40x37", 40, 37, false);
  const std::string most = std::to_string(p.rows + 1);
  struct Bad {
    const char *factor;
    std::string value;
    bool        at_once;
    const char *allowed;
  };
  const std::vector<Bad> bad = {{"ilu", "0", true, "positive number or auto, not 0"},
                                {"ilu", "-3", true, "positive number or auto, not -3"},
                                {"ilu", "2.5", true, "positive number or auto, not 2.5"},
                                {"ilu", most, false, "at most the rows of each process"},
                                {"ilu", "500", false, "at most the rows of each process"},
                                {"lu", "4", true, "not lu"}};

  PetscFunctionBeginUser;
  for (const Bad &b : bad) {
    if (b.value == "500" && PetscGlobalSize < 3) continue;
    const Option factor("-pc_sparsegpu_factor", b.factor), subdomains("-pc_sparsegpu_subdomains", b.value);
    std::string  message;
    Mat          A;
    PC           pc;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPU));
    PetscCall(PCSetOperators(pc, A, A));
    if (!b.at_once) PetscCall(PCSetFromOptions(pc));
    PetscCall(ExpectError(
        b.value, [&] { return b.at_once ? PCSetFromOptions(pc) : PCSetUp(pc); }, &message, PETSC_SUCCESS));
    PetscCall(CheckText(b.value, message, {b.value, b.allowed}));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The view says what was made, also after the options have changed.
static PetscErrorCode View()
{
  std::string text;
  Mat         A;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(conformance::Grid("grid_32x32", 32, 32, false), MATSPARSEGPU, nullptr, &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSPARSEGPU));
  PetscCall(PCSetOperators(pc, A, A));
  // 8 x 8 boxes: 15 levels; 3 cuts across and 3 along, of 32 couplings in both directions each, of 4992 entries;
  // 16 x 16: a third of the cuts
  for (const auto &[count, line] : std::vector<std::pair<const char *, const char *>>{
           {"16", "16 subdomains (boxes), the largest of 64 rows, 15 and 15 levels; 7.69% of the entries dropped"},
           {"4", "4 subdomains (boxes), the largest of 256 rows, 31 and 31 levels; 2.56% of the entries dropped"}}) {
    const Option subdomains("-pc_sparsegpu_subdomains", count);
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetUp(pc));
    PetscCall(
        TextOf(PETSC_COMM_SELF, "subdomains_view", &text, [pc](PetscViewer viewer) { return PCView(pc, viewer); }));
    PetscCall(CheckText("view", text, {line}));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"residuals", Residuals}, {"one", One}, {"told", Told}, {"view", View}});
}
