/// Problems on grids by name, of those that classical multigrid is for.
#pragma once

#include "amg_problems.hpp"

#include <cstdlib>
#include <string>

namespace amg_tests
{

/// A problem of n^dimensions unknowns.
struct NamedGrid {
  std::string name;
  int         dimensions = 2;
  bool        symmetric  = true;
  Grid        grid;
};

/// A coefficient from 1 to 10^6 of a cell of 4 x 4 points.
inline PetscReal Scattered(PetscInt x, PetscInt y)
{
  unsigned long long h = (unsigned long long)(x / 4 * 131 + y / 4 * 7919 + 7) * 0x9e3779b97f4a7c15ull;
  h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h ^= h >> 27;
  return (PetscReal)std::pow(10.0, 6.0 * (double)(h >> 11) / (double)(1ull << 53));
}

/// From where the wind (u, v) comes the coupling is stronger by that: first-order upwind differences.
inline PetscScalar Upwind(PetscReal u, PetscReal v, int dx, int dy)
{
  if (std::abs(dx) + std::abs(dy) != 1) return 0;
  return 1 + PetscMax(-(dx ? u * (PetscReal)dx : v * (PetscReal)dy), (PetscReal)0);
}

/// Half the cotangent of the angle at p towards q and r.
inline PetscReal HalfCotangent(const std::array<PetscReal, 2> &p, const std::array<PetscReal, 2> &q,
                               const std::array<PetscReal, 2> &r)
{
  const PetscReal a = q[0] - p[0], b = q[1] - p[1], c = r[0] - p[0], d = r[1] - p[1];
  return (PetscReal)0.5 * (a * c + b * d) / std::abs(a * d - b * c);
}

/// A weight of linear elements on triangles whose corners are grid points moved by up to `move` of a cell.
inline PetscScalar MeshWeight(PetscInt x, PetscInt y, int dx, int dy, PetscReal move)
{
  using Point      = std::array<PetscReal, 2>;
  const auto moved = [x, y, move](int i, int j) {
    unsigned long long h = (unsigned long long)((x + i + 5) * 1000003 + y + j + 5) * 0x9e3779b97f4a7c15ull;
    h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h ^= h >> 27;
    const PetscReal u = (PetscReal)((double)(h & 0xffff) / 65536 - 0.5),
                    v = (PetscReal)((double)(h >> 16 & 0xffff) / 65536 - 0.5);
    return Point{(PetscReal)i + 2 * move * u, (PetscReal)j + 2 * move * v};
  };
  const int sides[6][6] = {{1, 0, 1, 1, 0, -1},   {-1, 0, -1, -1, 0, 1}, {0, 1, 1, 1, -1, 0},
                           {0, -1, -1, -1, 1, 0}, {1, 1, 1, 0, 0, 1},    {-1, -1, -1, 0, 0, -1}};
  for (const auto &s : sides) // the edge, and the third corners of its two triangles
    if (s[0] == dx && s[1] == dy)
      return HalfCotangent(moved(s[2], s[3]), moved(0, 0), moved(dx, dy)) +
             HalfCotangent(moved(s[4], s[5]), moved(0, 0), moved(dx, dy));
  return 0;
}

/// stretched:r: r : 1 along x, by default 1000; layers:r: r : 1 in two of three directions. rotated:r: the same along
/// the diagonal, bilinear elements; differences: the same by finite differences. jumps:n: 10^6 in squares of n x n
/// points of a chequerboard, by default 8; cubes: the same in three dimensions; scattered: 1 to 10^6. shear:w:
/// convection of strength w along x, in two directions, and w / 2 along y; vortex:w: around the middle, upwind;
/// column:w: the same in three dimensions, around a line;
/// central:w: the vortex by central differences. mesh:p: triangles whose corners are moved by up to p of a cell.
/// mass:m: bilinear elements, stiffness and m times mass; step:m: five points and m on the diagonal.
inline PetscErrorCode FindGrid(const std::string &name, PetscInt n, NamedGrid *found)
{
  const std::string kind  = name.substr(0, name.find(':'));
  const PetscReal   w     = kind == name ? 1 : (PetscReal)std::atof(name.c_str() + kind.size() + 1);
  const PetscReal   small = 1 / (kind == name ? (PetscReal)1000 : w);
  Grid             &g     = found->grid;

  PetscFunctionBeginUser;
  *found      = NamedGrid();
  found->name = name;
  if (kind == "stencil5" || kind == "stencil7") {
    g.weight = Faces;
  } else if (kind == "stencil27") {
    g.weight = All;
  } else if (kind == "stretched") {
    g.weight = [small](PetscInt, PetscInt, PetscInt, int dx, int dy, int) -> PetscScalar {
      return std::abs(dx) + std::abs(dy) == 1 ? (dx ? 1 : small) : 0;
    };
  } else if (kind == "layers") {
    g.weight = [small](PetscInt, PetscInt, PetscInt, int dx, int dy, int dz) -> PetscScalar {
      return std::abs(dx) + std::abs(dy) + std::abs(dz) == 1 ? (dz ? small : 1) : 0;
    };
  } else if (kind == "mesh") {
    g.weight = [w](PetscInt x, PetscInt y, PetscInt, int dx, int dy, int) { return MeshWeight(x, y, dx, dy, w); };
  } else if (kind == "mass") {
    g.shift  = w;
    g.weight = [w](PetscInt, PetscInt, PetscInt, int dx, int dy, int) -> PetscScalar {
      return (PetscReal)1 / 3 - w / (dx && dy ? 36 : 9);
    };
  } else if (kind == "step") {
    g.shift  = w;
    g.weight = Faces;
  } else if (kind == "central") {
    g.weight = [w, n](PetscInt i, PetscInt j, PetscInt, int dx, int dy, int) -> PetscScalar {
      const PetscReal x = ((PetscReal)i + (PetscReal)0.5) / (PetscReal)n,
                      y = ((PetscReal)j + (PetscReal)0.5) / (PetscReal)n;
      if (std::abs(dx) + std::abs(dy) != 1) return 0;
      return 1 - (dx ? 4 * w * x * (x - 1) * (1 - 2 * y) * (PetscReal)dx
                     : -4 * w * y * (y - 1) * (1 - 2 * x) * (PetscReal)dy) /
                     2;
    };
  } else if (kind == "rotated") {
    g.weight = [small](PetscInt, PetscInt, PetscInt, int dx, int dy, int) -> PetscScalar {
      if (dx == 0 || dy == 0) return (1 + small) / 6;
      return dx == dy ? ((PetscReal)2.5 - small / 2) / 6 : (small * (PetscReal)2.5 - (PetscReal)0.5) / 6;
    };
  } else if (kind == "differences") {
    g.weight = [small](PetscInt, PetscInt, PetscInt, int dx, int dy, int) -> PetscScalar {
      if (dx == 0 || dy == 0) return (1 + small) / 2;
      return dx == dy ? (1 - small) / 4 : (small - 1) / 4;
    };
  } else if (kind == "jumps") {
    const PetscInt side = kind == name ? 8 : (PetscInt)w;
    const auto     hard = [side](PetscInt x, PetscInt y) { return (x / side + y / side) % 2 == 0; };
    g.weight            = [hard](PetscInt x, PetscInt y, PetscInt, int dx, int dy, int) -> PetscScalar {
      if (std::abs(dx) + std::abs(dy) != 1) return 0;
      return hard(x, y) && hard(x + dx, y + dy) ? 1e6 : 1;
    };
  } else if (kind == "cubes") {
    const PetscInt side = kind == name ? 5 : (PetscInt)w;
    const auto hard = [side](PetscInt x, PetscInt y, PetscInt z) { return (x / side + y / side + z / side) % 2 == 0; };
    g.weight        = [hard](PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz) -> PetscScalar {
      if (std::abs(dx) + std::abs(dy) + std::abs(dz) != 1) return 0;
      return hard(x, y, z) && hard(x + dx, y + dy, z + dz) ? 1e6 : 1;
    };
  } else if (kind == "scattered") {
    g.weight = [](PetscInt x, PetscInt y, PetscInt, int dx, int dy, int) -> PetscScalar {
      if (std::abs(dx) + std::abs(dy) != 1) return 0;
      const PetscReal a = Scattered(x, y), b = Scattered(x + dx, y + dy);
      return 2 * a * b / (a + b);
    };
  } else if (kind == "shear") {
    g.weight = [w, n](PetscInt, PetscInt y, PetscInt, int dx, int dy, int) -> PetscScalar {
      return Upwind(w * (2 * (PetscReal)y / (PetscReal)n - 1), w / 2, dx, dy);
    };
  } else if (kind == "vortex" || kind == "column") {
    g.weight = [w, n](PetscInt i, PetscInt j, PetscInt, int dx, int dy, int dz) -> PetscScalar {
      if (dz) return dx == 0 && dy == 0 ? 1 : 0;
      const PetscReal x = ((PetscReal)i + (PetscReal)0.5) / (PetscReal)n,
                      y = ((PetscReal)j + (PetscReal)0.5) / (PetscReal)n;
      return Upwind(4 * w * x * (x - 1) * (1 - 2 * y), -4 * w * y * (y - 1) * (1 - 2 * x), dx, dy);
    };
  } else {
    SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
            "Problem %s: must be stencil5, stencil7, stencil27, stretched, layers, rotated, differences, jumps, cubes, "
            "scattered, shear:w, vortex:w, column:w, central:w, mesh:p, mass:m or step:m",
            name.c_str());
  }
  found->dimensions =
      kind == "stencil7" || kind == "stencil27" || kind == "layers" || kind == "cubes" || kind == "column" ? 3 : 2;
  found->symmetric = kind != "shear" && kind != "vortex" && kind != "column" && kind != "central";
  g.nx = g.ny = n;
  g.nz        = found->dimensions == 3 ? n : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace amg_tests
