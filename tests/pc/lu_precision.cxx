static const char help[] = "Direct factorizations with factors in single precision (-mat_sparsegpu_lu_precision).\n\n";

#include "direct.hpp"

#include <cmath>
#include <limits>

using namespace testing;

/// Whether the option changes anything.
static bool Narrower()
{
  return sizeof(PetscReal) > sizeof(float);
}

/// Blocks of the Hilbert matrix of order 9, each with several singular values below single precision's rounding, or,
/// with `dominant`, the same pattern with a strong diagonal.
static Problem Hilberts(PetscInt blocks, bool dominant)
{
  constexpr PetscInt   ORDER = 9;
  conformance::Builder b("hilberts", blocks * ORDER, blocks * ORDER);
  for (PetscInt k = 0; k < blocks; ++k)
    for (PetscInt i = 0; i < ORDER; ++i)
      for (PetscInt j = 0; j < ORDER; ++j)
        b.Add(k * ORDER + i, k * ORDER + j,
              (PetscReal)1 / (PetscReal)(i + j + 1 + k % 3) + (dominant && i == j ? (PetscReal)ORDER : 0));
  return b;
}

/// Solves meet the bound of full precision, twice with the same bits; the factors are in single precision, which the
/// memory and unrefined solves show.
static PetscErrorCode Same()
{
  std::vector<Problem> problems = Problems();

  PetscFunctionBeginUser;
  problems.push_back(Cube(9));
  problems.push_back(Bordered(40, 170));
  for (const Problem &plain : problems)
    for (const bool symmetric : {false, true}) {
      const Problem       p    = symmetric ? Symmetric(plain) : plain;
      const MatFactorType kind = symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU;
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGLEASTFILL}) {
        const std::string        what = p.name + ", " + ordering + " on " + on;
        std::vector<PetscScalar> x, again;
        MatInfo                  full, single;
        Mat                      A, F;
        PetscCall(CreateOn(on, p, &A));
        PetscCall(FactorDirect(A, kind, ordering, &F));
        PetscCall(MatGetInfo(F, MAT_LOCAL, &full));
        PetscCall(CheckView(F, what, symmetric ? "Cholesky on" : "LU on"));
        PetscCall(MatDestroy(&F));
        const Option option("-mat_sparsegpu_lu_precision", "single");
        PetscCall(FactorDirect(A, kind, ordering, &F));
        if (Narrower()) PetscCall(CheckView(F, what, "in single precision"));
        for (const bool transpose : {false, true}) {
          PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
          PetscCall(CheckBackward(p, x, transpose, what + (transpose ? ", transposed" : "")));
          PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &again));
          PetscCall(CheckSameBits(x, again, what));
        }
        if (Narrower()) PetscCall(CheckView(F, what, "in single precision"));
        PetscCall(MatGetInfo(F, MAT_LOCAL, &single));
        PetscCheck(single.nz_used == full.nz_used, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g entries, %g in full",
                   what.c_str(), single.nz_used, full.nz_used);
        const PetscLogDouble saved = Narrower() ? full.nz_used * (PetscLogDouble)sizeof(PetscScalar) / 2 : 0;
        const PetscLogDouble more  = (3 + 32) * (PetscLogDouble)p.rows * sizeof(PetscScalar); // a trial solve's vectors
        PetscCheck(single.memory <= full.memory - saved + more, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: %g bytes, %g in full precision", what.c_str(), single.memory, full.memory);
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without refinement: the error of a solve is that of single precision, more than full precision's.
static PetscErrorCode Unrefined()
{
  const Option    precision("-mat_sparsegpu_lu_precision", "single"), refine("-mat_sparsegpu_lu_refine", "0");
  const PetscReal narrow = (PetscReal)std::numeric_limits<float>::epsilon();

  PetscFunctionBeginUser;
  for (const bool symmetric : {false, true}) {
    const Problem            p = symmetric ? Symmetric(Cube(8)) : Cube(8);
    std::vector<PetscScalar> x;
    Mat                      A, F;
    PetscReal                most = 0, norm = 0, largest = 0;
    PetscCall(CreateOn(on, p, &A));
    PetscCall(FactorDirect(A, symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU, MATORDERINGND, &F));
    for (const bool transpose : {false, true}) {
      std::vector<PetscScalar> r = Input(p.rows, 7, Poison::None);
      std::vector<PetscReal>   sum(p.rows, 0);
      PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
      for (const Entry &e : p.entries) {
        const PetscInt i = transpose ? e.j : e.i, j = transpose ? e.i : e.j;
        r[i] -= e.v * x[j];
        sum[i] += PetscAbsScalar(e.v);
      }
      for (PetscInt k = 0; k < p.rows; ++k) {
        most    = std::max(most, PetscAbsScalar(r[k]));
        norm    = std::max(norm, sum[k]);
        largest = std::max(largest, PetscAbsScalar(x[k]));
      }
    }
    // two sweeps and a factorization with rows that dominate, |L| |U| <= 9 |A|: Higham, 9.4
    const PetscReal bound = 3 * 9 * (PetscReal)(p.rows + 2) * narrow * norm * largest;
    PetscCheck(most <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "residual %g, %g allowed", (double)most, (double)bound);
    PetscCheck(!Narrower() || most >= narrow / 100 * norm * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "residual %g: factors in full precision", (double)most);
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Right-hand sides and matrices beyond single precision's range.
static PetscErrorCode Ranges()
{
  const Option option("-mat_sparsegpu_lu_precision", "single");

  PetscFunctionBeginUser;
  if (!Narrower()) PetscFunctionReturn(Skip("skipped: PetscReal is single"));
  for (const double size : {1e-250, 1e-60, 1e60, 1e250})
    for (const double entries : {1e-20, 1.0, 1e25})
      for (const bool symmetric : {false, true}) {
        Problem                  p   = symmetric ? Symmetric(Cube(5)) : Cube(5);
        std::vector<PetscScalar> rhs = Input(p.rows, 7, Poison::None), x;
        const PetscScalar       *from;
        Mat                      A, F;
        Vec                      b, u;
        for (Entry &e : p.entries) e.v *= (PetscReal)entries;
        for (PetscScalar &v : rhs) v *= (PetscReal)size;
        PetscCall(CreateOn(on, p, &A));
        PetscCall(FactorDirect(A, symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU, MATORDERINGND, &F));
        PetscCall(MatCreateVecs(A, &u, &b));
        PetscCall(SetVector(b, rhs));
        for (const bool transpose : {false, true}) {
          PetscCall(transpose ? MatSolveTranspose(F, b, u) : MatSolve(F, b, u));
          PetscCall(VecGetArrayRead(u, &from));
          x.assign(from, from + p.rows);
          PetscCall(VecRestoreArrayRead(u, &from));
          PetscCall(CheckBackwardOf(p, rhs, x, transpose, "of size " + std::to_string(std::log10(size)), 1));
        }
        PetscCall(CheckView(F, "ranges", "in single precision"));
        PetscCall(VecDestroy(&b));
        PetscCall(VecDestroy(&u));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values that single precision is not enough for: at the factorization; at a solve with later values, which are not
/// tried after good ones; a new analysis begins in single precision again.
static PetscErrorCode TakenOver()
{
  const Option             option("-mat_sparsegpu_lu_precision", "single");
  const Problem            hard = Hilberts(12, false), easy = Hilberts(12, true);
  std::vector<PetscScalar> x;

  PetscFunctionBeginUser;
  if (!Narrower()) PetscFunctionReturn(Skip("skipped: PetscReal is single"));
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    Mat           A, B, F;
    MatFactorInfo info = Info(0);
    MatInfo       memory, before;
    PetscCall(CreateOn(on, hard, &A));
    PetscCall(FactorDirect(A, kind, MATORDERINGNATURAL, &F));
    PetscCall(CheckView(F, "hard", "in full precision instead of single: refinement"));
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
    PetscCall(CheckBackward(hard, x, false, "hard"));
    PetscCall(MatDestroy(&F));

    PetscCall(CreateOn(on, easy, &B));
    PetscCall(FactorDirect(B, kind, MATORDERINGNATURAL, &F));
    PetscCall(CheckView(F, "easy", "in single precision"));
    PetscCall(SolveWith(B, F, VECSTANDARD, true, &x));
    PetscCall(CheckBackward(easy, x, true, "easy"));
    PetscCall(MatGetInfo(F, MAT_LOCAL, &before));
    PetscCall(Numeric(F, A, kind, info));
    for (const bool transpose : {false, true}) {
      PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
      PetscCall(CheckBackward(hard, x, transpose, "hard after easy"));
    }
    PetscCall(CheckView(F, "hard after easy", "in full precision instead of single: "));
    PetscCall(MatGetInfo(F, MAT_LOCAL, &memory));
    PetscCheck(memory.memory >= before.memory + before.nz_used * 4, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%g bytes, %g before, for %g entries", memory.memory, before.memory, before.nz_used);
    PetscCall(Numeric(F, B, kind, info));
    PetscCall(SolveWith(B, F, VECSTANDARD, false, &x));
    PetscCall(CheckView(F, "easy again", "in full precision instead of single: "));
    PetscCall(MatDestroy(&F));
    PetscCall(FactorDirect(B, kind, MATORDERINGNATURAL, &F));
    PetscCall(CheckView(F, "a new analysis", "in single precision"));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The inertia is that of full precision: an eigenvalue of 1.5e-8 and one of -1.5e-8 are told apart.
static PetscErrorCode Inertia()
{
#if defined(PETSC_USE_COMPLEX)
  return Skip("skipped: complex scalars");
#else
  const Option option("-mat_sparsegpu_lu_precision", "single");

  PetscFunctionBeginUser;
  if (!Narrower()) PetscFunctionReturn(Skip("skipped: PetscReal is single"));
  for (const double sign : {1.0, -1.0}) {
    constexpr PetscInt   N = 12;
    conformance::Builder pairs("pairs", 2 * N, 2 * N); // [1 1; 1 1 + s 3e-8] has one eigenvalue of about s 1.5e-8
    PetscInt             negative, zero, positive;
    Mat                  A, F;
    for (PetscInt k = 0; k < N; ++k) {
      pairs.Add(2 * k, 2 * k, 1);
      pairs.Add(2 * k, 2 * k + 1, 1);
      pairs.Add(2 * k + 1, 2 * k, 1);
      pairs.Add(2 * k + 1, 2 * k + 1, 1 + (k % 3 == 0 ? sign : 1) * 3e-8);
    }
    const PetscInt expected = sign < 0 ? N / 3 : 0;
    PetscCall(CreateOn(on, pairs, &A));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGNATURAL, &F));
    PetscCall(MatGetInertia(F, &negative, &zero, &positive));
    PetscCheck(negative == expected && zero == 0 && positive == 2 * N - expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "inertia %d %d %d, %d are negative", (int)negative, (int)zero, (int)positive, (int)expected);
    PetscCall(CheckView(F, "inertia", "in full precision instead of single"));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
}

/// What is not a precision; a singular matrix, in single precision, too, is a failed factorization.
static PetscErrorCode Errors()
{
  std::string    message;
  Mat            A, F;
  MatFactorError error;

  PetscFunctionBeginUser;
  {
    const Option option("-mat_sparsegpu_lu_precision", "half");
    PetscCall(CreateOn(on, Cube(3), &A));
    PetscCall(ExpectError(
        "half", [&] { return FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F); }, &message));
    PetscCall(CheckText("half", message, {"half", "mat_sparsegpu_lu_precision"}));
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  const Option         option("-mat_sparsegpu_lu_precision", "single");
  conformance::Builder one("rank_one", 4, 4);
  for (PetscInt r = 0; r < 4; ++r)
    for (PetscInt c = 0; c < 4; ++c) one.Add(r, c, (PetscReal)((r + 1) * (c + 2)));
  PetscCall(CreateOn(on, one, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F));
  PetscCall(MatFactorGetError(F, &error));
  PetscCheck(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "rank one: error %d", (int)error);
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", OnEach<Same>},
               {"unrefined", OnEach<Unrefined>},
               {"ranges", OnEach<Ranges>},
               {"taken_over", OnEach<TakenOver>},
               {"inertia", OnEach<Inertia>},
               {"errors", OnEach<Errors>}});
}
