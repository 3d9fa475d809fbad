/// What coarsening does to each node, entry or aggregate: function objects of an index that both backends run in any
/// order. No two indices write to the same place. What decides about aggregates is integer arithmetic, or reals that
/// are rounded alike everywhere: no sum of products, which one compiler fuses and another does not.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"
#include "pc/aggregate/node_blocks.hpp"
#include "pc/aggregate/spectrum.hpp"
#include "pc/aggregate/strength.hpp"
#include "pc/aggregate/symmetric.hpp"

namespace sparsegpu::aggregate
{

// Of each node.

struct BeginSearch {
  const unsigned char *alone;
  State               *state;
  PetscInt            *list, *near;
  SPARSEGPU_HD void    operator()(PetscCount i) const
  {
    const PetscInt node = static_cast<PetscInt>(i);
    state[i]            = alone[i] ? OUT : Priority(node, 0);
    list[i] = near[i] = node;
  }
};

/// The lowest of the states of a node and its neighbours, of the nodes list[k].
template <class Operation> struct OfLowest : OfRows<Operation> {
  Graph           graph;
  const State    *state;
  const PetscInt *list;
  OfLowest(const Graph &g, const State *s, const PetscInt *l) : graph(g), state(s), list(l) {}
  SPARSEGPU_HD State Of(PetscCount k, int first, int step) const
  {
    const PetscInt node = list[k];
    State          low  = state[node];
    for (PetscInt e = graph.i[node] + first; e < graph.i[node + 1]; e += step) {
      const State other = state[graph.j[e]];
      low               = other < low ? other : low;
    }
    return low;
  }
  SPARSEGPU_HD State Join(State a, State b) const { return a < b ? a : b; }
};

/// least[node] = that: ROOT where one of these is.
struct FindLeast : OfLowest<FindLeast> {
  State *least;
  FindLeast(const Graph &g, const State *s, const PetscInt *l, State *to) : OfLowest(g, s, l), least(to) {}
  SPARSEGPU_HD void Finish(PetscCount k, State low) const { least[list[k]] = low; }
};

/// The same for roots that are but one connection apart: of the node alone.
struct CopyState {
  const State      *state;
  State            *least;
  SPARSEGPU_HD void operator()(PetscCount i) const { least[i] = state[i]; }
};

/// Undecided nodes, of whose neighbours the states are what FindLeast found: OUT next to a root's; ROOT where none is
/// below its own priority; else a new priority.
struct Decide : OfLowest<Decide> {
  unsigned round;
  State   *decided;
  Decide(const Graph &g, const State *least, const PetscInt *l, unsigned number, State *to)
      : OfLowest(g, least, l),
        round(number),
        decided(to)
  {
  }
  SPARSEGPU_HD void Finish(PetscCount k, State low) const
  {
    const PetscInt node = list[k];
    if (decided[node] == OUT) return; // alone
    decided[node] = low == ROOT ? OUT : low >= decided[node] ? ROOT : Priority(node, round + 1);
  }
};

struct FlagRoots {
  const State      *state;
  PetscInt         *flag;
  SPARSEGPU_HD void operator()(PetscCount i) const { flag[i] = state[i] == ROOT; }
};

/// Roots and their neighbours; -1 for others. Of several roots that a node is next to, which are at a distance of 2,
/// the one with the lowest priority.
struct AttachNear : OfRows<AttachNear> {
  Graph           graph;
  const State    *state;
  const PetscInt *number; ///< roots before each node
  PetscInt       *of, *root;
  AttachNear(const Graph &g, const State *s, const PetscInt *n, PetscInt *o, PetscInt *r)
      : graph(g),
        state(s),
        number(n),
        of(o),
        root(r)
  {
  }
  SPARSEGPU_HD PetscInt Of(PetscCount i, int first, int step) const
  {
    PetscInt found = -1;
    for (PetscInt e = graph.i[i] + first; e < graph.i[i + 1]; e += step)
      if (state[graph.j[e]] == ROOT) found = Join(found, graph.j[e]);
    return found;
  }
  SPARSEGPU_HD PetscInt Join(PetscInt a, PetscInt b) const
  {
    if (a < 0 || b < 0 || a == b) return a < 0 ? b : a;
    return Priority(a, 0) < Priority(b, 0) ? a : b;
  }
  SPARSEGPU_HD void Finish(PetscCount i, PetscInt found) const
  {
    if (state[i] == ROOT) {
      found           = static_cast<PetscInt>(i);
      root[number[i]] = found;
    }
    of[i] = found < 0 ? -1 : number[found];
  }
};

/// A node that is in no aggregate as yet joins the one it has most connections to; of several, that with the fewest
/// members so far, the neighbours of its root; of several, the first. Those first met in the row are compared.
struct AttachFar {
  static constexpr int  COMPARED = 12;
  Graph                 graph;
  const PetscInt       *near, *root;
  PetscInt             *of;
  SPARSEGPU_HD PetscInt Members(PetscInt aggregate) const
  {
    return graph.i[root[aggregate] + 1] - graph.i[root[aggregate]];
  }
  SPARSEGPU_HD void operator()(PetscCount i) const
  {
    PetscInt label[COMPARED], connections[COMPARED], best = -1, most = 0;
    int      labels = 0;
    of[i]           = near[i];
    if (near[i] >= 0) return;
    for (PetscInt e = graph.i[i]; e < graph.i[i + 1]; e++) {
      const PetscInt a = near[graph.j[e]];
      int            k = 0;
      if (a < 0) continue;
      while (k < labels && label[k] != a) k++;
      if (k == COMPARED) continue;
      if (k == labels) {
        label[k]       = a;
        connections[k] = 0;
        labels++;
      }
      connections[k]++;
    }
    for (int k = 0; k < labels; k++) {
      if (connections[k] < most) continue;
      const bool more = connections[k] > most;
      if (!more && Members(label[k]) > Members(best)) continue;
      if (more || Members(label[k]) < Members(best) || label[k] < best) best = label[k];
      most = connections[k];
    }
    of[i] = best;
  }
};

/// Row r <= rows of the prolongator from the blocks of its node.
struct ExpandRows {
  PetscInt          rows, block_size, vectors;
  const PetscInt   *from_i, *from_j;
  PetscInt         *i, *j;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const PetscCount node  = r / block_size;
    const PetscInt   first = from_i[node], length = r < rows ? from_i[node + 1] - first : 0;
    PetscInt         to = (first * block_size + static_cast<PetscInt>(r % block_size) * length) * vectors;
    i[r]                = to;
    for (PetscInt q = 0; q < length; q++)
      for (PetscInt c = 0; c < vectors; c++) j[to++] = from_j[first + q] * vectors + c;
  }
};

