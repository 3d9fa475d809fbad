static char help[] =
    "Seconds of one iteration of a Krylov method: PETSc's on PETSc's matrix type, PETSc's on ours, and ours on ours.\n"
    "An iteration is the difference of two solves with different limits divided by the difference of the limits, so\n"
    "that set-up, first norms and copies drop out; medians of repeated measurements, the solvers taking turns. PETSc's\n"
    "type is aijcusparse where there is a GPU, else aij.\n"
    "  -method m       : cg (default), bcgs, or gmres, of ours with a basis in double and in single precision\n"
    "  -points 5|7|27  : of the stencil, on a grid of n x n or n x n x n nodes\n"
    "  -n n            : nodes in each direction; several, separated by commas\n"
    "  -vary           : coefficients of full mantissa instead of constant ones\n"
    "  -flow c         : convection along all axes: couplings 1 + c and 1 - c times as large; default 0, for cg only\n"
    "                    that, for the others 0.2\n"
    "  -few f -many m  : the two limits; of gmres multiples of the restart\n"
    "  -repeat k       : measurements\n"
    "  -pc_type t      : default jacobi; options of the preconditioner are read, too\n";

#include <petscksp.h>
#include <petsctime.h>
#include <algorithm>
#include <vector>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace
{
struct Method {
  const char *name;
  KSPType     petsc, ours;
};
const Method METHODS[] = {
    {"cg", KSPCG, KSPSPARSEGPUCG}, {"bcgs", KSPBCGS, KSPSPARSEGPUBCGS}, {"gmres", KSPGMRES, KSPSPARSEGPUGMRES}};
enum {
  CG,
  BCGS,
  GMRES,
  COUNT
};

struct Settings {
  PetscInt  points = 27, few = 30, many = 130, repeat = 5;
  PetscInt  n[16] = {32}, sizes = 16;
  PetscInt  method = 0; ///< of METHODS
  PetscBool vary   = PETSC_FALSE;
  PetscReal flow   = 0;
};

/// Rows in compressed storage.
struct Rows {
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> a;
};

/// From 0.5 to 1.5, of full mantissa, the same for (r, c) and (c, r).
PetscReal Weight(PetscInt r, PetscInt c)
{
  unsigned long long v = static_cast<unsigned long long>(std::min(r, c)) * 0x9e3779b97f4a7c15ull +
                         static_cast<unsigned long long>(std::max(r, c));
  v = (v ^ (v >> 31)) * 0xbf58476d1ce4e5b9ull;
  v ^= v >> 29;
  return static_cast<PetscReal>(0.5) + static_cast<PetscReal>(v >> 11) / static_cast<PetscReal>(1ull << 53);
}

/// Diffusion and convection with values prescribed beyond the sides.
PetscErrorCode Build(const Settings &s, PetscInt n, Rows *rows)
{
  const PetscInt depth = s.points == 5 ? 1 : n, plane = n * n, count = plane * depth;

  PetscFunctionBegin;
  PetscCallCXX(rows->i.reserve(static_cast<size_t>(count) + 1));
  PetscCallCXX(rows->j.reserve(static_cast<size_t>(count) * s.points));
  PetscCallCXX(rows->a.reserve(static_cast<size_t>(count) * s.points));
  rows->i.push_back(0);
  for (PetscInt r = 0; r < count; r++) {
    const PetscInt x = r % n, y = r / n % n, z = r / plane;
    PetscReal      sum      = 0;
    size_t         diagonal = 0;
    for (PetscInt d = 0; d < 27; d++) {
      const PetscInt dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
      if (s.points < 27 && std::abs(dx) + std::abs(dy) + std::abs(dz) > 1) continue;
      if (s.points == 5 && dz != 0) continue;
      const PetscInt  c = r + dx + n * dy + plane * dz;
      const PetscReal w = d == 13 ? 0 : (d < 13 ? 1 + s.flow : 1 - s.flow) * (s.vary ? Weight(r, c) : 1);
      sum += w;
      if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n || z + dz < 0 || z + dz >= depth) continue;
      if (d == 13) diagonal = rows->j.size();
      rows->j.push_back(c);
      rows->a.push_back(-w);
    }
    rows->a[diagonal] = sum;
    rows->i.push_back(static_cast<PetscInt>(rows->j.size()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix type with a solver, and what was measured.
struct Solver {
  MatType             matrix;
  KSPType             type;
  const char         *basis = nullptr; ///< of GMRES
  Mat                 A     = nullptr;
  KSP                 ksp   = nullptr;
  Vec                 x = nullptr, b = nullptr;
  std::vector<double> seconds; ///< of an iteration

  PetscErrorCode Create(Mat plain);
  PetscErrorCode Solve(PetscInt limit, double *time);
  PetscErrorCode Destroy();
};

PetscErrorCode Solver::Create(Mat plain)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(MatConvert(plain, matrix, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
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
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCheck(iterations == limit && norm > 0, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED,
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
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
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
                        s.method == GMRES ? "basis" : "", "us/iteration", "shortest", "longest", "ratio"));
  for (Solver &solver : *solvers) {
    std::vector<double> &t = solver.seconds;
    std::sort(t.begin(), t.end());
    const double median = t[t.size() / 2];
    if (first == 0) first = median;
    shortest = std::min(shortest, t.front());
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-20s %-14s %-7s %12.2f %12.2f %12.2f %8.2f\n", solver.matrix,
                          solver.type, solver.basis ? solver.basis : "", 1e6 * median, 1e6 * t.front(), 1e6 * t.back(),
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
  PetscBool           device;
  std::vector<Solver> solvers(3);

  PetscFunctionBegin;
  PetscCall(Build(s, n, &rows));
  const PetscInt count = static_cast<PetscInt>(rows.i.size()) - 1;
  PetscCall(
      MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, count, count, rows.i.data(), rows.j.data(), rows.a.data(), &plain));
  PetscCall(SparseGPUHasDevice(&device));
  MatType native = MATSEQAIJ;
#if defined(PETSC_HAVE_CUDA)
  if (device) native = MATSEQAIJCUSPARSE;
#endif
  const Method &method = METHODS[s.method];
  solvers[0].matrix    = native;
  solvers[0].type = solvers[1].type = method.petsc;
  solvers[1].matrix = solvers[2].matrix = MATSEQAIJSPARSEGPU;
  solvers[2].type                       = method.ours;
  if (s.method == GMRES) {
    solvers.push_back(solvers[2]);
    solvers[2].basis = "double";
    solvers[3].basis = "single";
  }
  for (Solver &solver : solvers) {
    double time;
    PetscCall(solver.Create(plain));
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
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-few", &s->few, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-many", &s->many, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &s->repeat, nullptr));
  PetscCheck(s->points == 5 || s->points == 7 || s->points == 27, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-points %" PetscInt_FMT " must be 5, 7 or 27", s->points);
  PetscCheck(PetscAbsReal(s->flow) <= 1 && (s->method != CG || s->flow == 0), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-flow %g must be from -1 to 1, and 0 for -method cg", (double)s->flow);
  PetscCheck(s->few > 0 && s->many > s->few, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-many %" PetscInt_FMT " must be more than -few %" PetscInt_FMT ", which must be positive", s->many,
             s->few);
  PetscCheck(s->repeat > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeat %" PetscInt_FMT " must be positive",
             s->repeat);
  for (PetscInt k = 0; k < s->sizes; k++)
    PetscCheck(s->n[k] > 0 && static_cast<double>(s->n[k]) * s->n[k] * (s->points == 5 ? 1 : s->n[k]) * s->points <
                                  static_cast<double>(PETSC_MAX_INT),
               PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-n %" PetscInt_FMT " must be positive and give no more nonzeros than PetscInt holds", s->n[k]);
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
