/// Approximate minimum degree of SuiteSparse. AMD knows no weights, but finds equal nodes by itself.
#include "pc/ordering/graph.hpp"
#if defined(SPARSEGPU_HAVE_AMD)
  #include <algorithm>
  #include <amd.h>
  #include <limits>
#endif

namespace sparsegpu::ordering
{

#if defined(SPARSEGPU_HAVE_AMD)
namespace
{
/// AMD takes 1.2 times the entries and 8 times the nodes for workspaces, counted in its integers.
template <class Int> bool Fits(const SymmetricPattern &A)
{
  return 1.2 * static_cast<double>(A.j.size()) + 8.0 * static_cast<double>(A.n) <
         static_cast<double>(std::numeric_limits<Int>::max());
}

template <class Int, class Call> Outcome OrderAs(const SymmetricPattern &A, Call call, Indices *order)
{
  const std::vector<Int> i(A.i.begin(), A.i.end()), j(A.j.begin(), A.j.end());
  std::vector<Int>       permutation(A.n);
  const int              status = static_cast<int>(call(static_cast<Int>(A.n), i.data(), j.data(), permutation.data()));
  if (status == AMD_OUT_OF_MEMORY) throw std::bad_alloc();
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) return {false, "AMD refused the graph"};
  order->assign(permutation.begin(), permutation.end());
  return {true, ""};
}

Outcome OrderUnweighted(const SymmetricPattern &A, Indices *order)
{
  using Long = SuiteSparse_long;
  if (Fits<int>(A))
    return OrderAs<int>(
        A, [](int n, const int *i, const int *j, int *p) { return amd_order(n, i, j, p, nullptr, nullptr); }, order);
  return OrderAs<Long>(
      A, [](Long n, const Long *i, const Long *j, Long *p) { return amd_l_order(n, i, j, p, nullptr, nullptr); },
      order);
}
} // namespace

/// Weights that differ make a graph with that many nodes each; a node comes when its last one does.
Outcome OrderByAmd(const WeightedGraph &graph, Indices *order)
{
  const SymmetricPattern &A = graph.pattern;
  if (A.j.empty()) return KeepOrder(A.n, order);
  if (std::all_of(graph.weight.begin(), graph.weight.end(), [&](PetscInt w) { return w == graph.weight[0]; }))
    return OrderUnweighted(A, order);
  Indices       all, left = graph.weight, node;
  const Outcome outcome = OrderUnweighted(Expanded(graph), &all);
  if (!outcome.done) return outcome;
  order->clear();
  for (PetscInt k = 0; k < A.n; k++) node.insert(node.end(), graph.weight[k], k);
  for (const PetscInt unknown : all)
    if (--left[node[unknown]] == 0) order->push_back(node[unknown]);
  return outcome;
}
#else
Outcome OrderByAmd(const WeightedGraph &, Indices *)
{
  return {false, "built without AMD"};
}
#endif

} // namespace sparsegpu::ordering
