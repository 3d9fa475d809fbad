/// Blocks of any graph, their graph and its colours. Each round takes independent nodes as roots, which their
/// neighbours join: blocks remain compact, as with breadth-first growth, and a round has as many threads as nodes.
#include <algorithm>
#include "mat/rows/running_sum.hpp"
#include "mat/rows/sort_coordinates.hpp"
#include "pc/ordering/keys.hpp"
#include "pc/ordering/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

namespace
{
/// Growth ends with a round that takes in fewer than one of so many nodes: the others have no room left.
constexpr PetscInt FEW = 16;
/// A row is dense if it has so many times the entries of the average one, and more than LOOKED: a hub, whose neighbours
/// have nothing else in common. In a block with them it would make that block a neighbour of all others.
constexpr PetscInt DENSE = 4;

/// Blocks as they grow.
struct Growth {
  PetscInt                nodes = 0;
  Array<PetscInt>         of;    ///< [rows] node
  Array<PetscInt>         size;  ///< [nodes] rows; empty: nodes are rows
  rows::SortedCoordinates graph; ///< both directions of each edge; jmap: weights
};

/// The graph of the nodes that the rows of A belong to; A: the matrix, or the graph of the nodes before.
PetscErrorCode FindGraph(const RowPattern &A, const PetscInt *of, Growth *g)
{
  const PetscInt          chunks = A.nonzeros > 0 ? (A.nonzeros - 1) / NodePairs::CHUNK + 1 : 0;
  const NodePairs         pairs{A.rows, A.nonzeros, A.i, A.j, of};
  rows::SortedCoordinates graph;
  Array<PetscInt>         before, from, to;
  PetscInt                total = 0;

  PetscFunctionBegin;
  PetscCall(before.Allocate(static_cast<size_t>(chunks) + 1, A.space));
  PetscCall(ForEach(A.space, chunks, CountPairs{pairs, before.data()}));
  PetscCall(rows::RunningSumIn(A.space, chunks, &before, &total));
  const PetscCount both = 2 * static_cast<PetscCount>(total);
  PetscCheck(rows::CanSortCoordinates(g->nodes, g->nodes, both), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%lld pairs of %" PetscInt_FMT " blocks are too many to sort", static_cast<long long>(both), g->nodes);
  PetscCall(from.Allocate(static_cast<size_t>(both), A.space));
  PetscCall(to.Allocate(static_cast<size_t>(both), A.space));
  PetscCall(ForEach(A.space, chunks, ListPairs{pairs, before.data(), from.data(), to.data()}));
  PetscCall(rows::SortCoordinates(g->nodes, g->nodes, both, from.data(), to.data(), A.space, &graph));
  std::swap(g->graph, graph);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// run(number, left), from number 1 on, until a round does not set *left to its number. Waits for each.
template <class Run> PetscErrorCode Rounds(Space space, const Run &run)
{
  const unsigned  none = 0;
  Array<unsigned> left;
  unsigned        number = 0, last;

  PetscFunctionBegin;
  PetscCall(left.Copy(&none, 1, space));
  do {
    PetscCall(run(++number, left.data()));
    PetscCall(left.ToHost(&last));
  } while (last == number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Roots of the nodes, as many as fit.
PetscErrorCode FindRoots(Space space, PetscInt nodes, const NodeGraph &graph, Array<State> *state)
{
  Array<State> other;

  PetscFunctionBegin;
  PetscCall(state->Allocate(static_cast<size_t>(nodes), space));
  PetscCall(other.Allocate(static_cast<size_t>(nodes), space));
  PetscCall(ForEach(space, nodes, BeginRoots{graph, state->data()}));
  PetscCall(Rounds(space, [&](unsigned round, unsigned *undecided) {
    PetscFunctionBegin;
    PetscCall(ForEach(space, nodes, DecideRoots{graph, state->data(), round, other.data(), undecided}));
    std::swap(*state, other);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One round of growth along the edges of the nodes so far. next [nodes]: the node that each is in now.
PetscErrorCode Grow(const RowPattern &edges, PetscInt block, Growth *g, Array<PetscInt> *next)
{
  const PetscInt  dense = std::max(NodeGraph::LOOKED, DENSE * (edges.nonzeros / edges.rows));
  const NodeGraph graph{block, dense, edges.i, edges.j, g->graph.jmap.data_or_null(), g->size.data_or_null()};
  const Space     space = edges.space;
  const size_t    nodes = static_cast<size_t>(g->nodes);
  Array<State>    state;
  Array<PetscInt> wanted, into, total, number, size;
  PetscInt        left = 0;

  PetscFunctionBegin;
  PetscCall(FindRoots(space, g->nodes, graph, &state));
  for (Array<PetscInt> *array : {&wanted, &into, &total, next}) PetscCall(array->Allocate(nodes, space));
  PetscCall(number.Allocate(nodes + 1, space));
  PetscCall(ForEach(space, g->nodes, WantRoot{graph, state.data(), wanted.data(), into.data()}));
  PetscCall(ForEach(space, g->nodes, TakeIn{graph, state.data(), wanted.data(), into.data(), total.data()}));
  PetscCall(ForEach(space, g->nodes, FlagLeft{into.data(), number.data()}));
  PetscCall(rows::RunningSumIn(space, g->nodes, &number, &left));
  PetscCall(size.Allocate(static_cast<size_t>(left), space));
  PetscCall(ForEach(space, g->nodes, TakeSizes{into.data(), number.data(), total.data(), size.data()}));
  PetscCall(ForEach(space, g->nodes, NumberLeft{into.data(), number.data(), next->data()}));
  g->nodes = left;
  std::swap(g->size, size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The blocks and their graph.
PetscErrorCode GrowBlocks(const RowPattern &A, PetscInt block, Growth *g)
{
  Array<PetscInt> next;
  RowPattern      edges = A;
  PetscInt        before;
  bool            first;

  PetscFunctionBegin;
  g->nodes = A.rows;
  PetscCall(g->of.Allocate(static_cast<size_t>(A.rows), A.space));
  PetscCall(ForEach(A.space, A.rows, NumberRows{g->of.data()}));
  if (block == 1) {
    PetscCall(FindGraph(A, g->of.data(), g));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  do {
    before = g->nodes;
    first  = edges.i == A.i;
    PetscCall(Grow(edges, block, g, &next));
    PetscCall(ForEach(A.space, A.rows, RenumberRows{next.data(), g->of.data()}));
    PetscCall(FindGraph(edges, next.data(), g));
    edges =
        RowPattern{A.space, g->nodes, static_cast<PetscInt>(g->graph.j.size()), g->graph.i.data(), g->graph.j.data()};
  } while (first || before - g->nodes > g->nodes / FEW); // the first round has edges of A, which may go one way
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// colour [nodes] of the blocks, and how many.
PetscErrorCode Colour(Space space, const Growth &g, Array<int> *colour, PetscInt *colours)
{
  int              used[COLOURS] = {};
  Array<int>       used_there;
  std::vector<int> none_yet;

  PetscFunctionBegin;
  PetscCallCXX(none_yet.assign(static_cast<size_t>(g.nodes), -1));
  PetscCall(colour->Take(std::move(none_yet), space));
  PetscCall(used_there.Copy(used, COLOURS, space));
  PetscCall(Rounds(space, [&](unsigned round, unsigned *uncoloured) {
    return ForEach(
        space, g.nodes,
        ColourBlocks{g.graph.i.data(), g.graph.j.data(), round, colour->data(), used_there.data(), uncoloured});
  }));
  PetscCall(used_there.ToHost(used));
  *colours = static_cast<PetscInt>(std::count(used, used + COLOURS, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KeysOfGraph(const RowPattern &A, PetscInt block, RowKeys *keys)
{
  Growth     g;
  Array<int> colour;
  PetscInt   colours = 0;

  PetscFunctionBegin;
  PetscCheck(static_cast<PetscCount>(A.rows) <= MOST_NODES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " rows, more than the %lld that have numbers", A.rows,
             static_cast<long long>(MOST_NODES));
  PetscCall(GrowBlocks(A, block, &g));
  PetscCall(Colour(A.space, g, &colour, &colours));
  PetscCall(keys->Allocate(A.space, A.rows, colours, g.nodes));
  PetscCall(ForEach(A.space, A.rows, KeyOfBlock{g.of.data(), colour.data(), keys->block_bits, keys->key.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
