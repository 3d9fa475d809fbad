/// Matrices on which direct solvers without pivoting across the whole matrix fail: those of applications, growing
/// factors, bad scales, small and misplaced pivots.
#pragma once

#include "hard_applications.hpp"

namespace hard
{

/// `length` entries a row beside a whole diagonal of this size.
inline Problem Sparse(unsigned seed, PetscInt n, PetscInt length, PetscReal diagonal)
{
  Random  random(seed);
  Builder p("sparse_" + std::to_string(n) + "_" + std::to_string(seed), n, n);
  for (PetscInt r = 0; r < n; ++r) {
    p.Add(r, r, diagonal * random.Signed());
    p.Add(r, (7 * r + n / 3) % n, random.Signed()); // each column once, unless 7 divides n
    for (PetscInt k = 1; k < length; ++k) p.Add(r, random.Below(n), random.Signed());
  }
  return Sum(p, true);
}

/// Entries of 1 and -1 alone: nothing tells a good pivot from one that elimination turns to an exact zero.
inline Problem Signs(unsigned seed, PetscInt n, PetscInt length)
{
  Random  random(seed);
  Builder p("signs_" + std::to_string(n) + "_" + std::to_string(seed), n, n);
  for (PetscInt r = 0; r < n; ++r) {
    std::vector<PetscInt> columns{r, (7 * r + n / 3) % n};
    for (PetscInt k = 1; k < length; ++k) columns.push_back(random.Below(n));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const PetscInt c : columns) p.Add(r, c, random.Uniform() < (PetscReal)0.5 ? -1 : 1);
  }
  return p;
}

/// Rows and columns of `p` times powers of ten: from 10^-row to 10^row, at random or, `graded`, in order.
inline Problem Scaled(Problem p, unsigned seed, PetscReal row, PetscReal column, bool graded)
{
  Random                 random(seed);
  std::vector<PetscReal> r, c;
  for (PetscInt k = 0; k < p.rows; ++k) {
    const PetscReal u = 1 - 2 * (PetscReal)k / (PetscReal)p.rows;
    r.push_back(std::pow((PetscReal)10, row * (graded ? u : random.Signed())));
    c.push_back(std::pow((PetscReal)10, column * (graded ? u : random.Signed())));
  }
  for (Entry &e : p.entries) e.v = e.v * r[e.i] * c[e.j];
  p.name += graded ? "_graded" : "_scaled";
  return p;
}

/// Wilkinson's matrix, whose last column doubles with each step of partial pivoting, 0.9 of it below the diagonal so
/// that ties do not decide; `copies` of them in a chain.
inline Problem Growing(PetscInt order, PetscInt copies)
{
  const PetscInt n = order * copies;
  Builder        p("growing_" + std::to_string(order) + "x" + std::to_string(copies), n, n);
  for (PetscInt c = 0; c < copies; ++c) {
    const PetscInt first = c * order;
    for (PetscInt k = 0; k < order; ++k) {
      p.Add(first + k, first + k, 1);
      for (PetscInt i = k + 1; i < order; ++i) p.Add(first + i, first + k, (PetscReal)-0.9);
      if (k < order - 1) p.Add(first + k, first + order - 1, 1);
    }
    if (c > 0) p.Add(first, first - 1, (PetscReal)0.5);
  }
  return Sum(p);
}

/// The companion matrix of a polynomial whose coefficients span 2 `orders` orders of magnitude.
inline Problem Companion(unsigned seed, PetscInt n, PetscReal orders)
{
  Random  random(seed);
  Builder p("companion_" + std::to_string(n) + "_" + std::to_string(seed), n, n);
  for (PetscInt k = 0; k < n; ++k) {
    p.Add(0, k, random.Signed() * random.Power(-Orders(orders), Orders(orders)));
    if (k > 0) p.Add(k, k - 1, 1);
  }
  return Sum(p, true);
}

