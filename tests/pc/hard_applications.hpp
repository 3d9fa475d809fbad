/// Hard matrices of applications: circuits in modified nodal analysis, saddle points, boundary value problems, chemical
/// plants. Reproducible: the numbers of std::mt19937 are the same everywhere, those of distributions are not.
#pragma once

#include "../matrices.hpp"

#include <cmath>
#include <random>

namespace hard
{

using conformance::Builder;
using conformance::Entry;
using conformance::Problem;

class Random
{
public:
  explicit Random(unsigned seed) : generator_(seed) {}
  PetscReal Uniform() { return (PetscReal)((double)generator_() / 4294967296.0); } ///< [0, 1)
  PetscReal Signed() { return 2 * Uniform() - 1; }
  PetscInt  Below(PetscInt n) { return (PetscInt)(generator_() % (unsigned)n); }
  /// 10^u, u uniform between the bounds.
  PetscReal Power(PetscReal least, PetscReal most)
  {
    return std::pow((PetscReal)10, least + (most - least) * Uniform());
  }

private:
  std::mt19937 generator_;
};

/// Orders of magnitude, of which single precision has fewer.
inline PetscReal Orders(PetscReal orders)
{
  return sizeof(PetscReal) == 4 ? orders * (PetscReal)0.45 : orders;
}

/// Sums the entries of one place; where scalars are complex, `phases` turns each entry by an angle of its own.
inline Problem Sum(const Problem &p, bool phases = false)
{
  std::vector<Entry> entries = p.entries;
  Problem            q       = p;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry &a, const Entry &b) { return a.i != b.i ? a.i < b.i : a.j < b.j; });
  q.entries.clear();
  for (const Entry &e : entries)
    if (!q.entries.empty() && q.entries.back().i == e.i && q.entries.back().j == e.j)
      q.entries.back().v += e.v;
    else
      q.entries.push_back(e);
#if defined(PETSC_USE_COMPLEX)
  for (Entry &e : q.entries)
    if (phases) e.v *= std::polar((PetscReal)1, (PetscReal)(3 * e.i + 7 * e.j));
#else
  (void)phases;
#endif
  return q;
}

/// Rows in another order, so that nothing of the pattern is symmetric.
inline Problem Shuffled(Problem p, unsigned seed)
{
  Random                random(seed);
  std::vector<PetscInt> order(p.rows);
  std::iota(order.begin(), order.end(), 0);
  for (PetscInt k = p.rows - 1; k > 0; --k) std::swap(order[k], order[random.Below(k + 1)]);
  for (Entry &e : p.entries) e.i = order[e.i];
  p.name += "_shuffled";
  return Sum(p);
}

/// Modified nodal analysis: conductances over `orders` orders of magnitude below 1000 S, diodes among them; voltage
/// sources and inductors, whose rows have a zero diagonal; amplifiers of gain 10^6 and ideal ones (nullors). Each node
/// has `ground` to ground. Unknowns in the order in which elements come.
inline Problem Circuit(unsigned seed, PetscInt nodes, PetscReal orders, PetscReal ground)
{
  Random          random(seed);
  const PetscInt  sources = nodes / 5, amplifiers = nodes / 10, n = nodes + sources + amplifiers;
  Builder         p("circuit_" + std::to_string(n) + "_" + std::to_string(seed), n, n);
  const PetscReal most = 3, least = most - Orders(orders);
  const auto      node = [&](PetscInt near) { // a neighbour, seldom one far away; -1: ground
    const PetscInt k = random.Below(10);
    return k == 0  ? -1
                : k < 3 ? random.Below(nodes)
                        : std::min(nodes - 1, std::max(PetscInt(0), near + random.Below(9) - 4));
  };
  const auto conductance = [&](PetscInt a, PetscInt b, PetscReal g) {
    if (a == b) return;
    for (const PetscInt k : {a, b})
      if (k >= 0) p.Add(k, k, g);
    if (a >= 0 && b >= 0) p.Add(a, b, -g).Add(b, a, -g);
  };
  for (PetscInt k = 0; k < nodes; ++k) {
    p.Add(k, k, ground);
    for (int e = 0; e < 2; ++e) conductance(k, node(k), random.Power(least, most));
    const PetscInt other = node(k); // a transconductance: current at k for the voltage at `other`
    if (other >= 0 && random.Uniform() < (PetscReal)0.3) p.Add(k, other, random.Signed() * random.Power(least, 0));
  }
  std::vector<PetscInt> order(nodes);
  std::iota(order.begin(), order.end(), 0);
  for (PetscInt k = nodes - 1; k > 0; --k) std::swap(order[k], order[random.Below(k + 1)]);
  // Source or amplifier k sets the voltage of node order[k] by those of nodes further on. An ideal amplifier sets that
  // of a node of its own, which its output reaches. So no loop closes.
  for (PetscInt k = 0; k < sources + amplifiers; ++k) {
    const PetscInt row = nodes + k, at = order[k], far = order[k + 1 + random.Below(nodes - k - 1)];
    const bool     ideal = k >= sources && k % 2 == 0;
    p.Add(at, row, 1);
    if (k < sources) {
      p.Add(row, at, 1);
      if (random.Uniform() < (PetscReal)0.7) p.Add(far, row, -1).Add(row, far, -1);
    } else if (ideal) {
      const PetscInt own = order[k + amplifiers], last = sources + 2 * amplifiers;
      p.Add(row, own, 1).Add(row, order[last + random.Below(nodes - last)], -1);
      conductance(at, own, random.Power(-3, 0));
    } else {
      const PetscInt  plus = order[k + 1 + random.Below(nodes - k - 1)];
      const PetscReal gain = std::pow((PetscReal)10, Orders(6));
      p.Add(row, at, 1).Add(row, plus, -gain).Add(row, far, gain);
    }
  }
  return Sum(p);
}

