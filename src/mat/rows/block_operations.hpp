/// Rows of a process of a parallel matrix, whose entries lie in two blocks: those of own columns and the others.
/// Function objects of an index for values::ForEach() (value_operations.hpp).
#pragma once

#include "device/search.hpp"
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

/// j[e] of `own` columns and others that get numbers of a longer list of them, number[k] the k-th.
struct NumberOthers {
  PetscInt          own;
  const PetscInt   *j, *number;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount e) const { to[e] = j[e] < own ? j[e] : own + number[j[e] - own]; }
};

/// Rows that lie in two arrays: entry k is j[k] below `split`, and k - split of `summed` behind it.
struct TwoArrays {
  PetscInt                     split;
  const PetscInt              *j, *summed;
  SPARSEGPU_HD const PetscInt *At(PetscInt k) const { return k < split ? j + k : summed + (k - split); }
};

/// Row r begins at from[r] and has length[r] entries: as rows i have them.
struct RowsAt {
  const PetscInt   *i;
  PetscInt         *from, *length;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    from[r]   = i[r];
    length[r] = i[r + 1] - i[r];
  }
};

/// Row row[k], each once, as row k of i has them, which begin at `first`.
struct RowsElsewhere {
  PetscInt          first;
  const PetscInt   *row, *i;
  PetscInt         *from, *length;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    from[row[k]]   = first + i[k];
    length[row[k]] = i[k + 1] - i[k];
  }
};

/// How many entries of each block a row has, whose columns ascend: those below `own`, and the others.
struct CountBlocks {
  PetscInt          own;
  TwoArrays         columns;
  const PetscInt   *from, *length;
  PetscInt         *count[2]; ///< [rows]
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const PetscInt mine = lower_bound(columns.At(from[r]), 0, length[r], own);
    count[0][r]         = mine;
    count[1][r]         = length[r] - mine;
  }
};

/// The columns of each block by rows i[b], of which those of the second count from `own` on. Of each row, by 1 << bits
/// indices.
struct TakeBlocks {
  int               bits;
  PetscInt          own;
  TwoArrays         columns;
  const PetscInt   *from, *i[2];
  PetscInt         *j[2];
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane      lane(k, bits);
    const PetscInt *row   = columns.At(from[lane.row]);
    const PetscInt  split = i[0][lane.row + 1] - i[0][lane.row], count = i[1][lane.row + 1] - i[1][lane.row];
    for (PetscInt e = lane.first; e < split; e += lane.step) j[0][i[0][lane.row] + e] = row[e];
    for (PetscInt e = lane.first; e < count; e += lane.step) j[1][i[1][lane.row] + e] = row[split + e] - own;
  }
};

/// The values of block `block` of such rows, by 1 << bits indices a row.
struct TakeBlockValues {
  int               bits, block;
  const PetscInt   *from, *i[2];
  const Scalar     *v;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane     lane(k, bits);
    const PetscInt begin = i[block][lane.row], count = i[block][lane.row + 1] - begin;
    const Scalar  *row = v + from[lane.row] + (block ? i[0][lane.row + 1] - i[0][lane.row] : 0);
    for (PetscInt e = lane.first; e < count; e += lane.step) a[begin + e] = row[e];
  }
};

/// used[j[e]] = 1; several may write the same.
struct MarkUsed {
  const PetscInt   *j;
  PetscInt         *used;
  SPARSEGPU_HD void operator()(PetscCount e) const { used[j[e]] = 1; }
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

} // namespace sparsegpu::rows::values
