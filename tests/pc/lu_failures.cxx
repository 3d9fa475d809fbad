static const char help[] =
    "Direct factorizations of ill-conditioned and singular matrices, and of good ones after them.\n\n";

#include "direct.hpp"

#include <petscts.h>

#include <random>

using namespace testing;

/// A sparse matrix with a whole diagonal of any size, its rows scaled by up to 10^+-6: all of them, or to either end.
static Problem ScaledRows(unsigned seed)
{
  std::mt19937           generator(seed); // its numbers are the same everywhere, those of distributions are not
  const auto             uniform = [&] { return (PetscReal)generator() / (PetscReal)4294967296.0; };
  const PetscReal        range   = sizeof(PetscReal) == 4 ? 3 : 6;
  const PetscInt         n       = 2 + (PetscInt)(60 * uniform());
  const PetscReal        density = (PetscReal)0.02 + 4 * uniform() / (PetscReal)n;
  conformance::Builder   p("rows scaled, seed " + std::to_string(seed), n, n);
  std::vector<PetscReal> scale;
  for (PetscInt r = 0; r < n; ++r) {
    const PetscReal u = 2 * uniform() - 1;
    scale.push_back(std::pow((PetscReal)10, range * (seed % 3 ? u : u < 0 ? -1 : 1)));
  }
  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt c = 0; c < n; ++c) {
      const PetscReal there = uniform(), value = 2 * uniform() - 1;
      if (r == c || there < density) p.Add(r, c, scale[(size_t)r] * value);
    }
  return p;
}

