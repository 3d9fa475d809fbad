/// What the growth of blocks does to each node, row or chunk of entries. A node is a block so far, at first a row.
#pragma once

#include "device/search.hpp"
#include "pc/ordering/priority.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

/// The graph of nodes; an edge may be given in one direction.
struct NodeGraph {
  /// Edges of a node that the search looks at: one with more of them says little of who is close to whom.
  static constexpr PetscInt LOOKED = 64;

  PetscInt              block; ///< rows of a block at most
  PetscInt              dense; ///< a row with more entries is a block of its own
  const PetscInt       *i, *j;
  const PetscInt       *first; ///< [edges + 1] pairs of rows before each edge; null: each stands for one
  const PetscInt       *size;  ///< [nodes] rows, `block` where none may be added; null: nodes are rows
  SPARSEGPU_HD PetscInt Size(PetscInt a) const { return size ? size[a] : i[a + 1] - i[a] > dense ? block : 1; }
  SPARSEGPU_HD PetscInt Weight(PetscInt e) const { return first ? first[e + 1] - first[e] : 1; }
  SPARSEGPU_HD PetscInt End(PetscInt a) const { return i[a + 1] - i[a] > LOOKED ? i[a] + LOOKED : i[a + 1]; }
  SPARSEGPU_HD bool     Fit(PetscInt a, PetscInt b) const { return a != b && Size(a) <= block - Size(b); }
};

/// Nodes that no neighbour fits are OUT.
struct BeginRoots {
  NodeGraph         graph;
  State            *state;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt a    = static_cast<PetscInt>(k);
    bool           fits = false;
    for (PetscInt e = graph.i[a]; e < graph.End(a) && !fits; e++) fits = graph.Fit(a, graph.j[e]);
    state[a] = fits ? Priority(a, 0) : OUT;
  }
};

/// Undecided nodes become OUT next to a ROOT that they fit; ROOT where they come before all undecided neighbours that
/// they fit, the larger of two first; else they get a new priority. *undecided = round where one is left.
struct DecideRoots {
  NodeGraph         graph;
  const State      *state;
  unsigned          round; ///< from 1 on
  State            *decided;
  unsigned         *undecided;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt a     = static_cast<PetscInt>(k);
    const State    own   = state[a];
    bool           first = true, covered = false;
    decided[a] = own;
    if (own == ROOT || own == OUT) return;
    for (PetscInt e = graph.i[a]; e < graph.End(a) && !covered; e++) {
      const PetscInt b     = graph.j[e];
      const State    other = state[b];
      if (other == OUT || !graph.Fit(a, b)) continue;
      const PetscInt lead = graph.Size(a) - graph.Size(b);
      covered             = other == ROOT;
      if (lead < 0 || (lead == 0 && other < own)) first = false;
    }
    decided[a] = covered ? OUT : first ? ROOT : Priority(a, round);
    if (!covered && !first) *undecided = round;
  }
};

/// wanted[a]: the root that the node fits and has most pairs with, of several the one with the lowest priority; -1:
/// none. into[a] = a.
struct WantRoot {
  NodeGraph         graph;
  const State      *state;
  PetscInt         *wanted, *into;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt a    = static_cast<PetscInt>(k);
    PetscInt       best = -1, most = 0;
    into[a] = a;
    if (state[a] != ROOT)
      for (PetscInt e = graph.i[a]; e < graph.End(a); e++) {
        const PetscInt b = graph.j[e], weight = graph.Weight(e);
        if (weight < most || state[b] != ROOT || !graph.Fit(a, b)) continue;
        if (weight > most || Priority(b, 0) < Priority(best, 0)) best = b;
        most = weight;
      }
    wanted[a] = best;
  }
};

