/// Several right-hand sides in a dense matrix, solved together by KSPMatSolve() and one by one.
#pragma once

#include "dense_columns.hpp"

namespace testing
{

/// The solver under test, PETSc's of the same method, and the option that takes right-hand sides together.
struct ColumnSolver {
  const char *ours, *petsc, *together;
};
inline ColumnSolver Solver = {KSPSPARSEGPUCG, KSPCG, "-ksp_sparsegpucg_together"}; // main() may say another one

/// What KSPMatSolve() ended with.
struct Together {
  PetscInt           iterations = 0, total = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscReal          told   = 0;
  Mat                X      = nullptr;
  std::string        view; ///< on rank 0

  Together()                            = default;
  Together(const Together &)            = delete;
  Together &operator=(const Together &) = delete;
  ~Together() { PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&X)); }
};

/// All columns by KSPMatSolve() of the solver under test with the options that are set, together where that is possible
/// unless one of them says otherwise. Before the solve `prepare`, if given, sees the KSP.
inline PetscErrorCode SolveTogether(const Columns &s, Together *out, PetscErrorCode (*prepare)(KSP, void *) = nullptr,
                                    void *context = nullptr)
{
  const Option option("-ksp_type", Solver.ours);
  PetscBool    set;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, Solver.together, &set));
  if (!set) {
    const Option together(Solver.together, "on");
    PetscCall(SolveTogether(s, out, prepare, context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDestroy(&out->X));
  PetscCall(MatDuplicate(s.X, MAT_COPY_VALUES, &out->X));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, s.A, s.A));
  PetscCall(KSPSetFromOptions(ksp));
  if (s.guessed) PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  if (prepare) PetscCall(prepare(ksp, context));
  PetscCall(KSPMatSolve(ksp, s.B, out->X));
  PetscCall(KSPGetIterationNumber(ksp, &out->iterations));
  PetscCall(KSPGetTotalIterations(ksp, &out->total));
  PetscCall(KSPGetConvergedReason(ksp, &out->reason));
  PetscCall(KSPGetResidualNorm(ksp, &out->told));
  PetscCall(TextOf(PETSC_COMM_WORLD, "columns", &out->view, [&](PetscViewer viewer) { return KSPView(ksp, viewer); }));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = column c of M, whatever the types of both are.
