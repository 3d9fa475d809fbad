/// What is tried is decided by predicted operations, never by a clock: the same order on every run.
#include "pc/ordering/search.hpp"
#include <cstring>
#include "device/cublas.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

namespace
{
/// Operations of all factorizations, for each entry of the graph, below which a second ordering as fast as minimum
/// degree gains less than it costs: 2,000 for each of a hundred.
constexpr PetscLogDouble FEW_FLOPS = 2e5;
/// Seconds of a dissection by levels for an entry of the graph.
constexpr double LEVEL_SECONDS = 0.2e-6;
/// Operations in METIS's order as a part of those of minimum degree, typical of graphs with large fronts; and the
/// longest chain, typical of all.
constexpr double DISSECTION_GAIN = 0.4, SHORTER = 0.5;
} // namespace

Search::Search(const WeightedGraph &graph, const Indices &component, PetscInt components, PetscReal factorizations,
               Space space, int cores)
    : graph_(graph),
      component_(component),
      components_(components),
      factorizations_(factorizations),
      space_(space),
      cores_(cores),
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

/// metis: it is the library.
void Search::Dissect(const Library &library, const Indices &number, PetscInt parts, bool metis)
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
    const PetscInt c     = of[p];
    const bool     begun = metis && c == ahead_.component;
    Indices        order;
    const Outcome  outcome = begun ? ahead_.outcome : library.order(split[p].graph, &order);
    if (begun) order = std::move(ahead_.order);
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
  CublasBeside beside(space_ == Space::Device && cores_ > 1);
  if (Total().flops > LARGE_FRONTS) beside.Begin();
#endif
  for (const LibraryId id : {LibraryId::Metis, LibraryId::Scotch}) {
    const Library &library = GetLibrary(id);
    if (!library.built) continue;
    PetscCallCXX(Dissect(library, number, parts, id == LibraryId::Metis));
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
