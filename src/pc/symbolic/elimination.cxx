/// Elimination trees by path compression, column counts by the leaves of row subtrees.
#include "pc/symbolic/elimination.hpp"
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
  const Indices parent = FindParents(pattern);
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

PetscErrorCode CountFlops(const SymmetricPattern &pattern, PetscLogDouble *flops)
{
  PetscFunctionBegin;
  *flops = 0;
  try {
    for (const PetscInt count : FindEliminationTree(pattern).count) {
      const PetscLogDouble others = count - 1;
      *flops += others + 2 * others * others;
    }
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the elimination tree: %s", e.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::symbolic
