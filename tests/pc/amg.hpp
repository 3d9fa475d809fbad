/// Solves with multigrid, and what they have to reach.
#pragma once

#include "../testing.hpp"
#include "amg_problems.hpp"

namespace amg_tests
{

/// Values in (-1, 1) of row numbers alone.
inline PetscErrorCode SetNoise(Vec v)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    unsigned long long h = ((unsigned long long)r + 7) * 0x9e3779b97f4a7c15ull;
    h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h ^= h >> 27;
    PetscCall(VecSetValue(v, r, (PetscReal)((double)(h >> 12) / (double)(1ull << 51) - 1), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Result {
  KSPConvergedReason reason     = KSP_CONVERGED_ITERATING;
  PetscInt           iterations = 0;
  PetscReal          residual   = 0; ///< |b - A x| / |b|
};

/// Solves A x = noise with a solver that is set up for it.
inline PetscErrorCode Solve(KSP ksp, Mat A, Result *result)
{
  Vec       x, b, r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(SetNoise(b));
  MatNullSpace null;
  PetscCall(MatGetNullSpace(A, &null));
  if (null) PetscCall(MatNullSpaceRemove(null, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  PetscCall(KSPGetIterationNumber(ksp, &result->iterations));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &result->residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) result->residual /= norm;
  for (Vec *v : {&x, &b, &r}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solver of this kind to 1e-8 (a fifth of the digits in single precision); options under `prefix`.
inline PetscErrorCode CreateSolver(Mat A, const char solver[], const char preconditioner[], const char prefix[],
                                   KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetType(*ksp, solver));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, PetscDefined(USE_REAL_DOUBLE) ? 1e-8 : 1e-4, 0, PETSC_DEFAULT, 300));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, preconditioner));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One solve from nothing.
inline PetscErrorCode SolveOnce(Mat A, const char solver[], const char preconditioner[], Result *result,
                                const char prefix[] = nullptr, const std::vector<PetscReal> *coordinates = nullptr)
{
  KSP      ksp;
  PC       pc;
  PetscInt rows;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, solver, preconditioner, prefix, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  if (coordinates) PetscCall(PCSetCoordinates(pc, 3, rows / 3, const_cast<PetscReal *>(coordinates->data())));
  PetscCall(Solve(ksp, A, result));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Converged, to a residual that the preconditioned norm of the test cannot hide: `contrast`, of coefficients, is what
/// that norm may forgive.
inline PetscErrorCode CheckConverged(const std::string &what, const Result &r, PetscInt at_most, PetscReal contrast = 1)
{
  PetscFunctionBeginUser;
  PetscCheck(r.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: %s after %" PetscInt_FMT " iterations",
             what.c_str(), KSPConvergedReasons[r.reason], r.iterations);
  PetscCheck(r.iterations <= at_most, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " expected", what.c_str(), r.iterations,
             at_most);
  const PetscReal bound = contrast * (PetscReal)(PetscDefined(USE_REAL_DOUBLE) ? 1e-6 : 1e-2);
  PetscCheck(r.residual <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: relative residual %g > %g", what.c_str(),
             (double)r.residual, (double)bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// (B x, y) = (x, B' y) for the preconditioner B of A, B' by `adjoint`, but for as many roundings of B x and y.
inline PetscErrorCode CheckAdjoint(const std::string &what, PC pc, Mat A, PetscErrorCode (*adjoint)(PC, Vec, Vec),
                                   PetscErrorCode (*dot)(Vec, Vec, PetscScalar *), PetscReal roundings)
{
  Vec         x, y, Bx, By;
  PetscScalar one, other;
  PetscReal   norms[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &Bx));
  PetscCall(VecDuplicate(x, &By));
  PetscCall(SetNoise(x));
  PetscCall(VecCopy(x, y));
  PetscCall(VecShift(y, 0.5));
  PetscCall(PCApply(pc, x, Bx));
  PetscCall(adjoint(pc, y, By));
  PetscCall(dot(Bx, y, &one));
  PetscCall(dot(x, By, &other));
  PetscCall(VecNorm(Bx, NORM_2, &norms[0]));
  PetscCall(VecNorm(y, NORM_2, &norms[1]));
  PetscCheck(PetscAbsScalar(one - other) <= roundings * PETSC_MACHINE_EPSILON * norms[0] * norms[1], PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "%s: (B x, y) %g, (x, B' y) %g", what.c_str(), (double)PetscRealPart(one),
             (double)PetscRealPart(other));
  for (Vec *v : {&x, &y, &Bx, &By}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An option that cannot be is an error of this kind, which names it and has `text`.
inline PetscErrorCode ExpectBadOption(Mat A, const char name[], const char value[], const char text[],
                                      PetscErrorCode kind = PETSC_ERR_ARG_OUTOFRANGE)
{
  const testing::Option option(name, value);
  std::string           message;

  PetscFunctionBeginUser;
  PetscCall(testing::ExpectError(
      name,
      [&] {
        PC pc; // lost, as after any error
        PetscFunctionBeginUser;
        PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
        PetscCall(PCSetOperators(pc, A, A));
        PetscCall(PCSetType(pc, PCSPARSEGPUAMG));
        PetscCall(PCSetFromOptions(pc));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      &message, kind));
  PetscCall(testing::CheckText(name, message, {name, text}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What KSPView() says.
inline PetscErrorCode View(KSP ksp, std::string *text)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  char file[] = "/tmp/amg_view_XXXXXX";
  int  handle = -1;
  if (!PetscGlobalRank) handle = mkstemp(file);
  PetscCallMPI(MPI_Bcast(file, sizeof(file), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  text->clear();
  if (handle >= 0) {
    char   part[4096];
    FILE  *f = fdopen(handle, "r");
    size_t got;
    while ((got = fread(part, 1, sizeof(part), f)) > 0) text->append(part, got);
    fclose(f);
    remove(file);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets up, applies and solves for noise; *view: what KSPView() says then, on the first process. What the
/// preconditioner gives is finite.
inline PetscErrorCode SolveAndView(const std::string &what, Mat A, const char solver[], Result *result,
                                   std::string *view, PetscReal *complexity = nullptr)
{
  KSP       ksp;
  PC        pc;
  Vec       b, z;
  PetscReal norm, grid, operators;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, solver, PCSPARSEGPUAMG, nullptr, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatCreateVecs(A, &b, &z));
  PetscCall(SetNoise(b));
  PetscCall(PCApply(pc, b, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCheck(!PetscIsInfOrNanReal(norm), PETSC_COMM_WORLD, PETSC_ERR_FP, "%s: the preconditioner gives %g",
             what.c_str(), (double)norm);
  PetscCall(Solve(ksp, A, result));
  PetscCheck(!PetscIsInfOrNanReal(result->residual), PETSC_COMM_WORLD, PETSC_ERR_FP, "%s: residual %g", what.c_str(),
             (double)result->residual);
  PetscCall(View(ksp, view));
  PetscCall(PCMGGetGridComplexity(pc, &grid, &operators));
  if (complexity) *complexity = operators;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, %" PetscInt_FMT " iterations, complexity %.2f\n", what.c_str(),
                        KSPConvergedReasons[result->reason], result->iterations, (double)operators));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&z));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace amg_tests
