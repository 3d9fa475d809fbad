static const char help[] = "Matchings found in a thread: as those found at once, of the same rows and values only.\n\n";

#include "backward.hpp"
#include "hard_matrices.hpp"
#include "pc/lu/early_matching.hpp"

#include <cmath>
#include <limits>

using namespace testing;
using sparsegpu::Scalar;
using sparsegpu::lu::EarlyMatching;
using sparsegpu::lu::FindMaximumProduct;
using sparsegpu::lu::Matching;
using sparsegpu::rows::CsrView;

namespace
{
struct Rows {
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;

  explicit Rows(const Problem &p) : i((size_t)p.rows + 1, 0)
  {
    std::vector<Entry> entries = p.entries;
    std::stable_sort(entries.begin(), entries.end(), [](const Entry &x, const Entry &y) { return x.i < y.i; });
    for (const Entry &e : entries) {
      ++i[(size_t)e.i + 1];
      j.push_back(e.j);
      a.push_back(Scalar(e.v));
    }
    for (size_t k = 1; k < i.size(); ++k) i[k] += i[k - 1];
  }
  CsrView View() const
  {
    const PetscInt n = (PetscInt)i.size() - 1;
    return {n, n, (PetscInt)j.size(), i.data(), j.data(), a.data()};
  }
};

bool Equal(const Matching &x, const Matching &y)
{
  return x.row == y.row && x.row_scale == y.row_scale && x.column_scale == y.column_scale && x.unmatched == y.unmatched;
}
} // namespace

static PetscErrorCode Same()
{
  EarlyMatching early;

  PetscFunctionBeginUser;
  for (unsigned seed = 1; seed < 40; ++seed) {
    Rows           rows(hard::SaddlePoint(seed, 400, 200, 8, seed % 2 == 0));
    const Matching expected = FindMaximumProduct(rows.View(), nullptr);
    Matching       found;
    PetscCheck(!early.Take(rows.View(), &found), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%u: found before it began", seed);
    early.Begin(rows.View());
    PetscCheck(early.Take(rows.View(), &found) && Equal(found, expected), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%u: another matching", seed);
    PetscCheck(!early.Take(rows.View(), &found), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%u: found twice", seed);
    early.Begin(rows.View());
    rows.a.back() = rows.a.back() + rows.a.back();
    PetscCheck(!early.Take(rows.View(), &found), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%u: of other values", seed);
    early.Begin(rows.View());
    if (seed % 3 == 0) early.Drop();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// No row is left for a column; values that are not numbers equal themselves.
static PetscErrorCode Special()
{
  Problem       p{"hole", 3, 3, {}, {}};
  EarlyMatching early;
  Matching      found;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 3; ++k) {
    p.entries.push_back({k, 0, 1});
    p.entries.push_back({k, 1, (PetscScalar)std::numeric_limits<PetscReal>::quiet_NaN()});
  }
  const Rows rows(p);
  early.Begin(rows.View());
  PetscCheck(early.Take(rows.View(), &found) && found.unmatched >= 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Column %d is left", (int)found.unmatched);
  const Rows empty(Problem{"empty", 0, 0, {}, {}});
  early.Begin(empty.View());
  PetscCheck(early.Take(empty.View(), &found) && found.row.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows of none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"special", Special}});
}