inline PetscErrorCode CopyColumn(Mat M, PetscInt c, Vec y)
{
  Vec                column;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           rows;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(y, &rows));
  PetscCall(MatDenseGetColumnVecRead(M, c, &column));
  PetscCall(VecGetArrayRead(column, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  std::copy_n(from, rows, to);
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(column, &from));
  PetscCall(MatDenseRestoreColumnVecRead(M, c, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Column c alone, by KSPSolve() of `type` with the options that are set.
inline PetscErrorCode SolveColumn(const char type[], const Columns &s, PetscInt c, Outcome *out)
{
  Vec b, guess;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(s.A, &guess, &b));
  PetscCall(CopyColumn(s.B, c, b));
  PetscCall(CopyColumn(s.X, c, guess));
  PetscCall(SolveAs(type, s.A, b, s.guessed ? guess : nullptr, out));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&guess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Norms of column c of the solutions, for vectors like x: of its residual, and of itself.
inline PetscErrorCode ResidualOf(const Columns &s, const Together &all, PetscInt c, Vec x, PetscReal *residual,
                                 PetscReal *size)
{
  Vec r, y;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(CopyColumn(all.X, c, y));
  PetscCall(VecNorm(y, NORM_2, size));
  PetscCall(MatMult(s.A, y, r));
  PetscCall(CopyColumn(s.B, c, y));
  PetscCall(VecAYPX(r, -1, y));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two dense matrices with the same bits.
inline PetscErrorCode CheckEqual(Mat X, Mat Y, const std::string &what)
{
  PetscReal size = 0, difference = 0;
  PetscBool same;
  Mat       Z;

  PetscFunctionBeginUser;
  PetscCall(MatEqual(X, Y, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(X, MAT_COPY_VALUES, &Z));
  PetscCall(MatNorm(Z, NORM_FROBENIUS, &size));
  PetscCall(MatAXPY(Z, -1, Y, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(Z, NORM_FROBENIUS, &difference));
  PetscCall(MatDestroy(&Z));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: other bits, a difference of %g in %g", what.c_str(),
             (double)difference, (double)size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Column c of the solutions has the bits of a single solve.
inline PetscErrorCode CheckColumn(const Columns &s, const Together &all, PetscInt c, const std::string &what)
{
  Outcome   one;
  Vec       x;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(SolveColumn(Solver.ours, s, c, &one));
  PetscCall(VecDuplicate(one.x, &x));
  PetscCall(CopyColumn(all.X, c, x));
  PetscCall(VecEqual(x, one.x, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: column %d has other bits", what.c_str(), (int)c);
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Right-hand sides of sizes 10^-k: an absolute tolerance ends them the sooner the larger k is.
inline PetscErrorCode FillApart(Columns *s)
{
  PetscFunctionBeginUser;
  PetscCall(s->Fill());
  for (PetscInt c = 0; c < s->count; ++c) PetscCall(s->Scale(c, PetscPowReal(10, -(PetscReal)(c * 7 % 11) / 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode CheckEndedApart(const Columns &s, const Together &all)
{
  PetscFunctionBeginUser;
  PetscCheck(all.total < (s.count - 1) * all.iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%d iterations of %d columns: they end together", (int)all.total, (int)s.count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What KSPView() says after such a solve.
const std::string TOGETHER = "several right-hand sides at a time";

/// Sums of iterations that rounding errors may change by one a column, and by one more each 50: where the residual
/// hardly falls, a larger basis gathers more of them.
inline PetscErrorCode CheckIterations(const std::string &what, const Together &all, PetscInt sum, PetscInt most,
                                      size_t count)
{
  const PetscInt each = 1 + most / 50;

  PetscFunctionBeginUser;
  PetscCheck(std::abs(all.total - sum) <= each * (PetscInt)count && std::abs(all.iterations - most) <= each,
             PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT "; singly %" PetscInt_FMT ", %" PetscInt_FMT,
             what.c_str(), all.total, all.iterations, sum, most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All columns as they were solved together against solves for each with `type`, under the options that are set.
inline PetscErrorCode Against(const char type[], const std::string &what, const Columns &s, const Together &all)
{
  PetscInt sum = 0, most = 0;
  bool     failed = false;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < s.count; ++c) {
    Outcome one;
    PetscCall(SolveColumn(type, s, c, &one));
    sum += one.iterations;
    most   = std::max(most, one.iterations);
    failed = failed || one.reason < 0;
    PetscReal residual, size;
    PetscCall(ResidualOf(s, all, c, one.x, &residual, &size));
    // one iteration more or less changes the residual by at most the factor between the last two of a single solve
    const size_t    last  = one.history.size();
    const PetscReal slack = last > 1 && one.history[last - 1] > 0 ? one.history[last - 2] / one.history[last - 1] : 1;
    const PetscReal bound =
        2 * std::max<PetscReal>(slack, 1) * one.residual + 100 * PETSC_MACHINE_EPSILON * std::max(one.rhs, size);
    PetscCheck(one.reason == KSP_DIVERGED_NANORINF || residual <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, %s, column %" PetscInt_FMT ": residual %g, singly %g", what.c_str(), type, c, (double)residual,
               (double)one.residual);
  }
  PetscCheck(failed == (all.reason < 0), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: reason %d, singly a column %s",
             what.c_str(), (int)all.reason, failed ? "fails" : "does not fail");
  PetscCall(CheckIterations(what + " against " + type, all, sum, most, (size_t)s.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Against single solves of ours, and, of few columns, of PETSc's: those of ours are compared with PETSc's elsewhere,
/// too. `together`: the columns must have been solved so.
inline PetscErrorCode Compare(const Columns &s, const std::string &options, bool together = true)
{
  constexpr PetscInt FEW = 2;
  const Options      set(options);
  const std::string  what = std::to_string(s.count) + " columns of " + s.type + " " + options;
  Together           all;

  PetscFunctionBeginUser;
  PetscCall(SolveTogether(s, &all));
  PetscCheck(PetscGlobalRank > 0 || !together || s.count < 2 || all.view.find(TOGETHER) != std::string::npos,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: one by one:\n%s", what.c_str(), all.view.c_str());
  PetscCall(Against(Solver.ours, what, s, all));
  if (s.count <= FEW) PetscCall(Against(Solver.petsc, what, s, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
