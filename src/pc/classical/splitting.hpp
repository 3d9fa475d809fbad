/// The splitting of unknowns into coarse and fine ones: what the search does to each of them, as function objects for
/// ForEach() (operations.hpp), and its result. Integers alone decide: all backends agree.
#pragma once

#include "device/buffer.hpp"
#include "pc/classical/strength.hpp"

namespace sparsegpu::classical
{

class System;

/// Who depends on whom: rows of unknowns, columns in any order.
struct Graph {
  const PetscInt *i = nullptr, *j = nullptr;
};

/// Strong couplings, and those in the other direction.
struct StrongGraph {
  Array<Scalar>    unit;           ///< [nodes] see MeasureRow
  Array<PetscReal> limit;          ///< [nodes]
  Array<PetscInt>  i, j;           ///< what each unknown depends on
  Array<PetscInt>  back_i, back_j; ///< what depends on it; empty where that is the same
  bool             ordered = true; ///< columns of the matrix ascend
  PetscReal        mean    = 0;    ///< how many an unknown depends on

  Graph on() const { return Graph{i.data(), j.data()}; }
  Graph from() const { return back_i.size() ? Graph{back_i.data(), back_j.data()} : on(); }
  bool  symmetric() const { return back_i.size() == 0; }
};
/// Collective.
PetscErrorCode FindStrong(const System &system, PetscReal threshold, PetscReal max_row_sum, StrongGraph *graph);

/// FINE, COARSE or FRESH, which is coarse since this round; in between: undecided, with a priority. How many depend on
/// an unknown comes first, as in PMIS; then, and no two unknowns have the same, a number of 40 bits.
using State                = unsigned long long;
constexpr State FINE       = 0;
constexpr State COARSE     = ~0ull;
constexpr State FRESH      = COARSE - 1;
constexpr int   INDEX_BITS = 40;
constexpr State INDEX_MASK = (State(1) << INDEX_BITS) - 1;

/// Random and one to one.
SPARSEGPU_HD State Scatter(State index)
{
  State h = (index & INDEX_MASK) * 0x9e3779b97f4a7c15ull & INDEX_MASK;
  h       = (h ^ (h >> 20)) * 0xd6e8feb86659fd93ull & INDEX_MASK;
  return h ^ (h >> 20);
}
/// The bits in reverse order, negated. Even numbers are before odd ones, of these multiples of four, and so on: on
/// grids that are numbered line by line coarse points form a regular pattern, from which interpolation is better than
/// from a random one.
SPARSEGPU_HD State Reverse(State index)
{
  State r = index;
  r       = (r >> 1 & 0x5555555555555555ull) | (r & 0x5555555555555555ull) << 1;
  r       = (r >> 2 & 0x3333333333333333ull) | (r & 0x3333333333333333ull) << 2;
  r       = (r >> 4 & 0x0f0f0f0f0f0f0f0full) | (r & 0x0f0f0f0f0f0f0f0full) << 4;
  r       = (r >> 8 & 0x00ff00ff00ff00ffull) | (r & 0x00ff00ff00ff00ffull) << 8;
  r       = (r >> 16 & 0x0000ffff0000ffffull) | (r & 0x0000ffff0000ffffull) << 16;
  r       = r >> 32 | r << 32;
  return ~(r >> (64 - INDEX_BITS)) & INDEX_MASK;
}

/// Own unknowns, of which those are undecided that depend on some and that some depend on.
struct BeginSearch {
  GlobalNumber      global;
  Graph             from;
  const PetscReal  *limit;
  bool              regular;
  State            *state;
  PetscInt         *list;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const State count = static_cast<State>(from.i[k + 1] - from.i[k]), most = (State(1) << (64 - INDEX_BITS)) - 2;
    const State index = static_cast<State>(global(k));
    state[k]          = FINE;
    list[k]           = static_cast<PetscInt>(k);
    if (count > 0 && limit[k] < ISOLATED)
      state[k] = (count < most ? count : most) << INDEX_BITS | (regular ? Reverse(index) : Scatter(index));
  }
};

/// Of the undecided unknowns list[k] those become FRESH that have the highest priority among their neighbours in both
/// directions. A neighbour that has become FRESH meanwhile had a higher one.
struct MarkCoarse {
  Graph             on, from;
  const PetscInt   *list;
  State            *state;
  SPARSEGPU_HD bool Highest(const Graph &graph, PetscInt node, State mine) const
  {
    for (PetscInt e = graph.i[node]; e < graph.i[node + 1]; e++) {
      const State other = state[graph.j[e]];
      if (other > mine && other != COARSE) return false;
    }
    return true;
  }
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt node = list[k];
    const State    mine = state[node];
    if (Highest(on, node, mine) && (on.i == from.i || Highest(from, node, mine))) state[node] = FRESH;
  }
};

/// Of these, FRESH ones become COARSE, and those that depend on one become FINE.
struct TakeOut {
  Graph             on;
  const PetscInt   *list;
  State            *state;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt node = list[k];
    if (state[node] == FRESH) {
      state[node] = COARSE;
      return;
    }
    for (PetscInt e = on.i[node]; e < on.i[node + 1]; e++)
      if (state[on.j[e]] >= FRESH) {
        state[node] = FINE;
        return;
      }
  }
};

struct FlagCoarse {
  const State      *state;
  PetscInt         *flag;
  SPARSEGPU_HD void operator()(PetscCount k) const { flag[k] = state[k] == COARSE; }
};

/// number[k] = how many own unknowns before it are coarse, and `first`; of fine ones -1.
struct NumberCoarse {
  const State      *state;
  PetscInt          first;
  PetscInt         *number;
  SPARSEGPU_HD void operator()(PetscCount k) const { number[k] = state[k] == COARSE ? first + number[k] : -1; }
};

/// The fields of coarse unknowns.
struct TakeFields {
  const PetscInt   *number;
  PetscInt          first;
  const PetscInt   *field;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    if (number[k] >= 0) to[number[k] - first] = field[k];
  }
};

struct Splitting {
  Array<State>    state;  ///< [nodes] COARSE or FINE
  Array<PetscInt> number; ///< [nodes] of coarse ones among those of all processes, in the order of the rows; else -1
  PetscInt        first = 0, own = 0, all = 0; ///< numbers of this process: the first, and how many; of all processes
  PetscInt        of       = 0;                ///< unknowns of all processes
  PetscInt        isolated = 0, rounds = 0;
};
/// A regular pattern of coarse unknowns where the graph is symmetric; of lines only if that has at most this part of
/// all unknowns; else a random one. Collective.
PetscErrorCode Split(const System &system, const StrongGraph &graph, PetscReal most_regular, Splitting *splitting);

/// Unknowns, ascending, of which some are undecided.
struct NodeList {
  PetscInt        count = 0;
  Array<PetscInt> nodes, spare; ///< [count]; as long, on the device
};
/// Keeps those. Waits for the device.
PetscErrorCode KeepUndecided(Space space, const State *state, NodeList *list);
PetscErrorCode KeepUndecided_CUDA(const State *state, NodeList *list);

} // namespace sparsegpu::classical
