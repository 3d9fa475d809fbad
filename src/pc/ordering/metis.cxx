/// Nested dissection of METIS 5, with a fixed seed. METIS 5.1 draws its random numbers from rand(), whose state the
/// process has once: its calls exclude each other.
#include "pc/ordering/libraries.hpp"
#if defined(SPARSEGPU_HAVE_METIS)
  #include <metis.h>
  #include <limits>
  #include <mutex>
  #include <stdlib.h>
#endif

namespace sparsegpu::ordering
{

#if defined(SPARSEGPU_HAVE_METIS)
namespace
{
/// The numbers of rand() that METIS begins anew and draws are not the program's, whose own go on afterwards.
class RandomNumbers
{
public:
  RandomNumbers() : theirs_(initstate(1, ours_, sizeof(ours_))) {}
  ~RandomNumbers()
  {
    if (theirs_) (void)setstate(theirs_);
  }
  RandomNumbers(const RandomNumbers &)            = delete;
  RandomNumbers &operator=(const RandomNumbers &) = delete;

private:
  char        ours_[256] = {0};
  char *const theirs_;
};

/// Whether the METIS that answers has the integers that this was compiled for. Another library of the process may have
/// brought one with integers of another size, and METIS does not tell. Three nodes without an edge are all zeros in
/// either size; how far the permutation is written tells the size.
bool SameIntegers()
{
  constexpr idx_t        UNTOUCHED = -1;
  std::vector<long long> nodes{3}; // little-endian: 3 in either size
  std::vector<idx_t>     begin(32, 0), none(32, 0), to(32, UNTOUCHED), from(32, UNTOUCHED);
  const int status  = METIS_NodeND(reinterpret_cast<idx_t *>(nodes.data()), begin.data(), none.data(), nullptr, nullptr,
                                   to.data(), from.data());
  bool      seen[3] = {false, false, false};
  if (status != METIS_OK) return false;
  for (int k = 0; k < 3; k++) {
    if (to[k] < 0 || to[k] > 2 || seen[to[k]]) return false;
    seen[to[k]] = true;
  }
  return to[3] == UNTOUCHED;
}
} // namespace

Outcome OrderByMetis(const WeightedGraph &graph, Indices *order)
{
  static std::mutex       one_at_a_time;
  const SymmetricPattern &A = graph.pattern;

  if (A.j.empty()) return KeepOrder(A.n, order);
  if (A.i[A.n] > std::numeric_limits<idx_t>::max() / 2) return {false, "the graph is too large for METIS's integers"};
  std::lock_guard<std::mutex> lock(one_at_a_time);
  const RandomNumbers         numbers;
  static const bool           same = SameIntegers();
  if (!same) return {false, "another METIS, with integers of another size, is loaded"};
  std::vector<idx_t> i(A.i.begin(), A.i.end()), j(A.j.begin(), A.j.end()),
      weight(graph.weight.begin(), graph.weight.end()), to(A.n), from(A.n);
  idx_t n = static_cast<idx_t>(A.n), options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED]     = 1;
  options[METIS_OPTION_COMPRESS] = 0; // done already
  const int status               = METIS_NodeND(&n, i.data(), j.data(), weight.data(), options, to.data(), from.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK) return {false, "METIS refused the graph"};
  order->assign(to.begin(), to.end()); // METIS's perm: the node that comes k-th
  return {true, ""};
}
#else
Outcome OrderByMetis(const WeightedGraph &, Indices *)
{
  return {false, "built without METIS"};
}
#endif

} // namespace sparsegpu::ordering
