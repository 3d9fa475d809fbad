static char help[] =
    "Seconds of one iteration of a Krylov method: PETSc's on PETSc's matrix type, PETSc's on ours, and ours on ours.\n"
    "An iteration is the difference of two solves with different limits divided by the difference of the limits, so\n"
    "that set-up, first norms and copies drop out; medians of repeated measurements, the solvers taking turns. PETSc's\n"
    "type is aijcusparse where there is a GPU, else aij. Of cg PETSc's pipecg and groppcg take part as well.\n"
    "  -method m       : cg (default), bcgs, or gmres, of ours with a basis in double and in single precision\n"
    "  -points 5|7|27  : of the stencil, on a grid of n x n or n x n x n nodes\n"
    "  -n n            : nodes in each direction; several, separated by commas\n"
    "  -vary           : coefficients of full mantissa instead of constant ones\n"
    "  -sides          : values are prescribed at the sides, in rows of their own, not beyond\n"
    "  -flow c         : convection along all axes: couplings times 1 + c and 1 - c; default 0.2, for cg 0, which stays\n"
    "  -few f -many m  : the two limits; of gmres multiples of the restart\n"
    "  -repeat k       : measurements\n"
    "  -columns k      : so many right-hand sides by KSPMatSolve(), and ours one by one; for cg and gmres\n"
    "  -rtol r,...     : whole solves to these instead, set-up included; of gmres also restarts that keep vectors; with\n"
    "                    -columns, without set-up: of cg one by one, together, and as a block\n"
    "  -coordinates    : of these, new values by MatSetValuesCOO(), which are where the vectors are, in each\n"
    "  -pc_type t      : default jacobi; options of the preconditioner are read, too\n";

#include <petscksp.h>
#include <petsctime.h>
#include <algorithm>
#include <string>
#include <vector>
#include "petsc/compat.hpp"
#include "krylov_columns.hpp"
#include "krylov_systems.hpp"
#include "krylov_whole.hpp"
#include "sparsegpu.h"

namespace
{
struct Method {
  const char *name;
  KSPType     petsc, ours;
};
const Method METHODS[] = {
    {"cg", KSPCG, KSPSPARSEGPUCG}, {"bcgs", KSPBCGS, KSPSPARSEGPUBCGS}, {"gmres", KSPGMRES, KSPSPARSEGPUGMRES}};
constexpr PetscInt CG = 0, BCGS = 1, GMRES = 2, COUNT = 3;

/// A matrix type with a solver, and what was measured.
struct Solver {
  MatType             matrix;
  KSPType             type;
  const char         *basis = nullptr; ///< of GMRES
  Mat                 A     = nullptr;
  KSP                 ksp   = nullptr;
  Vec                 x = nullptr, b = nullptr;
  Mat                 X = nullptr, B = nullptr; ///< of several columns
  bool                singly = false;           ///< these one after the other
  std::vector<double> seconds;                  ///< of an iteration