/// [H B^T; C 0], H with a diagonal over `orders` orders of magnitude to either side, as an interior point method has
/// in its last steps; C = B if `symmetric`.
inline Problem SaddlePoint(unsigned seed, PetscInt n, PetscInt m, PetscReal orders, bool symmetric)
{
  Random  random(seed);
  Builder p(std::string(symmetric ? "kkt_" : "saddle_") + std::to_string(n + m) + "_" + std::to_string(seed), n + m,
            n + m);
  for (PetscInt k = 0; k < n; ++k) {
    p.Add(k, k, random.Power(-Orders(orders), Orders(orders)));
    const PetscInt  other = random.Below(n);
    const PetscReal value = (PetscReal)1e-3 * random.Signed();
    if (other != k) p.Add(k, other, value).Add(other, k, value);
  }
  for (PetscInt k = 0; k < m; ++k)
    for (int e = 0; e < 4; ++e) {
      const PetscInt  c     = e == 0 ? k * (n / m) : random.Below(n);
      const PetscReal value = random.Signed() * random.Power(-2, 2);
      p.Add(n + k, c, value).Add(c, n + k, symmetric ? value : random.Signed());
    }
  return Sum(p);
}

/// Multiple shooting of a boundary value problem u' = M u, whose matrix exponential has entries near 1 and makes
/// partial pivoting grow exponentially: Wright, SIAM J. Sci. Comput. 14(1), 1993.
inline Problem Shooting(PetscInt intervals)
{
  const PetscReal h = (PetscReal)0.3, m[2][2] = {{(PetscReal)-1 / 6, 1}, {1, (PetscReal)-1 / 6}};
  PetscReal       power[2][2] = {{1, 0}, {0, 1}}, exponential[2][2] = {{1, 0}, {0, 1}};
  const PetscInt  n = 2 * (intervals + 1);
  Builder         p("shooting_" + std::to_string(n), n, n);
  for (int k = 1; k < 30; ++k) {
    PetscReal next[2][2];
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) next[i][j] = (power[i][0] * m[0][j] + power[i][1] * m[1][j]) * h / (PetscReal)k;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) exponential[i][j] += power[i][j] = next[i][j];
  }
  for (PetscInt i = 0; i < 2; ++i) p.Add(i, i, 1).Add(i, n - 2 + i, 1);
  for (PetscInt k = 1; k <= intervals; ++k)
    for (PetscInt i = 0; i < 2; ++i) {
      p.Add(2 * k + i, 2 * k + i, 1);
      for (PetscInt j = 0; j < 2; ++j) p.Add(2 * k + i, 2 * k - 2 + j, -exponential[i][j]);
    }
  return p;
}

/// Units of a chemical plant: strong unsymmetric blocks of 8 rows over many orders of magnitude, streams from each unit
/// to the next and, weak, back to one before.
inline Problem Plant(unsigned seed, PetscInt units, PetscReal orders)
{
  constexpr PetscInt M = 8;
  Random             random(seed);
  Builder            p("plant_" + std::to_string(units * M) + "_" + std::to_string(seed), units * M, units * M);
  for (PetscInt u = 0; u < units; ++u)
    for (PetscInt i = 0; i < M; ++i) {
      p.Add(u * M + i, u * M + (i + 3) % M, random.Signed() * random.Power(-Orders(orders) / 2, Orders(orders) / 2));
      for (int e = 0; e < 3; ++e)
        p.Add(u * M + i, u * M + random.Below(M), random.Signed() * random.Power(-Orders(orders), Orders(orders)));
      if (u > 0) p.Add(u * M + i, (u - 1) * M + i, -1);
      if (i == 0 && u + 5 < units) p.Add(u * M, (u + 1 + random.Below(5)) * M + random.Below(M), (PetscReal)1e-3);
    }
  return Shuffled(Sum(p, true), seed);
}

} // namespace hard
