/// Kinds of rows, which tell what classical coarsening is better for than aggregation. A row is classified by its own
/// entries, a_ij of the sign that couplings have against a_ii and of the other, and by those back:
///
///   dominated  sum |a_ij| <= 0.8 |a_ii|: Jacobi's method solves for it
///   unfit      a_ii is 0 or not a number, or those of the other sign sum up to more than half of the former
///   opposed    one of the other sign is above 1/8 of the largest of the former: anisotropy across the grid
///   jumping    one that is not 0 is below 1e-4 of the largest: coefficients that jump
///   directed   half of them or more are below 1/4 of the largest: anisotropy along the grid, convection
///   skewed     sum |a_ij - a_ji| > 1/12 sum |a_ij| + |a_ji|, j of this process's unknowns: convection
///   even       none of these
///
/// Of several kinds a row is of the first.
#pragma once

#include <petscmat.h>
#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/aggregate/strength.hpp"
#include "pc/classical/strength.hpp"

namespace sparsegpu::classical
{

enum class Kind {
  Dominated,
  Unfit,
  Opposed,
  Jumping,
  Directed,
  Skewed,
  Even
};
constexpr int KINDS = 7;

/// Rows that are looked at, at most: a share of 1 % is then exact to 0.1 %, and takes no time.
constexpr PetscInt MOST_SAMPLES = 1 << 15;

/// One row of each `stride` neighbouring ones of the matrix, at a place that looks random, so that a grid's lines do
/// not decide which, and that does not depend on the processes.
struct Sample {
  PetscInt              first, end; ///< rows of this process
  PetscInt              stride;
  SPARSEGPU_HD PetscInt Begin() const { return first / stride; }
  SPARSEGPU_HD PetscInt Count() const { return first < end ? (end - 1) / stride + 1 - Begin() : 0; }
  /// The row of this process, or -1 where row k of the sample is another's or beyond the last.
  SPARSEGPU_HD PetscInt Row(PetscCount k) const
  {
    const unsigned long long chunk = static_cast<unsigned long long>(Begin() + k);
    const unsigned long long width = static_cast<unsigned long long>(stride);
    const unsigned long long row   = chunk * width + aggregate::Mix(static_cast<PetscCount>(chunk), 3) % width;
    const bool mine = row >= static_cast<unsigned long long>(first) && row < static_cast<unsigned long long>(end);
    return mine ? static_cast<PetscInt>(row) - first : -1;
  }
};

/// tally[k] and tally[count + k]: 1 in bits 16 c to 16 c + 15 of the first for kind c, of the second for kind c + 4.
struct ClassifyRow {
  static constexpr int BITS = 16; ///< hold the rows of a sample
  static constexpr int EACH = 4;  ///< kinds in a word
  /// Entries of the rows in which couplings back are searched, at most: one dense row must not be read for all others.
  static constexpr PetscInt LONGEST = 64;
  static_assert((MOST_SAMPLES >> BITS) == 0, "a counter holds the rows of a sample");

  Sample              sample;
  CsrArrays           own, others; ///< blocks of this process's rows: its own columns and others'; null where none
  bool                skewed;      ///< look for couplings back
  PetscCount          count;
  unsigned long long *tally; ///< [2 * count]

  SPARSEGPU_HD const CsrArrays &Block(int b) const { return b ? others : own; }
  SPARSEGPU_HD bool             IsDiagonal(int b, PetscInt r, PetscInt e) const { return b == 0 && own.j[e] == r; }

  SPARSEGPU_HD Scalar Diagonal(PetscInt r, PetscReal *couplings) const
  {
    Scalar diagonal(0);
    *couplings = 0;
    for (int b = 0; b < 2; b++) {
      const CsrArrays &m = Block(b);
      for (PetscInt e = m.i ? m.i[r] : 0; m.i && e < m.i[r + 1]; e++)
        if (IsDiagonal(b, r, e))
          diagonal = m.a[e];
        else
          *couplings += aggregate::Size(m.a[e]);
    }
    return diagonal;
  }

