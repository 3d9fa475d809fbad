/// Aggregates of the nodes of a matrix.
#include "pc/aggregate/aggregate.hpp"
#include <numeric>
#include <petsc/private/matimpl.h>
#include "device/backend_call.hpp"
#include "mat/rows/running_sum.hpp"
#include "pc/aggregate/operations.hpp"
#include "pc/aggregate/source.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

static PetscErrorCode SortMembers_Host(PetscInt nodes, PetscInt count, const PetscInt *of, Array<PetscInt> *begin,
                                       Array<PetscInt> *members)
{
  std::vector<PetscInt> next;

  PetscFunctionBegin;
  PetscCall(begin->Allocate(static_cast<size_t>(count) + 1, Space::Host));
  for (PetscInt i = 0; i < nodes; i++)
    if (of[i] >= 0) begin->data()[of[i] + 1]++;
  std::partial_sum(begin->data(), begin->data() + count + 1, begin->data());
  PetscCall(members->Allocate(static_cast<size_t>(begin->data()[count]), Space::Host));
  PetscCallCXX(next.assign(begin->data(), begin->data() + count));
  for (PetscInt i = 0; i < nodes; i++)
    if (of[i] >= 0) members->data()[next[static_cast<size_t>(of[i])]++] = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortMembers(Space space, PetscInt nodes, PetscInt count, const PetscInt *of, Array<PetscInt> *begin,
                           Array<PetscInt> *members)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, SortMembers_CUDA(nodes, count, of, begin, members),
                             SortMembers_Host(nodes, count, of, begin, members)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// The aggregates of these roots.
PetscErrorCode Attach(Space space, const StrongGraph &strong, PetscInt distance, const State *state, Aggregates *all)
{
  const size_t    nodes = static_cast<size_t>(all->nodes);
  Array<PetscInt> number, near, root;

  PetscFunctionBegin;
  PetscCall(number.Allocate(nodes + 1, space));
  PetscCall(ForEach(space, all->nodes, FlagRoots{state, number.data()}));
  PetscCall(RunningSumIn(space, all->nodes, &number, &all->count));
  PetscCall(root.Allocate(static_cast<size_t>(all->count), space));
  PetscCall(near.Allocate(nodes, space));
  PetscCall(ForEach(space, all->nodes, AttachNear{strong.graph, state, number.data(), near.data(), root.data()}));
  if (distance == 1) {
    all->of = std::move(near);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(all->of.Allocate(nodes, space));
  PetscCall(ForEach(space, all->nodes, AttachFar{strong.graph, near.data(), root.data(), all->of.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortNodes(Aggregates *all)
{
  PetscFunctionBegin;
  PetscCall(SortMembers(all->space, all->nodes, all->count, all->of.data(), &all->begin, &all->members));
  all->isolated = all->nodes - static_cast<PetscInt>(all->members.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Merge(const Graph &graph, PetscInt smallest, Aggregates *all)
{
  const size_t    before = static_cast<size_t>(all->count);
  PetscInt        after  = 0;
  Array<PetscInt> into, number;

  PetscFunctionBegin;
  PetscCall(into.Allocate(before, all->space));
  PetscCall(number.Allocate(before + 1, all->space));
  PetscCall(ForEach(
      all->space, all->count,
      JoinSmall{graph, smallest, all->of.data(), all->begin.data(), all->members.data(), into.data(), number.data()}));
  PetscCall(RunningSumIn(all->space, all->count, &number, &after));
  if (after == all->count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ForEach(all->space, all->nodes, Renumber{into.data(), number.data(), all->of.data()}));
  all->count = after;
  PetscCall(SortNodes(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(Mat A, const Options &options)
{
  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Aggregates of a matrix of %" PetscInt_FMT " x %" PetscInt_FMT ", which is not square", A->rmap->n,
             A->cmap->n);
  PetscCheck(options.block_size > 0 && A->rmap->n % options.block_size == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Nodes of %" PetscInt_FMT " unknowns in %" PetscInt_FMT " rows: must be positive and divide these",
             options.block_size, A->rmap->n);
  PetscCheck(options.distance == 1 || options.distance == 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Roots more than %" PetscInt_FMT " connections apart: must be 1 or 2", options.distance);
  PetscCheck(static_cast<PetscCount>(A->rmap->n / options.block_size) <= MOST_NODES, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " nodes: at most %lld", A->rmap->n / options.block_size,
             static_cast<long long>(MOST_NODES));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindAggregates(Mat A, const Options &options, Space space, Aggregates *all)
{
  Source       source;
  NodePattern  pattern;
  StrongGraph  strong;
  Array<State> state;

  PetscFunctionBegin;
  PetscCall(Check(A, options));
  PetscCall(source.Take(A, space));
  *all            = Aggregates();
  all->space      = space;
  all->block_size = options.block_size;
  all->nodes      = source.rows.rows / options.block_size;
  PetscCall(FindNodePattern(space, source.rows, options.block_size, &pattern));
  PetscCall(FindStrongGraph(space, source.rows, options, pattern, &strong));
  PetscCall(FindRoots(space, strong, options.distance, &state, &all->rounds));
  PetscCall(Attach(space, strong, options.distance, state.data(), all));
  PetscCall(SortNodes(all));
  if (options.smallest > 1) // until no small one has a large neighbour
    for (PetscInt before = all->count + 1; before > all->count;) {
      before = all->count;
      PetscCall(Merge(strong.graph, options.smallest, all));
    }
  all->strong = std::move(strong.strong);
  all->whole  = pattern.whole;
  PetscCall(PetscInfo(A,
                      "%" PetscInt_FMT " aggregates of %" PetscInt_FMT " nodes, %" PetscInt_FMT
                      " of them in none, in %" PetscInt_FMT " rounds\n",
                      all->count, all->nodes, all->isolated, all->rounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
