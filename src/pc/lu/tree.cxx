#include "pc/lu/tree.hpp"
#include <algorithm>
#include <numeric>
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
using Indices = std::vector<PetscInt>;

/// parent[k]: the first unknown after k that its elimination reaches, -1: none.
Indices EliminationTree(const SymmetricPattern &A)
{
  Indices parent(A.n, -1), ancestor(A.n, -1);
  for (PetscInt k = 0; k < A.n; k++)
    for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++)
      for (PetscInt i = A.j[e]; i >= 0 && i < k;) {
        const PetscInt next = ancestor[i];
        ancestor[i]         = k;
        if (next < 0) parent[i] = k;
        i = next;
      }
  return parent;
}

/// The nodes of a forest, children (ascending by `rank`) before their parents and subtrees together.
Indices Postorder(const Indices &parent, const Indices &visit)
{
  const PetscInt n = static_cast<PetscInt>(parent.size());
  Indices        head(n, -1), next(n, -1), order, stack;
  PetscInt       roots = -1;

  order.reserve(n);
  for (PetscInt k = n - 1; k >= 0; k--) { // the last one put in comes out first
    const PetscInt s  = visit[k];
    PetscInt      &at = parent[s] >= 0 ? head[parent[s]] : roots;
    next[s]           = at;
    at                = s;
  }
  for (PetscInt root = roots; root >= 0; root = next[root]) {
    stack.push_back(root);
    while (!stack.empty()) {
      const PetscInt s = stack.back(), child = head[s];
      if (child >= 0) {
        head[s] = next[child];
        stack.push_back(child);
      } else {
        order.push_back(s);
        stack.pop_back();
      }
    }
  }
  return order;
}

Indices Inverted(const Indices &order)
{
  Indices place(order.size());
  for (size_t k = 0; k < order.size(); k++) place[order[k]] = static_cast<PetscInt>(k);
  return place;
}

SymmetricPattern Permuted(const SymmetricPattern &A, const Indices &order)
{
  const Indices    place = Inverted(order);
  SymmetricPattern B;
  B.n = A.n;
  B.i.assign(1, 0);
  B.i.reserve(A.i.size());
  B.j.reserve(A.j.size());
  for (PetscInt k = 0; k < A.n; k++) {
    for (PetscCount e = A.i[order[k]]; e < A.i[order[k] + 1]; e++) B.j.push_back(place[A.j[e]]);
    B.i.push_back(static_cast<PetscCount>(B.j.size()));
  }
  return B;
}

/// Entries of each column of the factor, the diagonal included; unknowns in postorder.
Indices ColumnCounts(const SymmetricPattern &A, const Indices &parent)
{
  Indices count(A.n), first(A.n, -1), latest_first(A.n, -1), leaf(A.n, -1), ancestor(A.n);
  for (PetscInt k = 0; k < A.n; k++) {
    count[k] = first[k] < 0; // a leaf of the tree
    for (PetscInt j = k; j >= 0 && first[j] < 0; j = parent[j]) first[j] = k;
  }
  std::iota(ancestor.begin(), ancestor.end(), 0);
  for (PetscInt k = 0; k < A.n; k++) {
    if (parent[k] >= 0) --count[parent[k]];
    for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++) {
      const PetscInt i = A.j[e];
      if (i <= k || first[k] <= latest_first[i]) continue;
      latest_first[i]         = first[k];
      const PetscInt previous = leaf[i]; // k is a new leaf of the subtree of row i
      leaf[i]                 = k;
      ++count[k];
      if (previous < 0) continue;
      PetscInt q = previous; // where the paths from the two leaves meet
      while (q != ancestor[q]) q = ancestor[q];
      for (PetscInt s = previous; s != q;) {
        const PetscInt up = ancestor[s];
        ancestor[s]       = q;
        s                 = up;
      }
      --count[q];
    }
    if (parent[k] >= 0) ancestor[k] = parent[k];
  }
  for (PetscInt k = 0; k < A.n; k++)
    if (parent[k] >= 0) count[parent[k]] += count[k];
  return count;
}

/// Unknowns that are eliminated together, as a tree. Node s holds `pivots` unknowns; its front has `rows` rows.
struct Nodes {
  Indices                 of;     ///< [n] node of each unknown
  Indices                 parent; ///< -1: none
  Indices                 pivots, rows;
  std::vector<PetscCount> zeros; ///< of its lower triangle
};

