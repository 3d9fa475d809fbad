static const char help[] =
    "What a direct factorization knows of its matrix: the symmetric pattern of rows of any kind, against sets, and where\n"
    "each entry goes in the fronts, against a search.\n\n";

#include "../testing.hpp"
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include "pc/lu/plan.hpp"
#include "pc/symbolic/elimination.hpp"
#include "pc/symbolic/pattern.hpp"

using namespace testing;
using sparsegpu::lu::FrontPlan;
using sparsegpu::lu::Shape;
using sparsegpu::lu::Steps;
using sparsegpu::lu::TileColumn;
using sparsegpu::rows::CsrView;
using sparsegpu::symbolic::FrontTree;
using sparsegpu::symbolic::Indices;
using sparsegpu::symbolic::SymmetricPattern;

namespace
{
struct Rows {
  PetscInt n = 0;
  Indices  i{0}, j;

  CsrView View() const
  {
    CsrView A{};
    A.rows = A.cols = n;
    A.nonzeros      = (PetscInt)j.size();
    A.i             = i.data();
    A.j             = j.data();
    return A;
  }
};

enum class Kind {
  Symmetric,
  WithoutDiagonals, ///< some of them
  OneMore,          ///< an entry below the diagonal whose mirror image lacks
  OneLess,          ///< the same above
  Unordered,        ///< columns of a row
  Twice,            ///< an entry and its mirror image
  Triangle,
  COUNT
};

Rows Create(PetscInt n, Kind kind, unsigned seed)
{
  std::mt19937                    random(seed);
  std::vector<std::set<PetscInt>> row((size_t)n);
  Rows                            A;

  for (PetscInt r = 0; r < n; ++r) {
    if (kind != Kind::WithoutDiagonals || random() % 3) row[(size_t)r].insert(r);
    for (unsigned e = random() % 4; e > 0; --e) {
      const PetscInt c = (PetscInt)(random() % (unsigned)n);
      if (kind != Kind::Triangle || c > r) row[(size_t)r].insert(c);
      if (kind != Kind::Triangle) row[(size_t)c].insert(r);
    }
  }
  const auto without = [&](bool below) { // a mirror image
    for (PetscInt r = n - 1; r >= 0; --r)
      for (const PetscInt c : row[(size_t)r])
        if (below ? c < r : c > r) {
          row[(size_t)r].erase(c);
          return;
        }
  };
  if (kind == Kind::OneMore) without(false);
  if (kind == Kind::OneLess) without(true);
  A.n = n;
  for (PetscInt r = 0; r < n; ++r) {
    const size_t before = A.j.size();
    for (const PetscInt c : row[(size_t)r]) A.j.insert(A.j.end(), kind == Kind::Twice && r + c == n - 1 ? 2 : 1, c);
    if (kind == Kind::Unordered) std::shuffle(A.j.begin() + (std::ptrdiff_t)before, A.j.end(), random);
    A.i.push_back((PetscInt)A.j.size());
  }
  return A;
}

Indices Shuffled(PetscInt n, unsigned seed)
{
  Indices place((size_t)n);
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), std::mt19937(seed));
  return place;
}

