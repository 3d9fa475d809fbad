/// Trees of fronts, of problems and made up.
#pragma once

#include "direct.hpp"
#include "pc/lu/plan.hpp"

namespace testing
{

using sparsegpu::lu::FrontTree;

/// The fronts of a problem in the order of its matrix, with a front of the last `apart` unknowns, which are made a
/// path.
inline PetscErrorCode Fronts(const Problem &p, PetscInt apart, FrontTree *tree)
{
  std::vector<std::vector<PetscInt>>    rows((size_t)p.rows);
  sparsegpu::symbolic::SymmetricPattern pattern;

  PetscFunctionBeginUser;
  for (const Entry &e : p.entries)
    if (e.i != e.j) {
      rows[(size_t)e.i].push_back(e.j);
      rows[(size_t)e.j].push_back(e.i);
    }
  for (PetscInt k = p.rows - apart; k + 1 < p.rows; ++k) {
    rows[(size_t)k].push_back(k + 1);
    rows[(size_t)k + 1].push_back(k);
  }
  pattern.n = p.rows;
  pattern.i.assign(1, 0);
  for (std::vector<PetscInt> &row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    pattern.j.insert(pattern.j.end(), row.begin(), row.end());
    pattern.i.push_back((PetscCount)pattern.j.size());
  }
  PetscCall(sparsegpu::symbolic::BuildFrontTree(pattern, apart, {}, tree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A chain of unknowns each coupled with the next `width`, and a bush of `leaves` unknowns at every fourth of them: a
/// long chain of fronts.
inline Problem Chain(PetscInt length, PetscInt width, PetscInt leaves)
{
  Problem        p{"", 0, 0, {}, {}};
  const PetscInt bushes = length / 4;
  p.name                = "chain_" + std::to_string(length) + "_" + std::to_string(width);
  p.rows = p.cols  = length + bushes * leaves;
  const auto place = [&](PetscInt k) { return k + (k / 4) * leaves; }; // of the k-th of the chain, behind its bush
  for (PetscInt k = 0; k < length; ++k)
    for (PetscInt w = 1; w <= width && k + w < length; ++w) p.entries.push_back(Entry{place(k), place(k + w), 1});
  for (PetscInt b = 0; b < bushes; ++b)
    for (PetscInt l = 0; l < leaves; ++l)
      p.entries.push_back(Entry{place(4 * b + 3) + 1 + l, place(PetscMin(length - 1, 4 * b + 4)), 1});
  return p;
}

struct Front {
  PetscInt parent, pivots, others;
};
/// Whose rows are not looked at.
inline FrontTree TreeOf(const std::vector<Front> &fronts)
{
  FrontTree tree;
  tree.first.assign(1, 0);
  tree.row_begin.assign(1, 0);
  for (const Front &f : fronts) {
    tree.parent.push_back(f.parent);
    tree.first.push_back(tree.first.back() + f.pivots);
    tree.row.resize(tree.row.size() + (size_t)f.others, 0);
    tree.row_begin.push_back((PetscCount)tree.row.size());
  }
  return tree;
}

} // namespace testing
