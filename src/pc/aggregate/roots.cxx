/// Nodes that are more than one or two connections apart, as many as fit: each round makes those roots whose priority
/// is the lowest within that distance, and takes all others within that distance of a root out. Priorities are new in
/// each round, which takes fewer rounds: Kelley & Rajamanickam, IPDPS 2022. Integers alone decide: all backends agree.
#include <algorithm>
#include "device/backend_call.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

static PetscErrorCode KeepUndecided_Host(NodeList *a, NodeList *b)
{
  PetscFunctionBegin;
  for (NodeList *list : {a, b}) {
    PetscInt *const begin = list->nodes.data(), *const end = begin + list->count;
    const auto decided = [&](PetscInt node) { return list->state[node] == ROOT || list->state[node] == OUT; };
    list->count        = static_cast<PetscInt>(std::remove_if(begin, end, decided) - begin);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepUndecided(Space space, NodeList *a, NodeList *b)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, KeepUndecided_CUDA(a, b), KeepUndecided_Host(a, b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindRoots(Space space, const StrongGraph &strong, PetscInt distance, Array<State> *roots,
                         PetscInt *rounds)
{
  const Graph  graph = strong.graph;
  const size_t nodes = static_cast<size_t>(graph.nodes);
  Array<State> least;
  NodeList     undecided, open; // nodes; those next to which there is no root as yet

  PetscFunctionBegin;
  *rounds = 0;
  PetscCall(roots->Allocate(nodes, space));
  PetscCall(least.Allocate(nodes, space));
  State *const state = roots->data();
  undecided.state    = state;
  open.state         = distance > 1 ? least.data() : state;
  for (NodeList *list : {&undecided, &open}) {
    list->count = graph.nodes;
    PetscCall(list->nodes.Allocate(nodes, space));
    if (space == Space::Device) PetscCall(list->spare.Allocate(nodes, space));
  }
  PetscCall(
      ForEach(space, graph.nodes, BeginSearch{strong.alone.data(), state, undecided.nodes.data(), open.nodes.data()}));
  for (unsigned round = 0; undecided.count > 0; round++, (*rounds)++) {
    if (distance > 1)
      PetscCall(ForEach(space, open.count, FindLeast(graph, state, open.nodes.data(), least.data())));
    else
      PetscCall(ForEach(space, graph.nodes, CopyState{state, least.data()}));
    PetscCall(ForEach(space, undecided.count, Decide(graph, least.data(), undecided.nodes.data(), round, state)));
    PetscCall(KeepUndecided(space, &undecided, &open));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