  SPARSEGPU_HD Kind Of(PetscInt r) const
  {
    PetscReal       couplings = 0, most = 0, opposed = 0, sum = 0, against = 0;
    const Scalar    diagonal = Diagonal(r, &couplings);
    const PetscReal size     = aggregate::Size(diagonal);
    if (couplings <= PetscReal(0.8) * size || couplings == 0) return Kind::Dominated;
    if (!(size > 0) || !(couplings < PETSC_MAX_REAL)) return Kind::Unfit;
    const Scalar unit = UnitAgainst(diagonal, size);
    for (int b = 0; b < 2; b++) {
      const CsrArrays &m = Block(b);
      for (PetscInt e = m.i ? m.i[r] : 0; m.i && e < m.i[r + 1]; e++) {
        if (IsDiagonal(b, r, e)) continue;
        const PetscReal v = Along(unit, m.a[e]);
        most              = v > most ? v : most;
        opposed           = -v > opposed ? -v : opposed;
        if (v > 0)
          sum += v;
        else
          against -= v;
      }
    }
    if (!(against <= sum / 2) || !(most > 0)) return Kind::Unfit;
    if (opposed > most / 8) return Kind::Opposed;
    return Spread(r, unit, most);
  }

  /// The rest of Of(), which compares couplings with the largest.
  SPARSEGPU_HD Kind Spread(PetscInt r, const Scalar &unit, PetscReal most) const
  {
    PetscInt all = 0, weak = 0, tiny = 0;
    for (int b = 0; b < 2; b++) {
      const CsrArrays &m = Block(b);
      for (PetscInt e = m.i ? m.i[r] : 0; m.i && e < m.i[r + 1]; e++) {
        if (IsDiagonal(b, r, e)) continue;
        const PetscReal v = Along(unit, m.a[e]), part = (v < 0 ? -v : v) / most;
        if (part <= 64 * PETSC_MACHINE_EPSILON) continue; // 0, but for the rounding of an assembly
        all++;
        weak += part < PetscReal(0.25) * (1 - ALIKE);
        tiny += part < PetscReal(1e-4);
      }
    }
    if (tiny || 2 * weak >= all) return tiny ? Kind::Jumping : Kind::Directed;
    return skewed && IsSkewed(r) ? Kind::Skewed : Kind::Even;
  }

  /// Of both a_ij = a_ji and a_ij = conj(a_ji) the one that is nearer.
  SPARSEGPU_HD bool IsSkewed(PetscInt r) const
  {
    PetscReal unlike = 0, all = 0;
    for (PetscInt e = own.i[r]; e < own.i[r + 1] && e < own.i[r] + LONGEST; e++) {
      const PetscInt j = own.j[e];
      if (j == r || own.i[j + 1] - own.i[j] > LONGEST) continue;
      Scalar back(0);
      for (PetscInt f = own.i[j]; f < own.i[j + 1]; f++)
        if (own.j[f] == r) back = own.a[f];
      const PetscReal one   = aggregate::Size(own.a[e] + Scalar(-1) * back);
      const PetscReal other = aggregate::Size(own.a[e] + Scalar(-1) * Conj(back));
      unlike += one < other ? one : other;
      all += aggregate::Size(own.a[e]) + aggregate::Size(back);
    }
    return unlike > all / 12;
  }

  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt r = sample.Row(k);
    tally[k] = tally[count + k] = 0;
    if (r < 0) return;
    const int kind                     = static_cast<int>(Of(r));
    tally[kind < EACH ? k : count + k] = 1ull << (BITS * (kind % EACH));
  }
};

/// How many rows of a sample are of each kind.
struct KindCounts {
  unsigned long long of[KINDS] = {0};
  unsigned long long all() const { return of[0] + of[1] + of[2] + of[3] + of[4] + of[5] + of[6]; }
  /// 0 of no rows.
  PetscReal Share(Kind kind) const
  {
    return all() ? static_cast<PetscReal>(of[static_cast<int>(kind)]) / static_cast<PetscReal>(all()) : 0;
  }
};

/// Of the rows of all processes, where A's products run: without a look at the values on the host where these are on
/// the device. The same for any number of processes,
/// but for sums that are rounded across a limit and for skewed rows next to other processes. `skewed`: look for such;
/// else they are even. Collective. Errors:
/// PETSC_ERR_MEM.
PetscErrorCode CountKinds(Mat A, bool skewed, KindCounts *counts);

} // namespace sparsegpu::classical
