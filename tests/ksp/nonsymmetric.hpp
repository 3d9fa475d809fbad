/// Systems for solvers that do not need symmetry.
#pragma once

#include "../matrices.hpp"

namespace testing::nonsymmetric
{

using conformance::Builder;
using conformance::Problem;

/// The entry (i, j) of weight w: with complex numbers of modulus w.
inline PetscScalar Coupling(PetscReal w)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX((PetscReal)-0.8 * w, (PetscReal)0.6 * w);
#else
  return -w;
#endif
}

/// Diffusion, and a flow that makes couplings against it 1 + `flow` and along with it 1 - `flow` times as large, on a
/// grid with 5 or 7 points; coefficients are one number a direction, or of full mantissa.
inline Problem Convection(PetscInt points, PetscInt nx, PetscInt ny, PetscInt nz, PetscReal flow, bool vary)
{
  const PetscInt n = nx * ny * nz;
  Builder        b("convection, " + std::to_string(points) + " points" + (vary ? ", coefficients vary" : ""), n, n);

  for (PetscInt r = 0; r < n; ++r) {
    PetscReal sum = 0;
    conformance::EachNeighbour(nx, ny, nz, r, [&](PetscInt d, PetscInt c) {
      const bool straight = d == 4 || d == 10 || d == 12 || d == 14 || d == 16 || d == 22;
      if (d == 13 || !straight) return;
      const auto      seed = (unsigned long long)r * 1000003 + (unsigned long long)c;
      const PetscReal w =
          (d < 13 ? 1 + flow : 1 - flow) * (vary ? 1 + (PetscReal)0.5 * conformance::RealValue(seed) : 1);
      sum += w;
      b.Add(r, c, Coupling(w));
    });
    b.Add(r, r, vary ? sum + (PetscReal)0.05 : (PetscReal)(points - 1));
  }
  return b;
}

/// Blocks of three unknowns a node: 7 points, each entry a 3 x 3 matrix that is not symmetric.
inline Problem Blocks(PetscInt nx, PetscInt ny, PetscInt nz)
{
  constexpr PetscInt SIZE              = 3;
  const PetscReal    block[SIZE][SIZE] = {{2, 0.5, 0.25}, {-0.5, 3, -0.5}, {0.25, 0.75, 4}};
  const PetscInt     nodes             = nx * ny * nz;
  Builder            b("blocks of three", nodes * SIZE, nodes * SIZE);

  for (PetscInt r = 0; r < nodes; ++r)
    for (PetscInt p = 0; p < SIZE; ++p)
      conformance::EachNeighbour(nx, ny, nz, r, [&](PetscInt d, PetscInt c) {
        const bool straight = d == 4 || d == 10 || d == 12 || d == 14 || d == 16 || d == 22;
        if (d != 13 && !straight) return;
        const PetscReal w = d == 13 ? (PetscReal)6.5 : d < 13 ? (PetscReal)-1.3 : (PetscReal)-0.7;
        for (PetscInt q = 0; q < SIZE; ++q) b.Add(r * SIZE + p, c * SIZE + q, w * block[p][q]);
      });
  return b;
}

/// Four random couplings a row, and diagonals a little larger than their sum.
inline Problem Random(PetscInt n)
{
  Builder            b("random", n, n);
  unsigned long long state = 11;

  for (PetscInt i = 0; i < n; ++i) {
    std::vector<PetscInt> columns;
    PetscReal             sum = 0;
    for (int k = 0; k < 4; ++k) {
      state            = state * 6364136223846793005ull + 1442695040888963407ull;
      const PetscInt j = (PetscInt)((state >> 33) % (unsigned long long)n);
      if (i == j || std::find(columns.begin(), columns.end(), j) != columns.end()) continue;
      columns.push_back(j);
      const PetscReal w = 1 + (PetscReal)0.5 * conformance::RealValue(state);
      b.Add(i, j, Coupling(w));
      sum += w;
    }
    b.Add(i, i, sum * (PetscReal)1.1 + (PetscReal)0.1);
  }
  return b.Refusing({"dia"});
}

/// One of each kind, small.
inline std::vector<Problem> All()
{
  return {Convection(5, 31, 29, 1, 0.3, false),
          Convection(5, 31, 29, 1, 0.7, true),
          Convection(7, 9, 8, 10, 0.5, false),
          Convection(7, 9, 8, 10, 0.2, true),
          Blocks(6, 5, 4),
          Random(300),
          Builder("1 x 1", 1, 1).Add(0, 0, 4)};
}

} // namespace testing::nonsymmetric
