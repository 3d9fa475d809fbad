/// Graphs that are hard to order, or whose good orders are known.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>
#include "../testing.hpp"
#include "pc/ordering/graph.hpp"
#include "pc/symbolic/elimination.hpp"

namespace testing
{

using sparsegpu::ordering::WeightedGraph;
using sparsegpu::symbolic::Indices;
using sparsegpu::symbolic::SymmetricPattern;

struct Graph {
  std::string      name;
  SymmetricPattern pattern;
};

inline Graph Make(const std::string &name, PetscInt n, const std::vector<std::pair<PetscInt, PetscInt>> &edges)
{
  std::vector<std::set<PetscInt>> neighbours((size_t)n);
  Graph                           g{name, {}};
  for (const auto &edge : edges) {
    neighbours[(size_t)edge.first].insert(edge.second);
    neighbours[(size_t)edge.second].insert(edge.first);
  }
  g.pattern.n = n;
  g.pattern.i.assign(1, 0);
  for (const auto &row : neighbours) {
    g.pattern.j.insert(g.pattern.j.end(), row.begin(), row.end());
    g.pattern.i.push_back((PetscCount)g.pattern.j.size());
  }
  return g;
}

/// A k x k grid with five-point stencil and `unknowns` for each point, all of them coupled; `copies` of it; `dense`
/// more unknowns that are coupled with all others.
inline Graph Grid(const std::string &name, PetscInt k, PetscInt unknowns = 1, PetscInt copies = 1, PetscInt dense = 0)
{
  std::vector<std::pair<PetscInt, PetscInt>> edges;
  const PetscInt                             n      = k * k * unknowns * copies;
  const auto                                 couple = [&](PetscInt p, PetscInt q) {
    for (PetscInt a = 0; a < unknowns; ++a)
      for (PetscInt b = 0; b < unknowns; ++b)
        if (p != q || a != b) edges.emplace_back(p * unknowns + a, q * unknowns + b);
  };
  for (PetscInt c = 0; c < copies; ++c)
    for (PetscInt y = 0; y < k; ++y)
      for (PetscInt x = 0; x < k; ++x) {
        const PetscInt p = (c * k + y) * k + x;
        couple(p, p);
        if (x + 1 < k) couple(p, p + 1);
        if (y + 1 < k) couple(p, p + k);
      }
  for (PetscInt d = 0; d < dense; ++d)
    for (PetscInt p = 0; p < n + d; ++p) edges.emplace_back(p, n + d);
  return Make(name, n + dense, edges);
}

inline Graph Random(PetscInt n, PetscInt edges_wanted, unsigned seed)
{
  std::vector<std::pair<PetscInt, PetscInt>> edges;
  std::mt19937                               generator(seed);
  for (PetscInt e = 0; e < edges_wanted; ++e) {
    const PetscInt a = (PetscInt)(generator() % (unsigned)n), b = (PetscInt)(generator() % (unsigned)n);
    if (a != b) edges.emplace_back(a, b);
  }
  return Make("random " + std::to_string(n), n, edges);
}

inline Graph Complete(PetscInt n)
{
  std::vector<std::pair<PetscInt, PetscInt>> edges;
  for (PetscInt a = 0; a < n; ++a)
    for (PetscInt b = 0; b < a; ++b) edges.emplace_back(a, b);
  return Make("complete", n, edges);
}

inline double Sum(const std::vector<double> &values)
{
  return std::accumulate(values.begin(), values.end(), 0.0);
}

inline std::vector<Graph> Graphs()
{
  return {Make("empty", 0, {}),
          Make("one", 1, {}),
          Make("diagonal", 500, {}),
          Make("pair and loner", 3, {{0, 2}}),
          Grid("star", 0, 1, 1, 1),
          Make("star of 400", 401,
               [] {
                 std::vector<std::pair<PetscInt, PetscInt>> edges;
                 for (PetscInt k = 0; k < 400; ++k) edges.emplace_back(k, 400);
                 return edges;
               }()),
          Complete(40),
          Grid("grid", 30),
          Grid("three unknowns a point", 12, 3),
          Grid("grids", 9, 1, 20),
          Grid("grids and dense rows", 25, 1, 4, 2),
          Random(300, 500, 1),
          Random(2000, 9000, 2),
          Grid("enough for threads", 150)};
}

/// Nodes that weigh 1 to `weights` in turn.
inline WeightedGraph Weighted(const Graph &g, PetscInt weights)
{
  WeightedGraph graph{g.pattern, Indices((size_t)g.pattern.n, 1)};
  for (PetscInt k = 0; k < g.pattern.n; ++k) graph.weight[(size_t)k] = 1 + k % weights;
  return graph;
}

inline PetscErrorCode CheckPermutation(const std::string &what, PetscInt n, const Indices &order)
{
  Indices sorted = order, natural((size_t)n);

  PetscFunctionBeginUser;
  std::iota(natural.begin(), natural.end(), 0);
  std::sort(sorted.begin(), sorted.end());
  PetscCheck(sorted == natural, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no permutation of %d", what.c_str(), (int)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
