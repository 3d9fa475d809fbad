/// Problems for multigrid: stencils on grids with coefficients, linear elasticity.
#pragma once

#include <petscmat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

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
  PetscInt begin = 0, end = 0;

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
    PetscInt       to[27], columns[27], entries         = 1; // entry 0 is the diagonal
    PetscScalar    values[27] = {g.shift};
    to[0]                     = p;
    for (int d = 0; d < 27; ++d) {
      const int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
      if (d == 13 || (g.nx == 1 && dx) || (g.ny == 1 && dy) || (g.nz == 1 && dz)) continue;
      const PetscScalar w = g.weight(x, y, z, dx, dy, dz);
      if (w == (PetscScalar)0) continue;
      values[0] += w;
      PetscInt at[3] = {x + dx, y + dy, z + dz};
      if (g.periodic) {
        at[0] = (at[0] + g.nx) % g.nx;
        at[1] = (at[1] + g.ny) % g.ny;
        at[2] = (at[2] + g.nz) % g.nz;
      } else if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= g.nx || at[1] >= g.ny || at[2] >= g.nz) {
        continue;
      }
      to[entries]       = at[0] + g.nx * (at[1] + g.ny * at[2]);
      values[entries++] = -w;
    }
    for (PetscInt u = 0; u < g.unknowns; ++u) {
      const PetscInt row = p * g.unknowns + u;
      for (PetscInt e = 0; e < entries; ++e) columns[e] = to[e] * g.unknowns + u;
      PetscCall(MatSetValues(A, 1, &row, entries, columns, values, ADD_VALUES));
    }
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

} // namespace amg_tests