  PetscErrorCode Create(Mat plain, PetscInt columns);
  PetscErrorCode SolveAll();
  PetscErrorCode Solve(PetscInt limit, double *time);
  PetscErrorCode Destroy();
};

PetscErrorCode Solver::SolveAll()
{
  PetscInt columns = 0;

  PetscFunctionBegin;
  if (!B) PetscCall(KSPSolve(ksp, b, x));
  if (B && !singly) PetscCall(KSPMatSolve(ksp, B, X));
  if (B && singly) PetscCall(MatGetSize(B, nullptr, &columns));
  for (PetscInt c = 0; c < columns; c++) {
    Vec rhs, solution;
    PetscCall(MatDenseGetColumnVecRead(B, c, &rhs));
    PetscCall(MatDenseGetColumnVecWrite(X, c, &solution));
    PetscCall(KSPSolve(ksp, rhs, solution));
    PetscCall(MatDenseRestoreColumnVecWrite(X, c, &solution));
    PetscCall(MatDenseRestoreColumnVecRead(B, c, &rhs));
  }
  if (B) PetscCall(MatGetColumnVector(X, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solver::Create(Mat plain, PetscInt columns)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(MatConvert(plain, matrix, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  if (columns) PetscCall(CreateColumns(b, columns, &B, &X));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetType(ksp, type));
  if (basis) PetscCall(PetscOptionsSetValue(nullptr, "-ksp_sparsegpugmres_basis", basis));
  PetscCall(KSPSetFromOptions(ksp));
  if (basis) PetscCall(PetscOptionsClearValue(nullptr, "-ksp_sparsegpugmres_basis"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds of a solve with `limit` iterations, the norm of its solution included, for which the host waits.
PetscErrorCode Solver::Solve(PetscInt limit, double *time)
{
  PetscLogDouble begin, end;
  PetscReal      norm;
  PetscInt       iterations;

  PetscFunctionBegin;
  PetscCall(KSPSetTolerances(ksp, PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON, 0,
                             PETSC_MAX_REAL, limit));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscTime(&begin));
  PetscCall(SolveAll());
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  const PetscInt more = type == std::string(KSPPIPECG) ? 1 : 0; // which looks at the limit afterwards
  PetscCheck(iterations == limit + more && norm > 0, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED,
             "%s: %" PetscInt_FMT " iterations instead of %" PetscInt_FMT ": take a smaller -many", type, iterations,
             limit);
  *time = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solver::Destroy()
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *Remark(const Settings &s, const Solver &solver)
{
  if (s.columns) return solver.singly ? "singly" : "all";
  return solver.basis ? solver.basis : "";
}

PetscErrorCode Report(const Settings &s, PetscInt n, PetscInt rows, PetscInt nonzeros, std::vector<Solver> *solvers)
{
  double first = 0, shortest = PETSC_INFINITY;

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%" PetscInt_FMT " points, n = %" PetscInt_FMT ", %s coefficients: %" PetscInt_FMT
                        " rows, %" PetscInt_FMT " nonzeros\n",
                        s.points, n, s.vary ? "full-mantissa" : "constant", rows, nonzeros));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-20s %-14s %-7s %12s %12s %12s %8s\n", "matrix", "solver",
                        s.columns           ? "columns"
                        : s.method == GMRES ? "basis"
                                            : "",
                        "us/iteration", "shortest", "longest", "ratio"));
  for (Solver &solver : *solvers) {
    std::vector<double> &t = solver.seconds;
    std::sort(t.begin(), t.end());
    const double median = t[t.size() / 2];
    if (first == 0) first = median;
    shortest = std::min(shortest, t.front());
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-20s %-14s %-7s %12.2f %12.2f %12.2f %8.2f\n", solver.matrix,
                          solver.type, Remark(s, solver), 1e6 * median, 1e6 * t.front(), 1e6 * t.back(),
                          first / median));
  }
  if (shortest <= 0)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  a time that is not positive is noise: take a larger -many\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Measure(const Settings &s, PetscInt n)
{
  Rows                rows;
  Mat                 plain;
  MatType             native;
  std::vector<Solver> solvers(3);

  PetscFunctionBegin;
  PetscCall(Build(s, n, &rows));
  const PetscInt count = static_cast<PetscInt>(rows.i.size()) - 1;
  PetscCall(
      MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, count, count, rows.i.data(), rows.j.data(), rows.a.data(), &plain));
  PetscCall(NativeType(&native));
  const Method &method = METHODS[s.method];
  solvers[0].matrix    = native;
  solvers[0].type = solvers[1].type = method.petsc;
  solvers[1].matrix = solvers[2].matrix = MATSEQAIJSPARSEGPU;
  solvers[2].type                       = method.ours;
  if (s.method == GMRES && !s.columns) {
    solvers.push_back(solvers[2]);
    solvers[2].basis = "double";
    solvers[3].basis = "single";
  }
  if (s.method == CG && !s.columns && !s.coordinates)
    for (KSPType other : {KSPPIPECG, KSPGROPPCG})
      for (int k : {0, 1}) {
        solvers.push_back(solvers[k]);
        solvers.back().type = other;
      }
  if (s.columns) {
    solvers.push_back(solvers[2]);
    solvers[2].singly = true;
  }
  if (s.tolerances > 0 && s.columns) {
    PetscCall(MeasureColumns(plain, s.columns, s.repeat, s.rtol, s.tolerances));
    PetscCall(MatDestroy(&plain));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s.tolerances > 0) {
    std::vector<WholeSolver> whole;
    for (const Solver &solver : solvers)
      PetscCallCXX(whole.push_back(WholeSolver{solver.matrix, solver.type, solver.basis, s.method == GMRES, 0, {}}));
    if (s.method == GMRES) PetscCallCXX(AddDeflated(solvers[0].matrix, solvers[2].matrix, &whole));
    PetscCall(MeasureWhole(plain, s.coordinates, s.repeat, s.rtol, s.tolerances, &whole));
    PetscCall(MatDestroy(&plain));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (Solver &solver : solvers) {
    double time;
    PetscCall(solver.Create(plain, s.columns));
    PetscCall(solver.Solve(s.many, &time)); // set-ups, conversions
  }
  for (PetscInt k = 0; k < s.repeat; k++)
    for (Solver &solver : solvers) {
      double few, many;
      PetscCall(solver.Solve(s.few, &few));
      PetscCall(solver.Solve(s.many, &many));
      PetscCallCXX(solver.seconds.push_back((many - few) / static_cast<double>(s.many - s.few)));
    }
  PetscCall(Report(s, n, count, rows.i.back(), &solvers));
  for (Solver &solver : solvers) PetscCall(solver.Destroy());
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadSettings(Settings *s)
{
  const char *names[COUNT];
  PetscBool   given;

  PetscFunctionBegin;
  for (int k = 0; k < COUNT; k++) names[k] = METHODS[k].name;
  PetscCall(PetscOptionsGetEList(nullptr, nullptr, "-method", names, COUNT, &s->method, nullptr));
  s->flow = s->method == CG ? 0 : static_cast<PetscReal>(0.2);
  if (s->method == GMRES) s->many = 150;
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-flow", &s->flow, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-points", &s->points, nullptr));
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-n", s->n, &s->sizes, &given));
  if (!given) s->sizes = 1;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-vary", &s->vary, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sides", &s->sides, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-few", &s->few, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-many", &s->many, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &s->repeat, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-columns", &s->columns, nullptr));
  PetscCall(PetscOptionsGetRealArray(nullptr, nullptr, "-rtol", s->rtol, &s->tolerances, &given));
  if (!given) s->tolerances = 0;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-coordinates", &s->coordinates, nullptr));
  PetscCheck(!s->tolerances || !s->columns || s->method == CG, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-rtol with -columns is for -method cg");
  PetscCheck(s->columns >= 0 && (s->columns == 0 || s->method != BCGS), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-columns %" PetscInt_FMT " must be non-negative, and 0 for -method bcgs", s->columns);
  PetscCheck(PetscAbsReal(s->flow) <= 1 && (s->method != CG || s->flow == 0), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-flow %g must be from -1 to 1, and 0 for -method cg", (double)s->flow);
  PetscCall(CheckSizes(*s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  Settings settings;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(ReadSettings(&settings));
  for (PetscInt k = 0; k < settings.sizes; k++) PetscCall(Measure(settings, settings.n[k]));
  PetscCall(PetscFinalize());
  return 0;
}
