/// Fronts from supernodes: their postorder, their rows, and where the parents have those.
#include "pc/symbolic/tree.hpp"
#include <algorithm>
#include "pc/symbolic/supernodes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::symbolic
{

namespace
{
/// The rows of all fronts, and where their parents have them. `A` is numbered as given, the tree's rows as eliminated.
/// Fronts that are to be `aligned` get rows of their ancestors that they do not need, up to a multiple of ALIGNED.
void FindRows(const SymmetricPattern &A, const std::vector<char> &aligned, FrontTree *tree)
{
  const PetscInt fronts = tree->Fronts();
  const Indices  place  = Inverted(tree->order);
  const Children children(tree->parent);
  Indices        seen(A.n, -1);

  tree->row_begin.assign(1, 0);
  for (PetscInt f = 0; f < fronts; f++) {
    const size_t begin = tree->row.size();
    const auto   take  = [&](PetscInt i) {
      if (i < tree->first[f + 1] || seen[i] == f) return;
      seen[i] = f;
      tree->row.push_back(i);
    };
    for (PetscInt k = tree->first[f]; k < tree->first[f + 1]; k++)
      for (PetscCount e = A.i[tree->order[k]]; e < A.i[tree->order[k] + 1]; e++) take(place[A.j[e]]);
    for (const PetscInt c : children.Of(f))
      for (PetscCount e = tree->row_begin[c]; e < tree->row_begin[c + 1]; e++) take(tree->row[e]);
    const auto others = [&] { return static_cast<PetscInt>(tree->row.size() - begin); };
    const auto whole  = [&] { return !aligned[f] || others() % ALIGNED == 0; };
    for (PetscInt g = tree->parent[f]; g >= 0 && g != tree->apart && !whole(); g = tree->parent[g])
      for (PetscInt i = tree->first[g]; i < tree->first[g + 1] && !whole(); i++) take(i);
    std::sort(tree->row.begin() + static_cast<std::ptrdiff_t>(begin), tree->row.end());
    tree->row_begin.push_back(static_cast<PetscCount>(tree->row.size()));
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

/// What the fronts store of one triangle beyond the factor; the front apart is all stored on purpose.
void CountZeros(const EliminationTree &e, FrontTree *tree)
{
  const Indices place = Inverted(e.post);
  for (PetscInt f = 0; f < tree->Fronts(); f++) {
    if (f == tree->apart) continue;
    const PetscCount p = tree->Pivots(f), r = tree->Others(f);
    tree->zeros += p * (p + 1) / 2 + p * r;
    for (PetscInt k = tree->first[f]; k < tree->first[f + 1]; k++) tree->zeros -= e.count[place[tree->order[k]]];
  }
}

void Build(const SymmetricPattern &pattern, PetscInt apart, const Indices &partner, FrontTree *tree)
{
  const EliminationTree e     = FindEliminationTree(pattern);
  const PetscInt        begin = apart > 0 ? Inverted(e.post)[pattern.n - apart] : -1; // a chain that ends in a root
  Supernodes            nodes = FundamentalSupernodes(e.parent, e.count, begin, apart);
  *tree                       = FrontTree();
  Amalgamate(&nodes, begin >= 0 ? nodes.of[begin] : -1);
  if (partner.empty()) AlignPivots(&nodes, begin >= 0 ? nodes.of[begin] : -1);

  const Indices     order  = Postorder(nodes.parent, VisitingOrder(nodes));
  const Indices     number = Inverted(order);
  std::vector<char> aligned;
  tree->first.assign(1, 0);
  for (const PetscInt s : order) {
    tree->first.push_back(tree->first.back() + nodes.pivots[s]);
    tree->parent.push_back(nodes.parent[s] >= 0 ? number[nodes.parent[s]] : -1);
    aligned.push_back(partner.empty() && nodes.rows[s] >= ALIGNED_ROWS);
  }
  const auto is_single = [&](PetscInt k) { return partner.empty() || partner[e.post[k]] == e.post[k]; };
  Indices    at(tree->first.begin(), tree->first.end() - 1);
  tree->order.resize(pattern.n);
  for (const bool single : {false, true}) // else the order within a front is unchanged
    for (PetscInt k = 0; k < pattern.n; k++)
      if (is_single(k) == single) tree->order[at[number[nodes.of[k]]]++] = e.post[k];
  if (begin >= 0) tree->apart = number[nodes.of[begin]];
  FindRows(pattern, aligned, tree);
  CountZeros(e, tree);
}
} // namespace

PetscErrorCode BuildFrontTree(const SymmetricPattern &pattern, PetscInt apart, const Indices &partner, FrontTree *tree)
{
  PetscFunctionBegin;
  PetscCallCXX(Build(pattern, apart, partner, tree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::symbolic
