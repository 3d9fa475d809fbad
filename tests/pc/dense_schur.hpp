/// Schur complements of dense matrices, for comparison.
#pragma once

#include "factors.hpp"

namespace testing
{

inline std::vector<PetscScalar> Dense(const Problem &p)
{
  std::vector<PetscScalar> a((size_t)(p.rows * p.rows), 0);
  for (const Entry &e : p.entries) a[(size_t)(e.i + e.j * p.rows)] += e.v;
  return a;
}

/// A22 - A21 A11^-1 A12 by elimination of the dense matrix with its largest pivots, the Schur variables last.
inline std::vector<PetscScalar> DenseSchur(const Problem &p, const std::vector<PetscInt> &schur)
{
  const PetscInt           n = p.rows, k = (PetscInt)schur.size(), m = n - k;
  std::vector<PetscScalar> given = Dense(p), a((size_t)(n * n)), s((size_t)(k * k));
  std::vector<PetscInt>    order;
  std::vector<char>        last((size_t)n, 0);
  for (const PetscInt v : schur) last[(size_t)v] = 1;
  for (PetscInt v = 0; v < n; ++v)
    if (!last[(size_t)v]) order.push_back(v);
  order.insert(order.end(), schur.begin(), schur.end());
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) a[(size_t)(i + j * n)] = given[(size_t)(order[(size_t)i] + order[(size_t)j] * n)];
  for (PetscInt q = 0; q < m; ++q) {
    PetscInt best = q;
    for (PetscInt i = q + 1; i < m; ++i)
      if (PetscAbsScalar(a[(size_t)(i + q * n)]) > PetscAbsScalar(a[(size_t)(best + q * n)])) best = i;
    for (PetscInt j = 0; j < n; ++j) std::swap(a[(size_t)(q + j * n)], a[(size_t)(best + j * n)]);
    for (PetscInt i = q + 1; i < n; ++i) {
      const PetscScalar l = a[(size_t)(i + q * n)] / a[(size_t)(q + q * n)];
      for (PetscInt j = q; j < n; ++j) a[(size_t)(i + j * n)] -= l * a[(size_t)(q + j * n)];
    }
  }
  for (PetscInt i = 0; i < k; ++i)
    for (PetscInt j = 0; j < k; ++j) s[(size_t)(i + j * k)] = a[(size_t)(m + i + (m + j) * n)];
  return s;
}

} // namespace testing
