/// What is tried is decided by predicted operations, never by a clock: the same order on every run.
#include "pc/ordering/search.hpp"
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>
#include "pc/ordering/dissection.hpp"
#include "pc/ordering/matrix.hpp"
#include "pc/ordering/sample.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

namespace
{
/// Operations of all factorizations, for each entry of the graph, below which a second ordering as fast as minimum
/// degree gains less than it costs: 2,000 for each of a hundred.
constexpr PetscLogDouble FEW_FLOPS = 2e5;
/// Nodes from which on a thread of its own pays.
constexpr PetscInt MANY_NODES = 20000;
/// Nodes of a connected graph from which on a part of it tells first whether minimum degree, the slower one, may be the
/// better, and the share of the operations of dissection by levels from which on it is not: on grids the share grows
/// with the grid.
constexpr PetscInt       TOLD_BY_A_PART = 100000;
constexpr PetscLogDouble MORE           = 1.1;
/// PETSc's minimum degree takes long where nodes have many neighbours, or are many.
constexpr PetscInt  QMD_NODES = 100000, QMD_ANY = 5000;
constexpr PetscReal QMD_NEIGHBOURS = 5;

/// Seconds of a factorization with so many operations on a GPU. Fronts grow with the operations, and so does the speed:
/// 2e11 to 6e12 operations a second for 7e8 to 1e12 operations, measured on one H200.
double FactorSeconds(PetscLogDouble flops)
{
  return 0.24 * std::pow(flops / 1.4e12, 0.57);
}
/// Seconds of METIS's nested dissection for an entry of the graph: 0.55 to 0.9e-6 on one core of an EPYC server.
constexpr double DISSECTION_SECONDS = 0.8e-6;
/// Operations in METIS's order as a part of those of minimum degree, typical of graphs with large fronts.
constexpr double DISSECTION_GAIN = 0.4;

/// Runs `call`, in a thread where one can be had, and returns what joins it.
template <class F> std::thread Start(F call)
{
  try {
    return std::thread(call);
  } catch (const std::system_error &) { // none left
    call();
    return std::thread();
  }
}
} // namespace

Search::Search(const WeightedGraph &graph, const Indices &component, PetscInt components, PetscReal factorizations)
    : graph_(graph),
      component_(component),
      components_(components),
      factorizations_(factorizations),
      winner_(components, -1),
      least_(components, 0),
      degree_(components, 0),
      entries_(components, 0)
{
  for (PetscInt k = 0; k < graph.pattern.n; k++)
    entries_[component[k]] += 1 + static_cast<double>(graph.pattern.i[k + 1] - graph.pattern.i[k]);
}

Search::Found Search::Evaluate(Outcome outcome, Indices &&order) const
{
  Found found{outcome, std::move(order), std::vector<PetscLogDouble>(components_, 0)};
  if (!outcome.done) return found;
  const std::vector<PetscLogDouble> flops = NodeFlops(graph_.pattern, graph_.weight, found.order);
  for (PetscInt k = 0; k < graph_.pattern.n; k++) found.flops[component_[k]] += flops[k];
  return found;
}

/// Each component where the candidate takes fewer operations than the best so far is its own.
void Search::Take(const char name[], Found &&found)
{
  const PetscInt mine = static_cast<PetscInt>(candidates_.size());
  Candidate      candidate;
  candidate.name = name;
  candidate.why  = found.outcome.why;
  for (PetscInt c = 0; c < components_ && found.outcome.done; c++) {
    candidate.tried++;
    candidate.flops += found.flops[c];
    if (winner_[c] >= 0 && !(found.flops[c] < least_[c])) continue;
    winner_[c] = mine;
    least_[c]  = found.flops[c];
  }
  candidates_.push_back(candidate);
  orders_.push_back(std::move(found.order));
}

/// Whether a component has no order yet, or one that takes many operations.
bool Search::WorthMore() const
{
  for (PetscInt c = 0; c < components_; c++)
    if (winner_[c] < 0 || factorizations_ * least_[c] > FEW_FLOPS * entries_[c]) return true;
  return false;
}

