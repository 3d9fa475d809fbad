/// Constants are rounded figures of measurements, not of a machine that runs: the order is the same on all.
#include "pc/ordering/cost.hpp"
#include <algorithm>
#include <cmath>

namespace sparsegpu::ordering
{

namespace
{
/// Fronts grow with the operations, and so does the speed. On one H100 LU of 3e8 to 1.4e12 operations takes 0.2 to 200
/// ms, beside which an unknown of the longest chain takes 1.4 to 2.2 us, of which a solve has half: fronts that wait
/// for their children, and pivots that wait for each other. On the host nothing waits. A program that factors there
/// does so fewer times: seconds of the first GPU version, which try slow orderings as rarely as it did. A dissection
/// takes 0.2e-6 to 0.7e-6 s for a node or an edge on one core, half of that in threads.
struct Model {
  double scale, power, unknown, dissection;
};
constexpr Model  HOST = {0.24, 0.57, 0, 0.8e-6}, DEVICE = {0.2, 0.8, 1.8e-6, 0.3e-6};
constexpr double FLOPS = 1.4e12; ///< those of `scale`

const Model &ModelOf(Space space)
{
  return space == Space::Host ? HOST : DEVICE;
}
} // namespace

std::vector<Cost> CostsOf(const WeightedGraph &graph, const Indices &component, PetscInt components,
                          const Indices &order)
{
  std::vector<Cost>                 costs(components);
  Indices                           height;
  const std::vector<PetscLogDouble> flops = NodeFlops(graph.pattern, graph.weight, order, &height);
  for (PetscInt k = 0; k < graph.pattern.n; k++) {
    Cost &cost = costs[component[k]];
    cost.flops += flops[k];
    cost.height = std::max(cost.height, height[k]);
  }
  return costs;
}

double FlopSeconds(Space space, PetscLogDouble flops)
{
  const Model &m = ModelOf(space);
  return m.scale * std::pow(flops / FLOPS, m.power);
}

double ChainSeconds(Space space, PetscInt height)
{
  return ModelOf(space).unknown * static_cast<double>(height);
}

double Seconds(Space space, const Cost &cost)
{
  return FlopSeconds(space, cost.flops) + ChainSeconds(space, cost.height);
}

double DissectionSeconds(Space space)
{
  return ModelOf(space).dissection;
}

} // namespace sparsegpu::ordering
