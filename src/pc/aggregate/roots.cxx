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

static PetscErrorCode KeepUndecided_Host(const State *state, PetscInt *count, Array<PetscInt> *list)
{
  PetscInt *const begin = list->data();

  PetscFunctionBegin;
  *count = static_cast<PetscInt>(
      std::remove_if(begin, begin + *count, [&](PetscInt node) { return state[node] == ROOT || state[node] == OUT; }) -
      begin);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepUndecided(Space space, const State *state, PetscInt *count, Array<PetscInt> *list)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, KeepUndecided_CUDA(state, count, list), KeepUndecided_Host(state, count, list)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindRoots(Space space, const StrongGraph &strong, PetscInt distance, Array<State> *roots,
                         PetscInt *rounds)
{
  const Graph     graph     = strong.graph;
  const size_t    nodes     = static_cast<size_t>(graph.nodes);
  PetscInt        undecided = graph.nodes, open = graph.nodes;
  Array<PetscInt> list, near;
  Array<State>    least;

  PetscFunctionBegin;
  *rounds = 0;
  PetscCall(roots->Allocate(nodes, space));
  PetscCall(list.Allocate(nodes, space));
  PetscCall(near.Allocate(nodes, space)); // nodes next to which there is no root as yet
  PetscCall(least.Allocate(nodes, space));
  State *const state = roots->data();
  PetscCall(ForEach(space, graph.nodes, BeginSearch{strong.alone.data(), state, list.data(), near.data()}));
  PetscCall(KeepUndecided(space, state, &undecided, &list));
  for (unsigned round = 0; undecided > 0; round++, (*rounds)++) {
    if (distance > 1)
      PetscCall(ForEach(space, open, FindLeast(graph, state, near.data(), least.data())));
    else
      PetscCall(ForEach(space, graph.nodes, CopyState{state, least.data()}));
    PetscCall(ForEach(space, undecided, Decide(graph, least.data(), list.data(), round, state)));
    PetscCall(KeepUndecided(space, state, &undecided, &list));
    if (distance > 1 && undecided > 0) PetscCall(KeepUndecided(space, least.data(), &open, &near));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
