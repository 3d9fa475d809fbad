/// Elimination trees by path compression, column counts by the leaves of row subtrees.
#include "pc/symbolic/elimination.hpp"
#include <algorithm>
#include <numeric>
#include "petsc/compat.hpp"

namespace sparsegpu::symbolic
{

namespace
{
/// parent[k]: the first unknown after k that its elimination reaches, -1: none.
Indices FindParents(const SymmetricPattern &A)
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

/// Entries of each column of the factor, the diagonal included, in unknowns: node k stands for weight(k) of them.
/// `post`: a postorder of the tree.
template <class Weight> std::vector<PetscCount> ColumnCounts(const SymmetricPattern &A, const Indices &parent,
                                                             const Indices &post, Weight weight)
{
  std::vector<PetscCount> count(A.n);
  Indices                 first(A.n, -1), latest_first(A.n, -1), leaf(A.n, -1), ancestor(A.n);
  for (PetscInt k = 0; k < A.n; k++) {
    const PetscInt s = post[k];
    count[s]         = first[s] < 0 ? weight(s) : 0; // a leaf of the tree
    for (PetscInt j = s; j >= 0 && first[j] < 0; j = parent[j]) first[j] = k;
  }
  std::iota(ancestor.begin(), ancestor.end(), 0);
  for (const PetscInt k : post) {
    if (parent[k] >= 0) count[parent[k]] -= weight(k);
    for (PetscCount e = A.i[k]; e < A.i[k + 1]; e++) {
      const PetscInt i = A.j[e];
      if (i <= k || first[k] <= latest_first[i]) continue;
      latest_first[i]         = first[k];
      const PetscInt previous = leaf[i]; // k is a new leaf of the subtree of row i
      leaf[i]                 = k;
      count[k] += weight(i);
      if (previous < 0) continue;
      PetscInt q = previous; // where the paths from the two leaves meet
      while (q != ancestor[q]) q = ancestor[q];
      for (PetscInt s = previous; s != q;) {
        const PetscInt up = ancestor[s];
        ancestor[s]       = q;
        s                 = up;
      }
      count[q] -= weight(i);
    }
    if (parent[k] >= 0) ancestor[k] = parent[k];
  }
  for (PetscInt k = 0; k < A.n; k++)
    if (parent[k] >= 0) count[parent[k]] += count[k];
  return count;
}

} // namespace

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

Children::Children(const Indices &parent) : begin_(parent.size() + 1, 0)
{
  const PetscInt n = static_cast<PetscInt>(parent.size());

  for (const PetscInt p : parent)
    if (p >= 0) ++begin_[p + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  child_.resize(begin_[n]);
  Indices at(begin_.begin(), begin_.end() - 1);
  for (PetscInt k = 0; k < n; k++)
    if (parent[k] >= 0) child_[at[parent[k]]++] = k;
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

EliminationTree FindEliminationTree(const SymmetricPattern &pattern)
{
  EliminationTree e;
  Indices         natural(pattern.n);
  std::iota(natural.begin(), natural.end(), 0);
  const Indices parent                = FindParents(pattern);
  e.post                              = Postorder(parent, natural);
  const std::vector<PetscCount> count = ColumnCounts(pattern, parent, e.post, [](PetscInt) { return PetscCount(1); });
  const Indices                 place = Inverted(e.post);
  e.parent.reserve(pattern.n);
  e.count.reserve(pattern.n);
  for (const PetscInt k : e.post) {
    e.parent.push_back(parent[k] >= 0 ? place[parent[k]] : -1);
    e.count.push_back(static_cast<PetscInt>(count[k]));
  }
  return e;
}

std::vector<PetscLogDouble> NodeFlops(const SymmetricPattern &A, const Indices &weight, const Indices &order,
                                      Indices *height)
{
  const SymmetricPattern P      = Permuted(A, order);
  const Indices          parent = FindParents(P);
  Indices                natural(A.n);
  std::iota(natural.begin(), natural.end(), 0);
  const std::vector<PetscCount> count =
      ColumnCounts(P, parent, Postorder(parent, natural), [&](PetscInt k) { return PetscCount(weight[order[k]]); });
  std::vector<PetscLogDouble> flops(A.n, 0);
  if (height) {
    height->assign(A.n, 0);
    for (PetscInt k = 0; k < A.n; k++) { // children come before their parents
      PetscInt &own = (*height)[order[k]];
      own += weight[order[k]];
      if (parent[k] < 0) continue;
      PetscInt &above = (*height)[order[parent[k]]];
      above           = std::max(above, own);
    }
  }
  for (PetscInt k = 0; k < A.n; k++)
    for (PetscInt w = 1; w <= weight[order[k]]; w++) {
      const PetscLogDouble others = static_cast<PetscLogDouble>(count[k] - w);
      flops[order[k]] += others + 2 * others * others;
    }
  return flops;
}

} // namespace sparsegpu::symbolic
