static const char help[] =
    "What orders make factorizations cost: predictions against an elimination, and chains of pivots, which cost time on\n"
    "a device and none on the host.\n\n";

#include "graphs.hpp"
#include "../family.hpp"
#include "pc/ordering/graph.hpp"
#include "pc/ordering/leastfill.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace testing;
using sparsegpu::Space;
using sparsegpu::ordering::Cost;
using sparsegpu::ordering::CostsOf;
using sparsegpu::ordering::LeastFill;
using sparsegpu::ordering::LeastFillReport;
using sparsegpu::ordering::Seconds;
using sparsegpu::ordering::WeightedGraph;
using sparsegpu::symbolic::NodeFlops;

/// Operations of an elimination whose fill is found edge by edge. *height: of the longest chain that ends with a node,
/// where each node waits for all neighbours that come before it.
static std::vector<double> FlopsByElimination(const SymmetricPattern &A, const Indices &order, Indices *height)
{
  std::vector<std::set<PetscInt>> later((size_t)A.n);
  std::vector<double>             flops((size_t)A.n);
  Indices                         place((size_t)A.n), before((size_t)A.n, 0);
  height->assign((size_t)A.n, 0);
  for (PetscInt k = 0; k < A.n; ++k) place[(size_t)order[(size_t)k]] = k;
  for (PetscInt k = 0; k < A.n; ++k)
    for (PetscCount e = A.i[(size_t)k]; e < A.i[(size_t)k + 1]; ++e)
      if (place[(size_t)A.j[(size_t)e]] > place[(size_t)k])
        later[(size_t)place[(size_t)k]].insert(place[(size_t)A.j[(size_t)e]]);
  for (PetscInt k = 0; k < A.n; ++k) {
    const double others                 = (double)later[(size_t)k].size();
    flops[(size_t)order[(size_t)k]]     = others + 2 * others * others;
    (*height)[(size_t)order[(size_t)k]] = before[(size_t)k] + 1;
    for (const PetscInt l : later[(size_t)k]) before[(size_t)l] = std::max(before[(size_t)l], before[(size_t)k] + 1);
    if (later[(size_t)k].empty()) continue;
    const PetscInt next = *later[(size_t)k].begin();
    later[(size_t)next].insert(std::next(later[(size_t)k].begin()), later[(size_t)k].end());
  }
  return flops;
}

static PetscErrorCode Compare(const std::string &what, double got, double expected)
{
  PetscFunctionBeginUser;
  PetscCheck(got == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g predicted, not %g", what.c_str(), got, expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All numbers are integers below 2^53, so that sums are exact: predictions equal those of an elimination.
static PetscErrorCode Predictions()
{
  PetscFunctionBeginUser;
  for (const Graph &g : Graphs()) {
    if (g.pattern.n > 3000) continue;
    const PetscInt n = g.pattern.n;
    const Indices  ones((size_t)n, 1);
    Indices        order((size_t)n), weight((size_t)n), height, predicted;
    std::mt19937   generator(3);
    std::iota(order.begin(), order.end(), 0);
    for (PetscInt k = n; k > 1; --k) std::swap(order[(size_t)k - 1], order[generator() % (size_t)k]);
    PetscCheck(NodeFlops(g.pattern, ones, order, &predicted) == FlopsByElimination(g.pattern, order, &height),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: predicted operations differ from those of an elimination",
               g.name.c_str());
    PetscCheck(predicted == height, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: predicted chains differ", g.name.c_str());
    for (PetscInt k = 0; k < n; ++k) weight[(size_t)k] = 1 + k % 3;
    const SymmetricPattern expanded = sparsegpu::ordering::Expanded({g.pattern, weight});
    Indices                first(1, 0), all;
    for (const PetscInt w : weight) first.push_back(first.back() + w);
    for (const PetscInt k : order)
      for (PetscInt u = first[(size_t)k]; u < first[(size_t)k + 1]; ++u) all.push_back(u);
    const double expected = Sum(FlopsByElimination(expanded, all, &height));
    PetscCall(
        Compare(g.name + " with weights: operations", Sum(NodeFlops(g.pattern, weight, order, &predicted)), expected));
    for (PetscInt k = 0; k < n; ++k)
      PetscCall(Compare(g.name + " with weights: chain", (double)predicted[(size_t)k],
                        (double)height[(size_t)first[(size_t)k + 1] - 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is told of an order is what it costs, in either space; and where all candidates are tried, the order for a
/// space costs no more there than the one for the other, on connected graphs.
static PetscErrorCode Told()
{
  PetscFunctionBeginUser;
  for (const Graph &g : Graphs()) {
    const WeightedGraph graph = Weighted(g, 1);
    const Indices       component((size_t)g.pattern.n, 0);
    Cost                costs[2];
    PetscInt            components = 0;
    for (const Space space : {Space::Host, Space::Device}) {
      LeastFillReport report;
      Indices         order;
      PetscCall(LeastFill(g.pattern, (PetscReal)1e12, space, &order, &report));
      components = report.dense > 0 ? 0 : report.components;
      if (components == 0) continue;
      const Cost cost                     = CostsOf(graph, component, 1, order).front();
      costs[space == Space::Host ? 0 : 1] = report.cost;
      PetscCall(Compare(g.name + ": operations", (double)report.cost.flops, (double)cost.flops));
      PetscCall(Compare(g.name + ": chain", (double)report.cost.height, (double)cost.height));
    }
    if (components != 1) continue;
    PetscCheck(Seconds(Space::Host, costs[0]) <= Seconds(Space::Host, costs[1]) &&
                   Seconds(Space::Device, costs[1]) <= Seconds(Space::Device, costs[0]),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: on the host %g operations, chain %d; on a device %g, %d",
               g.name.c_str(), (double)costs[0].flops, (int)costs[0].height, (double)costs[1].flops,
               (int)costs[1].height);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Minimum degree eliminates a band from its ends: no fill, and every unknown waits for the one before it. On a device
/// chains are logarithmic, at a few times the operations.
static PetscErrorCode Bands()
{
  PetscFunctionBeginUser;
  for (const PetscInt width : {1, 2, 5})
    for (const PetscInt n : {300, 5000, 120000}) {
      std::vector<std::pair<PetscInt, PetscInt>> edges;
      for (PetscInt k = 0; k < n; ++k)
        for (PetscInt l = k + 1; l <= k + width && l < n; ++l) edges.emplace_back(k, l);
      const Graph     g = Make("band", n, edges);
      LeastFillReport host, device;
      Indices         order;
      PetscCall(LeastFill(g.pattern, 100, Space::Host, &order, &host));
      PetscCall(LeastFill(g.pattern, 100, Space::Device, &order, &device));
      const double chain = 4 * (double)width * std::log2((double)n);
      PetscCheck((double)device.cost.height <= chain && device.cost.flops <= 12 * host.cost.flops, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB,
                 "%d unknowns, %d neighbours a side: chain %d, at most %g; %g operations, %g on the host", (int)n,
                 (int)width, (int)device.cost.height, chain, (double)device.cost.flops, (double)host.cost.flops);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"predictions", Predictions}, {"told", Told}, {"bands", Bands}});
}