/// Chains of unknowns whose columns differ by one entry each.
Nodes Fundamental(const Indices &parent, const Indices &count)
{
  const PetscInt n = static_cast<PetscInt>(parent.size());
  Indices        children(n, 0);
  Nodes          nodes;
  for (PetscInt k = 0; k < n; k++)
    if (parent[k] >= 0) ++children[parent[k]];
  nodes.of.resize(n);
  for (PetscInt k = 0; k < n; k++) {
    if (k == 0 || parent[k - 1] != k || count[k - 1] != count[k] + 1 || children[k] > 1) {
      nodes.pivots.push_back(0);
      nodes.rows.push_back(count[k]);
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

PetscCount Trapezoid(PetscCount pivots, PetscCount rows)
{
  return pivots * rows - pivots * (pivots - 1) / 2;
}

/// Puts children into their parents where that stores few zeros: fewer, larger fronts.
void Amalgamate(Nodes *nodes)
{
  struct Rule {
    PetscInt  pivots;
    PetscReal zeros;
  };
  // those of CHOLMOD: Chen, Davis, Hager & Rajamanickam, ACM Trans. Math. Softw. 35(3), 2008
  constexpr Rule       rules[] = {{4, 1.0}, {16, 0.8}, {48, 0.1}, {PETSC_MAX_INT, 0.05}};
  const PetscInt       count   = static_cast<PetscInt>(nodes->parent.size());
  Indices              into(count, -1);
  std::vector<Indices> children(count);

  for (PetscInt s = 0; s < count; s++) { // children have smaller numbers
    Indices mine;
    std::swap(mine, children[s]);
    // the child that adds the fewest zeros first
    std::stable_sort(mine.begin(), mine.end(), [&](PetscInt a, PetscInt b) {
      return nodes->rows[a] - nodes->pivots[a] > nodes->rows[b] - nodes->pivots[b];
    });
    for (const PetscInt c : mine) {
      const PetscInt   pivots = nodes->pivots[c] + nodes->pivots[s], rows = nodes->pivots[c] + nodes->rows[s];
      const PetscCount stored = Trapezoid(pivots, rows);
      const PetscCount zeros  = stored - (Trapezoid(nodes->pivots[c], nodes->rows[c]) - nodes->zeros[c]) -
                               (Trapezoid(nodes->pivots[s], nodes->rows[s]) - nodes->zeros[s]);
      const Rule *rule = rules;
      while (pivots > rule->pivots) ++rule;
      if (static_cast<PetscReal>(zeros) > rule->zeros * static_cast<PetscReal>(stored)) continue;
      into[c]          = s;
      nodes->pivots[s] = pivots;
      nodes->rows[s]   = rows;
      nodes->zeros[s]  = zeros;
    }
    if (nodes->parent[s] >= 0) children[nodes->parent[s]].push_back(s);
  }
  const auto kept = [&](PetscInt s) {
    while (s >= 0 && into[s] >= 0) s = into[s];
    return s;
  };
  Indices number(count, -1);
  Nodes   result;
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

/// Nodes in the order that needs the least memory for what children leave to their parents (Liu, ACM Trans. Math.
/// Softw. 12(3), 1986): a child before those that need less beyond what they leave.
Indices VisitingOrder(const Nodes &nodes)
{
  const PetscInt          count = static_cast<PetscInt>(nodes.parent.size());
  std::vector<PetscCount> peak(count, 0), left(count);
  std::vector<Indices>    children(count);
  Indices                 visit(count);
  for (PetscInt s = 0; s < count; s++) {
    const PetscCount rows = nodes.rows[s], others = rows - nodes.pivots[s];
    PetscCount       held = 0;
    left[s]               = others * others;
    std::sort(children[s].begin(), children[s].end(),
              [&](PetscInt a, PetscInt b) { return peak[a] - left[a] > peak[b] - left[b]; });
    for (const PetscInt c : children[s]) {
      peak[s] = std::max(peak[s], held + peak[c]);
      held += left[c];
    }
    peak[s] = std::max(peak[s], held + left[s]);
    if (nodes.parent[s] >= 0) children[nodes.parent[s]].push_back(s);
  }
  std::iota(visit.begin(), visit.end(), 0);
  std::stable_sort(visit.begin(), visit.end(),
                   [&](PetscInt a, PetscInt b) { return peak[a] - left[a] > peak[b] - left[b]; });
  return visit;
}

/// The rows of all fronts, and where their parents have them.
void FindRows(const SymmetricPattern &A, FrontTree *tree)
{
  const PetscInt       fronts = tree->Fronts();
  Indices              seen(A.n, -1);
  std::vector<Indices> children(fronts);

  tree->row_begin.assign(1, 0);
  for (PetscInt f = 0; f < fronts; f++) {
    const size_t begin = tree->row.size();
    const auto   take  = [&](PetscInt i) {
      if (i < tree->first[f + 1] || seen[i] == f) return;
      seen[i] = f;
      tree->row.push_back(i);
    };
    for (PetscInt k = tree->first[f]; k < tree->first[f + 1]; k++)
      for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++) take(A.j[e]);
    for (const PetscInt c : children[f])
      for (PetscCount e = tree->row_begin[c]; e < tree->row_begin[c + 1]; e++) take(tree->row[e]);
    std::sort(tree->row.begin() + static_cast<std::ptrdiff_t>(begin), tree->row.end());
    tree->row_begin.push_back(static_cast<PetscCount>(tree->row.size()));
    if (tree->parent[f] >= 0) children[tree->parent[f]].push_back(f);
  }
  tree->relative.resize(tree->row.size());
  for (PetscInt f = 0; f < fronts; f++) {
    const PetscInt p = tree->parent[f];
    if (p < 0) continue;
    PetscCount at = tree->row_begin[p];
    for (PetscCount e = tree->row_begin[f]; e < tree->row_begin[f + 1]; e++) {
      if (tree->row[e] < tree->first[p + 1]) {
        tree->relative[e] = tree->row[e] - tree->first[p];
        continue;
      }
      while (tree->row[at] < tree->row[e]) at++;
      tree->relative[e] = tree->Pivots(p) + static_cast<PetscInt>(at - tree->row_begin[p]);
    }
  }
}

/// The elimination tree of the pattern in a postorder of it, and the counts of its columns.
struct Elimination {
  Indices          post; ///< [n] the pattern's unknown
  SymmetricPattern A;    ///< in that order
  Indices          parent, count;
};

Elimination Eliminate(const SymmetricPattern &pattern)
{
  Elimination e;
  Indices     natural(pattern.n);
  std::iota(natural.begin(), natural.end(), 0);
  const Indices parent = EliminationTree(pattern);
  e.post               = Postorder(parent, natural);
  const Indices place  = Inverted(e.post);
  e.A                  = Permuted(pattern, e.post);
  for (PetscInt k = 0; k < pattern.n; k++) {
    const PetscInt p = parent[e.post[k]];
    e.parent.push_back(p >= 0 ? place[p] : -1);
  }
  e.count = ColumnCounts(e.A, e.parent);
  return e;
}

void Build(const SymmetricPattern &pattern, FrontTree *tree)
{
  const Elimination e     = Eliminate(pattern);
  Nodes             nodes = Fundamental(e.parent, e.count);
  *tree                   = FrontTree();
  Amalgamate(&nodes);

  const Indices order  = Postorder(nodes.parent, VisitingOrder(nodes));
  const Indices number = Inverted(order);
  tree->first.assign(1, 0);
  for (const PetscInt s : order) {
    tree->first.push_back(tree->first.back() + nodes.pivots[s]);
    tree->parent.push_back(nodes.parent[s] >= 0 ? number[nodes.parent[s]] : -1);
    tree->zeros += nodes.zeros[s];
  }
  Indices at(tree->first.begin(), tree->first.end() - 1), final_order(pattern.n);
  for (PetscInt k = 0; k < pattern.n; k++) final_order[at[number[nodes.of[k]]]++] = k; // within a front as before
  FindRows(Permuted(e.A, final_order), tree);
  tree->order.resize(pattern.n);
  for (PetscInt k = 0; k < pattern.n; k++) tree->order[k] = e.post[final_order[k]];
}
} // namespace

PetscErrorCode BuildFrontTree(const SymmetricPattern &pattern, FrontTree *tree)
{
  PetscFunctionBegin;
  PetscCallCXX(Build(pattern, tree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CountFlops(const SymmetricPattern &pattern, PetscLogDouble *flops)
{
  PetscFunctionBegin;
  *flops = 0;
  try {
    for (const PetscInt count : Eliminate(pattern).count) {
      const PetscLogDouble others = count - 1;
      *flops += others + 2 * others * others;
    }
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the elimination tree: %s", e.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