PetscErrorCode CheckPattern(const Rows &A, const Indices &row, const Indices &column, const std::string &what)
{
  std::vector<std::set<PetscInt>> expected((size_t)A.n);
  SymmetricPattern                pattern;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < A.n; ++r)
    for (PetscInt e = A.i[(size_t)r]; e < A.i[(size_t)r + 1]; ++e) {
      const PetscInt i = row[(size_t)r], j = column[(size_t)A.j[(size_t)e]];
      if (i == j) continue;
      expected[(size_t)i].insert(j);
      expected[(size_t)j].insert(i);
    }
  PetscCall(sparsegpu::symbolic::SymmetricPatternOf(A.View(), row, column, &pattern));
  PetscCheck(pattern.n == A.n && (PetscCount)pattern.j.size() == pattern.i.back(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %zu neighbours in all", what.c_str(), pattern.j.size());
  for (PetscInt k = 0; k < A.n; ++k) {
    const auto               begin = pattern.j.begin() + (std::ptrdiff_t)pattern.i[(size_t)k];
    const auto               end   = pattern.j.begin() + (std::ptrdiff_t)pattern.i[(size_t)k + 1];
    const std::set<PetscInt> got(begin, end);
    PetscCheck(got == expected[(size_t)k] && got.size() == (size_t)(end - begin), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %td neighbours of %d, not %zu", what.c_str(), end - begin, (int)k, expected[(size_t)k].size());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Patterns()
{
  PetscFunctionBeginUser;
  for (PetscInt n : {0, 1, 2, 17, 300})
    for (int kind = 0; kind < (int)Kind::COUNT; ++kind)
      for (unsigned seed = 0; seed < 5; ++seed) {
        const Rows        A    = Create(n, (Kind)kind, seed);
        const std::string what = "kind " + std::to_string(kind) + ", " + std::to_string(n) + " rows";
        Indices           natural((size_t)n);
        std::iota(natural.begin(), natural.end(), 0);
        PetscCall(CheckPattern(A, natural, natural, what));
        PetscCall(CheckPattern(A, Shuffled(n, seed), Shuffled(n, seed), what + ", permuted"));
        PetscCall(CheckPattern(A, Shuffled(n, seed), Shuffled(n, seed + 1), what + ", two orders"));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where front f has row or column k, which is one of its own.
PetscInt Local(const FrontTree &tree, PetscInt f, PetscInt k)
{
  if (k < tree.first[(size_t)f + 1]) return k - tree.first[(size_t)f];
  const auto begin = tree.row.begin() + (std::ptrdiff_t)tree.row_begin[(size_t)f];
  const auto end   = tree.row.begin() + (std::ptrdiff_t)tree.row_begin[(size_t)f + 1];
  return tree.Pivots(f) + (PetscInt)(std::find(begin, end, k) - begin);
}

PetscErrorCode CheckPlaces(const Rows &A, const Indices &row, const Indices &column, Shape shape,
                           const std::string &what)
{
  SymmetricPattern pattern;
  FrontTree        tree;
  FrontPlan        plan;

  PetscFunctionBeginUser;
  PetscCall(sparsegpu::symbolic::SymmetricPatternOf(A.View(), row, column, &pattern));
  PetscCall(sparsegpu::symbolic::BuildFrontTree(pattern, 0, {}, &tree));
  const Indices eliminated = sparsegpu::symbolic::Inverted(tree.order);
  Indices       i((size_t)A.n), j((size_t)A.n);
  for (PetscInt k = 0; k < A.n; ++k) {
    i[(size_t)k] = eliminated[(size_t)row[(size_t)k]];
    j[(size_t)k] = eliminated[(size_t)column[(size_t)k]];
  }
  PetscCall(sparsegpu::lu::PlanFronts(tree, Steps::Postorder, sparsegpu::lu::LARGEST_SMALL, shape, &plan));
  PetscCall(sparsegpu::lu::PlaceEntries(A.View(), tree, i, j, &plan));
  for (PetscInt r = 0; r < A.n; ++r)
    for (PetscInt e = A.i[(size_t)r]; e < A.i[(size_t)r + 1]; ++e) {
      const PetscInt   k = i[(size_t)r], l = j[(size_t)A.j[(size_t)e]];
      const auto       after = std::upper_bound(tree.first.begin(), tree.first.end(), std::min(k, l));
      const PetscInt   f     = (PetscInt)(after - tree.first.begin()) - 1;
      const PetscCount p = tree.Pivots(f), rows = p + tree.Others(f), a = Local(tree, f, k), b = Local(tree, f, l);
      PetscCount       place = -1;
      if (shape == Shape::General)
        place = b < p ? plan.lower[(size_t)f] + a + b * rows : plan.upper[(size_t)f] + a + (b - p) * p;
      else if (l >= k) // its mirror image is stored
        place = b < p ? plan.lower[(size_t)f] + TileColumn(p, a) + b : plan.upper[(size_t)f] + b - p + a * (rows - p);
      PetscCheck(plan.place[(size_t)e] == place, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: entry %d of row %d in front %d at %lld, not %lld", what.c_str(), (int)e, (int)r, (int)f,
                 (long long)plan.place[(size_t)e], (long long)place);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Five points on a grid in the order of nested dissection, enough for all parts that go to threads.
PetscErrorCode Places()
{
  constexpr PetscInt SIDE = 210, N = SIDE * SIDE;
  Rows               grid;
  Indices            order, natural((size_t)N);

  PetscFunctionBeginUser;
  grid.n = N;
  for (PetscInt r = 0; r < N; ++r) {
    if (r >= SIDE) grid.j.push_back(r - SIDE);
    if (r % SIDE) grid.j.push_back(r - 1);
    grid.j.push_back(r);
    if ((r + 1) % SIDE) grid.j.push_back(r + 1);
    if (r + SIDE < N) grid.j.push_back(r + SIDE);
    grid.i.push_back((PetscInt)grid.j.size());
  }
  const auto dissect = [&](const auto &self, PetscInt x0, PetscInt x1, PetscInt y0, PetscInt y1) -> void {
    if (x1 - x0 < 3 || y1 - y0 < 3) {
      for (PetscInt y = y0; y < y1; ++y)
        for (PetscInt x = x0; x < x1; ++x) order.push_back(y * SIDE + x);
      return;
    }
    if (x1 - x0 > y1 - y0) {
      const PetscInt m = (x0 + x1) / 2;
      self(self, x0, m, y0, y1);
      self(self, m + 1, x1, y0, y1);
      for (PetscInt y = y0; y < y1; ++y) order.push_back(y * SIDE + m);
    } else {
      const PetscInt m = (y0 + y1) / 2;
      self(self, x0, x1, y0, m);
      self(self, x0, x1, m + 1, y1);
      for (PetscInt x = x0; x < x1; ++x) order.push_back(m * SIDE + x);
    }
  };
  dissect(dissect, 0, SIDE, 0, SIDE);
  const Indices place = sparsegpu::symbolic::Inverted(order);
  PetscCall(CheckPlaces(grid, place, place, Shape::General, "grid"));
  PetscCall(CheckPlaces(grid, place, place, Shape::Symmetric, "grid, half"));
  for (unsigned seed = 0; seed < 4; ++seed)
    for (Kind kind : {Kind::Symmetric, Kind::OneMore, Kind::Unordered, Kind::Triangle}) {
      const Rows A = Create(120, kind, seed);
      PetscCall(CheckPlaces(A, Shuffled(120, seed), Shuffled(120, seed), Shape::General, "random"));
      PetscCall(CheckPlaces(A, Shuffled(120, seed), Shuffled(120, seed + 1), Shape::General, "random, two orders"));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"patterns", Patterns}, {"places", Places}});
}
