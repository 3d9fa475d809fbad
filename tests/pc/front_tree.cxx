static const char help[] = "Trees of fronts: every entry has its place, and large fronts are aligned.\n\n";

#include <random>
#include <set>
#include "front_trees.hpp"
#include "pc/symbolic/supernodes.hpp"

using namespace testing;
using sparsegpu::symbolic::ALIGNED;
using sparsegpu::symbolic::ALIGNED_ROWS;

/// Unknowns begin .. end - 1, each a neighbour of all others and of those of `above`.
static void AddClique(PetscInt begin, PetscInt end, PetscInt above_begin, PetscInt above_end, Problem *p)
{
  for (PetscInt i = begin; i < end; ++i) {
    for (PetscInt j = begin; j < end; ++j) p->entries.push_back({i, j, i == j ? (PetscScalar)1000 : (PetscScalar)-1});
    for (PetscInt j = above_begin; j < above_end; ++j) {
      p->entries.push_back({i, j, -1});
      p->entries.push_back({j, i, -1});
    }
  }
}

/// A front of 1,203 pivots above one of 450 pivots, which has a smaller one below it, and one of 511.
static Problem Cliques()
{
  Problem p{"cliques", 2214, 2214, {}, {}};
  AddClique(0, 50, 50, 80, &p);
  AddClique(50, 500, 1011, 1661, &p);
  AddClique(500, 1011, 1081, 1814, &p);
  AddClique(1011, 2214, 0, 0, &p);
  return p;
}

/// Cliques of random sizes, each above up to two others, coupled with part of the one above and of that above it.
static Problem RandomCliques(unsigned seed)
{
  std::mt19937                               random(seed);
  const auto                                 draw = [&](PetscInt n) { return (PetscInt)(random() % (unsigned)n); };
  Problem                                    p{"random_" + std::to_string(seed), 0, 0, {}, {}};
  std::vector<std::pair<PetscInt, PetscInt>> clique; // from the last one on
  PetscInt                                   end = 4000;
  p.rows = p.cols = end;
  for (size_t k = 0; end > 0; ++k) {
    const PetscInt begin = std::max<PetscInt>(0, end - 30 - draw(k < 3 ? 1000 : 300));
    AddClique(begin, end, 0, 0, &p);
    if (k > 0) {
      size_t above = (k - 1) / 2;
      for (int level = 0; level < 2; ++level, above = (above - 1) / 2) {
        const PetscInt size = clique[above].second - clique[above].first, first = clique[above].first + draw(size);
        for (PetscInt i = begin; i < end; ++i)
          for (PetscInt j = first; j < clique[above].second; ++j) {
            p.entries.push_back({i, j, -1});
            p.entries.push_back({j, i, -1});
          }
        if (above == 0) break;
      }
    }
    clique.push_back({begin, end});
    end = begin;
  }
  return p;
}

/// Below x, a front of one pivot, three cliques with some pivots to give each: x may not give what it gets. Above it y,
/// a front of one pivot, too, and the last clique, the root.
static Problem ManyBelowOne()
{
  const PetscInt size = 803, x = 3 * size, y = x + 1 + size, root = y + 1 + size, end = root + 1600;
  Problem        p{"many_below_one", end, end, {}, {}};
  const auto     couple = [&](PetscInt i, PetscInt begin, PetscInt stop) {
    for (PetscInt j = begin; j < stop; ++j) {
      p.entries.push_back({i, j, -1});
      p.entries.push_back({j, i, -1});
    }
  };
  for (PetscInt c = 0; c < 3; ++c) {
    AddClique(c * size, (c + 1) * size, root + 400 * c, root + 400 * (c + 1), &p);
    couple(x, c * size, (c + 1) * size);
  }
  AddClique(x, x + 1, root, root + 1200, &p);
  AddClique(x + 1, y, root + 800, end, &p);
  couple(y, x, y);
  AddClique(y, y + 1, root, end, &p);
  AddClique(y + 1, root, root, end, &p);
  AddClique(root, end, 0, 0, &p);
  return p;
}

