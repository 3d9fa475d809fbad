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

/// stretched: 1000 : 1 along x. rotated: the same along the diagonal, bilinear elements; differences: the same by
/// finite differences. jumps: 10^6 in squares of 8 x 8 points of a chequerboard; scattered: 1 to 10^6. shear:w:
/// convection of strength w along x, in two directions, and w / 2 along y; vortex:w: around the middle.
inline PetscErrorCode FindGrid(const std::string &name, PetscInt n, NamedGrid *found)
{
  const PetscReal   small = (PetscReal)1e-3;
  const std::string kind  = name.substr(0, name.find(':'));
  const PetscReal   w     = kind == name ? 1 : (PetscReal)std::atof(name.c_str() + kind.size() + 1);
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
    const auto hard = [](PetscInt x, PetscInt y) { return (x / 8 + y / 8) % 2 == 0; };
    g.weight        = [hard](PetscInt x, PetscInt y, PetscInt, int dx, int dy, int) -> PetscScalar {
      if (std::abs(dx) + std::abs(dy) != 1) return 0;
      return hard(x, y) && hard(x + dx, y + dy) ? 1e6 : 1;
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
  } else if (kind == "vortex") {
    g.weight = [w, n](PetscInt i, PetscInt j, PetscInt, int dx, int dy, int) -> PetscScalar {
      const PetscReal x = ((PetscReal)i + (PetscReal)0.5) / (PetscReal)n,
                      y = ((PetscReal)j + (PetscReal)0.5) / (PetscReal)n;
      return Upwind(4 * w * x * (x - 1) * (1 - 2 * y), -4 * w * y * (y - 1) * (1 - 2 * x), dx, dy);
    };
  } else {
    SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
            "Problem %s: must be stencil5, stencil7, stencil27, stretched, rotated, differences, jumps, scattered, "
            "shear:w or vortex:w",
            name.c_str());
  }
  found->dimensions = kind == "stencil7" || kind == "stencil27" ? 3 : 2;
  found->symmetric  = kind != "shear" && kind != "vortex";
  g.nx = g.ny = n;
  g.nz        = found->dimensions == 3 ? n : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace amg_tests
