/// The loops of smoothers over rows: function objects of an index that both backends run in any order. No two indices
/// write to the same place.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/smooth/names.hpp"

namespace sparsegpu::smooth
{

/// Whether row `from` has column `to`: found at once where columns ascend, else by a look at all of them.
SPARSEGPU_HD bool HasColumn(const CsrArrays &A, PetscInt from, PetscInt to)
{
  PetscInt begin = A.i[from], end = A.i[from + 1];
  while (begin < end) {
    const PetscInt middle = begin + (end - begin) / 2;
    if (A.j[middle] < to)
      begin = middle + 1;
    else
      end = middle;
  }
  if (begin < A.i[from + 1] && A.j[begin] == to) return true;
  for (PetscInt e = A.i[from]; e < A.i[from + 1]; e++)
    if (A.j[e] == to) return true;
  return false;
}

/// count[row]: entries without one in the other direction.
struct CountOneWay {
  CsrArrays         A;
  PetscInt         *count;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt row = static_cast<PetscInt>(k);
    PetscInt       all = 0;
    for (PetscInt e = A.i[row]; e < A.i[row + 1]; e++) all += A.j[e] != row && !HasColumn(A, A.j[e], row);
    count[row] = all;
  }
};

/// The place of a row in the order of the colouring: smaller ones are first. Not a number twice.
SPARSEGPU_HD unsigned long long PlaceOf(PetscInt row)
{
  unsigned long long r = static_cast<unsigned long long>(row);
  r                    = (r >> 1 & 0x5555555555555555ull) | (r & 0x5555555555555555ull) << 1;
  r                    = (r >> 2 & 0x3333333333333333ull) | (r & 0x3333333333333333ull) << 2;
  r                    = (r >> 4 & 0x0f0f0f0f0f0f0f0full) | (r & 0x0f0f0f0f0f0f0f0full) << 4;
  r                    = (r >> 8 & 0x00ff00ff00ff00ffull) | (r & 0x00ff00ff00ff00ffull) << 8;
  r                    = (r >> 16 & 0x0000ffff0000ffffull) | (r & 0x0000ffff0000ffffull) << 16;
  return r >> 32 | r << 32;
}

constexpr PetscInt NO_COLOR = -1;

struct BeginColors {
  PetscInt         *color;
  SPARSEGPU_HD void operator()(PetscCount k) const { color[k] = NO_COLOR; }
};

/// A row without a colour takes one if all coupled rows before it have theirs. Those after it wait for it, so what it
/// takes does not depend on which of them run at the same time.
struct TakeColor {
  CsrArrays         on, back; ///< of the matrix, and of its transpose; the same where couplings have both directions
  PetscInt         *color;
  SPARSEGPU_HD bool Ready(const CsrArrays &A, PetscInt row, unsigned long long place) const
  {
    for (PetscInt e = A.i[row]; e < A.i[row + 1]; e++)
      if (color[A.j[e]] == NO_COLOR && PlaceOf(A.j[e]) < place) return false;
    return true;
  }
  /// Bit b: colour first + b is a coupled row's.
  SPARSEGPU_HD unsigned long long Taken(const CsrArrays &A, PetscInt row, PetscInt first) const
  {
    unsigned long long taken = 0;
    for (PetscInt e = A.i[row]; e < A.i[row + 1]; e++) {
      const PetscInt other = color[A.j[e]] - first;
      if (A.j[e] != row && other >= 0 && other < 64) taken |= 1ull << other;
    }
    return taken;
  }
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt           row   = static_cast<PetscInt>(k);
    const unsigned long long place = PlaceOf(row);
    const bool               both  = on.i == back.i;
    if (color[row] != NO_COLOR || !Ready(on, row, place) || (!both && !Ready(back, row, place))) return;
    for (PetscInt first = 0;; first += 64) {
      unsigned long long taken = Taken(on, row, first);
      if (!both) taken |= Taken(back, row, first);
      if (taken == ~0ull) continue;
      PetscInt bit = 0;
      while (taken >> bit & 1) bit++;
      color[row] = first + bit;
      return;
    }
  }
};

