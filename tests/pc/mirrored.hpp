/// Problems made symmetric.
#pragma once

#include "../matrices.hpp"

namespace testing
{

/// p's upper triangle with its mirror image, conjugated if `hermitian`, and a diagonal that dominates; its signs are
/// mixed unless `definite`.
inline Problem Mirrored(const Problem &p, bool hermitian, bool definite)
{
  Problem q = p;
  q.name += hermitian ? "_hermitian" : definite ? "_definite" : "_indefinite";
  q.entries.clear();
  for (const Entry &e : p.entries)
    if (e.j > e.i) {
      q.entries.push_back(e);
      q.entries.push_back({e.j, e.i, hermitian ? PetscConj(e.v) : e.v});
    }
  return Dominant(q, definite);
}

} // namespace testing
