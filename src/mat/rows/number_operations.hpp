/// Numbers of columns that pass between ranks: function objects of an index for values::ForEach()
/// (value_operations.hpp). A run is what the entries of a row have in common that are the unknowns of one node; rows of
/// a node have the same runs.
#pragma once

#include <type_traits>
#include "mat/rows/lane.hpp"

namespace sparsegpu::rows::values
{

// Of rows [begin[k] .. begin[k + 1]) of columns one behind the other, of which `height` make a node, each of 1 << bits
// indices a row.

/// *broken = 1 unless the columns are runs of `width`, the same in all rows of a node; several may write it.
struct CheckRuns {
  int               bits;
  PetscInt          height, width;
  const PetscInt   *begin, *columns;
  int              *broken;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane      lane(k, bits);
    const PetscInt *row = columns + begin[lane.row], *first = columns + begin[lane.row - lane.row % height];
    for (PetscInt e = lane.first, count = begin[lane.row + 1] - begin[lane.row]; e < count; e += lane.step)
      if (row[e] != first[e] || (e % width ? row[e] != row[e - 1] + 1 : row[e] % width != 0)) *broken = 1;
  }
};

/// The runs of the first row of each node, column / width, node after node; of each node.
struct TakeRuns {
  int               bits;
  PetscInt          height, width;
  const PetscInt   *begin, *columns;
  PetscInt         *runs;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane      lane(k, bits);
    const PetscInt  first = begin[lane.row * height], count = begin[lane.row * height + 1] - first;
    PetscInt *const to = runs + first / (height * width);
    for (PetscInt e = lane.first; e < count / width; e += lane.step) to[e] = columns[first + e * width] / width;
  }
};

/// The columns that such runs stand for.
struct ExpandRuns {
  int               bits;
  PetscInt          height, width;
  const PetscInt   *begin, *runs;
  PetscInt         *columns;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane            lane(k, bits);
    const PetscInt *const from = runs + begin[lane.row - lane.row % height] / (height * width);
    for (PetscInt e = lane.first, count = begin[lane.row + 1] - begin[lane.row]; e < count; e += lane.step)
      columns[begin[lane.row] + e] = from[e / width] * width + e % width;
  }
};

/// The entries of ranges that begin at from[k], one range behind the other.
struct ListRanges {
  int               bits;
  const PetscInt   *begin, *from;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Lane lane(k, bits);
    for (PetscInt e = lane.first, count = begin[lane.row + 1] - begin[lane.row]; e < count; e += lane.step)
      to[begin[lane.row] + e] = from[lane.row] + e;
  }
};

// Of each entry e.

/// Local numbers j as those of the matrix: own ones begin at `first`, others are others[number - own].
struct NameLocals {
  PetscInt          first, own;
  const PetscInt   *others, *j;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount e) const { to[e] = j[e] < own ? first + j[e] : others[j[e] - own]; }
};

/// A number as a key to sort by.
using NumberKey = std::conditional_t<sizeof(PetscInt) == 4, unsigned, unsigned long long>;

/// The number where it is not one of begin .. begin + own - 1, else a key behind all numbers.
struct KeyOutside {
  PetscInt          begin, own;
  const PetscInt   *numbers;
  NumberKey        *key;
  SPARSEGPU_HD void operator()(PetscCount e) const
  {
    key[e] = numbers[e] < begin || numbers[e] >= begin + own ? static_cast<NumberKey>(numbers[e]) : ~NumberKey(0);
  }
};

// Of each sorted key k.

/// Which numbers come for the first time.
struct MarkFirsts {
  const NumberKey  *key;
  PetscInt         *first; ///< 1 or 0
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    first[k] = key[k] != ~NumberKey(0) && (k == 0 || key[k] != key[k - 1]);
  }
};

/// They, with before[k] of them before k.
struct TakeFirsts {
  const NumberKey  *key;
  const PetscInt   *before;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    if (before[k + 1] > before[k]) to[before[k]] = static_cast<PetscInt>(key[k]);
  }
};

/// Number order[k] as a local one: own ones count from 0, the b-th of the others is own + place[b].
struct LocalizeSorted {
  PetscInt          begin, own;
  const NumberKey  *key;
  const PetscInt   *order, *before, *place;
  PetscInt         *numbers;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    PetscInt *const number = numbers + order[k];
    *number                = key[k] == ~NumberKey(0) ? *number - begin : own + place[before[k + 1] - 1];
  }
};

} // namespace sparsegpu::rows::values
