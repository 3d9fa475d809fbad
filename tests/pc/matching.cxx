static const char help[] =
    "Rows for columns by magnitudes: against all permutations, and by the scaling that proves them best.\n\n";

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>
#include "../testing.hpp"
#include "device/scalar.hpp"
#include "pc/lu/matching.hpp"

using namespace testing;
using sparsegpu::Scalar;
using sparsegpu::lu::Matching;
using sparsegpu::rows::CsrView;

namespace
{
/// log2 of the factor by which a magnitude is rounded, and of that by which scaled entries may exceed 1.
constexpr double ROUNDED = 0.125, EXCEEDS = 1.125, SLACK = 1e-4;

/// A matrix by rows. 0 stands for itself.
struct Small {
  PetscInt              n;
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;

  explicit Small(PetscInt rows) : n(rows) {}
  void Add(PetscInt column, PetscReal value)
  {
    j.push_back(column);
    a.push_back(Scalar(value));
  }
  void    EndRow() { i.push_back((PetscInt)j.size()); }
  CsrView View() const { return CsrView{n, n, (PetscInt)j.size(), i.data(), j.data(), a.data()}; }
  /// -inf: missing, 0 or not finite.
  double Log(PetscInt r, PetscInt c) const
  {
    for (PetscInt e = i[(size_t)r]; e < i[(size_t)r + 1]; ++e) {
      const double v = (double)sparsegpu::Magnitude(a[(size_t)e]);
      if (j[(size_t)e] == c && v > 0 && std::isfinite(v)) return std::log2(v);
    }
    return -std::numeric_limits<double>::infinity();
  }
};

/// A row for each column, once; matched entries there and near 1 when scaled, none larger than that. By the scaling no
/// other choice has a product that is larger by more than rounding.
PetscErrorCode CheckMatching(const Small &A, const Matching &m, double *product)
{
  std::vector<bool> taken((size_t)A.n, false);

  PetscFunctionBeginUser;
  *product = 0;
  for (PetscInt c = 0; c < A.n; ++c) {
    const PetscInt r = m.row[(size_t)c];
    PetscCheck(r >= 0 && r < A.n && !taken[(size_t)r], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d twice, or none",
               (int)r);
    taken[(size_t)r] = true;
    *product += A.Log(r, c);
    PetscCheck(A.Log(r, c) > -1e9, PETSC_COMM_SELF, PETSC_ERR_PLIB, "(%d, %d) is missing", (int)r, (int)c);
  }
  for (PetscInt r = 0; r < A.n; ++r)
    for (PetscInt e = A.i[(size_t)r]; e < A.i[(size_t)r + 1]; ++e) {
      const PetscInt c      = A.j[(size_t)e];
      const double   scale  = std::log2((double)m.row_scale[(size_t)r]) + std::log2((double)m.column_scale[(size_t)c]);
      const double   scaled = A.Log(r, c) + scale;
      PetscCheck(scale == std::round(scale), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A scale is no power of two");
      if (!std::isfinite(scaled)) continue;
      PetscCheck(scaled <= EXCEEDS + SLACK && (m.row[(size_t)c] != r || scaled >= -EXCEEDS - SLACK), PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "(%d, %d) is scaled to 2^%g", (int)r, (int)c, scaled);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// log2 of the largest product of all permutations, -inf: there is none.
double Best(const Small &A)
{
  std::vector<PetscInt> row((size_t)A.n);
  double                best = -std::numeric_limits<double>::infinity();

  std::iota(row.begin(), row.end(), 0);
  do {
    double product = 0;
    for (PetscInt c = 0; c < A.n; ++c) product += A.Log(row[(size_t)c], c);
    best = std::max(best, product);
  } while (std::next_permutation(row.begin(), row.end()));
  return best;
}

/// Magnitudes over `powers` powers of two, some alike, some zero or not finite.
Small Random(PetscInt n, PetscReal density, int powers, std::mt19937 *random)
{
  std::uniform_real_distribution<double> draw(0, 1);
  Small                                  A(n);

  for (PetscInt r = 0; r < n; ++r) {
    for (PetscInt c = 0; c < n; ++c) {
      if (draw(*random) > (double)density) continue;
      const double kind = draw(*random), power = (draw(*random) - 0.5) * powers;
      const double value = kind < 0.3 ? std::exp2(std::round(power)) : std::exp2(power);
      A.Add(c, kind > 0.97   ? std::numeric_limits<PetscReal>::quiet_NaN()
               : kind > 0.94 ? PetscReal(0)
                             : (PetscReal)(draw(*random) < 0.5 ? -value : value));
    }
    A.EndRow();
  }
  return A;
}

/// Small ones, singular ones among them.
PetscErrorCode Permutations()
{
  std::mt19937 random(7);
  int          singular = 0, others = 0;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3000; ++k) {
    const Small  A    = Random(1 + k % 6, (PetscReal)(0.3 + 0.1 * (k % 7)), 1 + k % 60, &random);
    const double best = Best(A);
    Matching     m;
    double       product;
    PetscCall(sparsegpu::lu::MaximumProduct(A.View(), &m));
    PetscCheck((m.unmatched < 0) == std::isfinite(best), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Matrix %d: column %d without a row, the best product is 2^%g", k, (int)m.unmatched, best);
    ++(m.unmatched < 0 ? others : singular);
    if (m.unmatched >= 0) continue;
    PetscCall(CheckMatching(A, m, &product));
    PetscCheck(product >= best - 2 * ROUNDED * (double)A.n - SLACK, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Matrix %d: the product is 2^%g, the best 2^%g", k, product, best);
  }
  PetscCheck(singular > 100 && others > 1000, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d singular ones, %d others", singular,
             others);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Long searches: by the scaling alone.
PetscErrorCode Large()
{
  std::mt19937 random(11);
  int          matched = 0;

  PetscFunctionBeginUser;
  for (int k = 0; k < 24; ++k) {
    Matching    m;
    double      product;
    const Small A = Random(400, (PetscReal)(k % 3 ? 0.03 : 0.2), k % 4 ? 10 * (k % 4) : 1, &random);
    PetscCall(sparsegpu::lu::MaximumProduct(A.View(), &m));
    if (m.unmatched >= 0) continue;
    PetscCall(CheckMatching(A, m, &product));
    ++matched;
  }
  PetscCheck(matched > 16, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d of 24 were matched", matched);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A column of zeros, where a logarithm would trap; one row.
PetscErrorCode Empty()
{
  PetscFunctionBeginUser;
  Small A(3);
  for (PetscInt r = 0; r < 3; ++r) {
    A.Add(0, 1);
    A.Add(1, 0);
    A.Add(2, 2);
    A.EndRow();
  }
  Matching m;
  PetscCall(PetscSetFPTrap(PETSC_FP_TRAP_ON));
  PetscCall(sparsegpu::lu::MaximumProduct(A.View(), &m));
  PetscCall(PetscSetFPTrap(PETSC_FP_TRAP_OFF));
  PetscCheck(m.unmatched == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Column %d has no row", (int)m.unmatched);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"permutations", Permutations}, {"large", Large}, {"empty", Empty}});
}
