static char help[] =
    "Microseconds of one iteration of Krylov methods on any number of ranks, 27 points on a grid of n x n x depth nodes\n"
    "cut into slabs. An iteration is the difference of two solves with different limits divided by the difference of the\n"
    "limits, so that set-up and first norms drop out: medians of repeated measurements, of the slowest rank.\n"
    "  -n n, -depth n : nodes in each direction, in that of the cuts\n"
    "  -vary          : coefficients of full mantissa instead of constant ones\n"
    "  -mat_type t    : of the matrix\n"
    "  -solvers a,b   : types of KSP, with -pc_type jacobi unless options say otherwise\n"
    "  -few f -many m : the two limits\n"
    "  -repeat k      : measurements\n";

#include <petscksp.h>
#include <petsctime.h>
#include <algorithm>
#include <vector>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace
{
struct Settings {
  PetscInt  n = 32, depth = 32, few = 30, many = 130, repeat = 5, solvers = 16;
  char     *solver[16] = {};
  PetscBool vary       = PETSC_FALSE;
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

/// Diffusion with values prescribed beyond the sides.
PetscErrorCode Build(const Settings &s, Mat *A)
{
  const PetscInt           n = s.n, plane = n * n;
  PetscInt                 planes = PETSC_DECIDE, depth = s.depth, before = 0;
  std::vector<PetscInt>    i{0}, j;
  std::vector<PetscScalar> a;

  PetscFunctionBegin;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &planes, &depth));
  PetscCallMPI(MPI_Exscan(&planes, &before, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallCXX(j.reserve(static_cast<size_t>(planes) * plane * 27));
  PetscCallCXX(a.reserve(static_cast<size_t>(planes) * plane * 27));
  for (PetscInt r = before * plane; r < (before + planes) * plane; r++) {
    const PetscInt x = r % n, y = r / n % n, z = r / plane;
    PetscReal      sum      = 0;
    size_t         diagonal = 0;
    for (PetscInt d = 0; d < 27; d++) {
      const PetscInt  dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1, c = r + dx + n * dy + plane * dz;
      const PetscReal w = d == 13 ? 0 : s.vary ? Weight(r, c) : 1;
      sum += w;
      if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n || z + dz < 0 || z + dz >= depth) continue;
      if (d == 13) diagonal = j.size();
      j.push_back(c);
      a.push_back(-w);
    }
    a[diagonal] = sum;
    PetscCallCXX(i.push_back(static_cast<PetscInt>(j.size())));
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, planes * plane, planes * plane, s.depth * plane, s.depth * plane));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i.data(), j.data(), a.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, i.data(), j.data(), a.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds of a solve with `limit` iterations, the norm of its solution included, for which the host waits.
PetscErrorCode Solve(KSP ksp, Vec b, Vec x, PetscInt limit, double *time)
{
  PetscLogDouble begin, end;
  PetscReal      norm;
  PetscInt       iterations;

  PetscFunctionBegin;
  PetscCall(KSPSetTolerances(ksp, PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON, 0,
                             PETSC_MAX_REAL, limit));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCheck(iterations == limit && norm > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "%" PetscInt_FMT " iterations instead of %" PetscInt_FMT ": take a smaller -many", iterations, limit);
  double mine = end - begin;
  PetscCallMPI(MPI_Allreduce(&mine, time, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Measure(const Settings &s, Mat A, const char type[])
{
  std::vector<double> times;
  KSP                 ksp;
  PC                  pc;
  Vec                 x, b;
  MatType             matrix;
  double              few, many;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetFromOptions(ksp)); // the options of the type
  PetscCall(KSPSetType(ksp, type));
  PetscCall(Solve(ksp, b, x, s.many, &many)); // set-ups, conversions
  for (PetscInt k = 0; k < s.repeat; k++) {
    PetscCall(Solve(ksp, b, x, s.few, &few));
    PetscCall(Solve(ksp, b, x, s.many, &many));
    PetscCallCXX(times.push_back((many - few) / static_cast<double>(s.many - s.few) * 1e6));
  }
  std::sort(times.begin(), times.end());
  PetscCall(MatGetType(A, &matrix));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT "^2 x %" PetscInt_FMT
                        ", %s, %d ranks, %s, %s: %.2f us an iteration (%.2f to %.2f)\n",
                        s.n, s.depth, s.vary ? "full" : "constant", (int)PetscGlobalSize, matrix, type,
                        times[times.size() / 2], times.front(), times.back()));
  if (times.front() <= 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a time that is not positive is noise: take a larger -many\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  Settings  s;
  Mat       A;
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &s.n, nullptr));
  s.depth = s.n;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-depth", &s.depth, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-vary", &s.vary, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-few", &s.few, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-many", &s.many, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &s.repeat, nullptr));
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-solvers", s.solver, &s.solvers, &given));
  PetscCheck(s.n > 0 && s.depth > 0 && static_cast<double>(s.n) * s.n * s.depth < static_cast<double>(PETSC_MAX_INT),
             PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT " and -depth %" PetscInt_FMT
             " must be positive and the grid of no more nodes than PetscInt holds",
             s.n, s.depth);
  PetscCheck(s.few > 0 && s.many > s.few, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-many %" PetscInt_FMT " must be more than -few %" PetscInt_FMT ", which must be positive", s.many, s.few);
  PetscCheck(s.repeat > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-repeat %" PetscInt_FMT " must be positive",
             s.repeat);
  PetscCall(Build(s, &A));
  if (!given) {
    PetscCall(Measure(s, A, KSPSPARSEGPUCG));
    PetscCall(Measure(s, A, KSPSPARSEGPUGMRES));
  }
  for (PetscInt k = 0; given && k < s.solvers; k++) {
    PetscCall(Measure(s, A, s.solver[k]));
    PetscCall(PetscFree(s.solver[k]));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
