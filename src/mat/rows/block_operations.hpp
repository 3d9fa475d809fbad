/// Rows of a process of a parallel matrix, whose entries lie in two blocks: those of own columns and the others.
/// Function objects of an index for values::ForEach() (value_operations.hpp).
#pragma once

#include "mat/rows/lane.hpp"

namespace sparsegpu::rows::values
{

// Of each row, by 1 << bits indices.

/// Rows [rows + 1 beginnings di] and [oi], joined: a row of the first, then that of the second. Entry e of the first
/// has the column dj[e] and is value e, one of the second number[oj[e]], and is value split + e.
struct JoinRows {
  int               bits;
  PetscInt          split;
  const PetscInt   *di, *dj, *oi, *oj, *number;
  PetscInt         *j, *place;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane     lane(k, bits);
    const PetscInt off = oi[lane.row], behind = di[lane.row + 1]; // where a row of the one begins behind the other's
    for (PetscInt e = di[lane.row] + lane.first; e < di[lane.row + 1]; e += lane.step) {
      j[off + e]     = dj[e];
      place[off + e] = e;
    }
    for (PetscInt e = off + lane.first; e < oi[lane.row + 1]; e += lane.step) {
      j[behind + e]     = number[oj[e]];
      place[behind + e] = split + e;
    }
  }
};

/// i[r] = where row r of both blocks begins once they are joined; also of the end.
struct AddBeginnings {
  const PetscInt   *di, *oi;
  PetscInt         *i;
  SPARSEGPU_HD void operator()(PetscCount r) const { i[r] = di[r] + oi[r]; }
};

/// Where row row[k] begins, and how many entries it has, once both blocks are joined.
struct RowExtents {
  const PetscInt   *row, *di, *oi;
  PetscInt         *begin, *length;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt r = row[k];
    begin[k]         = di[r] + oi[r];
    length[k]        = di[r + 1] + oi[r + 1] - begin[k];
  }
};

/// Row row[k] of blocks di, dj and oi, oj, from to[begin[k]] on: its columns in the matrix, of which own ones begin at
/// `first`, those of the second block are number[its own].
struct NameColumns {
  PetscInt          first;
  const PetscInt   *row, *begin, *di, *dj, *oi, *oj, *number;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt r  = row[k];
    PetscInt       at = begin[k];
    for (PetscInt e = di[r]; e < di[r + 1]; e++) to[at++] = first + dj[e];
    for (PetscInt e = oi[r]; e < oi[r + 1]; e++) to[at++] = number[oj[e]];
  }
};

// Of each row r of i, j, whose columns are numbers in the matrix; begin .. end - 1 are own ones.

/// How many entries of each block the row has.
struct CountParts {
  PetscInt          begin, end;
  const PetscInt   *i, *j;
  PetscInt         *own, *others; ///< [rows]
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscInt count = 0;
    for (PetscInt e = i[r]; e < i[r + 1]; e++) count += j[e] >= begin && j[e] < end;
    own[r]    = count;
    others[r] = i[r + 1] - i[r] - count;
  }
};

/// Own columns from 0, others as they are; rows begin at own_i[r] and others_i[r].
struct SplitRows {
  PetscInt          begin, end;
  const PetscInt   *i, *j, *own_i, *others_i;
  PetscInt         *own_j, *others_j;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscInt own = own_i[r], other = others_i[r];
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      if (j[e] >= begin && j[e] < end)
        own_j[own++] = j[e] - begin;
      else
        others_j[other++] = j[e];
    }
  }
};

/// Of each entry e: j[e] becomes its place in number [count], ascending, where it is.
struct FindPlaces {
  PetscInt          count;
  const PetscInt   *number;
  PetscInt         *j;
  SPARSEGPU_HD void operator()(PetscCount e) const
  {
    PetscInt first = 0, last = count;
    while (first < last) {
      const PetscInt middle = first + (last - first) / 2;
      if (number[middle] < j[e])
        first = middle + 1;
      else
        last = middle;
    }
    j[e] = first;
  }
};

} // namespace sparsegpu::rows::values
