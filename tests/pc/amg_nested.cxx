static const char help[] =
    "Multigrid inside other preconditioners, Newton's method and steps in time, with a shell and with a DM.\n\n";

#include "amg.hpp"

#include <petscdmda.h>
#include <petscts.h>

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

/// Inside block Jacobi, additive Schwarz, fieldsplit and redundant solves: options of the inner one under its prefix.
static PetscErrorCode TestNested()
{
  const char *const cases[] = {
      "-n_pc_type bjacobi -n_sub_pc_type sparsegpuamg -n_sub_mg_levels_ksp_max_it 3",
      "-n_pc_type asm -n_sub_pc_type sparsegpuamg",
      "-n_pc_type redundant -n_redundant_ksp_type preonly -n_redundant_pc_type sparsegpuamg",
      "-n_pc_type fieldsplit -n_pc_fieldsplit_block_size 2 -n_pc_fieldsplit_0_fields 0 -n_pc_fieldsplit_1_fields 1 "
      "-n_fieldsplit_0_pc_type sparsegpuamg -n_fieldsplit_1_pc_type sparsegpuamg -n_fieldsplit_0_ksp_type preonly "
      "-n_fieldsplit_1_ksp_type preonly",
      "-n_pc_type ksp -n_ksp_ksp_type cg -n_ksp_ksp_max_it 3 -n_ksp_pc_type sparsegpuamg",
      "-n_pc_type composite -n_pc_composite_pcs jacobi,sparsegpuamg -n_pc_composite_type multiplicative"};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *options : cases) {
      const Options set(options);
      Mat           A;
      Result        result;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {30, 32, 1, 2, false, Faces}, &A));
      PetscCall(SolveOnce(A, KSPFGMRES, PCNONE, &result, "n_"));
      PetscCall(CheckConverged(std::string(type) + " " + options, result, 60));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Function(SNES, Vec x, Vec f, void *context)
{
  Mat A = static_cast<Mat>(context);
  Vec cube;

  PetscFunctionBeginUser;
  PetscCall(MatMult(A, x, f)); // A x + x^3 - 1
  PetscCall(VecDuplicate(x, &cube));
  PetscCall(VecPointwiseMult(cube, x, x));
  PetscCall(VecPointwiseMult(cube, cube, x));
  PetscCall(VecAXPY(f, 1, cube));
  PetscCall(VecShift(f, -1));
  PetscCall(VecDestroy(&cube));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Jacobian(SNES, Vec x, Mat, Mat J, void *context)
{
  Mat A = static_cast<Mat>(context);
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(MatCopy(A, J, SAME_NONZERO_PATTERN));
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecPointwiseMult(d, x, x));
  PetscCall(VecScale(d, 3));
  PetscCall(MatDiagonalSet(J, d, ADD_VALUES));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Newton's method: a set-up for new values in each step.
static PetscErrorCode TestSnes()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat                 A, J;
    Vec                 x, f;
    SNES                snes;
    KSP                 ksp;
    PC                  pc;
    PetscInt            steps, linear;
    SNESConvergedReason reason;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {40, 42, 1, 1, false, Faces}, &A));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &J));
    PetscCall(MatCreateVecs(A, &x, &f));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetFunction(snes, f, Function, A));
    PetscCall(SNESSetJacobian(snes, J, J, Jacobian, A));
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPUAMG));
    PetscCall(SNESSetFromOptions(snes));
    PetscCall(VecSet(x, 0));
    PetscCall(SNESSolve(snes, nullptr, x));
    PetscCall(SNESGetConvergedReason(snes, &reason));
    PetscCall(SNESGetIterationNumber(snes, &steps));
    PetscCall(SNESGetLinearSolveIterations(snes, &linear));
    PetscCheck(reason > 0 && steps > 1 && linear <= 12 * steps, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %s after %" PetscInt_FMT " steps, %" PetscInt_FMT " iterations", type, SNESConvergedReasons[reason],
               steps, linear);
    PetscCall(SNESDestroy(&snes));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&f));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&J));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// u' + A u = 1