PetscErrorCode Search::RunPetsc(const char type[])
{
  Indices order;

  PetscFunctionBegin;
  PetscCall(OrderByPetsc(graph_.pattern, type, &order));
  PetscCallCXX(Take(type, Evaluate({true, ""}, std::move(order))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Minimum degree and nested dissection by level structures, which is good for grids, the former in a thread.
PetscErrorCode Search::RunFast()
{
  const Library    &amd  = GetLibrary(LibraryId::Amd);
  const PetscInt    n    = graph_.pattern.n;
  const bool        wide = amd.built && factorizations_ > 0 && n >= MANY_NODES;
  PetscLogDouble    part = 1; // DegreeAgainstLevels()
  std::atomic<bool> lacks_memory{false};
  Found             degree, dissected;
  std::thread       other;

  PetscFunctionBegin;
  const auto guarded = [&](auto call) {
    try {
      call();
    } catch (const std::exception &) {
      lacks_memory = true;
    }
  };
  const auto find_degree = [&] {
    guarded([&] {
      Indices       mine;
      const Outcome outcome = amd.order(graph_, &mine);
      degree                = Evaluate(outcome, std::move(mine));
    });
  };
  const auto dissect = [&] { guarded([&] { dissected = Evaluate({true, ""}, ByLevels(graph_.pattern, 0)); }); };
  if (wide && components_ == 1 && n >= TOLD_BY_A_PART) guarded([&] { part = DegreeAgainstLevels(graph_); });
  levels_alone_   = part > MORE;
  const bool both = wide && !levels_alone_ && std::thread::hardware_concurrency() > 1;
  if (both) {
    PetscCallCXX(other = Start(find_degree));
    dissect();
    if (other.joinable()) other.join();
  } else if (amd.built && !levels_alone_) {
    find_degree();
  }
  if (amd.built && !levels_alone_ && !lacks_memory) {
    degree_ = degree.flops;
    PetscCallCXX(Take(amd.type, std::move(degree)));
  }
  if (!lacks_memory && WorthMore()) {
    if (!both) dissect();
    if (!lacks_memory) PetscCallCXX(Take(MATORDERINGND, std::move(dissected)));
  }
  PetscCheck(!lacks_memory, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the orderings of %" PetscInt_FMT " nodes",
             n);
  const PetscReal neighbours = static_cast<PetscReal>(graph_.pattern.j.size()) / PetscMax(1, n);
  if (!amd.built && (n <= QMD_ANY || (n <= QMD_NODES && neighbours <= QMD_NEIGHBOURS)) && WorthMore())
    PetscCall(RunPetsc(MATORDERINGQMD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether factorizations can be expected to gain more time than a dissection by METIS takes.
bool Search::DissectionPays(PetscInt c) const
{
  const PetscLogDouble expected = DISSECTION_GAIN * (degree_[c] > 0 ? degree_[c] : least_[c]);
  if (!(expected < least_[c])) return false;
  const double gain = FactorSeconds(least_[c]) - FactorSeconds(expected);
  return static_cast<double>(factorizations_) * gain > DISSECTION_SECONDS * entries_[c];
}

void Search::Dissect(const Library &library, const Indices &number, PetscInt parts)
{
  Indices part(graph_.pattern.n, -1), of(parts);
  for (PetscInt k = 0; k < graph_.pattern.n; k++) part[k] = number[component_[k]];
  for (PetscInt c = 0; c < components_; c++)
    if (number[c] >= 0) of[number[c]] = c;
  const std::vector<Part> split = Split(graph_, part, parts);
  const PetscInt          mine  = static_cast<PetscInt>(candidates_.size());
  Candidate               candidate;
  Indices                 all;
  candidate.name = library.type;
  for (PetscInt p = 0; p < parts; p++) {
    const PetscInt c = of[p];
    Indices        order;
    const Outcome  outcome = library.order(split[p].graph, &order);
    if (!outcome.done) {
      candidate.why = outcome.why;
      continue;
    }
    const std::vector<PetscLogDouble> node_flops = NodeFlops(split[p].graph.pattern, split[p].graph.weight, order);
    const PetscLogDouble              flops = std::accumulate(node_flops.begin(), node_flops.end(), PetscLogDouble(0));
    candidate.tried++;
    candidate.flops += flops;
    if (!(flops < least_[c])) continue;
    winner_[c] = mine;
    least_[c]  = flops;
    for (const PetscInt k : order) all.push_back(split[p].node[k]);
  }
  candidates_.push_back(candidate);
  orders_.push_back(std::move(all));
}

/// METIS, or SCOTCH where there is no METIS: its orders are similar, and take longer to find. Not where levels are
/// good enough to leave minimum degree out: such graphs are grids, whose levels are the better separators.
PetscErrorCode Search::RunDissection()
{
  Indices  number(components_, -1);
  PetscInt parts = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < components_ && !levels_alone_; c++)
    if (DissectionPays(c)) number[c] = parts++;
  if (parts == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (const LibraryId id : {LibraryId::Metis, LibraryId::Scotch}) {
    const Library &library = GetLibrary(id);
    if (!library.built) continue;
    PetscCallCXX(Dissect(library, number, parts));
    if (candidates_.back().tried == parts) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Search::Run()
{
  PetscFunctionBegin;
  if (graph_.pattern.n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RunFast());
  PetscCall(RunDissection());
  for (const PetscInt winner : winner_) candidates_[winner].taken++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

Indices Search::Order() const
{
  Indices order;
  order.reserve(graph_.pattern.n);
  for (size_t c = 0; c < orders_.size(); c++)
    for (const PetscInt k : orders_[c])
      if (winner_[component_[k]] == static_cast<PetscInt>(c)) order.push_back(k);
  return order;
}

PetscLogDouble Search::Flops() const
{
  return std::accumulate(least_.begin(), least_.end(), PetscLogDouble(0));
}

} // namespace sparsegpu::ordering
