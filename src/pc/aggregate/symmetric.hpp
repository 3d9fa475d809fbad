/// What adds to each connection the one back: function objects for ForEach() (operations.hpp).
#pragma once

#include "device/scalar.hpp"
#include "pc/aggregate/graph.hpp"

namespace sparsegpu::aggregate
{

/// Connections of a node, whose columns ascend, to nodes that are not alone and have none back.
struct Missing {
  Graph                graph;
  const unsigned char *alone;
  SPARSEGPU_HD bool    Lacks(PetscInt from, PetscInt to) const
  {
    PetscInt begin = graph.i[from], end = graph.i[from + 1];
    while (begin < end) {
      const PetscInt middle = begin + (end - begin) / 2;
      if (graph.j[middle] < to)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin == graph.i[from + 1] || graph.j[begin] != to;
  }
  SPARSEGPU_HD bool operator()(PetscCount i, PetscInt e) const
  {
    const PetscInt j = graph.j[e];
    return j != i && !alone[i] && !alone[j] && Lacks(j, static_cast<PetscInt>(i));
  }
};

struct CountMissing {
  Missing           missing;
  PetscInt         *count;
  SPARSEGPU_HD void operator()(PetscCount i) const
  {
    PetscInt all = 0;
    for (PetscInt e = missing.graph.i[i]; e < missing.graph.i[i + 1]; e++) all += missing(i, e);
    count[i] = all;
  }
};

/// row, column: those back, from begin[i] on.
struct ListMissing {
  Missing           missing;
  const PetscInt   *begin;
  PetscInt         *row, *column;
  SPARSEGPU_HD void operator()(PetscCount i) const
  {
    PetscInt to = begin[i];
    for (PetscInt e = missing.graph.i[i]; e < missing.graph.i[i + 1]; e++) {
      if (!missing(i, e)) continue;
      row[to]      = missing.graph.j[e];
      column[to++] = static_cast<PetscInt>(i);
    }
  }
};

/// Each row of the graph, and then those of `more`; row i <= nodes.
struct JoinGraphs {
  Graph             graph;
  const PetscInt   *more_i, *more_j;
  PetscInt         *i, *j;
  SPARSEGPU_HD void operator()(PetscCount node) const
  {
    PetscInt to = graph.i[node] + more_i[node];
    i[node]     = to;
    if (node == graph.nodes) return;
    for (PetscInt e = graph.i[node]; e < graph.i[node + 1]; e++) j[to++] = graph.j[e];
    for (PetscInt e = more_i[node]; e < more_i[node + 1]; e++) j[to++] = more_j[e];
  }
};

/// Each connection between nodes that are not alone, in both directions: row, column [2 * entries], -1 for the rest.
struct BothDirections {
  Graph                graph;
  const unsigned char *alone;
  PetscInt            *row, *column;
  SPARSEGPU_HD void    operator()(PetscCount i) const
  {
    for (PetscInt e = graph.i[i]; e < graph.i[i + 1]; e++) {
      const PetscInt j = graph.j[e], back = graph.entries + e;
      const bool     is = j != i && !alone[i] && !alone[j];
      row[e] = column[back] = is ? static_cast<PetscInt>(i) : -1;
      column[e] = row[back] = is ? j : -1;
    }
  }
};

} // namespace sparsegpu::aggregate
