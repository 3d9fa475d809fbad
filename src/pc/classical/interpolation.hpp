/// Interpolation as a product of two matrices. For a fine unknown i, with the sums over strong couplings, k fine and j
/// coarse, and c_k = sum_j a_kj:
///
///   w_ij = -(a_ij + sum_k q_ik a_kj) / d_i,   q_ik = a_ik / (c_k + a_ki),   d_i = a_ii + sum_k q_ik a_ki + weak a_in
///
/// which is MM-ext+i of Li, Sjogreen & Yang (2021): `Factor` has the rows (1 and q_ik) / -d_i, `Given` those of a_kj;
/// coarse unknowns have a 1 in both. An a_ki of the sign of a_kk does not count. Function objects for ForEach()
/// (operations.hpp), of each unknown.
#pragma once

#include "pc/classical/splitting.hpp"

namespace sparsegpu::classical
{

/// All that rows of interpolation are made of.
struct Interpolation {
  Strong       strong;
  GlobalNumber global;
  const State *state;
  bool         ordered;  ///< columns of A ascend
  bool         mirrored; ///< a_ki is a_ik, or its conjugate if `conjugate`
  bool         conjugate;

  SPARSEGPU_HD bool IsCoarse(PetscCount k) const { return state[k] == COARSE; }
  SPARSEGPU_HD bool IsFine(PetscCount k) const { return state[k] != COARSE && strong.limit[k] < ISOLATED; }
  /// Coarse unknowns that others share with row k: of more than MOST, as in dense rows, a random choice of about as
  /// many. Else each of a thousand unknowns that depend on k would have interpolation from a thousand others.
  static constexpr PetscInt MOST = 64;
  SPARSEGPU_HD PetscInt     CountCoarse(PetscCount k) const
  {
    PetscInt count = 0;
    for (PetscInt e = strong.A.i[k]; e < strong.A.i[k + 1]; e++) count += IsCoarse(strong.A.j[e]) && strong(k, e);
    return count;
  }
  /// Whether entry e of row k, a strong one to a coarse unknown, is one of those of `count`.
  SPARSEGPU_HD bool Shares(PetscCount k, PetscInt e, PetscInt count) const
  {
    if (!IsCoarse(strong.A.j[e]) || !strong(k, e)) return false;
    return count <= MOST || Scatter(static_cast<State>(global(strong.A.j[e]))) % static_cast<State>(count) < MOST;
  }
  /// a_ki, for an entry a_ik.
  SPARSEGPU_HD Scalar Back(PetscInt k, PetscCount i, const Scalar &entry) const
  {
    if (mirrored) return conjugate ? Conj(entry) : entry;
    PetscInt begin = strong.A.i[k], end = strong.A.i[k + 1];
    while (ordered && begin < end) {
      const PetscInt middle = begin + (end - begin) / 2;
      if (strong.A.j[middle] < i)
        begin = middle + 1;
      else
        end = middle;
    }
    end = ordered && begin < strong.A.i[k + 1] ? begin + 1 : strong.A.i[k + 1];
    for (PetscInt e = begin; e < end; e++)
      if (strong.A.j[e] == i) return strong.A.a[e];
    return Scalar(0);
  }
};

struct CountGiven {
  Interpolation     in;
  PetscInt         *count;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    count[k] = in.IsCoarse(k);
    if (!in.IsFine(k)) return;
    const PetscInt all = in.CountCoarse(k);
    count[k]           = all;
    if (all <= Interpolation::MOST) return;
    count[k] = 0;
    for (PetscInt e = in.strong.A.i[k]; e < in.strong.A.i[k + 1]; e++) count[k] += in.Shares(k, e, all);
  }
};

struct FillGiven {
  Interpolation     in;
  const PetscInt   *i;
  PetscInt         *j;
  Scalar           *a, *sum; ///< sum [nodes]
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    PetscInt to = i[k];
    Scalar   all(0);
    if (in.IsCoarse(k)) {
      j[to] = static_cast<PetscInt>(k);
      a[to] = Scalar(1);
    } else if (i[k + 1] > to) {
      const PetscInt count = in.CountCoarse(k);
      for (PetscInt e = in.strong.A.i[k]; e < in.strong.A.i[k + 1]; e++) {
        if (!in.Shares(k, e, count)) continue;
        j[to]   = in.strong.A.j[e];
        a[to++] = in.strong.A.a[e];
        all += in.strong.A.a[e];
      }
    }
    sum[k] = all;
  }
};