/// A root takes in those neighbours that want it, in its row's order, as long as they fit: into[b] = a. total[a]: its
/// rows then; those of another node as before. A node that wants a root in whose row it is not remains as it is.
struct TakeIn {
  NodeGraph         graph;
  const State      *state;
  const PetscInt   *wanted;
  PetscInt         *into, *total;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt a    = static_cast<PetscInt>(k);
    PetscInt       rows = graph.Size(a);
    if (state[a] == ROOT)
      for (PetscInt e = graph.i[a]; e < graph.End(a) && rows < graph.block; e++) {
        const PetscInt b = graph.j[e];
        if (wanted[b] != a || into[b] == a || graph.Size(b) > graph.block - rows) continue;
        into[b] = a;
        rows += graph.Size(b);
      }
    total[a] = rows;
  }
};

struct FlagLeft {
  const PetscInt   *into;
  PetscInt         *flag;
  SPARSEGPU_HD void operator()(PetscCount a) const { flag[a] = into[a] == a; }
};

/// number[a]: nodes left before a.
struct TakeSizes {
  const PetscInt   *into, *number, *total;
  PetscInt         *size;
  SPARSEGPU_HD void operator()(PetscCount a) const
  {
    if (into[a] == a) size[number[a]] = total[a];
  }
};

/// next[a]: where a is among the nodes that are left.
struct NumberLeft {
  const PetscInt   *into, *number;
  PetscInt         *next;
  SPARSEGPU_HD void operator()(PetscCount a) const { next[a] = number[into[a]]; }
};

/// Of each row: its node among those that are left.
struct RenumberRows {
  const PetscInt   *next;
  PetscInt         *of;
  SPARSEGPU_HD void operator()(PetscCount r) const { of[r] = next[of[r]]; }
};

struct NumberRows {
  PetscInt         *of;
  SPARSEGPU_HD void operator()(PetscCount r) const { of[r] = static_cast<PetscInt>(r); }
};

/// The pairs of nodes that entries lead between, but for those met among the last RECENT of the same CHUNK entries.
/// Chunks, not rows, are an index each: a dense row is many of them.
struct NodePairs {
  static constexpr int      RECENT = 8;
  static constexpr PetscInt CHUNK  = 16;

  PetscInt                                rows, nonzeros;
  const PetscInt                         *i, *j, *of;
  template <class Take> SPARSEGPU_HD void Each(PetscCount chunk, const Take &take) const
  {
    const PetscInt begin = static_cast<PetscInt>(chunk) * CHUNK;
    const PetscInt end   = nonzeros - begin > CHUNK ? begin + CHUNK : nonzeros;
    PetscInt       r     = lower_bound(i, PetscInt(0), rows + 1, begin + 1) - 1; // the last one to begin by then
    PetscInt       low[RECENT], high[RECENT];
    for (int q = 0; q < RECENT; q++) low[q] = high[q] = -1;
    for (PetscInt e = begin; e < end; e++) {
      while (e >= i[r + 1]) r++;
      const PetscInt own = of[r], other = of[j[e]], a = own < other ? own : other, b = own < other ? other : own;
      bool           known = a == b;
      for (int q = 0; q < RECENT; q++) known = known || (low[q] == a && high[q] == b);
      if (known) continue;
      for (int q = RECENT - 1; q > 0; q--) {
        low[q]  = low[q - 1];
        high[q] = high[q - 1];
      }
      low[0]  = a;
      high[0] = b;
      take(a, b);
    }
  }
};
struct CountPairs {
  NodePairs         pairs;
  PetscInt         *count;
  SPARSEGPU_HD void operator()(PetscCount chunk) const
  {
    PetscInt n = 0;
    pairs.Each(chunk, [&n](PetscInt, PetscInt) { n++; });
    count[chunk] = n;
  }
};
/// Both directions of each: from, to [2 * pairs].
struct ListPairs {
  NodePairs         pairs;
  const PetscInt   *before; ///< [chunks] pairs of earlier ones
  PetscInt         *from, *to;
  SPARSEGPU_HD void operator()(PetscCount chunk) const
  {
    PetscCount      at = 2 * static_cast<PetscCount>(before[chunk]);
    PetscInt *const f = from, *const t = to;
    pairs.Each(chunk, [&at, f, t](PetscInt a, PetscInt b) {
      f[at]     = a;
      t[at]     = b;
      f[at + 1] = b;
      t[at + 1] = a;
      at += 2;
    });
  }
};

} // namespace sparsegpu::ordering