struct FlagUncolored {
  const PetscInt   *color;
  PetscInt         *flag;
  SPARSEGPU_HD void operator()(PetscCount k) const { flag[k] = color[k] == NO_COLOR; }
};

struct FillNumbers {
  PetscInt         *number;
  SPARSEGPU_HD void operator()(PetscCount k) const { number[k] = static_cast<PetscInt>(k); }
};

/// outside[row]: the sum of magnitudes of the row.
struct SumMagnitudes {
  CsrArrays         A;
  PetscReal        *outside;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    PetscReal sum = 0;
    for (PetscInt e = A.i[k]; e < A.i[k + 1]; e++) sum += Magnitude(A.a[e]);
    outside[k] = sum;
  }
};

/// What a row is divided by, inverted; 1 for an empty row. `all`: with the sign of the diagonal, the sum of all
/// magnitudes (l1-Jacobi). Else the diagonal, to which the magnitudes of couplings to other processes are added where
/// they are more than a third of it: as much as keeps the hybrid method convergent for positive definite matrices
/// (Baker, Falgout, Kolev & Yang, SIAM J. Sci. Comput. 33(5), 2011).
struct InvertRow {
  CsrArrays         A;
  const PetscReal  *outside; ///< null: there are no other processes
  bool              all;
  Scalar           *inverse;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt  row      = static_cast<PetscInt>(k);
    const PetscReal others   = outside ? outside[row] : 0;
    Scalar          diagonal = Scalar(0);
    PetscReal       sum      = 0;
    for (PetscInt e = A.i[row]; e < A.i[row + 1]; e++) {
      if (A.j[e] == row)
        diagonal = A.a[e];
      else if (all)
        sum += Magnitude(A.a[e]);
    }
    const PetscReal size = Magnitude(diagonal);
    if (all || 3 * others > size) sum += others;
    if (size > 0)
      inverse[row] = Inverse(diagonal * Scalar(1 + sum / size));
    else
      inverse[row] = Scalar(sum > 0 ? 1 / sum : 1);
  }
};

/// x of the rows list[k] as their equations have it, from x of the others.
struct RelaxRows {
  const PetscInt   *list;
  CsrArrays         A;
  const Scalar     *inverse, *b;
  Scalar           *x;
  bool              zero; ///< x is 0 before
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt row = list[k];
    if (zero) {
      x[row] = inverse[row] * b[row];
      return;
    }
    Scalar sum(0);
    for (PetscInt e = A.i[row]; e < A.i[row + 1]; e++) sum += A.a[e] * x[A.j[e]];
    x[row] += inverse[row] * (b[row] - sum);
  }
};

/// x = inverse b
struct ScaleRows {
  const Scalar     *inverse, *b;
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscCount k) const { x[k] = inverse[k] * b[k]; }
};

/// x += inverse (b - q), q = A x
struct StepRows {
  const Scalar     *inverse, *b, *q;
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscCount k) const { x[k] += inverse[k] * (b[k] - q[k]); }
};

struct ZeroRows {
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscCount k) const { x[k] = Scalar(0); }
};

/// Runs `operation` of 0 .. count - 1 on arrays that lie in `space`; asynchronous on the device.
template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation);
template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);

#define SPARSEGPU_FOR_SMOOTHER_OPERATIONS(what) \
  what(CountOneWay);                            \
  what(BeginColors);                            \
  what(TakeColor);                              \
  what(FlagUncolored);                          \
  what(FillNumbers);                            \
  what(SumMagnitudes);                          \
  what(InvertRow);                              \
  what(ScaleRows);                              \
  what(StepRows);                               \
  what(ZeroRows)

/// The rows of a colour: `lanes` neighbouring threads share one on the device, a power of two up to 32. Asynchronous,
/// bitwise reproducible.
PetscErrorCode Relax(Space space, PetscCount count, int lanes, const RelaxRows &rows);
PetscErrorCode Relax_CUDA(PetscCount count, int lanes, const RelaxRows &rows);

} // namespace sparsegpu::smooth
