/// What makes a graph of a matrix: function objects of an index for values::ForEach() (value_operations.hpp).
#pragma once

#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::rows::values
{

// Of each entry e.

struct Magnitudes {
  const Scalar     *from;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const { a[e] = Scalar(Magnitude(from[e])); }
};

/// Values of at most `limit` in magnitude become zero.
struct DropSmall {
  PetscReal         limit;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const
  {
    if (Magnitude(a[e]) <= limit) a[e] = Scalar(0);
  }
};

/// a[e] = the sum of |Re from[perm[k]]|, jmap[e] <= k < jmap[e + 1], in that order; without jmap, of from[perm[e]].
struct SumMagnitudes {
  const PetscInt   *jmap, *perm;
  const Scalar     *from;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const
  {
    PetscReal sum = 0;
    for (PetscInt k = jmap ? jmap[e] : e, end = jmap ? jmap[e + 1] : e + 1; k < end; k++) {
      const PetscReal v = RealPart(from[perm[k]]);
      sum += v < 0 ? -v : v;
    }
    a[e] = Scalar(sum);
  }
};

// Of each row r.

/// The block of each entry of the row.
struct BlocksOfEntries {
  PetscInt          size;
  const PetscInt   *i, *j;
  PetscInt         *row, *column; ///< [nonzeros]
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      row[e]    = static_cast<PetscInt>(r) / size;
      column[e] = j[e] / size;
    }
  }
};

/// Entries of at most `limit` in magnitude are dropped; with `diagonal` one on the diagonal becomes zero instead.
struct Filter {
  PetscReal         limit;
  bool              diagonal;
  const PetscInt   *i, *j;
  const Scalar     *a;
  SPARSEGPU_HD bool Small(PetscInt e) const { return Magnitude(a[e]) <= limit; }
  SPARSEGPU_HD bool Keeps(PetscCount r, PetscInt e) const { return !Small(e) || (diagonal && j[e] == r); }
};
/// kept[r]: how many stay.
struct CountFiltered {
  Filter            filter;
  PetscInt         *kept;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscInt count = 0;
    for (PetscInt e = filter.i[r]; e < filter.i[r + 1]; e++) count += filter.Keeps(r, e);
    kept[r] = count;
  }
};
/// What stays of row r, from begin[r] on.
struct TakeFiltered {
  Filter            filter;
  const PetscInt   *begin;
  PetscInt         *j;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscInt to = begin[r];
    for (PetscInt e = filter.i[r]; e < filter.i[r + 1]; e++) {
      if (!filter.Keeps(r, e)) continue;
      j[to]   = filter.j[e];
      a[to++] = filter.Small(e) ? Scalar(0) : filter.a[e];
    }
  }
};

/// stays[e]: whether entry e of row r does.
struct MarkFiltered {
  Filter            filter;
  unsigned char    *stays;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    for (PetscInt e = filter.i[r]; e < filter.i[r + 1]; e++) stays[e] = filter.Keeps(r, e);
  }
};

// Of each block row k.

/// *uneven = 1 where the rows of the block row do not have the same columns in whole blocks, as far as PETSc looks: the
/// rest of each column is that of its number in the row. *shifted = 1 where such a group has columns of two blocks.
struct CheckBlocks {
  PetscInt          size;
  const PetscInt   *i, *j;
  int              *uneven, *shifted;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt        first = static_cast<PetscInt>(k) * size, length = i[first + 1] - i[first];
    const PetscInt *const columns = j + i[first];
    if (length % size) *uneven = 1;
    for (PetscInt r = first + 1; r < first + size; r++) {
      if (i[r + 1] - i[r] != length) {
        *uneven = 1;
        continue;
      }
      for (PetscInt e = 0; e < length; e++)
        if (j[i[r] + e] != columns[e] || columns[e] % size != e % size) *uneven = 1;
    }
    for (PetscInt e = 0; e < length; e++)
      if (columns[e] / size != columns[e - e % size] / size) *shifted = 1;
  }
};

} // namespace sparsegpu::rows::values
