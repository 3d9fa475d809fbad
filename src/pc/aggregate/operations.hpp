/// What coarsening does to each node, entry or aggregate: function objects of an index that both backends run in any
/// order. No two indices write to the same place. What decides about aggregates is integer arithmetic, or reals that
/// are rounded alike everywhere: no sum of products, which one compiler fuses and another does not.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"
#include "pc/aggregate/strength.hpp"

namespace sparsegpu::aggregate
{

/// The priority of a node in a round: no two nodes have the same, none is ROOT or OUT. The finalizer of MurmurHash3
/// (Appleby, public domain) and the product with an odd number map 32 bits one to one, and 0 to 0.
SPARSEGPU_HD State Scramble(State h)
{
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}
SPARSEGPU_HD State Priority(PetscInt node, unsigned round)
{
  const State odd = 2 * Scramble(round + 1) + 1, h = Scramble((static_cast<State>(node) + 1) * odd);
  return h == OUT ? Scramble(OUT * odd) : h; // which is no node's
}

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

/// least[node] = the smallest state of a node and its neighbours: ROOT where one of these is.
struct FindLeast {
  Graph             graph;
  const State      *state;
  const PetscInt   *list;
  State            *least;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt node = list[k];
    State          low  = state[node];
    for (PetscInt e = graph.i[node]; e < graph.i[node + 1]; e++) {
      const State other = state[graph.j[e]];
      low               = other < low ? other : low;
    }
    least[node] = low;
  }
};

/// Undecided nodes: OUT next to a `least` that is a root's; ROOT where no `least` of a neighbour is below its own
/// priority; else a new priority.
struct Decide {
  Graph             graph;
  const State      *least;
  const PetscInt   *list;
  unsigned          round;
  State            *state;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt node = list[k];
    const State    mine = state[node];
    State          low  = least[node];
    for (PetscInt e = graph.i[node]; e < graph.i[node + 1] && low != ROOT; e++) {
      const State other = least[graph.j[e]];
      low               = other < low ? other : low;
    }
    state[node] = low == ROOT ? OUT : low >= mine ? ROOT : Priority(node, round + 1);
  }
};

struct FlagRoots {
  const State      *state;
  PetscInt         *flag;
  SPARSEGPU_HD void operator()(PetscCount i) const { flag[i] = state[i] == ROOT; }
};

/// Roots and their neighbours; -1 for others. Of several roots that a node is next to, which are at a distance of 2,
/// the one with the lowest priority.
struct AttachNear {
  Graph             graph;
  const State      *state;
  const PetscInt   *number; ///< roots before each node
  PetscInt         *of, *root;
  SPARSEGPU_HD void operator()(PetscCount i) const
  {
    PetscInt found = -1;
    if (state[i] == ROOT) {
      found           = static_cast<PetscInt>(i);
      root[number[i]] = found;
    } else {
      for (PetscInt e = graph.i[i]; e < graph.i[i + 1]; e++) {
        const PetscInt j = graph.j[e];
        if (state[j] == ROOT && (found < 0 || Priority(j, 0) < Priority(found, 0))) found = j;
      }
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

/// sum[r] = the sum of the magnitudes of row r over that of its diagonal entry; 0 where that is 0 or missing.
struct BoundRow {
  CsrArrays         a;
  Scalar           *sum;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscReal all = 0, diagonal = 0;
    for (PetscInt e = a.i[r]; e < a.i[r + 1]; e++) {
      const PetscReal size = Size(a.a[e]);
      all += size;
      if (a.j[e] == r) diagonal = size;
    }
    sum[r] = Scalar(diagonal > 0 ? all / diagonal : 0);
  }
};

/// The root of D^-1: its magnitude, or that and its phase, so that the product of the two is 1/d; 0 where d is 0.
struct ScaleOfDiagonal {
  bool              phase;
  Scalar           *d;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const PetscReal size = Size(d[r]), root = static_cast<PetscReal>(sqrt(size));
    if (!(size > 0))
      d[r] = Scalar(0);
    else
      d[r] = phase ? Scalar(root) * Inverse(d[r]) : Scalar(1 / root);
  }
};

/// Numbers of magnitude 1/2 to 3/2 and of both signs, which depend on the number of the row alone.
struct StartOfSearch {
  PetscInt          first;
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const unsigned long long random = Mix(first + r, 1);
    const PetscReal size = PetscReal(0.5) + static_cast<PetscReal>(random >> 41) / static_cast<PetscReal>(1 << 23);
    x[r]                 = Scalar(random & 1 ? size : -size);
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
  what(KeepStrong);                              \
  what(MarkStrong);                              \
  what(BothDirections);                          \
  what(BeginSearch);                             \
  what(FindLeast);                               \
  what(Decide);                                  \
  what(FlagRoots);                               \
  what(AttachNear);                              \
  what(AttachFar);                               \
  what(ExpandRows);                              \
  what(BoundRow);                                \
  what(ScaleOfDiagonal);                         \
  what(StartOfSearch);                           \
  what(JoinSmall);                               \
  what(Renumber)

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);
template <class Operation> PetscErrorCode ForEach_Kokkos(PetscCount count, const Operation &operation);

} // namespace sparsegpu::aggregate
