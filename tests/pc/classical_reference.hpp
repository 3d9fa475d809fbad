/// Strong couplings, splittings and interpolation of classical multigrid by their definitions.
#pragma once

#include "aggregate_cases.hpp"
#include "pc/classical/classical.hpp"
#include "pc/classical/interpolation.hpp"
#include "pc/classical/splitting.hpp"
#include "pc/classical/system.hpp"

#include <map>

namespace testing
{

namespace classic = sparsegpu::classical;

struct ClassicalCase {
  Problem          problem;
  classic::Options options;
  PetscInt         fields = 1;
};

struct Definition {
  const ClassicalCase                         &c;
  PetscInt                                     n;
  std::vector<std::map<PetscInt, PetscScalar>> row;
  std::vector<PetscScalar>                     unit; ///< of each row: 1 along its couplings
  std::vector<std::set<PetscInt>>              on;   ///< what each unknown depends on strongly
  std::vector<std::set<PetscInt>>              from;
  std::vector<bool>                            isolated;

  PetscScalar Diagonal(PetscInt i) const
  {
    const auto found = row[(size_t)i].find(i);
    return found == row[(size_t)i].end() ? (PetscScalar)0 : found->second;
  }
  bool      SameField(PetscInt i, PetscInt j) const { return i % c.fields == j % c.fields; }
  PetscReal Along(PetscInt i, PetscScalar v) const { return PetscRealPart(unit[(size_t)i] * v); }

  explicit Definition(const ClassicalCase &of)
      : c(of),
        n(of.problem.rows),
        row((size_t)n),
        unit((size_t)n, 0),
        on((size_t)n),
        from((size_t)n),
        isolated((size_t)n, true)
  {
    std::vector<PetscReal> most((size_t)n, 0);
    for (const Entry &e : of.problem.entries) row[(size_t)e.i][e.j] = e.v;
    for (PetscInt i = 0; i < n; ++i) {
      const PetscReal size = PetscAbsScalar(Diagonal(i));
      PetscReal       sum = 0, least = 0;
      unit[(size_t)i] = size > 0 ? -PetscConj(Diagonal(i)) / size : (PetscScalar)-1;
      for (const auto &e : row[(size_t)i]) {
        if (e.first == i || !SameField(i, e.first)) continue;
        most[(size_t)i] = std::max(most[(size_t)i], Along(i, e.second));
        least           = std::min(least, Along(i, e.second));
        sum += Along(i, e.second);
      }
      if (most[(size_t)i] <= 0 || (size == 0 && -least > most[(size_t)i])) {
        unit[(size_t)i] *= -1;
        most[(size_t)i] = -least;
        sum             = -sum;
      }
      const bool dominated = c.options.max_row_sum < 1 && size - sum > c.options.max_row_sum * size;
      isolated[(size_t)i]  = !(most[(size_t)i] > 0) || dominated;
    }
    for (PetscInt i = 0; i < n; ++i)
      for (const auto &e : row[(size_t)i]) {
        const PetscInt j = e.first;
        if (i == j || isolated[(size_t)i] || isolated[(size_t)j] || !SameField(i, j)) continue;
        const PetscReal along = Along(i, e.second);
        if (!(along > 0) || along < c.options.threshold * (1 - classic::ALIKE) * most[(size_t)i]) continue;
        on[(size_t)i].insert(j);
        from[(size_t)j].insert(i);
      }
  }
  bool Symmetric() const { return on == from; }

  /// Of the coarse unknowns that k depends on, those that others have from it.
  std::set<PetscInt> Shared(PetscInt k, const std::vector<PetscInt> &number) const
  {
    std::set<PetscInt> all, kept;
    for (PetscInt j : on[(size_t)k])
      if (number[(size_t)j] >= 0) all.insert(j);
    if ((PetscInt)all.size() <= classic::Interpolation::MOST) return all;
    for (PetscInt j : all)
      if ((PetscInt)(classic::Scatter((classic::State)j) % all.size()) < classic::Interpolation::MOST) kept.insert(j);
    return kept;
  }

