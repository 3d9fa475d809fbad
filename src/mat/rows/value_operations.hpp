/// Operations on the values of rows: of each entry, of each row, of the diagonal. Each is a function object of an index
/// that both backends run, in any order: no two indices write to the same place.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"
#include "mat/rows/block_operations.hpp"
#include "mat/rows/gather_operations.hpp"
#include "mat/rows/graph_operations.hpp"
#include "mat/rows/lane.hpp"
#include "mat/rows/number_operations.hpp"

namespace sparsegpu::rows::values
{

// Of each entry e of the values a.

struct Scale {
  Scalar            alpha, *a;
  SPARSEGPU_HD void operator()(PetscCount e) const { a[e] = alpha * a[e]; }
};

/// a += alpha x, of the same pattern.
struct Add {
  Scalar            alpha;
  const Scalar     *x;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const { a[e] = a[e] + alpha * x[e]; }
};

struct Copy {
  const Scalar     *from;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const { a[e] = from[e]; }
};

struct Zero {
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const { a[e] = Scalar(0); }
};

struct Conjugate {
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const { a[e] = Conj(a[e]); }
};

/// What is left is real: the real part, or the imaginary one.
struct TakePart {
  bool              imaginary;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const
  {
#if defined(PETSC_USE_COMPLEX)
    a[e] = Scalar(imaginary ? a[e].im : a[e].re);
#else
    if (imaginary) a[e] = 0;
#endif
  }
};

// Of each row r; place[r]: the entry on the diagonal, -1: there is none.

/// Finds it; *missing = 1 where a row that has a column of its number has none.
struct FindDiagonal {
  PetscInt          cols;
  const PetscInt   *i, *j;
  PetscInt         *place;
  int              *missing;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscInt e = i[r];
    while (e < i[r + 1] && j[e] != r) e++;
    place[r] = e < i[r + 1] ? e : -1;
    if (place[r] < 0 && r < cols) *missing = 1;
  }
};

/// The entry on the diagonal becomes d[r], or alpha where d is null; `add`: that is added.
struct SetDiagonal {
  const PetscInt   *place;
  const Scalar     *d;
  Scalar            alpha;
  bool              add;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    if (place[r] < 0) return;
    const Scalar v = d ? d[r] : alpha;
    a[place[r]]    = add ? a[place[r]] + v : v;
  }
};

struct GetDiagonal {
  const PetscInt   *place;
  const Scalar     *a;
  Scalar           *d; ///< 0 where there is none
  SPARSEGPU_HD void operator()(PetscCount r) const { d[r] = place[r] < 0 ? Scalar(0) : a[place[r]]; }
};

/// y += alpha x, where y has an entry for each of x's; *lost = 1 where it has none. With y null that alone is found
/// out. Columns are looked for from the one found last on, and from the row's first where they do not ascend.
struct AddSubset {
  Scalar            alpha;
  CsrArrays         x;
  const PetscInt   *number; ///< the columns of x as those of y, ascending; null where they are
  const PetscInt   *i, *j;  ///< of y
  Scalar           *y;
  int              *lost;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscInt k = i[r];
    for (PetscInt e = x.i[r]; e < x.i[r + 1]; e++) {
      const PetscInt column = number ? number[x.j[e]] : x.j[e];
      while (k < i[r + 1] && j[k] < column) k++;
      if (k == i[r + 1] || j[k] != column)
        for (k = i[r]; k < i[r + 1] && j[k] != column;) k++;
      if (k == i[r + 1]) {
        *lost = 1;
        k     = i[r];
      } else if (y) {
        y[k] = y[k] + alpha * x.a[e];
      }
    }
  }
};

// Of each of `1 << bits` indices a row.

/// diag(left) A diag(right); either may be null, for ones.
struct ScaleRowsAndColumns {
  int               bits;
  const PetscInt   *i, *j;
  const Scalar     *left, *right;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane lane(k, bits);
    for (PetscCount e = i[lane.row] + lane.first; e < i[lane.row + 1]; e += lane.step) {
      Scalar v = a[e];
      if (left) v = left[lane.row] * v;
      if (right) v = right[j[e]] * v;
      a[e] = v;
    }
  }
};

/// Row rows[k], each once, becomes `diagonal` on the diagonal and 0 elsewhere.
struct ZeroRows {
  int               bits;
  const PetscInt   *rows, *i, *j;
  Scalar            diagonal, *a;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane     lane(k, bits);
    const PetscInt r = rows[lane.row];
    for (PetscCount e = i[r] + lane.first; e < i[r + 1]; e += lane.step) a[e] = j[e] == r ? diagonal : Scalar(0);
  }
};