/// The rows of own unknowns, with Given's to say who has coarse unknowns to share.
struct CountFactor {
  Interpolation     in;
  const PetscInt   *given;
  PetscInt         *count;
  SPARSEGPU_HD bool Shares(PetscCount i, PetscInt e) const
  {
    const PetscInt k = in.strong.A.j[e];
    return !in.IsCoarse(k) && given[k + 1] > given[k] && in.strong(i, e);
  }
  SPARSEGPU_HD void operator()(PetscCount i) const
  {
    count[i] = in.IsCoarse(i);
    if (!in.IsFine(i)) return;
    count[i] = 1;
    for (PetscInt e = in.strong.A.i[i]; e < in.strong.A.i[i + 1]; e++) count[i] += Shares(i, e);
  }
};

struct FillFactor {
  CountFactor          pattern;
  const Scalar        *sum;   ///< [nodes]
  const PetscInt      *begin; ///< [own + 1]
  PetscInt            *j;
  Scalar              *a;
  unsigned long long  *asymmetry; ///< [own] of 2^SHIFT; sums of integers do not depend on their order
  static constexpr int SHIFT = 20;

  /// -1 / d, where interpolation of a constant is at most 2; else so that it is 1.
  static SPARSEGPU_HD Scalar Scale(const Scalar &diagonal, const Scalar &interpolated)
  {
    Scalar          d    = diagonal;
    const PetscReal size = aggregate::Size(interpolated);
    if (!(-Along(Conj(d), interpolated) > 0) || size > 2 * aggregate::Size(d)) d = Scalar(-1) * interpolated;
    return size > 0 ? Scalar(-1) * Inverse(d) : Scalar(1) + interpolated; // 0 or NaN
  }
  SPARSEGPU_HD void operator()(PetscCount i) const
  {
    const Interpolation &in = pattern.in;
    const Strong        &s  = in.strong;
    PetscInt             to = begin[i];
    Scalar               diagonal(0), interpolated(0);
    PetscReal            unlike = 0, both = 0;
    asymmetry[i] = 0;
    if (begin[i + 1] == to) return;
    j[to] = static_cast<PetscInt>(i);
    a[to] = Scalar(1);
    if (in.IsCoarse(i)) return;
    const PetscInt coarse = in.CountCoarse(i);
    for (PetscInt e = s.A.i[i]; e < s.A.i[i + 1]; e++) {
      const PetscInt k = s.A.j[e];
      const Scalar   v = s.A.a[e];
      if (k == i) {
        diagonal += v;
        continue;
      }
      if (!s.A.SameField(i, k) || !(s.limit[k] < ISOLATED)) continue;
      const bool   strong = s(i, e);
      const Scalar back   = strong ? in.Back(k, i, v) : Scalar(0);
      if (strong && !in.mirrored) {
        unlike += aggregate::Size(back - v);
        both += aggregate::Size(back) + aggregate::Size(v);
      }
      if (in.Shares(i, e, coarse)) {
        interpolated += v;
      } else if (pattern.Shares(i, e)) {
        const Scalar counted = Along(s.unit[k], back) > 0 ? back : Scalar(0);
        const Scalar q       = v * Inverse(sum[k] + counted);
        diagonal += q * counted;
        interpolated += q * sum[k];
        j[++to] = k;
        a[to]   = q;
      } else {
        diagonal += v;
      }
    }
    const Scalar scale = Scale(diagonal, interpolated);
    for (PetscInt e = begin[i]; e <= to; e++) a[e] = scale * a[e];
    if (both > 0) asymmetry[i] = static_cast<unsigned long long>(unlike / both * static_cast<PetscReal>(1 << SHIFT));
  }
};

/// Rows of a product of two matrices, the first with own rows alone, or of one (second_i null).
struct Factors {
  PetscInt        rows = 0;
  const PetscInt *i = nullptr, *j = nullptr;
  const Scalar   *a = nullptr;
};

