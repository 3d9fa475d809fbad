static const char help[] =
    "KSPMatSolve() of KSPSPARSEGPUCG: what is solved column by column, failures of some, and KSPs used again.\n\n";

#include "repeats.hpp"
#include "spd.hpp"

using namespace testing;

namespace
{
PetscErrorCode Count(KSP, PetscInt, PetscReal, void *calls)
{
  ++*static_cast<PetscInt *>(calls);
  return PETSC_SUCCESS;
}
PetscErrorCode Watch(KSP ksp, void *calls)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorSet(ksp, Count, calls, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A test of the program's own: ends each solve after three iterations.
PetscErrorCode EndAtThree(KSP, PetscInt k, PetscReal, KSPConvergedReason *reason, void *)
{
  *reason = k == 3 ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
  return PETSC_SUCCESS;
}
PetscErrorCode SetTest(KSP ksp, void *)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetConvergenceTest(ksp, EndAtThree, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode KeepHistory(KSP ksp, void *)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetResidualHistory(ksp, nullptr, 10000, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 22, 0)
/// Systems with the transpose, one by one, and again with the matrix, together.
PetscErrorCode Transposed()
{
  const Options options("-ksp_type sparsegpucg -ksp_rtol 1e-8 -pc_type jacobi -ksp_norm_type unpreconditioned");
  System        matrix;
  KSP           ksp;

  PetscFunctionBeginUser;
  PetscCall(matrix.Create(spd::Diffusion(5, 17, 16, 1, true)));
  for (const std::string &type : DenseTypes()) {
    Columns s;
    PetscCall(s.Create(matrix.A, 4, type));
    PetscCall(s.Fill());
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, matrix.A, matrix.A));
    PetscCall(KSPSetFromOptions(ksp));
    for (bool transposed : {true, false, true}) {
      std::string view;
      PetscCall(transposed ? KSPMatSolveTranspose(ksp, s.B, s.X) : KSPMatSolve(ksp, s.B, s.X));
      PetscCall(
          TextOf(PETSC_COMM_WORLD, "transposed", &view, [&](PetscViewer viewer) { return KSPView(ksp, viewer); }));
      PetscCheck(PetscGlobalRank > 0 || (view.find(TOGETHER) != std::string::npos) == (!transposed && s.expected),
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "transposed %d:\n%s", (int)transposed, view.c_str());
      for (PetscInt c = 0; c < s.count; ++c) {
        Vec       b, x, r;
        PetscReal residual, whole;
        PetscCall(MatCreateVecs(matrix.A, &x, &b));
        PetscCall(VecDuplicate(b, &r));
        PetscCall(CopyColumn(s.B, c, b));
        PetscCall(CopyColumn(s.X, c, x));
        PetscCall(transposed ? MatMultTranspose(matrix.A, x, r) : MatMult(matrix.A, x, r));
        PetscCall(VecAXPY(r, -1, b));
        PetscCall(VecNorm(r, NORM_2, &residual));
        PetscCall(VecNorm(b, NORM_2, &whole));
        PetscCheck(residual <= (PetscReal)2e-8 * whole, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "transposed %d, column %d: residual %g of %g", (int)transposed, (int)c, (double)residual,
                   (double)whole);
        PetscCall(VecDestroy(&b));
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&r));
      }
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode Transposed()
{
  return Skip("PETSc has no KSPMatSolveTranspose()");
}
#endif

/// What is to be seen of each solve, or differs from column to column, is done column by column.
PetscErrorCode OneByOne()
{
  const Options        options("-ksp_rtol 1e-5 -pc_type jacobi");
  constexpr PetscInt   n = 60;
  conformance::Builder chain("Neumann", n, n);
  System               matrix, singular;
  MatNullSpace         constant;
  PetscInt             calls = 0;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    chain.Add(r, r, r == 0 || r == n - 1 ? 1 : 2);
    if (r > 0) chain.Add(r, r - 1, -1);
    if (r + 1 < n) chain.Add(r, r + 1, -1);
  }
  PetscCall(singular.Create(chain));
  PetscCall(matrix.Create(spd::Diffusion(5, 17, 16, 1, true)));
  for (const std::string &type : DenseTypes()) {
    Columns  s, none, one;
    Together seen, tested, kept, empty;
    PetscCall(s.Create(matrix.A, 4, type));
    PetscCall(s.Fill());
    calls = 0;
    PetscCall(SolveTogether(s, &seen, Watch, &calls));
    PetscCheck(calls == seen.total + s.count, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%d calls of the monitor in %d iterations of %d columns", (int)calls, (int)seen.total, (int)s.count);
    PetscCall(SolveTogether(s, &tested, SetTest));
    PetscCheck(tested.reason == KSP_CONVERGED_HAPPY_BREAKDOWN && tested.total == 3 * s.count, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "Reason %d after %d iterations of all columns", (int)tested.reason, (int)tested.total);
    PetscCall(SolveTogether(s, &kept, KeepHistory));
    for (const Together *t : {&seen, &tested, &kept})
      PetscCheck(t->view.find(TOGETHER) == std::string::npos, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Not one by one");
    PetscCall(none.Create(matrix.A, 0, type));
    PetscCall(SolveTogether(none, &empty));
    PetscCheck(empty.iterations == 0 && empty.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "No column: reason %d after %d iterations", (int)empty.reason, (int)empty.iterations);
    for (const char *more :
         {"-ksp_initial_guess_nonzero -ksp_guess_type fischer -ksp_guess_fischer_model 1,5", "-ksp_knoll"}) {
      const Options set(more);
      Together      all;
      PetscCall(SolveTogether(s, &all));
      PetscCheck(all.reason > 0 && all.view.find(TOGETHER) == std::string::npos, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: reason %d\n%s", more, (int)all.reason, all.view.c_str());
    }
    // a matrix of another type, and a singular one whose null space is known
    Mat aij;
    PetscCall(MatConvert(matrix.A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    PetscCall(one.Create(aij, 3, MATDENSE));
    PetscCall(one.Fill());
    PetscCall(Compare(one, "", false));
    PetscCall(MatDestroy(&aij));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constant));
    PetscCall(MatSetNullSpace(singular.A, constant));
    PetscCall(MatSetTransposeNullSpace(singular.A, constant));
    PetscCall(MatNullSpaceDestroy(&constant));
    Columns  flat;
    Together all;
    PetscCall(flat.Create(singular.A, 3, type));
    PetscCall(flat.Fill()); // not in the range: KSPSolve() takes the rest away
    PetscCall(SolveTogether(flat, &all));
    PetscCheck(all.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Singular: reason %d", (int)all.reason);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A preconditioner that has failed is one in each solve, as long as it is not set up anew.
PetscErrorCode FailedSetUp()
{
  const Options        options("-ksp_type sparsegpucg -pc_type bjacobi -sub_pc_type lu "
                                      "-sub_pc_factor_mat_solver_type petsc -ksp_sparsegpucg_together on");
  constexpr PetscInt   n = 40;
  conformance::Builder ones("blocks of ones", n, n);
  System               matrix;
  KSP                  ksp;
  KSPConvergedReason   reason;
  Columns              s;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) {
    ones.Add(r, r, r < 8 ? 1 : 2); // of several ranks the first one's factor alone is singular
    ones.Add(r, r ^ 1, 1);
  }
  PetscCall(matrix.Create(ones));
  PetscCall(s.Create(matrix.A, 3, MATDENSE));
  PetscCall(s.Fill());
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, matrix.A, matrix.A));
  PetscCall(KSPSetFromOptions(ksp));
  for (int turn = 0; turn < 2; ++turn) {
    PetscCall(KSPMatSolve(ksp, s.B, s.X));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason == KSP_DIVERGED_PC_FAILED, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Turn %d: reason %d", turn,
               (int)reason);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A failure of one column is the KSP's reason, of any batch, and an error where that is asked for.
PetscErrorCode Failures()
{
  constexpr PetscInt   n = 40;
  conformance::Builder mixed("definite but for one", n, n);
  System               matrix;
  std::string          message;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; ++r) mixed.Add(r, r, r == 5 ? -1 : (PetscReal)(1 + r % 7));
  PetscCall(matrix.Create(mixed));
  for (const std::string &type : DenseTypes())
    for (PetscInt bad = 0; bad < 4; ++bad) {
      Columns s;
      PetscCall(s.Create(matrix.A, 4, type));
      for (PetscInt c = 0; c < 4; ++c) {
        std::vector<PetscScalar> b = Input(n, (unsigned long long)(40 + c), Poison::None);
        if (c != bad) b[5] = 0; // never sees the negative eigenvalue
        PetscCall(s.Set(c, b));
      }
      for (const char *batch : {"4", "2", "1"}) {
        const Options options(std::string("-ksp_rtol 1e-8 -pc_type none -ksp_matsolve_batch_size ") + batch);
        Together      all;
        PetscCall(SolveTogether(s, &all));
        PetscCheck(all.reason == KSP_DIVERGED_INDEFINITE_MAT, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                   "Column %d is indefinite, batches of %s: reason %d", (int)bad, batch, (int)all.reason);
        if (PetscGlobalSize > 1 || strcmp(batch, "4")) continue; // an error leaves a batch borrowed
        const Options raise("-ksp_error_if_not_converged");
        PetscCall(ExpectError(
            "error if not converged", [&] { return SolveTogether(s, &all); }, &message, PETSC_ERR_NOT_CONVERGED));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Where vectors do not stay in a cache, columns are solved together for a matrix of many bytes alone, unless the
/// option says otherwise; on one process on the host.
PetscErrorCode Choice()
{
  conformance::Builder constant("constant", 9000, 9000);
  System               light, heavy;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 9000; ++r) {
    constant.Add(r, r, 2);
    if (r > 0) constant.Add(r, r - 1, (PetscReal)-0.5);
    if (r + 1 < 9000) constant.Add(r, r + 1, (PetscReal)-0.5);
  }
  PetscCall(light.Create(constant));
  PetscCall(heavy.Create(spd::Diffusion(27, 20, 20, 22, true)));
  for (const System *matrix : {&light, &heavy})
    for (const char *mode : {"auto", "on", "off"}) {
      const Options options(std::string("-pc_type jacobi -ksp_rtol 1e-6 -ksp_sparsegpucg_together ") + mode);
      const bool    chosen = PetscGlobalSize > 1 || matrix == &heavy;
      const bool    wanted = !strcmp(mode, "auto") ? chosen : !strcmp(mode, "on");
      Columns       s;
      Together      all;
      PetscCall(s.Create(matrix->A, 8, MATDENSE));
      PetscCall(s.Fill());
      PetscCall(SolveTogether(s, &all));
      PetscCheck(PetscGlobalRank > 0 || (all.view.find(TOGETHER) != std::string::npos) == wanted, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s, %s matrix:\n%s", mode, matrix == &heavy ? "heavy" : "light", all.view.c_str());
      PetscCall(Compare(s, "", wanted));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A KSP that is used again: new right-hand sides, more and fewer, new values, another matrix, single solves between.
PetscErrorCode Again()
{
  System   one, two;
  KSP      ksp;
  PetscInt before, after;

  PetscFunctionBeginUser;
  PetscCall(one.Create(spd::Diffusion(5, 21, 20, 1, true)));
  PetscCall(two.Create(spd::Diffusion(5, 20, 21, 1, false)));
  for (const char *pc : {"jacobi", "bjacobi"}) {
    const Options options(std::string("-ksp_rtol 1e-7 -ksp_type sparsegpucg -pc_type ") + pc);
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetFromOptions(ksp));
    for (int turn = 0; turn < 6; ++turn) {
      const Mat A = turn == 4 ? two.A : one.A;
      Columns   s;
      Outcome   single;
      Together  fresh;
      if (turn == 2) PetscCall(MatScale(A, 3));
      if (turn == 3) PetscCall(MatShift(A, (PetscReal)0.25));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(s.Create(A, 3 + 5 * (turn % 3), turn % 2 ? DenseTypes().front() : DenseTypes().back()));
      PetscCall(s.Fill(turn));
      PetscCall(KSPGetTotalIterations(ksp, &before));
      PetscCall(KSPMatSolve(ksp, s.B, s.X));
      PetscCall(KSPGetTotalIterations(ksp, &after));
      PetscCall(SolveTogether(s, &fresh)); // by a KSP of its own
      PetscCheck(after - before == fresh.total, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, turn %d: %" PetscInt_FMT " iterations, by a new KSP %" PetscInt_FMT, pc, turn, after - before,
                 fresh.total);
      PetscCall(CheckEqual(s.X, fresh.X, std::string(pc) + ", turn " + std::to_string(turn)));
      PetscCall(Compare(s, "", false));
      Vec b, x;
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(KnownRhs(A, b));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(SolveAs(KSPSPARSEGPUCG, A, b, nullptr, &single));
      PetscBool same;
      PetscCall(VecEqual(x, single.x, &same));
      PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, turn %d: another solution of a single solve", pc, turn);
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Columns that are solved at very different steps: of a small system, of one whose rows are shared among blocks, and
/// of one that is large.
PetscErrorCode Repeats()
{
  const Options options("-ksp_rtol 1e-30 -ksp_atol 1e-6 -pc_type jacobi");

  PetscFunctionBeginUser;
  PetscCall(CheckRepeatsOf({16, 190, 370}, [](PetscInt side, System *matrix) {
    return matrix->Create(spd::Diffusion(5, side + 1, side, 1, true));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"again", Again},
               {"choice", Choice},
               {"transposed", Transposed},
               {"one_by_one", OneByOne},
               {"failures", Failures},
               {"repeats", Repeats},
               {"failed_set_up", FailedSetUp}});
}
