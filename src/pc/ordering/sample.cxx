/// The part is around the node in the middle of the numbering, so that a grid's is no strip along its border.
#include "pc/ordering/sample.hpp"
#include <algorithm>
#include <numeric>
#include "pc/ordering/dissection.hpp"
#include "pc/ordering/graph.hpp"

namespace sparsegpu::ordering
{

PetscLogDouble DegreeAgainstLevels(const WeightedGraph &graph)
{
  constexpr PetscInt      PART_OF = 32, LEAST = 10000;
  const SymmetricPattern &A      = graph.pattern;
  const PetscInt          wanted = std::max(A.n / PART_OF, LEAST);
  Indices                 queue, part(A.n, -1), order;

  if (A.n < wanted) return 1;
  queue.assign(1, A.n / 2);
  part[A.n / 2] = 0;
  for (size_t at = 0; at < queue.size() && static_cast<PetscInt>(queue.size()) < wanted; at++)
    for (PetscCount e = A.i[queue[at]]; e < A.i[queue[at] + 1]; e++) {
      if (part[A.j[e]] == 0) continue;
      part[A.j[e]] = 0;
      queue.push_back(A.j[e]);
    }
  if (static_cast<PetscInt>(queue.size()) < wanted) return 1;
  const WeightedGraph G   = std::move(Split(graph, part, 1).front().graph);
  const auto          sum = [&](const Indices &o) {
    const std::vector<PetscLogDouble> flops = NodeFlops(G.pattern, G.weight, o);
    return std::accumulate(flops.begin(), flops.end(), PetscLogDouble(0));
  };
  if (!GetLibrary(LibraryId::Amd).order(G, &order).done) return 1;
  return sum(order) / std::max<PetscLogDouble>(1, sum(ByLevels(G.pattern, 0)));
}

} // namespace sparsegpu::ordering
