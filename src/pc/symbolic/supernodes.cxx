/// Supernodes: chains of the elimination tree, merged by rules for the share of explicit zeros.
#include "pc/symbolic/supernodes.hpp"
#include <algorithm>
#include <numeric>

namespace sparsegpu::symbolic
{

Supernodes FundamentalSupernodes(const Indices &parent, const Indices &count, PetscInt apart, PetscInt size)
{
  const PetscInt n = static_cast<PetscInt>(parent.size());
  Indices        children(n, 0);
  Supernodes     nodes;
  for (PetscInt k = 0; k < n; k++)
    if (parent[k] >= 0) ++children[parent[k]];
  nodes.of.resize(n);
  for (PetscInt k = 0; k < n; k++) {
    const bool inside = apart >= 0 && k > apart && k < apart + size;
    const bool chain  = k > 0 && parent[k - 1] == k && count[k - 1] == count[k] + 1 && children[k] == 1;
    if (k == apart || !(inside || chain)) {
      nodes.pivots.push_back(0);
      nodes.rows.push_back(k == apart ? size : count[k]);
    }
    ++nodes.pivots.back();
    nodes.of[k] = static_cast<PetscInt>(nodes.pivots.size()) - 1;
  }
  nodes.parent.assign(nodes.pivots.size(), -1);
  nodes.zeros.assign(nodes.pivots.size(), 0);
  for (PetscInt k = 0; k < n; k++)
    if (parent[k] >= 0 && nodes.of[parent[k]] != nodes.of[k]) nodes.parent[nodes.of[k]] = nodes.of[parent[k]];
  return nodes;
}

static PetscCount Trapezoid(PetscCount pivots, PetscCount rows)
{
  return pivots * rows - pivots * (pivots - 1) / 2;
}

/// The share of zeros that a front may have: merged of a child with so many fronts below it on the longest way, and its
/// parent.
static PetscReal ZerosAllowed(PetscInt pivots, PetscInt rows, PetscInt height)
{
  struct Rule {
    PetscInt  pivots;
    PetscReal zeros;
  };
  // those of CHOLMOD: Chen, Davis, Hager & Rajamanickam, ACM Trans. Math. Softw. 35(3), 2008; but with many rows the
  // zeros that a few pivots may have are many, and leave none for the chain of fronts above
  constexpr Rule     rules[] = {{4, 1.0}, {16, 0.8}, {48, 0.1}, {PETSC_MAX_INT, 0.05}};
  constexpr int      STRICT  = 2; // the first rule for more rows than
  constexpr PetscInt SHORT   = 96;
  // a long chain of small fronts takes a device as long as it has fronts, whatever they hold: above so many they merge
  // further. On bayer10 that halves the chain for 4 % more entries.
  constexpr PetscInt  LONG       = 8;
  constexpr PetscInt  TALL       = 48; // pivots
  constexpr PetscReal TALL_ZEROS = static_cast<PetscReal>(0.6);
  const Rule         *rule       = rows > SHORT ? rules + STRICT : rules;

  while (pivots > rule->pivots) ++rule;
  const bool tall = height >= LONG && rows <= SHORT && pivots <= TALL;
  return tall ? std::max(rule->zeros, TALL_ZEROS) : rule->zeros;
}

void Amalgamate(Supernodes *nodes, PetscInt apart)
{
  const PetscInt count = static_cast<PetscInt>(nodes->parent.size());
  const Children children(nodes->parent);
  Indices        mine, into(count, -1), height(count, 0); // fronts below, on the longest way down

  for (PetscInt s = 0; s < count; s++) { // children have smaller numbers
    mine.assign(children.Of(s).begin(), children.Of(s).end());
    // the child that adds the fewest zeros first
    if (mine.size() > 1)
      std::stable_sort(mine.begin(), mine.end(), [&](PetscInt a, PetscInt b) {
        return nodes->rows[a] - nodes->pivots[a] > nodes->rows[b] - nodes->pivots[b];
      });
    for (const PetscInt c : mine) {
      if (s == apart) continue;
      const PetscInt   pivots = nodes->pivots[c] + nodes->pivots[s], rows = nodes->pivots[c] + nodes->rows[s];
      const PetscCount stored = Trapezoid(pivots, rows);
      const PetscCount zeros  = stored - (Trapezoid(nodes->pivots[c], nodes->rows[c]) - nodes->zeros[c]) -
                               (Trapezoid(nodes->pivots[s], nodes->rows[s]) - nodes->zeros[s]);
      if (static_cast<PetscReal>(zeros) > ZerosAllowed(pivots, rows, height[c]) * static_cast<PetscReal>(stored))
        continue;
      into[c]          = s;
      nodes->pivots[s] = pivots;
      nodes->rows[s]   = rows;
      nodes->zeros[s]  = zeros;
    }
    for (const PetscInt c : mine) height[s] = std::max(height[s], height[c] + (into[c] < 0 ? 1 : 0));
  }
  const auto kept = [&](PetscInt s) {
    while (s >= 0 && into[s] >= 0) s = into[s];
    return s;
  };
  Indices    number(count, -1);
  Supernodes result;
  for (PetscInt s = 0; s < count; s++) {
    if (into[s] >= 0) continue;
    number[s] = static_cast<PetscInt>(result.pivots.size());
    result.pivots.push_back(nodes->pivots[s]);
    result.rows.push_back(nodes->rows[s]);
    result.zeros.push_back(nodes->zeros[s]);
  }
  for (PetscInt s = 0; s < count; s++)
    if (into[s] < 0) result.parent.push_back(nodes->parent[s] >= 0 ? number[kept(nodes->parent[s])] : -1);
  result.of.resize(nodes->of.size());
  for (size_t k = 0; k < nodes->of.size(); k++) result.of[k] = number[kept(nodes->of[k])];
  *nodes = std::move(result);
}

namespace
{
/// How many pivots each node is to give to its parent.
class Gifts
{
public:
  Gifts(Supernodes *nodes, PetscInt apart)
      : nodes_(*nodes),
        apart_(apart),
        own_(nodes->pivots),
        given_(nodes->parent.size(), 0)
  {
  }
  bool IsLarge(PetscInt s) const { return s != apart_ && nodes_.rows[s] >= ALIGNED_ROWS; }
  /// What is given is of a node's own pivots, never of those that it gets.
  bool MayGive(PetscInt s) const
  {
    return nodes_.parent[s] >= 0 && nodes_.parent[s] != apart_ && own_[s] >= 2 * ALIGNED;
  }
  void Give(PetscInt s, PetscInt count)
  {
    const PetscInt g = nodes_.parent[s];
    given_[s] += count;
    nodes_.pivots[s] -= count;
    nodes_.pivots[g] += count;
    nodes_.rows[g] += count;
  }
  /// The last ones of each node.
  void HandOver()
  {
    for (size_t k = nodes_.of.size(); k-- > 0;) {
      const PetscInt s = nodes_.of[k];
      if (given_[s] == 0) continue;
      --given_[s];
      nodes_.of[k] = nodes_.parent[s];
    }
  }

private:
  Supernodes    &nodes_;
  const PetscInt apart_;
  const Indices  own_;
  Indices        given_;
};

/// [nodes] The top of the tree of large nodes that each is in, -1: none, if all that it gets goes up to there.
Indices FindTops(const Supernodes &nodes, const std::vector<char> &large, const Gifts &gifts)
{
  Indices top(large.size(), -1);
  for (PetscInt s = static_cast<PetscInt>(large.size()); s-- > 0;) {
    const PetscInt g = nodes.parent[s];
    if (!large[s]) continue;
    if (g < 0 || !large[g])
      top[s] = s;
    else if (gifts.MayGive(s))
      top[s] = top[g];
  }
  return top;
}

/// [nodes] What a top that cannot give lacks to a multiple when all below it have given.
Indices FindMissing(const Supernodes &nodes, const std::vector<char> &large, const Gifts &gifts)
{
  Indices pivots = nodes.pivots, missing(large.size(), 0);
  for (PetscInt s = 0; s < static_cast<PetscInt>(large.size()); s++) {
    if (!large[s]) continue;
    if (gifts.MayGive(s))
      pivots[nodes.parent[s]] += pivots[s] % ALIGNED;
    else
      missing[s] = (ALIGNED - pivots[s] % ALIGNED) % ALIGNED;
  }
  return missing;
}
} // namespace

void AlignPivots(Supernodes *nodes, PetscInt apart)
{
  const PetscInt    count = static_cast<PetscInt>(nodes->parent.size());
  Gifts             gifts(nodes, apart);
  std::vector<char> large(count);
  for (PetscInt s = 0; s < count; s++) large[s] = gifts.IsLarge(s);
  const Indices top     = FindTops(*nodes, large, gifts);
  Indices       missing = FindMissing(*nodes, large, gifts);
  for (PetscInt s = 0; s < count; s++) { // children have smaller numbers
    const PetscInt g = nodes->parent[s], tree = g >= 0 ? top[g] : -1;
    if (!gifts.MayGive(s)) continue;
    if (large[s]) {
      gifts.Give(s, nodes->pivots[s] % ALIGNED);
    } else if (tree >= 0) {
      gifts.Give(s, missing[tree]);
      missing[tree] = 0;
    }
  }
  gifts.HandOver();
}

Indices VisitingOrder(const Supernodes &nodes)
{
  const PetscInt          count = static_cast<PetscInt>(nodes.parent.size());
  const Children          children(nodes.parent);
  std::vector<PetscCount> peak(count, 0), left(count);
  Indices                 mine, visit(count);
  for (PetscInt s = 0; s < count; s++) {
    const PetscCount rows = nodes.rows[s], others = rows - nodes.pivots[s];
    PetscCount       held = 0;
    left[s]               = others * others;
    mine.assign(children.Of(s).begin(), children.Of(s).end());
    std::sort(mine.begin(), mine.end(), [&](PetscInt a, PetscInt b) { return peak[a] - left[a] > peak[b] - left[b]; });
    for (const PetscInt c : mine) {
      peak[s] = std::max(peak[s], held + peak[c]);
      held += left[c];
    }
    peak[s] = std::max(peak[s], held + left[s]);
  }
  std::iota(visit.begin(), visit.end(), 0);
  std::stable_sort(visit.begin(), visit.end(),
                   [&](PetscInt a, PetscInt b) { return peak[a] - left[a] > peak[b] - left[b]; });
  return visit;
}

} // namespace sparsegpu::symbolic