/// Which entries of a row are kept: at most `most` (0: all), the largest, and none below `part` of the largest. Sizes
/// that are alike but for rounding are taken for the same; of those the entries with lower columns are larger.
struct Choice {
  PetscInt        most;
  PetscReal       part;
  const PetscInt *number; ///< of columns, in the matrix that is made; null: as they are

  SPARSEGPU_HD PetscInt        Column(PetscInt j) const { return number ? number[j] : j; }
  static SPARSEGPU_HD RealBits Rank(const Scalar &v)
  {
    // Multiplied so that numbers with few bits, which are the usual ones, are not where two ranks meet.
    constexpr int      DROPPED = sizeof(PetscReal) == sizeof(float) ? 10 : 36;
    constexpr RealBits HALF    = RealBits(1) << (DROPPED - 1);
    return (BitsOf(aggregate::Size(v) * PetscReal(1.2345678)) + HALF) >> DROPPED << DROPPED;
  }
};

/// A row of entries, and which of these a Choice keeps.
struct ChosenRow {
  const Choice   *choice;
  const PetscInt *j;
  const Scalar   *a;
  PetscInt        begin, end, last; ///< the last one kept, in the order of sizes; -1: none is left out

  SPARSEGPU_HD ChosenRow(const Choice *by, const PetscInt *columns, const Scalar *values, PetscInt from, PetscInt to)
      : choice(by),
        j(columns),
        a(values),
        begin(from),
        end(to),
        last(-1)
  {
    if (end - begin <= 1 || (by->part <= 0 && (by->most == 0 || end - begin <= by->most))) return;
    RealBits first = 0;
    PetscInt kept  = 0;
    for (PetscInt next = Next(); next >= 0 && (by->most == 0 || kept < by->most); next = Next(), kept++) {
      const RealBits rank = Choice::Rank(a[next]);
      if (kept == 0) first = rank;
      if (kept > 0 && RealOf(rank) < by->part * RealOf(first)) break;
      last = next;
    }
  }
  SPARSEGPU_HD bool Keeps(PetscInt e) const { return last < 0 || e == last || Before(e, last); }

private:
  SPARSEGPU_HD bool Before(PetscInt e, PetscInt f) const
  {
    const RealBits rank_e = Choice::Rank(a[e]), rank_f = Choice::Rank(a[f]);
    return rank_e != rank_f ? rank_e > rank_f : choice->Column(j[e]) < choice->Column(j[f]);
  }
  /// The largest of those after `last`; -1: there is none.
  SPARSEGPU_HD PetscInt Next() const
  {
    PetscInt best = -1;
    for (PetscInt e = begin; e < end; e++) {
      if (last >= 0 && (e == last || Before(e, last))) continue;
      if (best < 0 || Before(e, best)) best = e;
    }
    return best;
  }
};

struct CountKept {
  Factors           W;
  Choice            choice;
  PetscInt         *count;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const ChosenRow row(&choice, W.j, W.a, W.i[r], W.i[r + 1]);
    PetscInt        all = 0;
    for (PetscInt e = row.begin; e < row.end; e++) all += row.Keeps(e);
    count[r] = all;
  }
};

/// What is kept, with the sum that the row had, in ascending order.
struct KeepLargest {
  Factors           W;
  Choice            choice;
  const PetscInt   *i;
  PetscInt         *j;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const ChosenRow row(&choice, W.j, W.a, W.i[r], W.i[r + 1]);
    Scalar          all(0), kept(0);
    PetscInt        to = i[r];
    for (PetscInt e = row.begin; e < row.end; e++) {
      all += W.a[e];
      if (!row.Keeps(e)) continue;
      kept += W.a[e];
      const PetscInt column = choice.Column(W.j[e]);
      PetscInt       at     = to++;
      for (; at > i[r] && j[at - 1] > column; at--) {
        j[at] = j[at - 1];
        a[at] = a[at - 1];
      }
      j[at] = column;
      a[at] = W.a[e];
    }
    if (to - i[r] == row.end - row.begin || !(aggregate::Size(kept) > 0)) return;
    const Scalar scale = all * Inverse(kept);
    for (PetscInt e = i[r]; e < to; e++) a[e] = scale * a[e];
  }
};

} // namespace sparsegpu::classical
