/// The matrices of timestep.cxx by their entries: diffusion on a grid of n x n x n nodes, in parts whose sums are the
/// matrices of all steps.
#pragma once

#include <petscsys.h>
#include <vector>

/// The options of timestep.cxx.
struct Settings {
  PetscInt  n = 16, stencil = 7, steps = 50, warm = 5;
  PetscReal dt = 1;
};

/// Coordinates of the entries and three sets of values, of which each matrix is a sum: the identity, diffusion with one
/// coefficient and with one that varies in space.
struct Entries {
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> identity, constant, varying;

  void Add(PetscInt r, PetscInt c, PetscReal one, PetscReal k, PetscReal v)
  {
    i.push_back(r);
    j.push_back(c);
    identity.push_back(one);
    constant.push_back(k);
    varying.push_back(v);
  }
};

/// Of node (x, y, z): between 0.1 and 1.
inline PetscReal Coefficient(PetscInt x, PetscInt y, PetscInt z)
{
  return static_cast<PetscReal>(0.1) +
         static_cast<PetscReal>(0.1) * static_cast<PetscReal>((7 * x + 3 * y + 5 * z) % 10);
}

/// The row of a node: fluxes to its neighbours by the mean of both coefficients, and 0 beyond the boundary.
inline void AddRow(const Settings &s, PetscInt x, PetscInt y, PetscInt z, Entries *e)
{
  const PetscInt n = s.n, row = (z * n + y) * n + x;
  PetscReal      constant = 0, varying = 0;
  size_t         diagonal = 0;
  const auto     inside   = [n](PetscInt k) { return k >= 0 && k < n; };

  for (PetscInt dz = -1; dz <= 1; dz++)
    for (PetscInt dy = -1; dy <= 1; dy++)
      for (PetscInt dx = -1; dx <= 1; dx++) {
        const PetscInt distance = dx * dx + dy * dy + dz * dz;
        if (s.stencil == 7 && distance > 1) continue;
        if (distance == 0) {
          diagonal = e->i.size();
          e->Add(row, row, 1, 0, 0);
          continue;
        }
        const PetscReal k    = 1 / static_cast<PetscReal>(distance);
        const PetscReal mean = (Coefficient(x, y, z) + Coefficient(x + dx + n, y + dy + n, z + dz + n)) / 2;
        constant += k;
        varying += k * mean;
        if (inside(x + dx) && inside(y + dy) && inside(z + dz))
          e->Add(row, row + (dz * n + dy) * n + dx, 0, -k, -k * mean);
      }
  e->constant[diagonal] = constant;
  e->varying[diagonal]  = varying;
}
