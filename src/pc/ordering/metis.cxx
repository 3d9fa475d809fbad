/// Nested dissection of METIS 5, with a fixed seed. Separators of METIS cut large graphs into parts, which go on in
/// threads of their own; METIS orders the small ones. What is cut depends on the graph alone, so that the order is the
/// same with any number of threads.
#include "pc/ordering/libraries.hpp"
#if defined(SPARSEGPU_HAVE_METIS)
  #include <algorithm>
  #include <limits>
  #include <new>
  #include <numeric>
  #include "pc/ordering/cores.hpp"
  #include "pc/ordering/graph.hpp"
  #include "pc/ordering/metis_copies.hpp"
  #include "pc/ordering/part_queue.hpp"
#endif

namespace sparsegpu::ordering
{

#if defined(SPARSEGPU_HAVE_METIS)
namespace
{
/// Nodes of the smallest part that is cut here: METIS orders 500 in some 2 ms. Orders take 1 to 2 % more operations
/// than METIS's own of the whole graph, with any number from 300 to 4,000, and as long on one core.
constexpr PetscInt CUT  = 500;
constexpr int      MOST = 6; ///< threads: each copy of METIS takes a part of what the C library has for libraries that
                             ///< the program opens later

/// Whether the METIS that answers has the integers that this was compiled for. Another library of the process may have
/// brought one with integers of another size, and METIS does not tell. Three nodes without an edge are all zeros in
/// either size; how far the permutation is written tells the size.
bool SameIntegers(const Metis &metis)
{
  constexpr idx_t UNTOUCHED = -1;
  long long       nodes     = 3; // little-endian: 3 in either size
  idx_t           begin[32] = {0}, none[32] = {0}, to[32], from[32];
  bool            seen[3] = {false, false, false};
  std::fill_n(to, 32, UNTOUCHED);
  const int status = metis.order(reinterpret_cast<idx_t *>(&nodes), begin, none, nullptr, nullptr, to, from);
  if (status != METIS_OK) return false;
  for (int k = 0; k < 3; k++) {
    if (to[k] < 0 || to[k] > 2 || seen[to[k]]) return false;
    seen[to[k]] = true;
  }
  return to[3] == UNTOUCHED;
}

/// A part of the graph, which comes from `place` on in the order.
struct MetisPart {
  WeightedGraph graph;
  Indices       node; ///< as numbered in the whole
  PetscInt      place;
  PetscInt      Size() const { return graph.pattern.n; }
};

/// A graph as METIS takes it, in its integers.
struct MetisGraph {
  std::vector<idx_t> i, j, weight;

  /// METIS ends the process where memory is lacking, at times: it is called where there is about as much as it takes,
  /// 21 to 26 bytes for a node or an edge.
  explicit MetisGraph(const WeightedGraph &G)
      : i(G.pattern.i.begin(), G.pattern.i.end()),
        j(G.pattern.j.begin(), G.pattern.j.end()),
        weight(G.weight.begin(), G.weight.end())
  {
    ::operator delete(::operator new(32 * (i.size() + j.size())));
  }
};

class MetisDissection
{
public:
  explicit MetisDissection(Indices *order) : order_(*order) {}
  Outcome Run(MetisPart &&whole, int threads);

private:
  struct Refused {
  };
  void Cut(const Metis &metis, const MetisPart &part);
  void Order(const Metis &metis, const MetisPart &part);
  void Check(int status) const
  {
    if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
    if (status != METIS_OK) throw Refused();
  }

  Indices             &order_;
  PartQueue<MetisPart> queue_;
  idx_t                options_[METIS_NOPTIONS];
};

void MetisDissection::Order(const Metis &metis, const MetisPart &part)
{
  idx_t              n = static_cast<idx_t>(part.Size());
  std::vector<idx_t> to(n), from(n);
  std::iota(to.begin(), to.end(), idx_t(0)); // without edges, which METIS refuses
  if (!part.graph.pattern.j.empty()) {
    MetisGraph G(part.graph);
    Check(metis.order(&n, G.i.data(), G.j.data(), G.weight.data(), options_, to.data(), from.data()));
  }
  for (idx_t k = 0; k < n; k++) order_[part.place + k] = part.node[to[k]]; // METIS's perm: the node that comes k-th
}

void MetisDissection::Cut(const Metis &metis, const MetisPart &part)
{
  if (part.Size() < CUT || part.graph.pattern.j.empty()) return Order(metis, part);
  idx_t              n = static_cast<idx_t>(part.Size()), separator;
  std::vector<idx_t> side(n);
  MetisGraph         G(part.graph);
  Check(metis.separate(&n, G.i.data(), G.j.data(), G.weight.data(), options_, &separator, side.data()));
  const auto first  = static_cast<PetscInt>(std::count(side.begin(), side.end(), idx_t(0)));
  const auto second = static_cast<PetscInt>(std::count(side.begin(), side.end(), idx_t(1)));
  if (first == 0 || second == 0) return Order(metis, part); // not cut
  Indices  of(side.begin(), side.end());
  PetscInt last = part.place + first + second;
  for (PetscInt k = 0; k < part.Size(); k++) {
    if (side[k] < 2) continue;
    order_[last++] = part.node[k];
    of[k]          = -1;
  }
  std::vector<Part> sides = Split(part.graph, of, 2);
  for (Part &s : sides)
    for (PetscInt &k : s.node) k = part.node[k];
  queue_.Put({std::move(sides[0].graph), std::move(sides[0].node), part.place});
  queue_.Put({std::move(sides[1].graph), std::move(sides[1].node), part.place + first});
}

Outcome MetisDissection::Run(MetisPart &&whole, int threads)
{
  METIS_SetDefaultOptions(options_);
  options_[METIS_OPTION_SEED]     = 1;
  options_[METIS_OPTION_COMPRESS] = 0; // done already
  static const bool same          = [] {
    bool answer = false;
    ServeByMetis(1, [&](const Metis &metis) { answer = SameIntegers(metis); });
    return answer;
  }();
  if (!same) return {false, "another METIS, with integers of another size, is loaded"};
  queue_.Put(std::move(whole));
  ServeByMetis(threads, [&](const Metis &metis) { queue_.Serve([&](const MetisPart &part) { Cut(metis, part); }); });
  try {
    queue_.Check();
  } catch (const Refused &) {
    return {false, "METIS refused the graph"};
  }
  return {true, ""};
}
} // namespace

Outcome OrderByMetis(const WeightedGraph &graph, int threads, Indices *order)
{
  const SymmetricPattern &A = graph.pattern;

  if (A.j.empty()) return KeepOrder(A.n, order);
  if (A.i[A.n] > std::numeric_limits<idx_t>::max() / 2) return {false, "the graph is too large for METIS's integers"};
  const int cores = threads > 0 ? threads : Cores();
  const int most  = std::max(1, std::min({cores, MOST, static_cast<int>(A.n / CUT)}));
  MetisPart whole{graph, Indices(A.n), 0};
  std::iota(whole.node.begin(), whole.node.end(), 0);
  order->resize(A.n);
  return MetisDissection(order).Run(std::move(whole), most);
}
#else
Outcome OrderByMetis(const WeightedGraph &, int, Indices *)
{
  return {false, "built without METIS"};
}
#endif

} // namespace sparsegpu::ordering
