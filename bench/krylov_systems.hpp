/// The systems of the benchmark of Krylov methods: diffusion and convection on a grid.
#pragma once

#include <petscsys.h>
#include <algorithm>
#include <cstdlib>
#include <vector>
#include "petsc/compat.hpp"

struct Settings {
  PetscInt  points = 27, few = 30, many = 130, repeat = 5;
  PetscInt  n[16] = {32}, sizes = 16;
  PetscInt  method = 0, columns = 0; ///< method: of METHODS; columns 0: a right-hand side without KSPMatSolve()
  PetscReal rtol[16]   = {};
  PetscInt  tolerances = 16; ///< of rtol; 0: iterations are timed
  PetscBool vary = PETSC_FALSE, sides = PETSC_FALSE, coordinates = PETSC_FALSE;
  PetscReal flow = 0;
};

/// Errors: PETSC_ERR_ARG_OUTOFRANGE, naming the value.
inline PetscErrorCode CheckSizes(const Settings &s)
{
  PetscFunctionBegin;
  PetscCheck(s.points == 5 || s.points == 7 || s.points == 27, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-points %" PetscInt_FMT " must be 5, 7 or 27", s.points);
  PetscCheck(s.few > 0 && s.many > s.few, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-many %" PetscInt_FMT " must be more than -few %" PetscInt_FMT ", which must be positive", s.many, s.few);
  PetscCheck(s.repeat > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeat %" PetscInt_FMT " must be positive",
             s.repeat);
  for (PetscInt k = 0; k < s.sizes; k++)
    PetscCheck(s.n[k] > 0 && static_cast<double>(s.n[k]) * s.n[k] * (s.points == 5 ? 1 : s.n[k]) * s.points <
                                 static_cast<double>(PETSC_MAX_INT),
               PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-n %" PetscInt_FMT " must be positive and give no more nonzeros than PetscInt holds", s.n[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows in compressed storage.
struct Rows {
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> a;
};

/// From 0.5 to 1.5, of full mantissa, the same for (r, c) and (c, r).
inline PetscReal Weight(PetscInt r, PetscInt c)
{
  unsigned long long v = static_cast<unsigned long long>(std::min(r, c)) * 0x9e3779b97f4a7c15ull +
                         static_cast<unsigned long long>(std::max(r, c));
  v = (v ^ (v >> 31)) * 0xbf58476d1ce4e5b9ull;
  v ^= v >> 29;
  return static_cast<PetscReal>(0.5) + static_cast<PetscReal>(v >> 11) / static_cast<PetscReal>(1ull << 53);
}

/// Diffusion and convection with values prescribed beyond the sides or, `sides`, there: rows with a one alone, whose
/// columns have nothing else.
inline PetscErrorCode Build(const Settings &s, PetscInt n, Rows *rows)
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
    const auto     at_side  = [&](PetscInt k) { return k == 0 || k + 1 == n; };
    const auto     is_side  = [&](PetscInt p, PetscInt q, PetscInt t) {
      return s.sides && (at_side(p) || at_side(q) || (depth > 1 && at_side(t)));
    };
    const bool side = is_side(x, y, z);
    for (PetscInt d = 0; d < 27; d++) {
      const PetscInt dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
      if (s.points < 27 && std::abs(dx) + std::abs(dy) + std::abs(dz) > 1) continue;
      if (s.points == 5 && dz != 0) continue;
      const PetscInt  c = r + dx + n * dy + plane * dz;
      const PetscReal w = d == 13 ? 0 : (d < 13 ? 1 + s.flow : 1 - s.flow) * (s.vary ? Weight(r, c) : 1);
      sum += w;
      if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n || z + dz < 0 || z + dz >= depth) continue;
      if (d != 13 && (side || is_side(x + dx, y + dy, z + dz))) continue;
      if (d == 13) diagonal = rows->j.size();
      rows->j.push_back(c);
      rows->a.push_back(-w);
    }
    rows->a[diagonal] = side ? 1 : sum;
    rows->i.push_back(static_cast<PetscInt>(rows->j.size()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
