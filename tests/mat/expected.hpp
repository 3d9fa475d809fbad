/// Matrices for which auto's choice is known.
#pragma once

#include "codecs.hpp"

namespace testing
{

/// Nodes of three unknowns, each coupled to itself and to eleven others that are not the same distance away: no
/// diagonals, but blocks.
inline Problem Blocks(bool few)
{
  const PetscInt       nodes = 3000;
  conformance::Builder b(few ? "blocks of few values" : "blocks", 3 * nodes, 3 * nodes);
  for (PetscInt i = 0; i < nodes; ++i)
    for (PetscInt k = 0; k < 12; ++k) {
      const PetscInt other = k ? (i + k * 211 + i * k % 97) % nodes : i;
      for (PetscInt p = 0; p < 3; ++p)
        for (PetscInt q = 0; q < 3; ++q)
          if (few)
            b.Add(3 * i + p, 3 * other + q, (PetscReal)(p - q) / 3);
          else
            b.Add(3 * i + p, 3 * other + q);
    }
  return b;
}
inline Problem Stencil()
{
  Problem p = conformance::Banded("constant rows", 20000, 20000, {-100, -1, 0, 1, 100});
  for (conformance::Entry &e : p.entries) e.v = e.i == e.j ? PetscScalar(4) : PetscScalar((PetscReal)-1 / 3);
  return p;
}

struct Expectation {
  Problem     p;
  const char *host; ///< the choice on the CPU
};
/// Whether auto converts for indices alone on the CPU: they are a fifth of what csr reads where numbers are complex and
/// indices short, too little.
constexpr bool INDICES_PAY = sizeof(PetscScalar) < 16 || sizeof(PetscInt) > 4;

inline std::vector<Expectation> Expectations()
{
  return {{Stencil(), "stencil"},
          {conformance::Banded("diagonals", 20000, 20000, {-100, -1, 0, 1, 100}), INDICES_PAY ? "dia" : "csr"},
          {Blocks(false), INDICES_PAY ? "bsr" : "csr"},
          {Blocks(true), INDICES_PAY ? "bsr" : "csr"},
          {conformance::PowerLaw(600), "csr"}};
}

} // namespace testing
