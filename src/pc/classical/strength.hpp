/// On which others each unknown depends strongly: function objects for ForEach() (operations.hpp).
#pragma once

#include "device/scalar.hpp"
#include "pc/aggregate/strength.hpp"
#include "pc/classical/names.hpp"

namespace sparsegpu::classical
{

/// A square matrix, or what is known of one: rows of unknowns that are not known are empty.
struct SquareRows {
  PetscInt          nodes = 0;
  const PetscInt   *i = nullptr, *j = nullptr; ///< [nodes + 1], [entries]
  const Scalar     *a     = nullptr;
  const PetscInt   *field = nullptr; ///< [nodes]; null: all are of one
  SPARSEGPU_HD bool SameField(PetscCount k, PetscInt l) const { return !field || field[k] == field[l]; }
};

/// The number in the matrix of an unknown.
struct GlobalNumber {
  PetscInt              first, own;
  const PetscInt       *others; ///< [nodes - own]
  SPARSEGPU_HD PetscInt operator()(PetscCount k) const
  {
    return k < own ? first + static_cast<PetscInt>(k) : others[k - own];
  }
};

/// The part of v along a unit number: of a_ij, with the unit of row i, positive where j is what i depends on.
SPARSEGPU_HD PetscReal Along(const Scalar &unit, const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return SumOfProducts(unit.re, v.re, -unit.im, v.im);
#else
  return unit * v;
#endif
}

/// The unit that measures couplings against a diagonal entry of this magnitude: -1 over its sign.
SPARSEGPU_HD Scalar UnitAgainst(const Scalar &diagonal, PetscReal size)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(-diagonal.re / size, diagonal.im / size);
#else
  (void)size;
  return diagonal < 0 ? 1 : -1;
#endif
}

/// The limit of an unknown that depends on none.
constexpr PetscReal ISOLATED = PETSC_MAX_REAL;

/// Couplings that differ by less than this part, as equal ones do by rounding, are alike: backends must agree on them.
constexpr PetscReal ALIKE = PetscReal(1) / 16384;

/// unit[k], with which Along() measures row k, and the least measure of a strong coupling; ISOLATED: there is none.
struct MeasureRow {
  SquareRows A;
  PetscReal  threshold, max_row_sum;
  Scalar    *unit;
  PetscReal *limit;
  int       *unordered; ///< = 1 where columns do not ascend; else left alone

  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    Scalar diagonal(0);
    for (PetscInt e = A.i[k]; e < A.i[k + 1]; e++) {
      if (A.j[e] == k) diagonal = A.a[e];
      if (e > A.i[k] && A.j[e - 1] > A.j[e]) *unordered = 1;
    }
    const PetscReal size = aggregate::Size(diagonal);
    unit[k]              = Scalar(0);
    limit[k]             = ISOLATED;
    if (!(size >= 0)) return; // NaN
    Scalar    along = size > 0 ? UnitAgainst(diagonal, size) : Scalar(-1);
    PetscReal most = 0, least = 0, sum = 0;
    for (PetscInt e = A.i[k]; e < A.i[k + 1]; e++) {
      if (A.j[e] == k || !A.SameField(k, A.j[e])) continue;
      const PetscReal v = Along(along, A.a[e]);
      most              = v > most ? v : most;
      least             = v < least ? v : least;
      sum += v;
    }
    // All couplings have the sign of the diagonal, and so has what varies slowly; or there is none.
    if (!(most > 0) || (size == 0 && -least > most)) {
      along = Scalar(-1) * along;
      most  = -least;
      sum   = -sum;
    }
    unit[k]                   = along;
    const bool      dominated = max_row_sum < 1 && size - sum > max_row_sum * size;
    const PetscReal part      = threshold > ALIKE ? threshold * (1 - ALIKE) : ALIKE;
    if (most > 0 && !dominated) limit[k] = part * most;
  }
};

/// Which entries couple strongly. Nothing depends on an isolated unknown: the smoother solves for it.
struct Strong {
  SquareRows        A;
  const Scalar     *unit;
  const PetscReal  *limit;
  SPARSEGPU_HD bool operator()(PetscCount k, PetscInt e) const
  {
    const PetscInt j = A.j[e];
    return j != k && limit[k] < ISOLATED && limit[j] < ISOLATED && A.SameField(k, j) &&
           Along(unit[k], A.a[e]) >= limit[k];
  }
};

struct CountStrong {
  Strong              strong;
  GlobalNumber        global;
  PetscInt           *count;
  unsigned long long *hash; ///< of all own unknowns of all processes together 0 where each coupling has one back
  SPARSEGPU_HD void   operator()(PetscCount k) const
  {
    PetscInt           all  = 0;
    unsigned long long mine = 0;
    for (PetscInt e = strong.A.i[k]; e < strong.A.i[k + 1]; e++) {
      if (!strong(k, e)) continue;
      all++;
      mine += aggregate::Unpaired(global(k), global(strong.A.j[e]));
    }
    count[k] = all;
    hash[k]  = k < global.own ? mine : 0;
  }
};

using KeepStrong = aggregate::KeepColumns<Strong>;

/// flag = 1 of own unknowns that depend on none.
struct FlagIsolated {
  const PetscReal    *limit;
  unsigned long long *flag;
  SPARSEGPU_HD void   operator()(PetscCount k) const { flag[k] = !(limit[k] < ISOLATED); }
};

/// The field of each own unknown: as given or, in a finest level, by turns.
struct FillFields {
  PetscInt          first, count;
  const PetscInt   *given; ///< or null
  PetscInt         *field;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    field[k] = given ? given[k] : (first + static_cast<PetscInt>(k)) % count;
  }
};

} // namespace sparsegpu::classical
