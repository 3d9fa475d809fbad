static const char help[] = "LU factorizations of hard matrices, against dense ones with partial pivoting.\n\
  -test report : a line for each matrix, with the errors of all solvers\n\
  -size N -first SEED -seeds N : how large and which; -only NAME\n\n";

#include "backward.hpp"
#include "hard_matrices.hpp"

using namespace testing;

/// Another solver's: infinite errors if it fails.
static PetscErrorCode ErrorOf(const Problem &p, const char solver[], Backward *error, MatFactorError *failed)
{
  const MatFactorInfo info = Info(0);
  std::string         message;
  IS                  rows, columns;
  Mat                 A, F;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSEQAIJ, nullptr, Layout::Even, &A));
  PetscCall(MatGetFactor(A, solver, MAT_FACTOR_LU, &F));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatLUFactorSymbolic(F, A, rows, columns, &info));
  PetscCall(PetscPushErrorHandler(CollectMessage, &message));
  const PetscErrorCode code = MatLUFactorNumeric(F, A, &info);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatFactorGetError(F, failed));
  if (code) *failed = MAT_FACTOR_OTHER;
  error->norm = error->component = PETSC_INFINITY;
  if (!*failed) PetscCall(SolveAll(p, A, F, error));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Every matrix that LAPACK finds regular is solved to the bound; of others a solution has half of the digits, or it is
/// none.
static PetscErrorCode CheckAll(const std::vector<Problem> &problems)
{
  PetscFunctionBeginUser;
  for (const Problem &p : problems) {
    Backward       dense, ours;
    MatFactorError failed;
    std::string    view;
    bool           singular;
    PetscCall(Reference(p, &dense, &singular));
    PetscCall(OurErrorOf(on, p, &ours, &failed, &view));
    PetscCheck(singular || dense.norm <= Bound(p), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the dense error is %g",
               p.name.c_str(), (double)dense.norm);
    const PetscReal bound = singular ? PetscSqrtReal(PETSC_MACHINE_EPSILON) : Bound(p);
    PetscCheck(failed ? singular : ours.norm <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s on %s: error %d, backward error %g, %g allowed, LAPACK's %g%s; %s", p.name.c_str(), on.c_str(),
               (int)failed, (double)ours.norm, (double)bound, (double)dense.norm, singular ? ", singular" : "",
               view.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Small()
{
  PetscFunctionBeginUser;
  PetscCall(CheckAll(hard::Problems(1, 0, 12)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Large()
{
  PetscFunctionBeginUser;
  PetscCall(CheckAll(hard::Problems(3, 100, 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The same with partial pivoting at once.
static PetscErrorCode Pivoted()
{
  const Option option("-mat_sparsegpu_lu_pivoted", "on");
  std::string  view;
  Mat          A, F;

  PetscFunctionBeginUser;
  PetscCall(CheckAll(hard::Problems(1, 30, 4)));
  PetscCall(CheckAll(hard::Problems(2, 60, 1)));
  PetscCall(CreateOn(on, hard::Circuit(0, 100, 12, (PetscReal)1e-6), &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
  PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_hard_view", &view));
  PetscCall(CheckText("view", view, {"LU on the host", "partial pivoting: asked for"}));
  PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO_DETAIL, "lu_hard_view", &view));
  PetscCall(CheckText("view", view, {"diagonal blocks, growth"}));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BadOption()
{
  const MatFactorInfo info = Info(0);
  const Option        option("-mat_sparsegpu_lu_pivoted", "perhaps");
  std::string         message;
  IS                  rows, columns;
  Mat                 A, F;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, hard::Convection(5, 5, 1), &A));
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_LU, &F));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(ExpectError(
      "an unknown word", [&] { return MatLUFactorSymbolic(F, A, rows, columns, &info); }, &message,
      PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText("an unknown word", message, {"perhaps", "auto, on or off"}));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For people: not one of the tests.
static PetscErrorCode Report()
{
  PetscInt size = 1, first = 0, seeds = 4;
  char     only[64] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-size", &size, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-first", &first, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-seeds", &seeds, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-only", only, sizeof(only), nullptr));
  for (const Problem &p : hard::Problems(size, (unsigned)first, (unsigned)seeds)) {
    if (p.name.find(only) == std::string::npos) continue;
    Backward       error;
    MatFactorError failed;
    std::string    view;
    bool           singular = false;
    PetscCall(Reference(p, &error, &singular));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-34s %5d | lapack %.1e %.1e%s", p.name.c_str(), (int)p.rows,
                          (double)error.norm, (double)error.component, singular ? " singular" : ""));
    for (const char *solver : {"umfpack", "klu"}) {
      PetscBool known;
      PetscCall(MatSolverTypeGet(solver, MATSEQAIJ, MAT_FACTOR_LU, &known, nullptr, nullptr));
      if (!known) continue;
      PetscCall(ErrorOf(p, solver, &error, &failed));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " | %s %.1e %.1e%s", solver, (double)error.norm, (double)error.component,
                            failed ? " failed" : ""));
    }
    PetscCall(OurErrorOf(on, p, &error, &failed, &view));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, " | sparsegpu %.1e %.1e%s%s\n", (double)error.norm, (double)error.component,
                          failed ? " failed" : "",
                          view.find("partial pivoting") != std::string::npos ? " pivoted" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"small", OnEach<Small>},
               {"large", OnEach<Large>},
               {"pivoted", OnEach<Pivoted>},
               {"option", BadOption},
               {"report", Report}});
}
