/// Symmetric (Hermitian) positive definite systems for the solvers.
#pragma once

#include "../matrices.hpp"

namespace testing::spd
{

using conformance::Builder;
using conformance::Problem;

/// The entry (i, j), i < j, of weight w > 0: with complex numbers of modulus w.
inline PetscScalar Coupling(PetscReal w)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX((PetscReal)-0.8 * w, (PetscReal)0.6 * w);
#else
  return -w;
#endif
}
/// Adds the entry (i, j) of weight w to a matrix that is built by rows.
inline void AddCoupling(Builder *b, PetscInt i, PetscInt j, PetscReal w)
{
  b->Add(i, j, i < j ? Coupling(w) : PetscConj(Coupling(w)));
}
/// From 0.5 to 1.5, the same for (i, j) and (j, i).
inline PetscReal Weight(PetscInt i, PetscInt j)
{
  const auto low = (unsigned long long)std::min(i, j), high = (unsigned long long)std::max(i, j);
  return 1 + (PetscReal)0.5 * conformance::RealValue(low * 1000003 + high);
}

/// Diffusion on a grid with 5, 7 or 27 points; coefficients are one number, or of full mantissa. Definite by its sides.
inline Problem Diffusion(PetscInt points, PetscInt nx, PetscInt ny, PetscInt nz, bool vary)
{
  const PetscInt n = nx * ny * nz;
  Builder        b(std::to_string(points) + " points" + (vary ? ", coefficients vary" : ""), n, n);

  for (PetscInt r = 0; r < n; ++r) {
    PetscReal sum = 0;
    conformance::EachNeighbour(nx, ny, nz, r, [&](PetscInt d, PetscInt c) {
      const bool straight = d == 4 || d == 10 || d == 12 || d == 14 || d == 16 || d == 22;
      if (d == 13 || (points < 27 && !straight)) return;
      const PetscReal w = vary ? Weight(r, c) : 1;
      sum += w;
      AddCoupling(&b, r, c, w);
    });
    b.Add(r, r, vary ? sum + (PetscReal)0.05 : (PetscReal)(points - 1));
  }
  return b;
}

/// Blocks of three unknowns a node, as elasticity has them: 7 points, each entry a definite 3 x 3 matrix.
inline Problem Blocks(PetscInt nx, PetscInt ny, PetscInt nz)
{
  constexpr PetscInt SIZE              = 3;
  const PetscReal    block[SIZE][SIZE] = {{2, 0.5, 0.25}, {0.5, 3, -0.5}, {0.25, -0.5, 4}};
  const PetscInt     nodes             = nx * ny * nz;
  Builder            b("blocks of three", nodes * SIZE, nodes * SIZE);

  for (PetscInt r = 0; r < nodes; ++r)
    for (PetscInt p = 0; p < SIZE; ++p)
      conformance::EachNeighbour(nx, ny, nz, r, [&](PetscInt d, PetscInt c) {
        const bool straight = d == 4 || d == 10 || d == 12 || d == 14 || d == 16 || d == 22;
        if (d != 13 && !straight) return;
        for (PetscInt q = 0; q < SIZE; ++q)
          b.Add(r * SIZE + p, c * SIZE + q, d == 13 ? (PetscReal)6.5 * block[p][q] : -block[p][q]);
      });
  return b;
}

/// Random couplings between any two of n unknowns, and diagonals a little larger than their sum.
inline Problem Random(PetscInt n)
{
  Builder                            b("random", n, n);
  std::vector<std::vector<PetscInt>> neighbours((size_t)n);
  unsigned long long                 state = 7;

  for (PetscInt i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) {
      state               = state * 6364136223846793005ull + 1442695040888963407ull;
      const PetscInt j    = (PetscInt)((state >> 33) % (unsigned long long)n);
      auto          &mine = neighbours[(size_t)i];
      if (i == j || std::find(mine.begin(), mine.end(), j) != mine.end()) continue;
      mine.push_back(j);
      neighbours[(size_t)j].push_back(i);
    }
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal sum = 0;
    for (PetscInt j : neighbours[(size_t)i]) {
      sum += Weight(i, j);
      AddCoupling(&b, i, j, Weight(i, j));
    }
    b.Add(i, i, sum * (1 + (PetscReal)0.1 * Weight(i, i)) + (PetscReal)0.1);
  }
  return b.Refusing({"dia"});
}

/// Dense, with n eigenvalues spread evenly over `digits` powers of ten: Q D Q with a reflection Q that fills it.
inline Problem Spectrum(PetscInt n, PetscReal digits)
{
  Builder                b("spectrum", n, n);
  std::vector<PetscReal> v((size_t)n), d((size_t)n);
  PetscReal              square = 0, dvv = 0;

  for (PetscInt i = 0; i < n; ++i) {
    v[(size_t)i] = 1 + conformance::RealValue((unsigned long long)i) / 2;
    d[(size_t)i] = PetscPowReal(10, -digits * i / (n - 1));
    square += v[(size_t)i] * v[(size_t)i];
  }
  for (PetscInt i = 0; i < n; ++i) dvv += d[(size_t)i] * v[(size_t)i] * v[(size_t)i];
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) {
      const PetscInt  low = std::min(i, j), high = std::max(i, j); // symmetric in its last bit
      const PetscReal vi = v[(size_t)low], vj = v[(size_t)high], di = d[(size_t)low], dj = d[(size_t)high];
      b.Add(i, j, (i == j ? di : 0) - 2 * vi * vj * (di + dj) / square + 4 * vi * vj * dvv / (square * square));
    }
  return b;
}

/// A chain whose couplings fall by `digits` powers of ten from one end to the other.
inline Problem Layers(PetscInt n, PetscReal digits)
{
  Builder    b("layers of " + std::to_string(n), n, n);
  const auto weight = [=](PetscInt i) { return PetscPowReal(10, -digits * i / n); }; // between i - 1 and i

  for (PetscInt i = 0; i < n; ++i) {
    if (i > 0) AddCoupling(&b, i, i - 1, weight(i));
    b.Add(i, i, weight(i) + weight(i + 1));
    if (i + 1 < n) AddCoupling(&b, i, i + 1, weight(i + 1));
  }
  return b;
}

/// One of each kind, small.
inline std::vector<Problem> All()
{
  return {Diffusion(5, 31, 29, 1, false),
          Diffusion(5, 31, 29, 1, true),
          Diffusion(7, 9, 8, 10, false),
          Diffusion(27, 8, 9, 7, false),
          Diffusion(27, 8, 9, 7, true),
          Blocks(6, 5, 4),
          Random(300),
          Builder("1 x 1", 1, 1).Add(0, 0, 4)};
}

} // namespace testing::spd
