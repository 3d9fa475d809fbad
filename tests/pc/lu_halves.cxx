static const char help[] =
    "Solves with one triangle of direct factors, with sums, and with sparse right-hand sides.\n\n";

#include "direct.hpp"

#include <petscksp.h>

#include <cmath>

using namespace testing;

/// A complex matrix is Hermitian where it is to be positive definite.
static PetscErrorCode Create(const Problem &p, bool symmetric, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, A));
  if (symmetric) PetscCall(MatSetOption(*A, PetscDefined(USE_COMPLEX) ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static Problem Definite(const Problem &p)
{
  Problem q = Symmetric(p);
  for (Entry &e : q.entries) // real: Hermitian
    e.v = e.i == e.j ? PetscAbsScalar(e.v) : PetscRealPart(e.v);
  return q;
}

/// Forward, then backward, is the solve: factors without refinement, so within the same bits' rounding.
static PetscErrorCode Both()
{
  std::vector<Problem> problems = Problems();

  PetscFunctionBeginUser;
  problems.push_back(Cube(8));
  problems.push_back(Bordered(50, 230));
  for (const Problem &plain : problems)
    for (const bool symmetric : {false, true})
      for (const char *precision : {"full", "single"}) {
        const Option  refine("-mat_sparsegpu_lu_refine", "0"), option("-mat_sparsegpu_lu_precision", precision);
        const Problem p = symmetric ? Definite(plain) : plain;
        std::vector<PetscScalar> x, exact;
        Mat                      A, F;
        Vec                      b, y, z;
        PetscCall(Create(p, symmetric, &A));
        PetscCall(FactorDirect(A, symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU, MATORDERINGND, &F));
        PetscCall(SolveWith(A, F, VECSTANDARD, false, &exact));
        PetscCall(MatCreateVecs(A, &y, &b));
        PetscCall(VecDuplicate(y, &z));
        PetscCall(SetVector(b, Input(p.rows, 7, Poison::None)));
        PetscCall(VecSet(y, 77));
        PetscCall(MatForwardSolve(F, b, y));
        PetscCall(MatBackwardSolve(F, y, z));
        PetscCall(LocalEntries(z, &x));
        // both round in one order, but for the roots and the range of the vector between them
        const PetscReal epsilon =
            precision[0] == 's' && sizeof(PetscReal) > 4 ? (PetscReal)1.2e-7 : PETSC_MACHINE_EPSILON;
        PetscReal largest = 0;
        for (const PetscScalar v : exact) largest = std::max(largest, PetscAbsScalar(v));
        for (size_t k = 0; k < x.size(); ++k)
          PetscCheck(PetscAbsScalar(x[k] - exact[k]) <= 8 * 9 * (PetscReal)(p.rows + 2) * epsilon * largest,
                     PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s, %s on %s, row %d: %g away of %g", p.name.c_str(),
                     symmetric ? "Cholesky" : "LU", precision, on.c_str(), (int)k,
                     (double)PetscAbsScalar(x[k] - exact[k]), (double)largest);
        if (symmetric) { // y^H y = b^H A^-1 b
          PetscScalar energy, square;
          PetscCall(VecDot(y, y, &square));
          PetscCall(VecDot(z, b, &energy));
          PetscCheck(PetscAbsScalar(square - energy) <= 20 * (PetscReal)(p.rows + 2) * epsilon * PetscAbsScalar(square),
                     PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: y^H y %g, b^H x %g", p.name.c_str(),
                     (double)PetscRealPart(square), (double)PetscRealPart(energy));
        }
        PetscCall(VecDestroy(&b));
        PetscCall(VecDestroy(&y));
        PetscCall(VecDestroy(&z));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCCHOLESKY on both sides of a Krylov method, with another operator than the one that was factored.
static PetscErrorCode Symmetrically()
{
  const Options options("-ksp_type gmres -ksp_pc_side symmetric -ksp_rtol 1e-10 -pc_type cholesky "
                        "-pc_factor_mat_solver_type sparsegpu");
  const Problem p = Definite(Cube(7));
  Mat           A, B;
  Vec           x, b, r;
  KSP           ksp;
  PetscInt      steps;
  PetscReal     norm, scale;

  PetscFunctionBeginUser;
  PetscCall(Create(p, true, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatShift(B, 1));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(SetVector(b, Input(p.rows, 7, Poison::None)));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetOperators(ksp, B, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &steps));
  PetscCall(MatMult(B, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &scale));
  PetscCheck(steps > 0 && steps <= 25 && norm <= 1e-8 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d iterations, residual %g of %g", (int)steps, (double)norm, (double)scale);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSolveAdd() and its transpose: bitwise the sum of a solve; in place, too.
static PetscErrorCode Sums()
{
  const Problem            p = Cube(5);
  std::vector<PetscScalar> solution, sum, start = Input(p.rows, 3, Poison::None);
  Mat                      A, F;
  Vec                      b, x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(SetVector(b, Input(p.rows, 7, Poison::None)));
  for (const bool transpose : {false, true})
    for (const bool same : {false, true}) {
      PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &solution));
      PetscCall(SetVector(y, start));
      PetscCall(VecSet(x, 77));
      PetscCall(transpose ? MatSolveTransposeAdd(F, b, y, same ? y : x) : MatSolveAdd(F, b, y, same ? y : x));
      PetscCall(LocalEntries(same ? y : x, &sum));
      for (size_t k = 0; k < sum.size(); ++k)
        PetscCheck(PetscAbsScalar(sum[k] - (start[k] + solution[k])) <=
                       2 * PETSC_MACHINE_EPSILON * (PetscAbsScalar(start[k]) + PetscAbsScalar(solution[k])),
                   PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %d of the sum, transposed %d", (int)k, (int)transpose);
    }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of a sparse matrix as right-hand sides: some empty, 0 to 70 of them, bitwise as dense columns.
static PetscErrorCode SparseRows()
{
  const Problem p = Cube(4);
  std::string   message;
  Mat           A, F, B, D, X, Y;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F));
  for (const PetscInt count : {0, 1, 17, 33, 64, 70}) {
    PetscBool same;
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, count, p.rows, 3, nullptr, &B));
    for (PetscInt r = 0; r < count; ++r)
      for (PetscInt e = 0; e < r % 4; ++e)
        PetscCall(MatSetValue(B, r, (7 * r + 11 * e) % p.rows, (PetscScalar)(1 + r - 2 * e), INSERT_VALUES));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D));
    PetscCall(MatConvert(D, MATDENSE, MAT_INPLACE_MATRIX, &D));
    PetscCall(MatDuplicate(D, MAT_DO_NOT_COPY_VALUES, &X));
    PetscCall(MatDuplicate(D, MAT_DO_NOT_COPY_VALUES, &Y));
    PetscCall(MatMatTransposeSolve(F, B, X));
    PetscCall(MatMatSolve(F, D, Y));
    PetscCall(MatEqual(X, Y, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d rows: not the solutions of dense columns", (int)count);
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&Y));
    if (count == 1) {
      PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, 1, nullptr, &X));
      PetscCall(ExpectError(
          "dense rows", [&] { return MatMatTransposeSolve(F, A, X); }, &message));
      PetscCall(MatDestroy(&X));
    }
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&D));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factors that have no roots, or are not two triangles; a failed factorization leaves infinities.
static PetscErrorCode Errors()
{
  std::string message;
  Mat         A, F;
  Vec         b, x;

  PetscFunctionBeginUser;
  conformance::Builder indefinite("indefinite", 6, 6), saddle("saddle", 90, 90), zero("rank_one", 6, 6);
  for (PetscInt r = 0; r < 6; ++r) {
    indefinite.Add(r, r, (PetscReal)(r % 2 ? -3 : 3));
    if (r > 0) indefinite.Add(r, r - 1, 1);
    if (r < 5) indefinite.Add(r, r + 1, 1);
    for (PetscInt c = 0; c < 6; ++c) zero.Add(r, c, 1);
  }
  for (PetscInt r = 0; r < 90; ++r) saddle.Add(r, 89 - r, 1); // no diagonal
  const struct {
    const Problem &p;
    MatFactorType  kind;
    const char    *pivoted, *fact;
  } cases[] = {{indefinite, MAT_FACTOR_CHOLESKY, "auto", PetscDefined(USE_COMPLEX) ? "Hermitian" : "positive"},
               {saddle, MAT_FACTOR_CHOLESKY, "auto", PetscDefined(USE_COMPLEX) ? "Hermitian" : "positive"},
               {indefinite, MAT_FACTOR_LU, "on", "partial pivoting"}};
  for (const auto &c : cases) {
    const Option option("-mat_sparsegpu_lu_pivoted", c.pivoted);
    PetscCall(CreateOn(on, c.p, &A));
    PetscCall(FactorDirect(A, c.kind, MATORDERINGNATURAL, &F));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    for (const bool forward : {true, false}) {
      PetscCall(ExpectError(
          c.fact, [&] { return forward ? MatForwardSolve(F, b, x) : MatBackwardSolve(F, b, x); }, &message,
          PETSC_ERR_SUP));
      PetscCall(CheckText(c.fact, message, {"forward and backward", c.fact}));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  std::vector<PetscScalar> entries;
  PetscCall(CreateOn(on, zero, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MatForwardSolve(F, b, x));
  PetscCall(LocalEntries(x, &entries));
  for (const PetscScalar v : entries)
    PetscCheck(PetscAbsScalar(v) >= PETSC_INFINITY, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a solution of a singular system");
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"both", OnEach<Both>},
               {"symmetrically", OnEach<Symmetrically>},
               {"sums", OnEach<Sums>},
               {"sparse_rows", OnEach<SparseRows>},
               {"errors", OnEach<Errors>}});
}