static PetscErrorCode ScaledRowsSolve()
{
  PetscFunctionBeginUser;
  const unsigned count = on == "kokkos" ? 6000 : 600; // a device takes longer to begin than the host to end
  for (unsigned seed = 0; seed < count; ++seed) {
    const Problem            p = ScaledRows(seed);
    std::vector<PetscScalar> x;
    MatFactorError           error;
    Mat                      A, F;
    PetscCall(CreateOn(on, p, &A));
    PetscCall(FactorDirect(A, MAT_FACTOR_LU, seed % 2 ? MATORDERINGLEASTFILL : MATORDERINGNATURAL, &F));
    PetscCall(MatFactorGetError(F, &error));
    PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: factor error %d", p.name.c_str(), (int)error);
    for (const bool transpose : {false, true}) {
      PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
      PetscCall(CheckBackward(p, x, transpose, p.name + (transpose ? ", transposed" : "")));
    }
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One pattern, a cycle beside the diagonal, of many values: a good diagonal, a tiny one, whose rows must be moved, one
/// as good as the cycle, a singular one, and all zero.
enum class Values {
  Diagonal,
  Cycle,
  Both,
  Singular,
  Zero
};
static Problem CycleWith(Values values)
{
  constexpr PetscInt   N = 70;
  conformance::Builder p("cycle", N, N);
  for (PetscInt r = 0; r < N; ++r) {
    const PetscReal size     = (PetscReal)(2 + r % 5);
    PetscReal       diagonal = size, cycle = 1, far = (PetscReal)0.25;
    if (values == Values::Cycle) diagonal = r % 3 ? 0 : 1000 * PETSC_MACHINE_EPSILON, cycle = 4 * size;
    if (values == Values::Both) cycle = -size;
    if (values == Values::Singular) diagonal = 1, cycle = -1, far = 0; // rows sum to zero
    if (values == Values::Zero) diagonal = cycle = far = 0;
    p.Add(r, r, diagonal);
    p.Add(r, (r + 1) % N, cycle);
    p.Add(r, (r + 23) % N, far);
  }
  return p;
}

/// One factor through all sequences of two of these, then good ones.
static PetscErrorCode NewValues()
{
  const MatFactorInfo info  = Info(0);
  const Values        all[] = {Values::Diagonal, Values::Cycle, Values::Both, Values::Singular, Values::Zero};

  PetscFunctionBeginUser;
  for (const Values first : all)
    for (const Values second : all) {
      Mat A, F;
      int step = 0;
      PetscCall(CreateOn(on, CycleWith(first), &A));
      PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
      for (const Values values : {first, second, Values::Cycle, second, Values::Diagonal}) {
        const Problem     p        = CycleWith(values);
        const bool        singular = values == Values::Singular || values == Values::Zero;
        const std::string what =
            "values " + std::to_string((int)first) + std::to_string((int)second) + ", step " + std::to_string(step++);
        std::vector<PetscScalar> x;
        MatFactorError           error;
        if (step > 1) {
          PetscCall(SetValues(A, p));
          PetscCall(MatLUFactorNumeric(F, A, &info));
        }
        PetscCall(MatFactorGetError(F, &error));
        // of others, PCLU would not try new values
        PetscCheck(error == (singular ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_NOERROR), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s: factor error %d", what.c_str(), (int)error);
        for (const bool transpose : {false, true}) {
          if (singular) continue;
          PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
          PetscCall(CheckBackward(p, x, transpose, what));
        }
      }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What KSP says of singular values, and that it goes on with others; an error where failures are errors.
static PetscErrorCode Reasons()
{
  PetscFunctionBeginUser;
  for (const char *pc :
       {"-pc_type lu -pc_factor_mat_solver_type sparsegpu", "-pc_type sparsegpu -pc_sparsegpu_factor lu"})
    for (const char *type : {KSPPREONLY, KSPRICHARDSON, KSPGMRES, KSPBCGS})
      for (const bool strict : {false, true}) {
        const Options      options(pc);
        std::string        message;
        KSPConvergedReason reason;
        Mat                A;
        Vec                x, b;
        KSP                ksp;
        PetscCall(CreateOn(on, CycleWith(Values::Diagonal), &A));
        PetscCall(MatCreateVecs(A, &x, &b));
        PetscCall(VecSet(b, 1));
        PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
        PetscCall(KSPSetType(ksp, type));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSetFromOptions(ksp));
        if (strict) {
          PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
          PetscCall(SetValues(A, CycleWith(Values::Singular)));
          PetscCall(ExpectError(
              "a singular matrix", [&] { return KSPSolve(ksp, b, x); }, &message, PETSC_ERR_MAT_LU_ZRPVT));
          PetscCall(CheckText("a singular matrix", message, {"Zero pivot row", "singular"}));
        } else {
          for (const Values values :
               {Values::Diagonal, Values::Singular, Values::Cycle, Values::Zero, Values::Singular, Values::Both}) {
            const bool singular = values == Values::Singular || values == Values::Zero;
            PetscCall(SetValues(A, CycleWith(values)));
            PetscCall(KSPSetOperators(ksp, A, A));
            PetscCall(KSPSolve(ksp, b, x));
            PetscCall(KSPGetConvergedReason(ksp, &reason));
            PetscCheck(singular ? reason == KSP_DIVERGED_PC_FAILED : reason > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                       "%s, %s, values %d: reason %d", pc, type, (int)values, (int)reason);
          }
        }
        PetscCall(KSPDestroy(&ksp));
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&b));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// u_k^2 = 4: the Jacobian is singular, all zero, at u = 0.
static PetscErrorCode Squares(SNES, Vec u, Vec f, void *)
{
  PetscFunctionBeginUser;
  PetscCall(VecPointwiseMult(f, u, u));
  PetscCall(VecShift(f, -4));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode SquaresJacobian(SNES, Vec u, Mat, Mat J, void *)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(MatSetValue(J, k, k, 2 * a[k], INSERT_VALUES));
    PetscCall(MatSetValue(J, k, (k + 1) % n, 0, INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A Newton solve that fails at a singular Jacobian says so, and the same object succeeds from another guess.
static PetscErrorCode Snes()
{
  const Options      options("-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu");
  constexpr PetscInt N = 30;
  SNES               snes;
  Mat                J;
  Vec                u, f;

  PetscFunctionBeginUser;
  conformance::Builder p("jacobian", N, N);
  for (PetscInt k = 0; k < N; ++k) {
    p.Add(k, k, 0);
    p.Add(k, (k + 1) % N, 0);
  }
  PetscCall(CreateOn(on, p, &J));
  PetscCall(MatCreateVecs(J, &u, &f));
  PetscCall(SNESCreate(PETSC_COMM_SELF, &snes));
  PetscCall(SNESSetFunction(snes, f, Squares, nullptr));
  PetscCall(SNESSetJacobian(snes, J, J, SquaresJacobian, nullptr));
  PetscCall(SNESSetFromOptions(snes));
  for (const PetscReal guess : {(PetscReal)0, (PetscReal)3, (PetscReal)0, (PetscReal)-5}) {
    SNESConvergedReason reason;
    PetscReal           norm;
    PetscCall(VecSet(u, guess));
    PetscCall(SNESSolve(snes, nullptr, u));
    PetscCall(SNESGetConvergedReason(snes, &reason));
    PetscCheck(guess == 0 ? reason == SNES_DIVERGED_LINEAR_SOLVE : reason > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "guess %g: reason %d", (double)guess, (int)reason);
    if (guess == 0) continue;
    PetscCall(VecShift(u, guess > 0 ? -2 : 2));
    PetscCall(VecNorm(u, NORM_INFINITY, &norm));
    // Newton's last step is quadratic: |f| <= 1e-8 |f_0| leaves less than that of the root's size
    PetscCheck(norm <= PetscMax((PetscReal)1e-6, 1000 * PETSC_MACHINE_EPSILON), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "guess %g: %g off", (double)guess, (double)norm);
  }
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// u' = 8 u: with a first step of 1/8 the matrix of backward Euler, 1 / dt - 8, is zero.
static PetscErrorCode Growth(TS, PetscReal, Vec u, Vec rate, Vec f, void *)
{
  PetscFunctionBeginUser;
  PetscCall(VecWAXPY(f, -8, u, rate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode GrowthJacobian(TS, PetscReal, Vec u, Vec, PetscReal shift, Mat, Mat J, void *)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &n));
  for (PetscInt k = 0; k < n; ++k) PetscCall(MatSetValue(J, k, k, shift - 8, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first step is rejected, a shorter one is taken, and the program reaches its end.
static PetscErrorCode Ts()
{
  const Options options("-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu");
  PetscInt      rejected;
  PetscReal     time, least;
  TS            ts;
  Mat           J;
  Vec           u;

  PetscFunctionBeginUser;
  conformance::Builder p("diagonal", 20, 20);
  for (PetscInt k = 0; k < 20; ++k) p.Add(k, k, 1);
  PetscCall(CreateOn(on, p, &J));
  PetscCall(MatCreateVecs(J, &u, nullptr));
  PetscCall(VecSet(u, 1));
  PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
  PetscCall(TSSetType(ts, TSBEULER));
  PetscCall(TSSetIFunction(ts, nullptr, Growth, nullptr));
  PetscCall(TSSetIJacobian(ts, J, J, GrowthJacobian, nullptr));
  PetscCall(TSSetTimeStep(ts, (PetscReal)0.125));
  PetscCall(TSSetMaxTime(ts, (PetscReal)0.25));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetMaxSNESFailures(ts, -1));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(TSGetSolveTime(ts, &time));
  PetscCall(TSGetSNESFailures(ts, &rejected));
  PetscCall(VecMin(u, nullptr, &least));
  PetscCheck(rejected > 0 && time >= (PetscReal)0.2499 && least > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d failures, time %g, solution %g", (int)rejected, (double)time, (double)least);
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// [D B^T; B E] of order 2 n, where B = (I + P) C with the cyclic shift P by 3 and C = diag(1, scale, 1, scale, ...):
/// the eigenvalue -1 of P makes B singular for even n; for odd n I + P is far from it. Diagonals D and E of 0 have no
/// pivot.
static Problem SaddlePoint(const std::string &name, PetscInt n, PetscReal scale, PetscReal d, PetscReal e)
{
  conformance::Builder p(name, 2 * n, 2 * n);
  for (PetscInt r = 0; r < n; ++r) {
    p.Add(r, r, d);
    p.Add(n + r, n + r, e);
    for (PetscInt c : {r, (r + 3) % n}) {
      p.Add(n + r, c, c % 2 ? scale : 1);
      p.Add(c, n + r, c % 2 ? scale : 1);
    }
  }
  return p;
}

/// Pivots of order 2 take over where the diagonal has none. What replaces pivots is larger than the columns that are
/// scaled, until their rows and columns have scales of their own.
static PetscErrorCode Saddle()
{
  constexpr PetscInt N     = 41;
  const PetscReal    scale = std::pow(PETSC_MACHINE_EPSILON, (PetscReal)1.5);
  const Problem saddle = SaddlePoint("saddle", N, scale, 0, 0), definite = SaddlePoint("definite", N, scale, 20, 30);
  std::string   text;
  Mat           A, F;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, saddle, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, MATORDERINGND, &F));
  for (const bool indefinite : {true, false, true, true, false}) {
    PetscCall(CheckNewValues(F, A, indefinite ? saddle : definite));
    if (!indefinite) continue;
    PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_failures_view", &text));
    PetscCall(CheckText("view", text, {"sparsegpu Cholesky", "with pivots of order 1 and 2"}));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solution of 1 / eps may have small backward errors: a singular matrix is told as such all the same, and as one
/// that other values may mend.
static PetscErrorCode SingularSaddle()
{
  const MatFactorInfo info = Info(0);

  PetscFunctionBeginUser;
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    for (const PetscInt n : {4, 20, 40, 100}) {
      const std::string what = std::string("singular, ") + MatFactorTypes[kind] + ", n = " + std::to_string(n);
      MatFactorError    error;
      Mat               A, F;
      PetscCall(CreateOn(on, SaddlePoint("singular", n, 2, 0, 0), &A));
      PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(FactorDirect(A, kind, MATORDERINGND, &F));
      PetscCall(MatFactorGetError(F, &error));
      PetscCheck(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: factor error %d",
                 what.c_str(), (int)error);
      PetscCall(SetValues(A, SaddlePoint("definite", n, 2, 20, 30)));
      PetscCall(Numeric(F, A, kind, info));
      PetscCall(MatFactorGetError(F, &error));
      PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, mended: factor error %d", what.c_str(), (int)error);
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"scaled_rows", OnEach<ScaledRowsSolve>},
               {"new_values", OnEach<NewValues>},
               {"reasons", OnEach<Reasons>},
               {"snes", OnEach<Snes>},
               {"ts", OnEach<Ts>},
               {"saddle", OnEach<Saddle>},
               {"singular_saddle", OnEach<SingularSaddle>}});
}
