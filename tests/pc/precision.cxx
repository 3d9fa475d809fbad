static const char help[] = "Incomplete factors in single precision, -mat_sparsegpu_factor_precision single.\n\n";

#include "factors.hpp"
#include <petscksp.h>
#include <cfloat>
#include <cstring>

using namespace testing;

namespace
{
constexpr bool SAME = sizeof(PetscReal) == sizeof(float); ///< nothing is rounded

struct Way {
  const char *engine, *subdomains;
};
constexpr Way WAYS[] = {{"auto", "1"}, {"auto", "3"}, {"jacobi", "1"}, {"isai", "1"}, {"isai", "3"}};

/// MB that the view tells.
PetscErrorCode Megabytes(Mat F, bool single, const std::string &what, double *size)
{
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(TextOf(PETSC_COMM_SELF, "precision_view", &text, [&](PetscViewer viewer) {
    PetscFunctionBeginUser;
    PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO_DETAIL));
    PetscCall(MatView(F, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  const size_t end = text.find(" MB on the "), line = text.rfind('\n', end) + 1;
  PetscCheck(end != std::string::npos && sscanf(text.c_str() + line, "%lg", size) == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: no memory in\n%s", what.c_str(), text.c_str());
  PetscCheck(single == (text.find("in single precision") != std::string::npos), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: the precision in\n%s", what.c_str(), text.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solutions with the factors of A in full and in single precision, twice each.
PetscErrorCode CheckFactors(Mat A, Mat full, Mat single, const std::string &what)
{
  std::vector<std::string> types;
  std::vector<PetscScalar> exact, x, again;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  for (bool transpose : {false, true})
    for (const std::string &type : types) {
      PetscReal largest = 0, apart = 0;
      PetscCall(SolveWith(A, full, type, transpose, &exact));
      PetscCall(SolveWith(A, single, type, transpose, &x));
      PetscCall(SolveWith(A, single, type, transpose, &again));
      PetscCall(CheckSameBits(again, x, what + ", again"));
      for (size_t r = 0; r < x.size(); ++r) {
        largest = PetscMax(largest, PetscAbsScalar(exact[r]));
        apart   = PetscMax(apart, PetscAbsScalar(x[r] - exact[r]));
      }
      // Entries of both factors change by half an epsilon. With |U^-1| |U|, |L^-1| |L| <= 3 (factors.hpp) that is
      // (3 + 9) / 2 epsilons of an exact solution; approximate inverses and sweeps have terms of the same kind.
      PetscCheck(apart <= 72 * (PetscReal)FLT_EPSILON * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %s%s: %g apart, the largest entry is %g", what.c_str(), type.c_str(),
                 transpose ? ", transposed" : "", (double)apart, (double)largest);
      PetscCheck(SAME || x.empty() || apart > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: nothing was rounded",
                 what.c_str(), type.c_str());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckProblem(const Problem &p, const Way &way, MatFactorType kind, const char ordering[],
                            const std::string &backend)
{
  const Option      engine("-mat_sparsegpu_trisolve", way.engine), cut("-mat_sparsegpu_subdomains", way.subdomains);
  const std::string what = p.name + ", " + backend + ", " + way.engine + ", " + way.subdomains + " subdomains";
  MatFactorInfo     info = Info(1);
  double            bytes[2];
  Mat               A, full, single;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(backend, p, &A));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, info, ordering, &full));
  {
    const Option precision("-mat_sparsegpu_factor_precision", "single");
    PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, info, ordering, &single));
  }
  PetscCall(Megabytes(full, false, what, &bytes[0]));
  PetscCall(Megabytes(single, true, what, &bytes[1]));
  PetscCheck(SAME || bytes[1] < bytes[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g MB, not less than %g", what.c_str(),
             bytes[1], bytes[0]);
  for (int round = 0; round < 2; ++round) {
    PetscCall(CheckFactors(A, full, single, what + ", round " + std::to_string(round)));
    if (round) break;
    PetscCall(MatShift(A, (PetscReal)1.3)); // new values in the same pattern
    for (Mat F : {full, single})
      PetscCall(kind == MAT_FACTOR_ICC ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info));
  }
  PetscCall(MatDestroy(&full));
  PetscCall(MatDestroy(&single));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solves()
{
  const Problem            grid = conformance::Grid("grid_24x23", 24, 23, false);
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Way &way : WAYS)
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGRCM}) {
        PetscCall(CheckProblem(Dominant(grid), way, MAT_FACTOR_ILU, ordering, backend));
        PetscCall(CheckProblem(Symmetric(grid), way, MAT_FACTOR_ICC, ordering, backend));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each half of ICC is rounded, too: both together are the solve.
PetscErrorCode Halves()
{
  const Option             precision("-mat_sparsegpu_factor_precision", "single");
  Problem                  p = Symmetric(conformance::Grid("grid_24x23", 24, 23, true));
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  for (Entry &e : p.entries) e.v = PetscRealPart(e.v);
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Way &way : WAYS) {
      const Option engine("-mat_sparsegpu_trisolve", way.engine), cut("-mat_sparsegpu_subdomains", way.subdomains),
          sweeps("-mat_sparsegpu_trisolve_sweeps", "600");
      PetscReal apart, largest;
      Mat       A, F;
      Vec       b, w, x, y;
      if (!strcmp(way.engine, "isai")) continue; // of other factors it has other approximations
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ICC, Info(0), MATORDERINGNATURAL, &F));
      PetscCall(MatCreateVecs(A, &x, &b));
      for (Vec *v : {&w, &y}) PetscCall(VecDuplicate(x, v));
      PetscCall(SetVector(b, Input(p.rows, 7, Poison::None)));
      PetscCall(MatForwardSolve(F, b, w));
      PetscCall(MatBackwardSolve(F, w, x));
      PetscCall(MatSolve(F, b, y));
      PetscCall(VecNorm(y, NORM_INFINITY, &largest));
      PetscCall(VecAXPY(x, -1, y));
      PetscCall(VecNorm(x, NORM_INFINITY, &apart));
      PetscCheck(apart <= 144 * (PetscReal)FLT_EPSILON * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %s, %s subdomains: %g apart, the largest entry is %g", backend.c_str(), way.engine,
                 way.subdomains, (double)apart, (double)largest);
      for (Vec *v : {&b, &w, &x, &y}) PetscCall(VecDestroy(v));
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values that single precision has no room for fail the factorization, and the next ones are tried again.
PetscErrorCode Range()
{
  const Problem            p = Dominant(conformance::Grid("grid_5x4", 5, 4, false));
  const Option             precision("-pc_sparsegpu_factor_precision", "single");
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  if (SAME) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (PetscReal scale : {(PetscReal)1e-60, (PetscReal)1e60}) {
      KSPConvergedReason reason;
      Mat                A;
      Vec                b, x;
      KSP                ksp;
      PC                 pc;
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecSet(b, 1));
      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, PCSPARSEGPU));
      PetscCall(KSPSetFromOptions(ksp));
      for (int round = 0; round < 3; ++round) {
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        PetscCheck(round == 1 ? reason == KSP_DIVERGED_PC_FAILED : reason > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, scaled by %g, round %d: reason %d", backend.c_str(), (double)scale, round, (int)reason);
        PetscCall(MatScale(A, round ? 1 / scale : scale));
      }
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Refused()
{
  std::string message;
  Mat         A, F = nullptr;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCall(CreateOn("kokkos", Dominant(conformance::Grid("grid_5x4", 5, 4, false)), &A));
  for (const char *name : {"syncfree", "level"}) {
    const Option engine("-mat_sparsegpu_trisolve", name), precision("-mat_sparsegpu_factor_precision", "single");
    PetscCall(ExpectError(
        name, [&] { return FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F); },
        &message));
    PetscCall(CheckText(name, message, {name, "auto, jacobi or isai"}));
    PetscCall(MatDestroy(&F));
  }
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSPARSEGPU));
  for (const char *name : {"lu", "blocks"}) {
    const Option factor("-pc_sparsegpu_factor", name), precision("-pc_sparsegpu_factor_precision", "single");
    PetscCall(ExpectError(
        name, [&] { return PCSetFromOptions(pc); }, &message));
    PetscCall(CheckText(name, message, {"-pc_sparsegpu_factor_precision single", name}));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"solves", Solves}, {"halves", Halves}, {"range", Range}, {"refused", Refused}});
}