/// In the rows that are not zeroed the columns that are become 0; b, unless it is null, loses what they give of x, in
/// the order of the row: bits is 0 then.
struct ZeroColumns {
  int                  bits;
  PetscInt             rows;
  const unsigned char *zeroed; ///< [rows]
  const PetscInt      *i, *j;
  const Scalar        *x;
  Scalar              *b, *a;
  SPARSEGPU_HD void    operator()(PetscCount k) const
  {
    const Lane lane(k, bits);
    if (zeroed[lane.row]) return;
    for (PetscCount e = i[lane.row] + lane.first; e < i[lane.row + 1]; e += lane.step) {
      if (j[e] >= rows || !zeroed[j[e]]) continue;
      if (b) b[lane.row] = b[lane.row] - a[e] * x[j[e]];
      a[e] = Scalar(0);
    }
  }
};

/// b = diagonal x in rows[k], each once, unless there is no column of that number.
struct SetZeroedRows {
  const PetscInt   *rows;
  PetscInt          cols;
  Scalar            diagonal;
  const Scalar     *x;
  Scalar           *b;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt r = rows[k];
    if (r < cols) b[r] = diagonal * x[r];
  }
};

/// The sum of row r's magnitudes, or the largest one, which no NaN is. On the device the `1 << bits` threads of a row
/// join what they have in an order of their own, which is always the same.
struct RowMagnitude {
  bool                   largest;
  int                    bits;
  const PetscInt        *i;
  const Scalar          *a;
  Scalar                *magnitude;
  SPARSEGPU_HD PetscReal Join(PetscReal all, PetscReal v) const
  {
    if (!largest) return all + v;
    return all < v ? v : all;
  }
  SPARSEGPU_HD PetscReal Of(PetscCount r, int first, int step) const
  {
    PetscReal all = 0;
    for (PetscCount e = i[r] + first; e < i[r + 1]; e += step) all = Join(all, Magnitude(a[e]));
    return all;
  }
  SPARSEGPU_HD void operator()(PetscCount r) const { magnitude[r] = Scalar(Of(r, 0, 1)); }
};

/// Runs `operation` of 0 .. count - 1 on arrays that lie in `space`; asynchronous on the device.
template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation);
/// *sum = |a|^2, and *largest = the largest real part, at least 0, of [count] values in `space`. Waits for the device.
PetscErrorCode SumOfSquares(Space space, PetscCount count, const Scalar *a, PetscReal *sum);
PetscErrorCode Largest(Space space, PetscCount count, const Scalar *a, PetscReal *largest);

// The backends.
template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);
template <class Operation> PetscErrorCode ForEach_Kokkos(PetscCount count, const Operation &operation);
PetscErrorCode                            SumOfSquares_CUDA(PetscCount count, const Scalar *a, PetscReal *sum);
PetscErrorCode                            Largest_CUDA(PetscCount count, const Scalar *a, PetscReal *largest);

#define SPARSEGPU_FOR_VALUE_OPERATIONS(what) \
  what(Scale);                               \
  what(Add);                                 \
  what(Copy);                                \
  what(Zero);                                \
  what(Conjugate);                           \
  what(TakePart);                            \
  what(FindDiagonal);                        \
  what(SetDiagonal);                         \
  what(GetDiagonal);                         \
  what(ScaleRowsAndColumns);                 \
  what(AddSubset);                           \
  what(ZeroRows);                            \
  what(ZeroColumns);                         \
  what(SetZeroedRows);                       \
  what(RowMagnitude);                        \
  what(Magnitudes);                          \
  what(SumMagnitudes);                       \
  what(BlocksOfEntries);                     \
  what(CountFiltered);                       \
  what(TakeFiltered);                        \
  what(MarkFiltered);                        \
  what(DropSmall);                           \
  what(CheckBlocks);                         \
  what(JoinRows);                            \
  what(NameColumns);                         \
  what(AddBeginnings);                       \
  what(RowExtents);                          \
  what(NumberOthers);                        \
  what(RowsAt);                              \
  what(RowsElsewhere);                       \
  what(CountBlocks);                         \
  what(TakeBlocks);                          \
  what(TakeBlockValues);                     \
  what(MarkUsed);                            \
  what(CountParts);                          \
  what(SplitRows);                           \
  what(CheckRuns);                           \
  what(TakeRuns);                            \
  what(ExpandRuns);                          \
  what(ListRanges);                          \
  what(NameLocals);                          \
  what(KeyOutside);                          \
  what(MarkFirsts);                          \
  what(TakeFirsts);                          \
  what(LocalizeSorted);                      \
  what(GatherPair);                          \
  what(GatherIndices);                       \
  what(GatherRanges)

} // namespace sparsegpu::rows::values