/// Each entry is in the front of the unknown that is eliminated first; a front's rows are the parent's pivots or rows,
/// where `relative` says.
static PetscErrorCode CheckTree(const Problem &p, const FrontTree &tree)
{
  std::vector<PetscInt> place((size_t)p.rows, -1), front((size_t)p.rows, -1);

  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < tree.Fronts(); ++f)
    for (PetscInt k = tree.first[(size_t)f]; k < tree.first[(size_t)f + 1]; ++k) front[(size_t)k] = f;
  for (PetscInt k = 0; k < p.rows; ++k) place[(size_t)tree.order[(size_t)k]] = k;
  for (PetscInt k = 0; k < p.rows; ++k)
    PetscCheck(place[(size_t)k] >= 0 && front[(size_t)k] >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: unknown %d is not eliminated", p.name.c_str(), (int)k);
  const auto rows = [&](PetscInt f) {
    return std::vector<PetscInt>(tree.row.begin() + tree.row_begin[(size_t)f],
                                 tree.row.begin() + tree.row_begin[(size_t)f + 1]);
  };
  std::vector<std::set<PetscInt>> has((size_t)tree.Fronts());
  for (PetscInt f = 0; f < tree.Fronts(); ++f) {
    const std::vector<PetscInt> own = rows(f);
    has[(size_t)f]                  = std::set<PetscInt>(own.begin(), own.end());
    PetscCheck(std::is_sorted(own.begin(), own.end()) && has[(size_t)f].size() == own.size() &&
                   (own.empty() || own[0] >= tree.first[(size_t)f + 1]),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: rows of front %d", p.name.c_str(), (int)f);
  }
  for (const Entry &e : p.entries) {
    const PetscInt a = place[(size_t)e.i], b = place[(size_t)e.j], f = front[(size_t)PetscMin(a, b)];
    PetscCheck(front[(size_t)PetscMax(a, b)] == f || has[(size_t)f].count(PetscMax(a, b)), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: entry (%d, %d) is in no front", p.name.c_str(), (int)e.i, (int)e.j);
  }
  for (PetscInt f = 0; f < tree.Fronts(); ++f) {
    const PetscInt g = tree.parent[(size_t)f];
    for (PetscCount e = tree.row_begin[(size_t)f]; e < tree.row_begin[(size_t)f + 1]; ++e) {
      const PetscInt at = g < 0 ? -1 : tree.relative[(size_t)e], pivots = g < 0 ? 0 : tree.Pivots(g);
      PetscCheck(
          g >= 0 && (at < pivots ? tree.first[(size_t)g] + at == tree.row[(size_t)e]
                                 : tree.row[(size_t)(tree.row_begin[(size_t)g] + at - pivots)] == tree.row[(size_t)e]),
          PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d of front %d", p.name.c_str(), (int)tree.row[(size_t)e], (int)f);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *count: large fronts that are aligned, all of them if `all`; a root is where a smaller front below could give.
static PetscErrorCode CheckAligned(const Problem &p, const FrontTree &tree, bool all, PetscInt *count)
{
  PetscFunctionBeginUser;
  *count = 0;
  for (PetscInt f = 0; f < tree.Fronts(); ++f) {
    const PetscInt pivots = tree.Pivots(f), others = tree.Others(f);
    if (f == tree.apart || pivots + others < ALIGNED_ROWS) continue;
    const bool aligned = pivots % ALIGNED == 0 && others % ALIGNED == 0;
    PetscCheck(aligned || !all, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: front %d has %d pivots and %d others",
               p.name.c_str(), (int)f, (int)pivots, (int)others);
    *count += aligned;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Aligned()
{
  PetscInt  count, all = 0;
  FrontTree tree;

  PetscFunctionBeginUser;
  PetscCall(Fronts(Cliques(), 0, &tree));
  PetscCall(CheckTree(Cliques(), tree));
  PetscCall(CheckAligned(Cliques(), tree, true, &count));
  PetscCheck(count == 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d large fronts", (int)count);
  PetscCall(Fronts(ManyBelowOne(), 0, &tree));
  PetscCall(CheckTree(ManyBelowOne(), tree));
  for (unsigned seed = 0; seed < 8; ++seed)
    for (const PetscInt apart : {0, 9}) {
      const Problem p = RandomCliques(seed);
      PetscCall(Fronts(p, apart, &tree));
      PetscCall(CheckTree(p, tree));
      PetscCall(CheckAligned(p, tree, false, &count));
      all += count;
    }
  PetscCheck(all > 10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d aligned fronts", (int)all);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"aligned", Aligned}});
}
