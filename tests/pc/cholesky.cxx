static const char help[] =
    "Symmetric direct factorizations by MATSOLVERSPARSEGPU: one triangle of the fronts, definite or not.\n\n";

#include "direct.hpp"
#include "inertia.hpp"
#include "mirrored.hpp"

using namespace testing;

/// It is L D L^T, and not the LU that takes over where the diagonal has no pivots.
static PetscErrorCode CheckKind(Mat F, const std::string &what)
{
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "cholesky_view", &text));
  PetscCheck(text.find("sparsegpu Cholesky on ") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s",
             what.c_str(), text.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves, plain and transposed, of one column and several; the same bits from the same values; new values as a new
/// factor has them.
static PetscErrorCode Check(const Problem &p, bool hermitian, const char ordering[])
{
  const MatFactorInfo      info = Info(0);
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *refine : {"0", "10"}) {
      const Option             option("-mat_sparsegpu_lu_refine", refine);
      const std::string        what = p.name + ", " + ordering + " on " + backend + ", refine " + refine;
      std::vector<PetscScalar> x, again;
      Mat                      A, F, G;
      // without refinement: the diagonal dominates, so that factors and inverses are bounded, but for the sums' length
      const PetscReal slack = refine[0] == '0' ? 8 * PetscMax((PetscReal)p.rows, 1) : 1;
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(MatSetOption(A, hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &F));
      PetscCall(CheckKind(F, what));
      PetscCall(CheckSolves(A, F, p, slack, what));
      for (const bool transpose : {false, true}) PetscCall(CheckColumns(F, p, 3, transpose, slack, what));
      PetscCall(MatScale(A, (PetscReal)-0.75));
      PetscCall(MatCholeskyFactorNumeric(F, A, &info));
      PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &G));
      PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
      PetscCall(SolveWith(A, G, VECSTANDARD, false, &again));
      PetscCall(CheckSameBits(x, again, what + ", new values"));
      PetscCall(MatDestroy(&G));
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Patterns of all kinds: empty, of one row, chains, arrows, hubs, grids.
static PetscErrorCode Patterns()
{
  PetscFunctionBeginUser;
  for (const Problem &p : Problems())
    for (const bool definite : {false, true})
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGND})
        PetscCall(Check(Mirrored(p, false, definite), false, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Tiles of pivots, complete and not; others by products of our own and, on a device, by those of cuBLAS, in blocks
/// that divide them and that do not; trees of small and large fronts.
static PetscErrorCode Fronts()
{
  PetscFunctionBeginUser;
  for (const PetscInt n : {31, 32, 33, 64, 70, 97, 300}) // one dense front
    PetscCall(Check(Mirrored(Arrow({}, n), false, false), false, MATORDERINGNATURAL));
  for (const PetscInt border : {20, 130, 785})
    PetscCall(Check(Mirrored(Arrow({40, 70, 130, 5, 33, 64}, border), false, false), false, MATORDERINGNATURAL));
  PetscCall(Check(Mirrored(Arrow({50, 20}, 1029), false, true), false, MATORDERINGNATURAL));
  for (const char *ordering : {MATORDERINGND, MATORDERINGRCM})
    PetscCall(Check(Mirrored(Cube(12), false, true), false, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// L D L^H.
static PetscErrorCode Hermitian()
{
  if (!PetscDefined(USE_COMPLEX)) return Skip("skipped: real scalars");
  PetscFunctionBeginUser;
  for (const Problem &p : Problems())
    for (const bool definite : {false, true}) PetscCall(Check(Mirrored(p, true, definite), true, MATORDERINGND));
  for (const PetscInt border : {20, 130, 785})
    PetscCall(Check(Mirrored(Arrow({40, 70, 130, 5, 33}, border), true, false), true, MATORDERINGNATURAL));
  PetscCall(Check(Mirrored(Cube(12), true, true), true, MATORDERINGND));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The shifted Laplacian of an n x n grid.
[[maybe_unused]] static Problem Shifted(PetscInt n, PetscReal shift)
{
  conformance::Builder b("shifted_" + std::to_string(n), n * n, n * n);
  for (PetscInt r = 0; r < n * n; ++r) {
    b.Add(r, r, 4 - shift);
    for (const PetscInt step : {(PetscInt)1, n}) {
      if (r / step % n == n - 1) continue;
      b.Add(r, r + step, -1);
      b.Add(r + step, r, -1);
    }
  }
  return b;
}

/// The signs of the dense matrix's eigenvalues.
static PetscErrorCode Inertia()
{
#if defined(PETSC_USE_COMPLEX)
  return Skip("skipped: complex scalars");
#else
  constexpr PetscInt       N = 11;
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const PetscReal shift : {(PetscReal)0.93, (PetscReal)3.1, (PetscReal)6.7}) {
    const Problem p = Shifted(N, shift);
    PetscInt      expected;
    PetscCall(CountNegative(p, (PetscReal)1e-4, &expected));
    for (const std::string &backend : backends)
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGND, MATORDERINGRCM}) {
        Mat A, F;
        PetscCall(CreateOn(backend, p, &A));
        PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &F));
        PetscCall(CheckInertia(F, p, expected,
                               std::string(ordering) + " on " + backend + ", shift " + std::to_string((double)shift)));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
}

/// Factors take at most 0.6 times the entries of LU's, and less memory with all that goes with them.
static PetscErrorCode Memory()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Problem &plain : std::vector<Problem>{Cube(16), Arrow({}, 300), Arrow({60, 60}, 400)}) {
      const Problem p = Mirrored(plain, false, true);
      MatInfo       lu, cholesky;
      Mat           A, F, G;
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F));
      PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGND, &G));
      PetscCall(MatGetInfo(F, MAT_LOCAL, &lu));
      PetscCall(MatGetInfo(G, MAT_LOCAL, &cholesky));
      PetscCheck(cholesky.nz_used <= 0.6 * lu.nz_used && cholesky.memory < lu.memory, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s on %s: %g entries, %g bytes; LU has %g, %g", p.name.c_str(), backend.c_str(), cholesky.nz_used,
                 cholesky.memory, lu.nz_used, lu.memory);
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&G));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(
      argc, argv, help,
      {{"patterns", Patterns}, {"fronts", Fronts}, {"hermitian", Hermitian}, {"inertia", Inertia}, {"memory", Memory}});
}
