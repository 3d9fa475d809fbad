/// Problems for multigrid: stencils on grids with coefficients, linear elasticity; and a solve of each.
#pragma once

#include "../testing.hpp"

#include <array>
#include <cmath>
#include <functional>

namespace amg_tests
{

/// Rows of this process: whole blocks of `block` rows, as even as can be.
inline PetscErrorCode MyRows(MPI_Comm comm, PetscInt blocks, PetscInt block, PetscInt *begin, PetscInt *end)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  *begin = (PetscInt)((long long)blocks * rank / size) * block;
  *end   = (PetscInt)((long long)blocks * (rank + 1) / size) * block;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An empty matrix of `blocks` blocks for rows of at most `longest` entries.
inline PetscErrorCode CreateEmpty(MPI_Comm comm, const char type[], PetscInt blocks, PetscInt block, PetscInt longest,
                                  Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MyRows(comm, blocks, block, &begin, &end));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, end - begin, end - begin, blocks * block, blocks * block));
  PetscCall(MatSetBlockSize(*A, block));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, longest, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*A, longest, nullptr, longest, nullptr));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A grid of nx x ny x nz points with unknowns of value 0 around it. Point (x, y, z) is coupled to its neighbour in
/// direction (dx, dy, dz) by -weight(x, y, z, dx, dy, dz), 0: not at all; the diagonal is the sum of all weights, and
/// `unknowns` uncoupled copies of that are the unknowns of a point.
struct Grid {
  PetscInt nx = 1, ny = 1, nz = 1, unknowns = 1;
  bool     periodic = false; ///< in all directions, and singular
  std::function<PetscScalar(PetscInt, PetscInt, PetscInt, int, int, int)> weight;
  /// Adds `shift` to the diagonal.
  PetscScalar shift = 0;

  PetscInt Points() const { return nx * ny * nz; }
};

inline PetscScalar Faces(PetscInt, PetscInt, PetscInt, int dx, int dy, int dz)
{
  return std::abs(dx) + std::abs(dy) + std::abs(dz) == 1 ? 1 : 0;
}
inline PetscScalar All(PetscInt, PetscInt, PetscInt, int, int, int)
{
  return 1;
}

inline PetscErrorCode SetGrid(Mat A, const Grid &g)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt p = begin / g.unknowns; p < end / g.unknowns; ++p) {
    const PetscInt x = p % g.nx, y = p / g.nx % g.ny, z = p / (g.nx * g.ny);
    PetscScalar    diagonal = g.shift;
    for (int d = 0; d < 27; ++d) {
      const int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
      if (d == 13 || (g.nx == 1 && dx) || (g.ny == 1 && dy) || (g.nz == 1 && dz)) continue;
      const PetscScalar w = g.weight(x, y, z, dx, dy, dz);
      if (w == (PetscScalar)0) continue;
      diagonal += w;
      PetscInt to[3] = {x + dx, y + dy, z + dz};
      if (g.periodic) {
        to[0] = (to[0] + g.nx) % g.nx;
        to[1] = (to[1] + g.ny) % g.ny;
        to[2] = (to[2] + g.nz) % g.nz;
      } else if (to[0] < 0 || to[1] < 0 || to[2] < 0 || to[0] >= g.nx || to[1] >= g.ny || to[2] >= g.nz) {
        continue;
      }
      const PetscInt q = to[0] + g.nx * (to[1] + g.ny * to[2]);
      for (PetscInt u = 0; u < g.unknowns; ++u)
        PetscCall(MatSetValue(A, p * g.unknowns + u, q * g.unknowns + u, -w, ADD_VALUES));
    }
    for (PetscInt u = 0; u < g.unknowns; ++u)
      PetscCall(MatSetValue(A, p * g.unknowns + u, p * g.unknowns + u, diagonal, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode CreateGrid(MPI_Comm comm, const char type[], const Grid &g, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateEmpty(comm, type, g.Points(), g.unknowns, 27, A));
  PetscCall(SetGrid(*A, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The stiffness matrix [24 * 24] of a unit cube with trilinear displacements, E = 1 and this Poisson number, by 2 x 2
/// x 2 Gauss points; node n lies at (n & 1, n >> 1 & 1, n >> 2).
inline void CubeStiffness(PetscReal poisson, PetscReal *K)
{
  const PetscReal lambda = poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = (PetscReal)0.5 / (1 + poisson);
  const PetscReal points[2] = {(PetscReal)(0.5 - std::sqrt(3.0) / 6), (PetscReal)(0.5 + std::sqrt(3.0) / 6)};

  std::fill(K, K + 576, (PetscReal)0);
  for (int q = 0; q < 8; ++q) {
    const PetscReal at[3] = {points[q & 1], points[q >> 1 & 1], points[q >> 2]};
    PetscReal       gradient[8][3];
    for (int n = 0; n < 8; ++n)
      for (int c = 0; c < 3; ++c) {
        gradient[n][c] = 1;
        for (int d = 0; d < 3; ++d) {
          const bool far = n >> d & 1;
          gradient[n][c] *= d == c ? (far ? 1 : -1) : (far ? at[d] : 1 - at[d]);
        }
      }
    for (int n = 0; n < 8; ++n)
      for (int m = 0; m < 8; ++m) {
        PetscReal dot = 0;
        for (int d = 0; d < 3; ++d) dot += gradient[n][d] * gradient[m][d];
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            K[(n * 3 + a) * 24 + m * 3 + b] += (lambda * gradient[n][a] * gradient[m][b] +
                                                mu * gradient[n][b] * gradient[m][a] + (a == b ? mu * dot : 0)) /
                                               8;
      }
  }
}

/// A beam of nx x ny x nz cubes that is held where x = 0: those nodes are not unknowns. Coordinates [points * 3] of
/// this process's nodes.
inline PetscErrorCode CreateElasticity(MPI_Comm comm, const char type[], PetscInt nx, PetscInt ny, PetscInt nz, Mat *A,
                                       std::vector<PetscReal> *coordinates)
{
  const PetscInt             nodes = nx * (ny + 1) * (nz + 1); // x varies fastest, from 1 to nx
  std::array<PetscReal, 576> K;
  PetscInt                   begin, end;

  PetscFunctionBeginUser;
  CubeStiffness((PetscReal)0.3, K.data());
  PetscCall(CreateEmpty(comm, type, nodes, 3, 81, A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  coordinates->clear();
  for (PetscInt n = begin / 3; n < end / 3; ++n)
    for (PetscInt c : {n % nx + 1, n / nx % (ny + 1), n / (nx * (ny + 1))}) coordinates->push_back((PetscReal)c);
  // Each node adds its own rows of the cubes around it.
  for (PetscInt n = begin / 3; n < end / 3; ++n) {
    const PetscInt x = n % nx + 1, y = n / nx % (ny + 1), z = n / (nx * (ny + 1));
    for (int mine = 0; mine < 8; ++mine) {
      const PetscInt cx = x - (mine & 1), cy = y - (mine >> 1 & 1), cz = z - (mine >> 2);
      if (cx < 0 || cy < 0 || cz < 0 || cx >= nx || cy >= ny || cz >= nz) continue;
      for (int other = 0; other < 8; ++other) {
        const PetscInt ox = cx + (other & 1), oy = cy + (other >> 1 & 1), oz = cz + (other >> 2);
        if (ox == 0) continue;
        const PetscInt m = ox - 1 + nx * (oy + (ny + 1) * oz);
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            PetscCall(MatSetValue(*A, n * 3 + a, m * 3 + b, K[(mine * 3 + a) * 24 + other * 3 + b], ADD_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

} // namespace amg_tests
