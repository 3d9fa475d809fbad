/// Symmetric problems whose diagonal has no pivots.
#pragma once

#include "mirrored.hpp"

namespace testing
{

/// p's upper triangle with its mirror image, conjugated if `hermitian`, and a diagonal of zeros.
inline Problem Hollow(const Problem &p, bool hermitian)
{
  Problem q = p;
  q.name += hermitian ? "_hollow_hermitian" : "_hollow";
  q.entries.clear();
  for (PetscInt r = 0; r < p.rows; ++r) q.entries.push_back({r, r, 0});
  for (const Entry &e : p.entries)
    if (e.j > e.i) {
      q.entries.push_back(e);
      q.entries.push_back({e.j, e.i, hermitian ? PetscConj(e.v) : e.v});
    }
  return q;
}

/// [H B^T; B 0] of a grid of n x n velocities with as many constraints as half of them, each between neighbours.
inline Problem Constraints(PetscInt n)
{
  const PetscInt       nodes = n * n, all = nodes + nodes / 2;
  conformance::Builder b("constraints_" + std::to_string(n), all, all);
  const auto           both = [&](PetscInt i, PetscInt j, PetscScalar v) {
    b.Add(i, j, v);
    b.Add(j, i, v);
  };
  for (PetscInt r = 0; r < nodes; ++r) {
    b.Add(r, r, (PetscScalar)(4 + (PetscReal)(r % 7) / 8));
    for (const PetscInt step : {(PetscInt)1, n})
      if (r / step % n < n - 1) both(r, r + step, -1);
  }
  for (PetscInt k = 0; k < nodes / 2; ++k) {
    const PetscInt at = 2 * k + (2 * k / n) % 2 * (n % 2 == 0);
    both(nodes + k, at % nodes, (PetscScalar)(1 + (PetscReal)(k % 5) / 16));
    if ((at + n + 1) % nodes != at % nodes) both(nodes + k, (at + n + 1) % nodes, (PetscScalar)-0.75);
    b.Add(nodes + k, nodes + k, 0);
  }
  return b;
}

/// What the view says of them.
inline const char PAIRS[] = "with pivots of order 1 and 2";

} // namespace testing