static PetscErrorCode Heat(TS, PetscReal, Vec u, Vec rate, Vec f, void *context)
{
  PetscFunctionBeginUser;
  PetscCall(MatMultAdd(static_cast<Mat>(context), u, rate, f));
  PetscCall(VecShift(f, -1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode HeatJacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat, Mat J, void *context)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(static_cast<Mat>(context), J, SAME_NONZERO_PATTERN));
  PetscCall(MatShift(J, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Steps in time, of other lengths as the error allows: a set-up for new values in each; the solution is that of
/// another preconditioner.
static PetscErrorCode TestTs()
{
  const PetscReal rtol = 100 * PetscSqrtReal(PETSC_MACHINE_EPSILON);

  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat       A;
    Vec       solution[2];
    PetscReal norm, difference;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {40, 42, 1, 1, false, Faces}, &A));
    for (const bool ours : {false, true}) {
      Mat      J;
      Vec      u;
      TS       ts;
      SNES     snes;
      KSP      ksp;
      PC       pc;
      PetscInt steps, linear;
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &J));
      PetscCall(MatCreateVecs(A, &u, nullptr));
      PetscCall(VecSet(u, 0));
      PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
      PetscCall(TSSetType(ts, TSBDF));
      PetscCall(TSSetProblemType(ts, TS_LINEAR));
      PetscCall(TSSetIFunction(ts, nullptr, Heat, A));
      PetscCall(TSSetIJacobian(ts, J, J, HeatJacobian, A));
      PetscCall(TSSetTimeStep(ts, (PetscReal)0.5));
      PetscCall(TSSetMaxTime(ts, 40));
      PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
      PetscCall(TSGetSNES(ts, &snes));
      PetscCall(SNESSetType(snes, SNESKSPONLY));
      PetscCall(SNESGetKSP(snes, &ksp));
      PetscCall(KSPSetType(ksp, KSPCG));
      PetscCall(KSPSetTolerances(ksp, rtol / 100, 0, PETSC_DEFAULT, PETSC_DEFAULT));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, ours ? PCSPARSEGPUAMG : PCJACOBI));
      PetscCall(TSSetFromOptions(ts));
      PetscCall(TSSolve(ts, u));
      PetscCall(TSGetStepNumber(ts, &steps));
      PetscCall(TSGetKSPIterations(ts, &linear));
      PetscCheck(!ours || (steps > 4 && linear <= 30 * steps), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %" PetscInt_FMT " iterations in %" PetscInt_FMT " steps", type, linear, steps);
      solution[ours] = u;
      PetscCall(TSDestroy(&ts));
      PetscCall(MatDestroy(&J));
    }
    PetscCall(VecNorm(solution[0], NORM_2, &norm));
    PetscCall(VecAXPY(solution[1], -1, solution[0]));
    PetscCall(VecNorm(solution[1], NORM_2, &difference));
    PetscCheck(norm > 1 && difference <= rtol * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %g apart, of %g", type,
               (double)difference, (double)norm);
    for (Vec &v : solution) PetscCall(VecDestroy(&v));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultOfContext(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An operator without entries, and a matrix for the preconditioner: the finest smoother works with the operator, as in
/// PCMG, before and after new values.
static PetscErrorCode TestShell()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    Mat      A, S;
    KSP      ksp;
    PetscInt rows, all;
    Result   plain, shell;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {70, 72, 1, 1, false, Faces}, &A));
    PetscCall(MatGetLocalSize(A, &rows, nullptr));
    PetscCall(MatGetSize(A, &all, nullptr));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, all, all, A, &S));
    PetscCall(MatShellSetOperation(S, MATOP_MULT, reinterpret_cast<void (*)(void)>(MultOfContext)));
    PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &plain));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    for (int round = 0; round < 3; ++round) {
      PetscCall(KSPSetOperators(ksp, S, A));
      PetscCall(Solve(ksp, A, &shell));
      PetscCall(CheckConverged(std::string("shell, ") + type, shell, 15));
      PetscCheck(std::abs(shell.iterations - plain.iterations) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: %" PetscInt_FMT " iterations with a shell, %" PetscInt_FMT " without", type, shell.iterations,
                 plain.iterations);
      PetscCall(MatScale(A, 2));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&S));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperatorOfGrid(KSP, Mat, Mat A, void *)
{
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(SetGrid(A, {33, 34, 1, 1, false, Faces}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode OnesOfGrid(KSP, Vec b, void *)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solver with a DM, which PCMG would coarsen: here levels come from the matrix. The grid is set in the natural
/// order, which is the DM's on one process.
static PetscErrorCode TestDM()
{
  DM                 da;
  KSP                ksp;
  PC                 pc;
  PetscInt           levels, iterations;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33, 34, 1,
                         PETSC_DECIDE, 1, 1, nullptr, nullptr, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, OperatorOfGrid, nullptr));
  PetscCall(KSPSetComputeRHS(ksp, OnesOfGrid, nullptr));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSPARSEGPUAMG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, nullptr, nullptr));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCheck(reason > 0 && iterations <= 12 && levels > 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " levels", KSPConvergedReasons[reason], iterations,
             levels);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"nested", TestNested}, {"snes", TestSnes}, {"ts", TestTs}, {"shell", TestShell}, {"dm", TestDM}});
}