// Of each aggregate.

/// An aggregate of fewer than `smallest` nodes joins the first neighbouring one that has as many: into[a], a itself
/// where there is none; stays[a] = whether it is that.
struct JoinSmall {
  Graph             graph;
  PetscInt          smallest;
  const PetscInt   *of, *begin, *members;
  PetscInt         *into, *stays;
  SPARSEGPU_HD void operator()(PetscCount a) const
  {
    PetscInt best = -1;
    if (begin[a + 1] - begin[a] < smallest)
      for (PetscInt m = begin[a]; m < begin[a + 1]; m++)
        for (PetscInt e = graph.i[members[m]]; e < graph.i[members[m] + 1]; e++) {
          const PetscInt b = of[graph.j[e]];
          if (b >= 0 && begin[b + 1] - begin[b] >= smallest && (best < 0 || b < best)) best = b;
        }
    into[a]  = best < 0 ? static_cast<PetscInt>(a) : best;
    stays[a] = best < 0;
  }
};

struct Renumber {
  const PetscInt   *into, *number;
  PetscInt         *of; ///< of each node
  SPARSEGPU_HD void operator()(PetscCount i) const
  {
    if (of[i] >= 0) of[i] = number[into[of[i]]];
  }
};

/// Runs `operation` of 0 .. count - 1 on arrays that lie in `space`; asynchronous on the device.
template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation);

#define SPARSEGPU_FOR_AGGREGATE_OPERATIONS(what) \
  what(FindScale);                               \
  what(CountStrong);                             \
  what(CountWeak);                               \
  what(KeepStrong);                              \
  what(MarkStrong);                              \
  what(BothDirections);                          \
  what(CountMissing);                            \
  what(ListMissing);                             \
  what(JoinGraphs);                              \
  what(BeginSearch);                             \
  what(FindLeast);                               \
  what(Decide);                                  \
  what(CopyState);                               \
  what(FlagRoots);                               \
  what(AttachNear);                              \
  what(AttachFar);                               \
  what(ExpandRows);                              \
  what(ApplyNodeBlocks);                         \
  what(BoundRow);                                \
  what(ScaleOfDiagonal);                         \
  what(StartOfSearch);                           \
  what(FillUnits);                               \
  what(FillOnes);                                \
  what(FillRigidModes);                          \
  what(JoinSmall);                               \
  what(Renumber)

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);
template <class Operation> PetscErrorCode ForEach_Kokkos(PetscCount count, const Operation &operation);

} // namespace sparsegpu::aggregate
