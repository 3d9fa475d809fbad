/// Nested dissection of SCOTCH 7, in a context of its own: one thread, a fixed seed, no choice that depends on timing.
#include "pc/ordering/libraries.hpp"
#if defined(SPARSEGPU_HAVE_SCOTCH)
  #include <cstdint>
  #include <cstdio> // scotch.h wants FILE
  #include <limits>
  #include <mutex>
  #include <scotch.h>
#endif

namespace sparsegpu::ordering
{

#if defined(SPARSEGPU_HAVE_SCOTCH)
namespace
{
/// A graph bound to a context, and the order of its nodes.
class ScotchOrder
{
public:
  ScotchOrder()
  {
    context_ready_  = SCOTCH_contextInit(&context_) == 0;
    graph_ready_    = SCOTCH_graphInit(&graph_) == 0;
    bound_ready_    = SCOTCH_graphInit(&bound_) == 0;
    strategy_ready_ = SCOTCH_stratInit(&strategy_) == 0;
  }
  ~ScotchOrder()
  {
    if (strategy_ready_) SCOTCH_stratExit(&strategy_);
    if (bound_ready_) SCOTCH_graphExit(&bound_);
    if (graph_ready_) SCOTCH_graphExit(&graph_);
    if (context_ready_) SCOTCH_contextExit(&context_);
  }
  ScotchOrder(const ScotchOrder &)            = delete;
  ScotchOrder &operator=(const ScotchOrder &) = delete;

  bool Run(SCOTCH_Num n, const SCOTCH_Num *i, const SCOTCH_Num *j, const SCOTCH_Num *weight, SCOTCH_Num *node_at)
  {
    if (!context_ready_ || !graph_ready_ || !bound_ready_ || !strategy_ready_) return false;
    if (SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1) != 0 ||
        SCOTCH_contextRandomClone(&context_) != 0)
      return false;
    SCOTCH_contextRandomSeed(&context_, 1);
    SCOTCH_contextRandomReset(&context_);
    return SCOTCH_contextThreadSpawn(&context_, 1, nullptr) == 0 &&
           SCOTCH_graphBuild(&graph_, 0, n, i, nullptr, weight, nullptr, i[n], j, nullptr) == 0 &&
           SCOTCH_contextBindGraph(&context_, &graph_, &bound_) == 0 &&
           SCOTCH_graphOrder(&bound_, &strategy_, nullptr, node_at, nullptr, nullptr, nullptr) == 0;
  }

private:
  SCOTCH_Context context_;
  SCOTCH_Graph   graph_, bound_;
  SCOTCH_Strat   strategy_;
  bool           context_ready_ = false, graph_ready_ = false, bound_ready_ = false, strategy_ready_ = false;
};

/// The library that answers may be another one than the header's: Debian has three widths under one name.
bool SameLibrary()
{
  int version, release, patch;
  SCOTCH_version(&version, &release, &patch);
  return version == SCOTCH_VERSION && release == SCOTCH_RELEASE && SCOTCH_numSizeof() == sizeof(SCOTCH_Num);
}
} // namespace

Outcome OrderByScotch(const WeightedGraph &graph, Indices *order)
{
  static std::mutex       one_at_a_time;
  const SymmetricPattern &A = graph.pattern;

  if (A.j.empty()) return KeepOrder(A.n, order);
  if (A.i[A.n] > std::numeric_limits<SCOTCH_Num>::max() / 2)
    return {false, "the graph is too large for SCOTCH's integers"};
  if (!SameLibrary()) return {false, "another SCOTCH, of another version or size of integers, is loaded"};
  std::lock_guard<std::mutex>   lock(one_at_a_time);
  const std::vector<SCOTCH_Num> i(A.i.begin(), A.i.end()), j(A.j.begin(), A.j.end()),
      weight(graph.weight.begin(), graph.weight.end());
  std::vector<SCOTCH_Num> node_at(A.n);
  if (!ScotchOrder().Run(static_cast<SCOTCH_Num>(A.n), i.data(), j.data(), weight.data(), node_at.data()))
    return {false, "SCOTCH refused the graph"};
  order->assign(node_at.begin(), node_at.end());
  return {true, ""};
}
#else
Outcome OrderByScotch(const WeightedGraph &, Indices *)
{
  return {false, "built without SCOTCH"};
}
#endif

} // namespace sparsegpu::ordering