  /// Row i of interpolation before truncation, by numbers of coarse unknowns; number [n], of fine ones -1.
  std::map<PetscInt, PetscScalar> Interpolate(PetscInt i, const std::vector<PetscInt> &number) const
  {
    std::map<PetscInt, PetscScalar> w;
    if (number[(size_t)i] >= 0) w[number[(size_t)i]] = 1;
    if (number[(size_t)i] >= 0 || isolated[(size_t)i]) return w;
    const std::set<PetscInt> direct = Shared(i, number);
    PetscScalar              d      = Diagonal(i);
    for (const auto &e : row[(size_t)i]) {
      const PetscInt k = e.first;
      if (k == i || !SameField(i, k) || isolated[(size_t)k]) continue;
      if (direct.count(k)) {
        w[number[(size_t)k]] += e.second;
        continue;
      }
      const bool               strong = on[(size_t)i].count(k) && number[(size_t)k] < 0;
      const std::set<PetscInt> shared = strong ? Shared(k, number) : std::set<PetscInt>();
      if (shared.empty()) {
        d += e.second;
        continue;
      }
      PetscScalar sum = 0, back = 0;
      for (PetscInt j : shared) sum += row[(size_t)k].at(j);
      const auto found = row[(size_t)k].find(i);
      if (found != row[(size_t)k].end() && Along(k, found->second) > 0) back = found->second;
      d += e.second * back / (sum + back);
      for (PetscInt j : shared) w[number[(size_t)j]] += e.second * row[(size_t)k].at(j) / (sum + back);
    }
    PetscScalar all = 0;
    for (const auto &e : w) all += e.second;
    if (PetscRealPart(-PetscConj(d) * all) <= 0 || PetscAbsScalar(all) > 2 * PetscAbsScalar(d)) d = -all;
    for (auto &e : w) e.second /= -d;
    return w;
  }
};

/// What Coarsen() makes, on the host.
struct Coarsened {
  std::vector<PetscInt>    number; ///< [rows] of coarse unknowns, else -1
  std::vector<PetscInt>    i, j;   ///< of P
  std::vector<PetscScalar> a;
  PetscInt                 unknowns = 0, isolated = 0, rounds = 0;
  PetscReal                asymmetry = 0;

  bool operator==(const Coarsened &b) const
  {
    return number == b.number && i == b.i && j == b.j && a == b.a && unknowns == b.unknowns && isolated == b.isolated &&
           rounds == b.rounds && asymmetry == b.asymmetry;
  }
};

inline PetscErrorCode RowsOf(Mat P, Coarsened *c)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  c->i.assign(1, 0);
  if (!P) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(P, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    PetscInt           n;
    const PetscInt    *columns;
    const PetscScalar *values;
    PetscCall(MatGetRow(P, r, &n, &columns, &values));
    c->j.insert(c->j.end(), columns, columns + n);
    c->a.insert(c->a.end(), values, values + n);
    c->i.push_back((PetscInt)c->j.size());
    PetscCall(MatRestoreRow(P, r, &n, &columns, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collective.
inline PetscErrorCode Find(Mat A, const ClassicalCase &c, Coarsened *found)
{
  classic::CoarseLevel coarse;
  classic::Fields      fields;
  classic::System      system;
  classic::StrongGraph graph;
  classic::Splitting   splitting;

  PetscFunctionBeginUser;
  *found       = Coarsened();
  fields.count = c.fields;
  PetscCall(system.Take(A));
  PetscCall(system.TakeFields(fields));
  PetscCall(classic::FindStrong(system, c.options.threshold, c.options.max_row_sum, &graph));
  PetscCall(classic::Split(system, graph, c.options.most_regular, &splitting));
  PetscCall(ToHost(splitting.number, system.space(), &found->number));
  found->number.resize((size_t)system.own());
  PetscCall(classic::Coarsen(A, c.options, fields, &coarse));
  found->unknowns  = coarse.unknowns;
  found->isolated  = coarse.isolated;
  found->rounds    = coarse.rounds;
  found->asymmetry = coarse.asymmetry;
  PetscCall(RowsOf(coarse.P, found));
  PetscCall(MatDestroy(&coarse.P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
