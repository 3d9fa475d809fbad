/// What is tried is decided by predicted operations, never by a clock: the same order on every run.
#include "pc/ordering/search.hpp"
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include "device/cublas.hpp"
#include "pc/ordering/cores.hpp"
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
/// Nodes from which on a thread of its own pays: orderings of so many take a millisecond.
constexpr PetscInt MANY_NODES = 2000;
/// Nodes of a connected graph from which on a part of it tells first whether minimum degree, the slower one, may be the
/// better, and the share of the operations of dissection by levels from which on it is not: on grids the share grows
/// with the grid.
constexpr PetscInt       TOLD_BY_A_PART = 100000;
constexpr PetscLogDouble MORE           = 1.1;
/// PETSc's minimum degree takes long where nodes have many neighbours, or are many.
constexpr PetscInt  QMD_NODES = 100000, QMD_ANY = 5000;
constexpr PetscReal QMD_NEIGHBOURS = 5;

/// Seconds of a dissection by levels for an entry of the graph.
constexpr double LEVEL_SECONDS = 0.2e-6;
/// Operations in METIS's order as a part of those of minimum degree, typical of graphs with large fronts; and the
/// longest chain, typical of all.
constexpr double DISSECTION_GAIN = 0.4, SHORTER = 0.5;

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

Search::Search(const WeightedGraph &graph, const Indices &component, PetscInt components, PetscReal factorizations,
               Space space)
    : graph_(graph),
      component_(component),
      components_(components),
      factorizations_(factorizations),
      space_(space),
      winner_(components, -1),
      least_(components),
      degree_(components),
      entries_(components, 0)
{
  for (PetscInt k = 0; k < graph.pattern.n; k++)
    entries_[component[k]] += 1 + static_cast<double>(graph.pattern.i[k + 1] - graph.pattern.i[k]);
}

Search::Found Search::Evaluate(Outcome outcome, Indices &&order) const
{
  Found found{outcome, std::move(order), {}};
  if (outcome.done) found.costs = CostsOf(graph_, component_, components_, found.order);
  return found;
}

/// Whether a component has no order yet, or one that is expected to take longer.
bool Search::Better(const Cost &cost, PetscInt c) const
{
  return winner_[c] < 0 || Seconds(space_, cost) < Seconds(space_, least_[c]);
}

/// Each component where the candidate is better than the best so far is its own.
void Search::Take(const char name[], Found &&found)
{
  const PetscInt mine = static_cast<PetscInt>(candidates_.size());
  Candidate      candidate;
  candidate.name = name;
  candidate.why  = found.outcome.why;
  for (PetscInt c = 0; c < components_ && found.outcome.done; c++) {
    candidate.tried++;
    candidate.cost.Add(found.costs[c]);
    if (!Better(found.costs[c], c)) continue;
    winner_[c] = mine;
    least_[c]  = found.costs[c];
  }
  candidates_.push_back(candidate);
  orders_.push_back(std::move(found.order));
}

/// [components] Seconds of a factorization that shorter chains can be expected to gain. Those of all components run
/// beside each other: short ones gain nothing, and long ones together what one would, each by its size.
std::vector<double> Search::ChainGains() const
{
  std::vector<double> gains(components_, 0);
  const PetscInt      longest = Total().height, shorter = static_cast<PetscInt>(SHORTER * longest);
  double              entries = 0;
  const auto          is_long = [&](PetscInt c) { return winner_[c] >= 0 && least_[c].height > shorter; };
  for (PetscInt c = 0; c < components_; c++)
    if (is_long(c)) entries += entries_[c];
  for (PetscInt c = 0; c < components_; c++)
    if (is_long(c)) gains[c] = ChainSeconds(space_, longest - shorter) * entries_[c] / entries;
  return gains;
}

/// Whether a component has no order yet, or one that takes many operations, or long because of a chain.
bool Search::WorthMore() const
{
  const std::vector<double> gains = ChainGains();
  for (PetscInt c = 0; c < components_; c++) {
    if (winner_[c] < 0 || factorizations_ * least_[c].flops > FEW_FLOPS * entries_[c]) return true;
    if (static_cast<double>(factorizations_) * gains[c] > LEVEL_SECONDS * entries_[c]) return true;
  }
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
  const bool both = wide && !levels_alone_ && Cores() > 1;
  if (both) {
    PetscCallCXX(other = Start(find_degree));
    dissect();
    if (other.joinable()) other.join();
  } else if (amd.built && !levels_alone_) {
    find_degree();
  }
  if (amd.built && !levels_alone_ && !lacks_memory) {
    degree_ = degree.costs;
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

/// Whether factorizations can be expected to gain more time than a dissection by METIS takes; `chain`: ChainGains().
bool Search::DissectionPays(PetscInt c, double chain) const
{
  // the chains of a good dissection by levels are short: one of a grid, where minimum degree is no better
  const bool levels = !strcmp(candidates_[winner_[c]].name, MATORDERINGND) &&
                      (degree_[c].flops <= 0 || least_[c].flops <= MORE * degree_[c].flops);
  const PetscLogDouble least    = least_[c].flops;
  const PetscLogDouble expected = std::min(least, DISSECTION_GAIN * (degree_[c].flops > 0 ? degree_[c].flops : least));
  const double         gain     = FlopSeconds(space_, least) - FlopSeconds(space_, expected) + (levels ? 0 : chain);
  return static_cast<double>(factorizations_) * gain > DissectionSeconds(space_) * entries_[c];
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
    const Cost cost = CostsOf(split[p].graph, Indices(split[p].graph.pattern.n, 0), 1, order).front();
    candidate.tried++;
    candidate.cost.Add(cost);
    if (!Better(cost, c)) continue;
    winner_[c] = mine;
    least_[c]  = cost;
    for (const PetscInt k : order) all.push_back(split[p].node[k]);
  }
  candidates_.push_back(candidate);
  orders_.push_back(std::move(all));
}

/// Operations from which on factors on a GPU have fronts that need cuBLAS.
constexpr PetscLogDouble LARGE_FRONTS = 2e9;

/// METIS, or SCOTCH where there is no METIS: its orders are similar, and take longer to find. Not where levels are
/// good enough to leave minimum degree out: such graphs are grids, whose levels are the better separators.
PetscErrorCode Search::RunDissection()
{
  std::vector<double> chains;
  Indices             number(components_, -1);
  PetscInt            parts = 0;

  PetscFunctionBegin;
  PetscCallCXX(chains = ChainGains());
  for (PetscInt c = 0; c < components_ && !levels_alone_; c++)
    if (DissectionPays(c, chains[c])) number[c] = parts++;
  if (parts == 0) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  const CublasBeside beside(space_ == Space::Device && Cores() > 1 && Total().flops > LARGE_FRONTS);
#endif
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

Cost Search::Total() const
{
  Cost total;
  for (const Cost &cost : least_) total.Add(cost);
  return total;
}

} // namespace sparsegpu::ordering