/// Central differences of -u'' + w . grad u on a grid at a large cell Peclet number, without a diagonal of weight.
inline Problem Convection(PetscInt nx, PetscInt ny, PetscReal peclet)
{
  Builder p("convection_" + std::to_string(nx * ny), nx * ny, nx * ny);
  for (PetscInt y = 0; y < ny; ++y)
    for (PetscInt x = 0; x < nx; ++x) {
      const PetscInt  r = y * nx + x;
      const PetscReal u = peclet * std::sin((PetscReal)(x + 2 * y)), v = peclet * std::cos((PetscReal)(2 * x - y));
      p.Add(r, r, 4);
      if (x > 0) p.Add(r, r - 1, -1 - u);
      if (x < nx - 1) p.Add(r, r + 1, -1 + u);
      if (y > 0) p.Add(r, r - nx, -1 - v);
      if (y < ny - 1) p.Add(r, r + nx, -1 + v);
    }
  return p;
}

/// A triangular matrix with small and large diagonal entries in hidden order, and few entries above it: hardly a second
/// assignment of rows to columns, so that it is nearly structurally singular.
inline Problem Hidden(unsigned seed, PetscInt n, PetscReal orders)
{
  Random  random(seed);
  Builder p("hidden_" + std::to_string(n) + "_" + std::to_string(seed), n, n);
  for (PetscInt r = 0; r < n; ++r) {
    p.Add(r, r, random.Power(-Orders(orders), 0));
    for (int e = 0; e < 3 && r > 0; ++e) p.Add(r, random.Below(r), random.Signed() * random.Power(-Orders(orders), 0));
    if (r + 1 < n && r % 17 == 0) p.Add(r, r + 1 + random.Below(n - r - 1), (PetscReal)1e-4);
  }
  return Shuffled(Sum(p, true), seed + 1);
}

/// `seeds` of each kind from seed `first` on, `size` times as large, and those that have none.
inline std::vector<Problem> Problems(PetscInt size, unsigned first, unsigned seeds)
{
  const bool           single = sizeof(PetscReal) == 4;
  const PetscReal      far = single ? 15 : 150, none = 0, tiny = single ? (PetscReal)1e-9 : (PetscReal)1e-20;
  const PetscReal      ground = single ? (PetscReal)1e-5 : (PetscReal)1e-12;
  std::vector<Problem> all;
  for (unsigned seed = first; seed < first + seeds; ++seed) {
    const PetscInt more = size * (PetscInt)(100 + 37 * (seed % 4));
    all.push_back(Circuit(seed, more, seed % 2 ? 12 : 15, ground));
    all.push_back(Circuit(100 + seed, 2 * more, 13, seed % 2 ? none : ground / 1000));
    all.push_back(SaddlePoint(seed, 2 * more, more, 4, true));
    all.push_back(SaddlePoint(50 + seed, 2 * more, more, seed % 2 ? 8 : 2, false));
    all.push_back(Sparse(seed, more, 3, tiny));
    all.push_back(Sparse(20 + seed, 2 * more, 2, (PetscReal)1e-8));
    all.push_back(Scaled(Sparse(seed, more, 3, 1), seed, far, 0, false));
    all.push_back(Scaled(Sparse(seed + 1, more, 3, 0), seed, 0, far, false));
    all.push_back(Scaled(Sparse(seed + 2, more, 3, 1), seed, far / 2, far / 2, false));
    all.push_back(Scaled(Sparse(seed, more, 3, 1), seed, Orders(7), Orders(7), true));
    all.push_back(Scaled(Sparse(seed, more, 4, 0), seed, Orders(7), -Orders(7), true));
    all.push_back(Signs(seed, more, 2));
    all.push_back(Signs(seed, 2 * more, 4));
    all.push_back(SaddlePoint(70 + seed, 2 * more, 3 * more / 2, 6, false));
    all.push_back(SaddlePoint(90 + seed, 2 * more, 3 * more / 2, 6, true));
    all.push_back(Companion(seed, more, 8));
    all.push_back(Plant(seed, more / 8, 6));
    all.push_back(Hidden(seed, 2 * more, seed % 2 ? 3 : 8));
  }
  for (const PetscInt order : {20, 40, 64, 100}) all.push_back(Growing(order, 1));
  all.push_back(Growing(64, size * 4));
  for (const PetscInt intervals : {PetscInt(30), PetscInt(100), PetscInt(200), 200 * size})
    all.push_back(Shooting(intervals));
  for (const PetscReal peclet : {1e1, 1e3, 1e5}) all.push_back(Convection(10 * size, 11 * size, peclet));
  return all;
}

} // namespace hard
