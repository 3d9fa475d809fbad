static const char help[] = "LU factorizations that need partial pivoting, and values that come and go.\n\n";

#include "backward.hpp"
#include "hard_matrices.hpp"

#include <petscksp.h>

#include <limits>

using namespace testing;

/// Saddle points whose rows may not be matched, so that pivots lie in rows of other fronts: some are not solved without
/// partial pivoting, and the view tells which; all are with it.
static PetscErrorCode Needed()
{
  const Option matching("-mat_sparsegpu_lu_matching", "off");
  PetscInt     unsolved = 0, told = 0;

  PetscFunctionBeginUser;
  for (unsigned seed = 51; seed < 111; seed += 2) {
    const PetscInt more = (PetscInt)(100 + 37 * ((seed - 50) % 4));
    const Problem  p    = hard::SaddlePoint(seed, 2 * more, more, 8, false);
    for (const char *pivoted : {"off", "auto"}) {
      const Option   option("-mat_sparsegpu_lu_pivoted", pivoted);
      Backward       error;
      MatFactorError failed;
      std::string    view;
      PetscCall(OurErrorOf(on, p, &error, &failed, &view));
      const bool solved = !failed && error.norm <= Bound(p), seen = view.find("partial pivoting") != std::string::npos;
      PetscCheck(pivoted[0] == 'a' ? solved : !seen, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, pivoted %s: error %d, backward error %g; %s", p.name.c_str(), pivoted, (int)failed,
                 (double)error.norm, view.c_str());
      if (pivoted[0] == 'o') unsolved += !solved;
      if (pivoted[0] == 'a') told += seen;
    }
  }
  PetscCheck(told >= unsolved, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d needed partial pivoting, %d views tell",
             (int)unsolved, (int)told);
  PetscCheck(unsolved > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no matrix needed partial pivoting");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Several right-hand sides at once, of which the later ones need partial pivoting, then with its factors.
static PetscErrorCode Columns()
{
  const Option  matching("-mat_sparsegpu_lu_matching", "off");
  const Problem p = hard::SaddlePoint(53, 422, 211, 8, false);

  PetscFunctionBeginUser;
  for (const bool transpose : {false, true}) {
    Mat A, F, B, X;
    PetscCall(CreateOn(on, p, &A));
    PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, 3, nullptr, &B));
    for (PetscInt c = 0; c < 3; ++c) {
      const std::vector<PetscScalar> b = RightSide(p, c != 1, transpose);
      for (PetscInt r = 0; r < p.rows; ++r) PetscCall(MatSetValue(B, r, c, b[r], INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    for (int round = 0; round < 2; ++round) {
      const PetscScalar *array;
      PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
      PetscCall(MatDenseGetArrayRead(X, &array));
      for (PetscInt c = 0; c < 3; ++c) {
        const std::vector<PetscScalar> x(array + c * p.rows, array + (c + 1) * p.rows);
        const Backward                 error = Measure(p, RightSide(p, c != 1, transpose), x, transpose);
        PetscCheck(error.norm <= Bound(p), PETSC_COMM_SELF, PETSC_ERR_PLIB, "round %d, column %d%s: backward error %g",
                   round, (int)c, transpose ? ", transposed" : "", (double)error.norm);
      }
      PetscCall(MatDenseRestoreArrayRead(X, &array));
    }
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A factorization that failed gives neither columns nor an inertia: infinities, and an error.
static PetscErrorCode Failed()
{
  Problem ones{"ones", 3, 3, {}, {}}, hole{"hole", 3, 3, {}, {}}; // singular by values; by pattern: column 2 is empty

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; ++i)
    for (PetscInt j = 0; j < 3; ++j) {
      ones.entries.push_back({i, j, 1});
      if (j != 2) hole.entries.push_back({i, j, (PetscScalar)(1 + i * j)});
    }
  for (const Problem *p : {&ones, &hole})
    for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
      for (const char *pivoted : {"auto", "on", "off"}) {
        const Option       option("-mat_sparsegpu_lu_pivoted", pivoted);
        const std::string  what = p->name + ", " + MatFactorTypes[kind] + ", pivoted " + pivoted;
        const PetscScalar *x;
        MatFactorError     error;
        Mat                A, F, B, X;
        if (kind == MAT_FACTOR_CHOLESKY && p == &hole) continue; // not symmetric
        PetscCall(CreateOn(on, *p, &A));
        PetscCall(MatSetOption(A, MAT_SYMMETRIC, p == &ones ? PETSC_TRUE : PETSC_FALSE));
        PetscCall(FactorDirect(A, kind, MATORDERINGNATURAL, &F));
        PetscCall(MatFactorGetError(F, &error));
        PetscCheck(error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no error", what.c_str());
        PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 3, 2, nullptr, &B));
        PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 3, 2, nullptr, &X));
        PetscCall(MatShift(B, 1));
        for (const bool transpose : {false, true}) {
          PetscCall(MatZeroEntries(X));
          PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
          PetscCall(MatDenseGetArrayRead(X, &x));
          for (int k = 0; k < 6; ++k)
            PetscCheck(PetscRealPart(x[k]) >= PETSC_INFINITY, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %d is %g",
                       what.c_str(), k, (double)PetscRealPart(x[k]));
          PetscCall(MatDenseRestoreArrayRead(X, &x));
        }
#if !defined(PETSC_USE_COMPLEX)
        if (kind == MAT_FACTOR_CHOLESKY) {
          std::string message;
          PetscInt    negative, zero, positive;
          PetscCall(ExpectError(
              what.c_str(), [&] { return MatGetInertia(F, &negative, &zero, &positive); }, &message, PETSC_ERR_SUP));
          PetscCall(CheckText(what.c_str(), message, {"inertia is not known"}));
        }
#endif
        PetscCall(MatDestroy(&X));
        PetscCall(MatDestroy(&B));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values of one pattern, that of a saddle point with a whole diagonal.
enum class Values {
  Easy,
  Hard,
  Zero,
  Dependent,
  NotANumber,
  Infinite
};
static Problem WithValues(const Problem &hard, Values values)
{
  Problem p = hard;
  for (PetscInt k = 0; k < p.rows; ++k) p.entries.push_back({k, k, 0});
  p = hard::Sum(p);
  std::vector<PetscReal> sum(p.rows, 1);
  for (const Entry &e : p.entries) sum[e.i] += PetscAbsScalar(e.v);
  const PetscInt last = p.rows - 1;
  for (Entry &e : p.entries) {
    if (values == Values::Easy && e.i == e.j) e.v = 2 * sum[e.i];
    if (values == Values::Zero) e.v = 0;
    if (values == Values::Dependent && e.j == last) e.v = 0;
    if (values == Values::NotANumber && e.i == 17 && e.j == 17) e.v = std::numeric_limits<PetscReal>::quiet_NaN();
    if (values == Values::Infinite && e.i == 17 && e.j == 17) e.v = std::numeric_limits<PetscReal>::infinity();
  }
  return p;
}

/// One KSP through values of all kinds: what can be solved is, what cannot is told, and nothing that came before
/// matters.
static PetscErrorCode SequenceWith(const char matching[])
{
  const Options options(std::string("-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu "
                                    "-mat_sparsegpu_lu_matching ") +
                        matching);
  const Values  all[] = {Values::Easy,       Values::Hard, Values::Hard, Values::Easy,      Values::Zero,
                         Values::Hard,       Values::Zero, Values::Hard, Values::Dependent, Values::Easy,
                         Values::NotANumber, Values::Hard, Values::Hard, Values::Infinite,  Values::Hard,
                         Values::Dependent,  Values::Hard, Values::Easy};

  PetscFunctionBeginUser;
  for (const unsigned seed : {67u, 87u, 95u}) {
    const Problem hard = hard::SaddlePoint(seed, 274, 137, 8, false);
    Mat           A;
    KSP           ksp;
    PetscCall(CreateOn(on, WithValues(hard, Values::Easy), &A));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    int step = 0;
    for (const Values values : all) {
      const Problem p    = WithValues(hard, values);
      const bool    good = values == Values::Easy || values == Values::Hard;
      for (const Entry &e : p.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(KSPSetOperators(ksp, A, A));
      for (const int which : {0, 1}) {
        const std::vector<PetscScalar> b = RightSide(good ? p : hard, which, false);
        const PetscScalar             *array;
        KSPConvergedReason             reason;
        Vec                            from, to;
        PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &from));
        PetscCall(VecDuplicate(from, &to));
        PetscCall(SetVector(from, b));
        PetscCall(KSPSolve(ksp, from, to));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        PetscCheck(good ? reason > 0 : reason == KSP_DIVERGED_PC_FAILED, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "seed %u, step %d, values %d: reason %d", seed, step, (int)values, (int)reason);
        PetscCall(VecGetArrayRead(to, &array));
        const std::vector<PetscScalar> x(array, array + b.size());
        PetscCall(VecRestoreArrayRead(to, &array));
        if (good) {
          const Backward error = Measure(p, b, x, false);
          PetscCheck(error.norm <= Bound(p), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "seed %u, step %d, values %d: backward error %g", seed, step, (int)values, (double)error.norm);
        }
        PetscCall(VecDestroy(&from));
        PetscCall(VecDestroy(&to));
      }
      ++step;
    }
    PC          pc;
    Mat         F;
    std::string view; // the last values are easy: nothing is left of partial pivoting
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_hard_view", &view));
    PetscCheck(view.find("partial pivoting") == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", view.c_str());
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sequence()
{
  PetscFunctionBeginUser;
  for (const char *matching : {"auto", "on", "off"}) PetscCall(SequenceWith(matching)); // off: with partial pivoting
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"needed", OnEach<Needed>},
               {"columns", OnEach<Columns>},
               {"failed", OnEach<Failed>},
               {"sequence", OnEach<Sequence>}});
}
