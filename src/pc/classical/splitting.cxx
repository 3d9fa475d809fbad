/// Strong couplings as a graph, and rounds of the search for coarse unknowns in it.
#include "pc/classical/splitting.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/transpose.hpp"
#include "pc/aggregate/graph.hpp"
#include "pc/classical/operations.hpp"
#include "pc/classical/system.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::classical
{

namespace
{
/// Strong couplings of an unknown, in the mean, below which these form lines.
constexpr PetscReal LINES = 3;

PetscErrorCode Transpose_Host(PetscInt nodes, StrongGraph *graph)
{
  std::vector<PetscInt> i, j, source;
  const CsrView view{nodes, nodes, static_cast<PetscInt>(graph->j.size()), graph->i.data(), graph->j.data(), nullptr};

  PetscFunctionBegin;
  PetscCall(TransposePattern(view, &i, &j, &source));
  PetscCall(graph->back_i.Take(std::move(i), Space::Host));
  PetscCall(graph->back_j.Take(std::move(j), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindBack(Space space, PetscInt nodes, StrongGraph *graph)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    CsrView         view{nodes, nodes, static_cast<PetscInt>(graph->j.size()), nullptr, nullptr, nullptr};
    Array<PetscInt> source;
    view.device = CsrArrays{graph->i.data(), graph->j.data(), nullptr};
    PetscCall(TransposePattern_CUDA(view, &graph->back_i, &graph->back_j, &source));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(Transpose_Host(nodes, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode ReadOne(Space space, const T *from, T *value)
{
  PetscFunctionBegin;
  if (space == Space::Host) {
    *value = *from;
  } else {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(value, from, sizeof(T), stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Measure(const System &system, PetscReal threshold, PetscReal max_row_sum, StrongGraph *graph)
{
  const size_t nodes = static_cast<size_t>(system.nodes());
  const int    none  = 0;
  Array<int>   unordered;
  int          any = 0;

  PetscFunctionBegin;
  PetscCall(unordered.Copy(&none, 1, system.space()));
  PetscCall(graph->unit.Allocate(nodes, system.space()));
  PetscCall(graph->limit.Allocate(nodes, system.space()));
  PetscCall(ForEach(
      system.space(), system.nodes(),
      MeasureRow{system.rows(), threshold, max_row_sum, graph->unit.data(), graph->limit.data(), unordered.data()}));
  PetscCall(ReadOne(system.space(), unordered.data(), &any));
  graph->ordered = !any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// sums[0]: not 0 where some coupling of this process's unknowns has none back, summed over all processes; [1]: strong
/// couplings of these unknowns; [2]: how many these are.
PetscErrorCode Compress(const System &system, StrongGraph *graph, unsigned long long *sums)
{
  const Space               space = system.space();
  const Strong              strong{system.rows(), graph->unit.data(), graph->limit.data()};
  Array<unsigned long long> hash;
  PetscInt                  all = 0, mine = 0;

  PetscFunctionBegin;
  PetscCall(graph->i.Allocate(static_cast<size_t>(system.nodes()) + 1, space));
  PetscCall(hash.Allocate(static_cast<size_t>(system.nodes()), space));
  PetscCall(ForEach(space, system.nodes(), CountStrong{strong, system.global(), graph->i.data(), hash.data()}));
  PetscCall(RunningSumIn(space, system.nodes(), &graph->i, &all));
  PetscCall(graph->j.Allocate(static_cast<size_t>(all), space));
  PetscCall(
      ForEach(space, system.nodes(), KeepStrong{strong, strong.A.i, strong.A.j, graph->i.data(), graph->j.data()}));
  PetscCall(aggregate::Sum(space, system.nodes(), hash.data(), &sums[0]));
  PetscCall(ReadOne(space, graph->i.data() + system.own(), &mine));
  sums[1] = static_cast<unsigned long long>(mine);
  sums[2] = static_cast<unsigned long long>(system.own());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindStrong(const System &system, PetscReal threshold, PetscReal max_row_sum, StrongGraph *graph)
{
  unsigned long long sums[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(OnAll(system.comm(), [&] { return Measure(system, threshold, max_row_sum, graph); }));
  PetscCall(system.Share(graph->limit.data()));
  PetscCall(OnAll(system.comm(), [&] { return Compress(system, graph, sums); }));
  PetscCall(system.SumUp(sums));
  graph->mean = static_cast<PetscReal>(sums[1]) / static_cast<PetscReal>(PetscMax(sums[2], 1ull));
  if (sums[0]) PetscCall(OnAll(system.comm(), [&] { return FindBack(system.space(), system.nodes(), graph); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KeepUndecided_Host(const State *state, NodeList *list)
{
  PetscInt *const begin = list->nodes.data(), *const end = begin + list->count;

  PetscFunctionBegin;
  const auto decided = [&](PetscInt node) { return state[node] == FINE || state[node] >= FRESH; };
  list->count        = static_cast<PetscInt>(std::remove_if(begin, end, decided) - begin);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepUndecided(Space space, const State *state, NodeList *list)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, KeepUndecided_CUDA(state, list), KeepUndecided_Host(state, list)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
PetscErrorCode Prepare(const System &system, Splitting *s, NodeList *list)
{
  const size_t own = static_cast<size_t>(system.own());

  PetscFunctionBegin;
  PetscCall(s->state.Allocate(static_cast<size_t>(system.nodes()), system.space()));
  PetscCall(s->number.Allocate(PetscMax(static_cast<size_t>(system.nodes()), own + 1), system.space()));
  PetscCall(list->nodes.Allocate(own, system.space()));
  if (system.space() == Space::Device) PetscCall(list->spare.Allocate(own, system.space()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rounds, until no process has undecided unknowns.
PetscErrorCode Search(const System &system, const StrongGraph &graph, bool regular, NodeList *list, Splitting *s)
{
  const Space        space = system.space();
  State *const       state = s->state.data();
  unsigned long long left[1];

  PetscFunctionBegin;
  list->count = system.own();
  PetscCall(OnAll(system.comm(), [&] {
    PetscFunctionBegin;
    PetscCall(
        ForEach(space, system.own(),
                BeginSearch{system.global(), graph.from(), graph.limit.data(), regular, state, list->nodes.data()}));
    PetscCall(KeepUndecided(space, state, list));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(system.Share(state));
  for (s->rounds = 0;; s->rounds++) {
    left[0] = static_cast<unsigned long long>(list->count);
    PetscCall(system.SumUp(left));
    if (left[0] == 0) break;
    PetscCall(ForEach(space, list->count, MarkCoarse{graph.on(), graph.from(), list->nodes.data(), state}));
    PetscCall(system.Share(state));
    PetscCall(ForEach(space, list->count, TakeOut{graph.on(), list->nodes.data(), state}));
    PetscCall(system.Share(state));
    PetscCall(OnAll(system.comm(), [&] { return KeepUndecided(space, state, list); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Count(const System &system, const StrongGraph &graph, Splitting *s)
{
  const Space               space = system.space();
  Array<unsigned long long> flag;
  unsigned long long        isolated = 0, sums[3];
  PetscInt                  before   = 0;

  PetscFunctionBegin;
  PetscCall(OnAll(system.comm(), [&] {
    PetscFunctionBegin;
    PetscCall(flag.Allocate(static_cast<size_t>(system.own()), space));
    PetscCall(ForEach(space, system.own(), FlagIsolated{graph.limit.data(), flag.data()}));
    PetscCall(aggregate::Sum(space, system.own(), flag.data(), &isolated));
    PetscCall(ForEach(space, system.own(), FlagCoarse{s->state.data(), s->number.data()}));
    PetscCall(RunningSumIn(space, system.own(), &s->number, &s->own));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallMPI(MPI_Scan(&s->own, &before, 1, MPIU_INT, MPI_SUM, system.comm()));
  s->first = before - s->own;
  sums[0]  = static_cast<unsigned long long>(s->own);
  sums[1]  = isolated;
  sums[2]  = static_cast<unsigned long long>(system.own());
  PetscCall(system.SumUp(sums));
  s->all      = static_cast<PetscInt>(sums[0]);
  s->isolated = static_cast<PetscInt>(sums[1]);
  s->of       = static_cast<PetscInt>(sums[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Split(const System &system, const StrongGraph &graph, PetscReal most_regular, Splitting *s)
{
  NodeList list;

  PetscFunctionBegin;
  PetscCall(OnAll(system.comm(), [&] { return Prepare(system, s, &list); }));
  for (bool regular : {graph.symmetric(), false}) {
    PetscCall(Search(system, graph, regular, &list, s));
    PetscCall(Count(system, graph, s));
    const bool lines = graph.mean < LINES;
    if (!regular || !lines || static_cast<PetscReal>(s->all) <= most_regular * static_cast<PetscReal>(s->of)) break;
  }
  PetscCall(ForEach(system.space(), system.own(), NumberCoarse{s->state.data(), s->first, s->number.data()}));
  PetscCall(system.Share(s->number.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
