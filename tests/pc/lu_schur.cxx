static const char help[] = "Schur complements of direct factorizations (MatFactorSetSchurIS()).\n\n";

#include "dense_schur.hpp"
#include "direct.hpp"

using namespace testing;

/// With `definite` Cholesky's method is told so.
static PetscErrorCode Prepare(const Problem &p, MatFactorType kind, bool definite, const std::vector<PetscInt> &schur,
                              const char ordering[], Mat *A, Mat *F)
{
  const MatFactorInfo info = Info(0);
  IS                  is, rows = nullptr, columns = nullptr;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, A));
  if (kind == MAT_FACTOR_CHOLESKY && PetscDefined(USE_COMPLEX)) PetscCall(MatSetOption(*A, MAT_HERMITIAN, PETSC_TRUE));
  if (definite) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatGetFactor(*A, MATSOLVERSPARSEGPU, kind, F));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)schur.size(), schur.data(), PETSC_COPY_VALUES, &is));
  PetscCall(MatFactorSetSchurIS(*F, is));
  PetscCall(ISDestroy(&is));
  if (ordering) PetscCall(MatGetOrdering(*A, ordering, &rows, &columns));
  if (kind == MAT_FACTOR_CHOLESKY) {
    PetscCall(MatCholeskyFactorSymbolic(*F, *A, rows, &info));
    PetscCall(MatCholeskyFactorNumeric(*F, *A, &info));
  } else {
    PetscCall(MatLUFactorSymbolic(*F, *A, rows, columns, &info));
    PetscCall(MatLUFactorNumeric(*F, *A, &info));
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The complement's entries against those of the dense elimination: both within the rounding of n products of pivots
/// that dominate their rows.
static PetscErrorCode CheckSchur(const Problem &p, const std::vector<PetscInt> &schur, Mat F, const std::string &what)
{
  const std::vector<PetscScalar> exact = DenseSchur(p, schur);
  const PetscInt                 k     = (PetscInt)schur.size();
  const PetscScalar             *found;
  PetscReal                      most = 0;
  MatFactorSchurStatus           status;
  PetscInt                       ld;
  Mat                            S, host;

  PetscFunctionBeginUser;
  for (const Entry &e : p.entries) most = std::max(most, PetscAbsScalar(e.v));
  PetscCall(MatFactorCreateSchurComplement(F, &S, &status));
  PetscCheck(status == MAT_FACTOR_SCHUR_UNFACTORED, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: status %d", what.c_str(),
             (int)status);
  PetscCall(MatConvert(S, MATSEQDENSE, MAT_INITIAL_MATRIX, &host));
  PetscCall(MatDenseGetLDA(host, &ld));
  PetscCall(MatDenseGetArrayRead(host, &found));
  const PetscReal bound = 2 * 9 * (PetscReal)(p.rows + 2) * PETSC_MACHINE_EPSILON * most;
  for (PetscInt i = 0; i < k; ++i)
    for (PetscInt j = 0; j < k; ++j) {
      const PetscReal away = PetscAbsScalar(found[i + j * ld] - exact[(size_t)(i + j * k)]);
      PetscCheck(away <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, entry %d %d: %g away, %g allowed", what.c_str(),
                 (int)i, (int)j, (double)away, (double)bound);
    }
  PetscCall(MatDenseRestoreArrayRead(host, &found));
  PetscCall(MatDestroy(&host));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// S x = b, by the factor's complement, against S itself: a matrix of order k.
static PetscErrorCode CheckInner(Mat F, const std::string &what)
{
  Mat           S;
  Vec           b, x, r;
  PetscReal     norm, size, matrix;
  MatFactorType type;
  PetscBool     device;

  PetscFunctionBeginUser;
  PetscCall(MatFactorCreateSchurComplement(F, &S, nullptr)); // before it is factored
  PetscCall(MatGetFactorType(F, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)S, MATSEQDENSECUDA, &device));
  PetscCall(MatCreateVecs(S, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(MatNorm(S, NORM_FROBENIUS, &matrix));
  for (int way = 0; way < 3; ++way) {                       // factored, transposed, inverted
    if (way == 2 && device && type == MAT_FACTOR_LU) break; // PETSc's inverse there is of Cholesky factors alone
    if (way == 2) PetscCall(MatFactorInvertSchurComplement(F));
    PetscCall(way == 1 ? MatFactorSolveSchurComplementTranspose(F, b, x) : MatFactorSolveSchurComplement(F, b, x));
    PetscCall(way == 1 ? MatMultTranspose(S, x, r) : MatMult(S, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(x, NORM_2, &size));
    PetscCheck(norm <= 1000 * PETSC_MACHINE_EPSILON * matrix * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, way %d: residual %g of %g", what.c_str(), way, (double)norm, (double)(matrix * size));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of several kinds of matrices and sets: the complement, whole solves, new values, solves with the complement.
static PetscErrorCode Same()
{
  const MatFactorInfo info = Info(0);

  PetscFunctionBeginUser;
  for (const bool symmetric : {false, true})
    for (const Problem &plain :
         std::vector<Problem>{Cube(5), Bordered(20, 75), Dominant(conformance::Grid("grid", 13, 11, false))}) {
      Problem p = symmetric ? Symmetric(plain) : plain;
      for (Entry &e : p.entries)
        if (symmetric) e.v = e.i == e.j ? PetscAbsScalar(e.v) : PetscRealPart(e.v);
      std::vector<std::vector<PetscInt>> sets{{}, {3}, {70, 1, 33, 12}, {}};
      for (PetscInt v = 2; v < p.rows; v += 3) sets.back().push_back(p.rows - 1 - v);
      sets.push_back({});
      for (PetscInt v = 0; v < p.rows; ++v) sets.back().push_back(p.rows - 1 - v);
      for (const std::vector<PetscInt> &schur : sets)
        for (const char *ordering : {(const char *)MATORDERINGND, (const char *)nullptr}) {
          if (!ordering && !symmetric) continue; // LU is given an order
          const std::string what =
              p.name + (symmetric ? ", Cholesky, " : ", LU, ") + std::to_string(schur.size()) + " on " + on;
          const MatFactorType      kind = symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU;
          std::vector<PetscScalar> x;
          Mat                      A, F, B, X;
          PetscCall(Prepare(p, kind, symmetric && ordering, schur, ordering, &A, &F));
          for (int round = 0; round < 2; ++round) { // the second with the same values again
            if (!schur.empty()) PetscCall(CheckSchur(p, schur, F, what));
            if (!schur.empty())
              PetscCall(CheckView(F, what, "Schur complement of order " + std::to_string(schur.size())));
            for (const bool transpose : {false, true}) {
              PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
              PetscCall(CheckBackward(p, x, transpose, what + (transpose ? ", transposed" : "")));
            }
            if (!schur.empty() && round == 1) break;
            PetscCall(symmetric ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info));
          }
          PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, 3, nullptr, &B));
          PetscCall(MatSetRandom(B, nullptr));
          PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
          PetscCall(MatMatSolve(F, B, X));
          Mat       R;
          PetscReal norm, size;
          PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
          PetscCall(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
          PetscCall(MatNorm(R, NORM_FROBENIUS, &norm));
          PetscCall(MatNorm(B, NORM_FROBENIUS, &size));
          PetscCheck(norm <= 1000 * (PetscReal)p.rows * PETSC_MACHINE_EPSILON * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s: residual %g of %g", what.c_str(), (double)norm, (double)size);
          PetscCall(symmetric ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info));
          if (!schur.empty()) PetscCall(CheckInner(F, what));
          if (!schur.empty()) { // inverted now
            PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
            PetscCall(CheckBackward(p, x, false, what + ", inverted"));
          }
          PetscCall(MatDestroy(&R));
          PetscCall(MatDestroy(&B));
          PetscCall(MatDestroy(&X));
          PetscCall(MatDestroy(&F));
          PetscCall(MatDestroy(&A));
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A floating subdomain: the matrix and its complement are singular, and the complement is there all the same, with the
/// constant vector in its null space.
static PetscErrorCode Floating()
{
  constexpr PetscInt    N = 9;
  conformance::Builder  b("floating", N * N, N * N);
  std::vector<PetscInt> schur;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < N * N; ++r) {
    PetscInt neighbours = 0;
    for (const PetscInt step : {(PetscInt)1, N}) {
      if (r / step % N < N - 1) {
        b.Add(r, r + step, -1);
        ++neighbours;
      }
      if (r / step % N > 0) {
        b.Add(r, r - step, -1);
        ++neighbours;
      }
    }
    b.Add(r, r, (PetscReal)neighbours);
    if (r % N == 0 || r % N == N - 1 || r / N == 0 || r / N == N - 1) schur.push_back(r);
  }
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    const PetscInt       k = (PetscInt)schur.size();
    MatFactorError       error;
    MatFactorSchurStatus status;
    PetscReal            size, matrix;
    Mat                  A, F, S;
    Vec                  x, y;
    PetscCall(Prepare(b, kind, false, schur, MATORDERINGND, &A, &F));
    PetscCall(MatFactorGetError(F, &error));
    PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "factor error %d", (int)error);
    PetscCall(CheckSchur(b, schur, F, "floating"));
    PetscCall(MatFactorGetSchurComplement(F, &S, &status));
    PetscCall(MatCreateVecs(S, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(S, x, y));
    PetscCall(VecNorm(y, NORM_INFINITY, &size));
    PetscCall(MatNorm(S, NORM_FROBENIUS, &matrix));
    PetscCheck(size <= 10 * (PetscReal)k * PETSC_MACHINE_EPSILON * matrix, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "S times constants is %g, of %g", (double)size, (double)matrix);
    PetscCall(MatFactorRestoreSchurComplement(F, &S, status));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Indices that are none, or twice; too late; inner variables without pivots.
static PetscErrorCode Errors()
{
  const MatFactorInfo info = Info(0);
  const Problem       p    = Cube(3);
  std::string         message;
  MatFactorError      error;
  PetscInt            negative;
  IS                  is;
  Mat                 A, F;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_LU, &F));
  for (const std::vector<PetscInt> &wrong : std::vector<std::vector<PetscInt>>{{2, 27}, {-1}, {4, 5, 4}}) {
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)wrong.size(), wrong.data(), PETSC_COPY_VALUES, &is));
    PetscCall(ExpectError(
        "indices", [&] { return MatFactorSetSchurIS(F, is); }, &message, PETSC_ERR_ARG_OUTOFRANGE));
    PetscCall(CheckText("indices", message, {"Schur", "from 0 to 26"}));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 3, 0, 1, &is));
  PetscCall(ExpectError(
      "late", [&] { return MatFactorSetSchurIS(F, is); }, &message, PETSC_ERR_ARG_WRONGSTATE));
  PetscCall(ISDestroy(&is));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));

  conformance::Builder singular("singular", 6, 6); // the first four are of rank 1
  for (PetscInt r = 0; r < 6; ++r)
    for (PetscInt c = 0; c < 6; ++c) singular.Add(r, c, r < 4 && c < 4 ? 1 : (PetscReal)(1 + r * c % 5));
  PetscCall(Prepare(singular, MAT_FACTOR_LU, false, {4, 5}, MATORDERINGNATURAL, &A, &F));
  PetscCall(MatFactorGetError(F, &error));
  PetscCheck(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "error %d", (int)error);
  PetscCall(MatSetErrorIfFailure(A, PETSC_TRUE));
  PetscCall(ExpectError(
      "singular", [&] { return MatLUFactorNumeric(F, A, &info); }, &message, PETSC_ERR_MAT_LU_ZRPVT));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
#if !defined(PETSC_USE_COMPLEX)
  PetscCall(Prepare(Symmetric(p), MAT_FACTOR_CHOLESKY, false, {4, 5}, MATORDERINGND, &A, &F));
  PetscCall(ExpectError(
      "inertia", [&] { return MatGetInertia(F, &negative, nullptr, nullptr); }, &message, PETSC_ERR_SUP));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
#else
  (void)negative;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", OnEach<Same>}, {"floating", OnEach<Floating>}, {"errors", OnEach<Errors>}});
}
