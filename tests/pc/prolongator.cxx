static const char help[] =
    "Tentative and smoothed prolongators against their definition, on the host and on the GPU.\n\n";

#include "aggregate_cases.hpp"

using namespace testing;

namespace
{
using Row = std::vector<std::pair<PetscInt, PetscScalar>>;

/// A matrix, its aggregates and its tentative prolongator, with copies on the host.
struct Made {
  Mat                        A     = nullptr;
  Space                      space = Space::Host;
  PetscInt                   k = 0, rows = 0, columns = 0;
  agg::Aggregates            aggregates;
  agg::Tentative             tentative;
  std::vector<PetscScalar>   B; ///< [k * rows] by columns
  std::vector<PetscInt>      of;
  std::vector<unsigned char> strong;
  std::vector<Scalar>        P0, coarse, inactive;
};

/// `k` vectors; of them the second is three times the first in each third node, so that small aggregates depend.
std::vector<PetscScalar> Vectors(PetscInt rows, PetscInt k, PetscInt bs)
{
  std::vector<PetscScalar> B;
  for (PetscInt c = 0; c < k; ++c)
    for (PetscInt r = 0; r < rows; ++r) {
      PetscScalar v = c == 0 ? (PetscScalar)1 : conformance::Value((unsigned long long)(c * rows + r));
      if (c == 1 && r / bs % 3 == 0) v = 3;
      B.push_back(v);
    }
  return B;
}

PetscErrorCode Make(const Case &c, PetscInt k, const std::string &backend, Made *m)
{
  Array<Scalar>       B;
  std::vector<Scalar> entries;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(c.problem, backend, &m->A));
  PetscCall(agg::WorkSpace(m->A, &m->space));
  m->k    = k;
  m->rows = c.problem.rows;
  m->B    = Vectors(m->rows, k, c.options.block_size);
  for (PetscScalar v : m->B) entries.push_back(Ours(v));
  PetscCall(B.Copy(entries.data(), entries.size(), m->space));
  PetscCall(agg::FindAggregates(m->A, c.options, m->space, &m->aggregates));
  PetscCall(agg::FindTentative(m->aggregates, k, B, &m->tentative));
  m->columns = m->aggregates.count * k;
  PetscCall(ToHost(m->aggregates.of, m->space, &m->of));
  PetscCall(ToHost(m->aggregates.strong, m->space, &m->strong));
  PetscCall(ToHost(m->tentative.values, m->space, &m->P0));
  PetscCall(ToHost(m->tentative.coarse, m->space, &m->coarse));
  PetscCall(ToHost(m->tentative.inactive, m->space, &m->inactive));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscScalar Entry0(const Made &m, PetscInt row, PetscInt c) ///< of P0, in the columns of the row's aggregate
{
  return Theirs(m.P0[(size_t)(row * m.k + c)]);
}

/// P0^T P0 = I but for inactive columns, which are zero.
PetscErrorCode CheckOrthonormal(const Case &c, const Made &m)
{
  const PetscInt bs = c.options.block_size, k = m.k;

  PetscFunctionBeginUser;
  std::vector<PetscScalar> product((size_t)(m.columns * k), 0);
  std::vector<PetscReal>   length((size_t)m.aggregates.count, 0);
  for (PetscInt r = 0; r < m.rows; ++r) {
    const PetscInt a = m.of[(size_t)(r / bs)];
    for (PetscInt d = 0; d < k && a < 0; ++d)
      PetscCheck(Entry0(m, r, d) == (PetscScalar)0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: row %" PetscInt_FMT " is in no aggregate, but not zero", c.problem.name.c_str(), r);
    if (a < 0) continue;
    length[(size_t)a] += 1;
    for (PetscInt d = 0; d < k; ++d)
      for (PetscInt e = 0; e < k; ++e)
        product[(size_t)((a * k + d) * k + e)] += PetscConj(Entry0(m, r, d)) * Entry0(m, r, e);
  }
  PetscInt inactive = 0;
  for (PetscInt a = 0; a < m.aggregates.count; ++a)
    for (PetscInt d = 0; d < k; ++d) {
      const bool zero = Theirs(m.inactive[(size_t)(a * k + d)]) != (PetscScalar)0;
      inactive += zero;
      for (PetscInt e = 0; e < k; ++e) {
        const PetscScalar expected = d == e && !zero ? 1 : 0;
        // norms and products of `length` terms; a column keeps at least eps^(2/3) of its length in a pass, the second
        // pass leaves k projections of rounding errors
        const PetscReal bound = 8 * (length[(size_t)a] + 8) * (PetscReal)k * PETSC_MACHINE_EPSILON;
        const PetscReal error = PetscAbsScalar(product[(size_t)((a * k + d) * k + e)] - expected);
        PetscCheck(error <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, %" PetscInt_FMT " vectors, aggregate %" PetscInt_FMT ", columns %" PetscInt_FMT
                   " and %" PetscInt_FMT ": error %g > %g",
                   c.problem.name.c_str(), k, a, d, e, (double)error, (double)bound);
      }
    }
  PetscCheck(inactive == m.tentative.inactive_count, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " inactive columns, %" PetscInt_FMT " told", c.problem.name.c_str(), inactive,
             m.tentative.inactive_count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// P0 coarse = B in rows of aggregates.
PetscErrorCode CheckRepresented(const Case &c, const Made &m)
{
  PetscFunctionBeginUser;
  std::vector<PetscReal> norm((size_t)(m.aggregates.count * m.k), 0), length((size_t)m.aggregates.count, 0);
  for (PetscInt r = 0; r < m.rows; ++r) {
    const PetscInt a = m.of[(size_t)(r / c.options.block_size)];
    if (a < 0) continue;
    length[(size_t)a] += 1;
    for (PetscInt d = 0; d < m.k; ++d)
      norm[(size_t)(a * m.k + d)] += PetscSqr(PetscAbsScalar(m.B[(size_t)(d * m.rows + r)]));
  }
  for (PetscInt r = 0; r < m.rows; ++r) {
    const PetscInt a = m.of[(size_t)(r / c.options.block_size)];
    for (PetscInt d = 0; d < m.k && a >= 0; ++d) {
      PetscScalar sum = 0;
      for (PetscInt e = 0; e < m.k; ++e)
        sum += Entry0(m, r, e) * Theirs(m.coarse[(size_t)(d * m.columns + a * m.k + e)]);
      const PetscReal error = PetscAbsScalar(sum - m.B[(size_t)(d * m.rows + r)]);
      // what an inactive column leaves out, and the rounding of two passes of k projections
      const PetscReal part = PetscPowReal(PETSC_MACHINE_EPSILON, (PetscReal)(2. / 3)) +
                             8 * (PetscReal)m.k * (length[(size_t)a] + 8) * PETSC_MACHINE_EPSILON;
      const PetscReal bound = part * PetscSqrtReal(norm[(size_t)(a * m.k + d)]);
      PetscCheck(error <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, row %" PetscInt_FMT ", vector %" PetscInt_FMT ": error %g > %g", c.problem.name.c_str(), r, d,
                 (double)error, (double)bound);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls check(case, made, backend) for cases, numbers of vectors and backends.
template <class Check> PetscErrorCode Each(Check check)
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Case &c : Cases())
    for (PetscInt k : {1, 2, 3, 6}) {
      if (k != 1 && k != 2 && c.options.block_size == 1) continue;
      for (const std::string &backend : backends) {
        Made m;
        PetscCall(Make(c, k, backend, &m));
        PetscCall(check(c, m));
        PetscCall(MatDestroy(&m.A));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestTentative()
{
  PetscInt inactive = 0;

  PetscFunctionBeginUser;
  PetscCall(Each([&](const Case &c, const Made &m) -> PetscErrorCode {
    PetscFunctionBeginUser;
    PetscCall(CheckOrthonormal(c, m));
    PetscCall(CheckRepresented(c, m));
    inactive += m.tentative.inactive_count;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCheck(inactive > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No aggregate of the test has dependent vectors");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The entries of a row of A as the smoother takes them, and its diagonal.
struct Filtered {
  Row         row;
  PetscScalar diagonal = 0;
};
Filtered FilterRow(const Case &c, const Made &m, const Row &row, PetscInt r, size_t first, bool filtered)
{
  const PetscInt bs = c.options.block_size;
  Filtered       f;
  PetscScalar    weak = 0;
  for (size_t e = 0; e < row.size(); ++e) {
    const bool strong = !filtered || m.strong.empty() || m.strong[first + e];
    if (row[e].first == r) f.diagonal = row[e].second;
    if (!strong && row[e].first % bs == r % bs) weak += row[e].second;
  }
  const bool lump = PetscAbsScalar(f.diagonal + weak) > PetscAbsScalar(f.diagonal) / 4;
  if (lump) f.diagonal += weak;
  for (size_t e = 0; e < row.size(); ++e) {
    if (!filtered || m.strong.empty() || m.strong[first + e])
      f.row.push_back(row[e]);
    else if (lump)
      f.row.push_back({r / bs * bs + row[e].first % bs, row[e].second});
  }
  return f;
}

using Dense = std::vector<std::vector<PetscScalar>>;

/// By Gaussian elimination with row exchanges; empty where D is singular.
Dense Inverse(Dense D)
{
  const size_t n = D.size();
  for (size_t r = 0; r < n; ++r) {
    D[r].resize(2 * n, 0);
    D[r][n + r] = 1;
  }
  for (size_t c = 0; c < n; ++c) {
    size_t from = c;
    for (size_t r = c; r < n; ++r)
      if (PetscAbsScalar(D[r][c]) > PetscAbsScalar(D[from][c])) from = r;
    if (D[from][c] == (PetscScalar)0) return {};
    std::swap(D[c], D[from]);
    for (size_t r = 0; r < n; ++r) {
      const PetscScalar factor = r == c ? 0 : D[r][c] / D[c][c];
      for (size_t s = 0; s < 2 * n; ++s) D[r][s] -= factor * D[c][s];
    }
  }
  Dense inverse(n, std::vector<PetscScalar>(n));
  for (size_t r = 0; r < n; ++r)
    for (size_t s = 0; s < n; ++s) inverse[r][s] = D[r][n + s] / D[r][r];
  return inverse;
}

/// D^-1 of the rows of a node, and the condition of D.
struct NodeInverse {
  Dense     W;
  PetscReal condition = 1;

  NodeInverse(const std::vector<Filtered> &rows, PetscInt node, bool blocks)
  {
    const size_t n = rows.size();
    Dense        D(n, std::vector<PetscScalar>(n, 0));
    for (size_t r = 0; r < n; ++r)
      for (const auto &e : rows[r].row)
        if (e.first / (PetscInt)n == node) D[r][(size_t)(e.first % (PetscInt)n)] += e.second;
    if (blocks && n > 1) W = Inverse(D);
    const bool whole = !W.empty();
    if (!whole) {
      W.assign(n, std::vector<PetscScalar>(n, 0));
      for (size_t r = 0; r < n; ++r) W[r][r] = rows[r].diagonal == (PetscScalar)0 ? 0 : 1 / rows[r].diagonal;
    }
    PetscReal norm = 0, inverse = 0;
    for (size_t r = 0; r < n; ++r) {
      PetscReal a = 0, b = 0;
      for (size_t s = 0; s < n; ++s) {
        a += PetscAbsScalar(D[r][s]);
        b += PetscAbsScalar(W[r][s]);
      }
      norm    = std::max(norm, a);
      inverse = std::max(inverse, b);
    }
    if (whole) condition = std::max((PetscReal)1, norm * inverse);
  }
};

/// P against (I - damping D^-1 A) P0: every column that it must have, no other, and values.
PetscErrorCode CheckSmoothed(const Case &c, const Made &m, const HostMatrix &host, const agg::Smoothing &s, Mat P)
{
  const PetscInt bs = c.options.block_size, k = m.k;
  PetscInt       rows, columns;
  size_t         first = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(P, &rows, &columns));
  PetscCheck(rows == m.rows && columns == m.columns, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: P is %" PetscInt_FMT " x %" PetscInt_FMT, c.problem.name.c_str(), rows, columns);
  for (PetscInt node = 0; node < m.rows / bs; ++node) {
    std::set<PetscInt>    aggregates;
    std::vector<Filtered> filtered;
    const PetscInt        own = m.of[(size_t)node];
    for (PetscInt r = node * bs; r < (node + 1) * bs; ++r) {
      const Row &row = host.row[(size_t)r];
      filtered.push_back(FilterRow(c, m, row, r, first, s.filtered));
      first += row.size();
      if (own < 0) continue;
      aggregates.insert(own);
      for (const auto &e : filtered.back().row)
        if (s.damping != 0 && m.of[(size_t)(e.first / bs)] >= 0) aggregates.insert(m.of[(size_t)(e.first / bs)]);
    }
    const NodeInverse                     D(filtered, node, s.blocks);
    std::vector<std::vector<PetscScalar>> product((size_t)bs);
    std::vector<std::vector<PetscReal>>   terms((size_t)bs);
    size_t                                longest = 0;
    for (size_t r = 0; r < (size_t)bs; ++r) { // A P0
      product[r].assign((size_t)m.columns, 0);
      terms[r].assign((size_t)m.columns, 0);
      longest = std::max(longest, filtered[r].row.size());
      for (const auto &e : filtered[r].row) {
        const PetscInt a = m.of[(size_t)(e.first / bs)];
        for (PetscInt d = 0; d < k && a >= 0; ++d) {
          const PetscScalar term = e.second * Entry0(m, e.first, d);
          product[r][(size_t)(a * k + d)] += term;
          terms[r][(size_t)(a * k + d)] += PetscAbsScalar(term);
        }
      }
    }
    for (PetscInt r = node * bs; r < (node + 1) * bs; ++r) {
      std::vector<PetscScalar> sum((size_t)m.columns, 0);
      std::vector<PetscReal>   size((size_t)m.columns, 0);
      for (size_t q = 0; q < (size_t)m.columns && own >= 0; ++q) {
        if ((PetscInt)q / k == own) sum[q] = Entry0(m, r, (PetscInt)q % k);
        size[q] = PetscAbsScalar(sum[q]);
        for (size_t t = 0; t < (size_t)bs; ++t) {
          const PetscScalar w = s.damping * D.W[(size_t)(r - node * bs)][t];
          sum[q] -= w * product[t][q];
          size[q] += PetscAbsScalar(w) * terms[t][q];
        }
      }
      PetscInt           count;
      const PetscInt    *j;
      const PetscScalar *v;
      PetscCall(MatGetRow(P, r, &count, &j, &v));
      PetscCheck(count == (PetscInt)aggregates.size() * k, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: row %" PetscInt_FMT " has %" PetscInt_FMT " entries, not %zu", c.problem.name.c_str(), r, count,
                 aggregates.size() * (size_t)k);
      PetscInt q = 0;
      for (PetscInt a : aggregates)
        for (PetscInt d = 0; d < k; ++d, ++q) {
          PetscCheck(j[q] == a * k + d, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s: row %" PetscInt_FMT " has column %" PetscInt_FMT ", not %" PetscInt_FMT,
                     c.problem.name.c_str(), r, j[q], a * k + d);
          // two orders of the terms, two inverses of D, whose entries are sums of as many where they are filtered
          const PetscReal bound = (4 * (PetscReal)longest + 16 * (PetscReal)bs) * D.condition * PETSC_MACHINE_EPSILON *
                                  (s.blocks ? *std::max_element(size.begin(), size.end()) : size[(size_t)j[q]]);
          const PetscReal error = PetscAbsScalar(v[q] - sum[(size_t)j[q]]);
          PetscCheck(error <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s: entry %" PetscInt_FMT ", %" PetscInt_FMT " of P: error %g > %g", c.problem.name.c_str(), r,
                     j[q], (double)error, (double)bound);
        }
      PetscCall(MatRestoreRow(P, r, &count, &j, &v));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Damping and filter of the test's prolongators.
std::vector<agg::Smoothing> Smoothings()
{
  std::vector<agg::Smoothing> all(5);
  all[1].damping  = (PetscReal)0.66;
  all[2].damping  = (PetscReal)0.4;
  all[2].filtered = true;
  all[3].damping  = (PetscReal)0.5;
  all[3].blocks   = true;
  all[4]          = all[3];
  all[4].filtered = true;
  return all;
}

PetscErrorCode TestSmoothed()
{
  PetscFunctionBeginUser;
  PetscCall(Each([](const Case &c, const Made &m) -> PetscErrorCode {
    const HostMatrix host(c.problem);
    Mat              P, Q;
    PetscBool        same;
    Vec              x, y, z;
    PetscFunctionBeginUser;
    for (const agg::Smoothing &s : Smoothings()) {
      PetscCall(agg::CreateProlongator(m.A, m.aggregates, m.tentative, s, &P));
      PetscCall(MatCreateVecs(P, &x, &y)); // a product before the host has looked at the values
      PetscCall(VecSet(x, 1));
      PetscCall(MatMult(P, x, y));
      PetscCall(CheckSmoothed(c, m, host, s, P));
      PetscCall(agg::CreateProlongator(m.A, m.aggregates, m.tentative, s, &Q));
      PetscCall(MatEqual(P, Q, &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: P is another one each time", c.problem.name.c_str());
      PetscCall(VecDuplicate(y, &z));
      PetscCall(MatMult(Q, x, z));
      PetscCall(VecEqual(y, z, &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: products with P differ", c.problem.name.c_str());
      for (Vec *v : {&x, &y, &z}) PetscCall(VecDestroy(v));
      for (Mat *M : {&P, &Q}) PetscCall(MatDestroy(M));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values of A in P of the old ones, again and again: the same bits as in a new P, and no memory.
PetscErrorCode TestRefreshed()
{
  PetscFunctionBeginUser;
  PetscCall(Each([](const Case &c, const Made &m) -> PetscErrorCode {
    Mat                  P, Q;
    Vec                  scale;
    PetscBool            same;
    const agg::Smoothing s = Smoothings()[2];
    PetscFunctionBeginUser;
    PetscCall(agg::CreateProlongator(m.A, m.aggregates, m.tentative, s, &P));
    PetscCall(MatCreateVecs(m.A, &scale, nullptr));
    PetscCall(VecSet(scale, 1.25));
    for (PetscInt r = 0; r < m.rows; r += 3) PetscCall(VecSetValue(scale, r, 0.75, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(scale));
    PetscCall(VecAssemblyEnd(scale));
    for (int round = 0; round < 3; ++round) {
      PetscCall(MatDiagonalScale(m.A, nullptr, scale));
      const PetscCount before = sparsegpu::DeviceAllocations();
      PetscCall(agg::RefreshProlongator(m.A, m.aggregates, m.tentative, s, P));
      // without entries the host scales the matrix, and its pattern is copied to the device again
      PetscCheck(round < 2 || c.problem.entries.empty() || sparsegpu::DeviceAllocations() == before, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s: new values took memory", c.problem.name.c_str());
    }
    PetscCall(agg::CreateProlongator(m.A, m.aggregates, m.tentative, s, &Q));
    PetscCall(MatEqual(P, Q, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: new values differ from those of a new P",
               c.problem.name.c_str());
    PetscCall(VecDestroy(&scale));
    for (Mat *M : {&P, &Q}) PetscCall(MatDestroy(M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The coarse matrix has no zero on the diagonal where columns are inactive.
PetscErrorCode TestCoarse()
{
  PetscInt inactive = 0;

  PetscFunctionBeginUser;
  PetscCall(Each([&](const Case &c, const Made &m) -> PetscErrorCode {
    Mat                P, coarse;
    Vec                diagonal, before;
    const PetscScalar *d, *b;
    PetscFunctionBeginUser;
    if (m.tentative.inactive_count == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(agg::CreateProlongator(m.A, m.aggregates, m.tentative, Smoothings()[1], &P));
    PetscCall(MatPtAP(m.A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &coarse));
    PetscCall(MatCreateVecs(coarse, &diagonal, &before));
    PetscCall(MatGetDiagonal(coarse, before));
    PetscCall(agg::ActivateCoarse(m.tentative, coarse));
    PetscCall(MatGetDiagonal(coarse, diagonal));
    PetscCall(VecGetArrayRead(diagonal, &d));
    PetscCall(VecGetArrayRead(before, &b));
    for (PetscInt r = 0; r < m.columns; ++r) {
      const bool is = Theirs(m.inactive[(size_t)r]) != (PetscScalar)0;
      PetscCheck(is ? b[r] == (PetscScalar)0 && d[r] == (PetscScalar)1 : b[r] == d[r], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: diagonal entry %" PetscInt_FMT " is %g, was %g", c.problem.name.c_str(), r,
                 (double)PetscRealPart(d[r]), (double)PetscRealPart(b[r]));
      inactive += is;
    }
    PetscCall(VecRestoreArrayRead(diagonal, &d));
    PetscCall(VecRestoreArrayRead(before, &b));
    for (Vec *v : {&diagonal, &before}) PetscCall(VecDestroy(v));
    for (Mat *M : {&P, &coarse}) PetscCall(MatDestroy(M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCheck(inactive > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No column of the test is inactive");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is taken from a matrix as its near null space: by itself, and from MatSetNearNullSpace().
PetscErrorCode TestModes()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (int kind = 0; kind < 4; ++kind) { // nothing attached; constant alone; vectors alone; both
      const PetscInt           rows = 60, bs = 3, given = kind >= 2 ? 2 : 0;
      Mat                      A;
      Vec                      v[2];
      MatNullSpace             attached;
      Space                    space;
      PetscInt                 vectors;
      Array<Scalar>            B;
      std::vector<Scalar>      found;
      std::vector<PetscScalar> expected;
      PetscCall(CreateMatrix(Lattice("blocks", 5, 4, 1, true, bs), backend, &A));
      PetscCall(agg::WorkSpace(A, &space));
      if (kind % 2 == 1) expected.assign((size_t)rows, 1);
      for (PetscInt c = 0; c < given; ++c) {
        PetscCall(MatCreateVecs(A, nullptr, &v[c]));
        for (PetscInt r = 0; r < rows; ++r) {
          expected.push_back(conformance::Value((unsigned long long)(c * rows + r)));
          PetscCall(VecSetValue(v[c], r, expected.back(), INSERT_VALUES));
        }
        PetscCall(VecAssemblyBegin(v[c]));
        PetscCall(VecAssemblyEnd(v[c]));
      }
      for (PetscInt c = 0; kind == 0 && c < bs; ++c)
        for (PetscInt r = 0; r < rows; ++r) expected.push_back(r % bs == c ? 1 : 0);
      if (kind > 0) {
        PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, kind % 2 ? PETSC_TRUE : PETSC_FALSE, given, v, &attached));
        PetscCall(MatSetNearNullSpace(A, attached));
        PetscCall(MatNullSpaceDestroy(&attached));
      }
      PetscCall(agg::FindNearNullSpace(A, bs, space, &vectors, &B));
      PetscCall(ToHost(B, space, &found));
      PetscCheck((size_t)(vectors * rows) == expected.size() && found.size() == expected.size(), PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s, kind %d: %" PetscInt_FMT " vectors", backend.c_str(), kind, vectors);
      for (size_t k = 0; k < found.size(); ++k)
        PetscCheck(Theirs(found[k]) == expected[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, kind %d: entry %zu",
                   backend.c_str(), kind, k);
      for (PetscInt c = 0; c < given; ++c) PetscCall(VecDestroy(&v[c]));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Translations, then rotations of each axis towards the next about a point.
PetscErrorCode TestRigid()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const PetscInt d : {2, 3}) {
      const Space              space = backend == "cuda" ? Space::Device : Space::Host;
      const PetscInt           count = 700, rows = d * count, modes = d == 2 ? 3 : 6;
      const PetscReal          centre[] = {0.5, -2, 7};
      std::vector<PetscReal>   x;
      std::vector<PetscScalar> expected((size_t)(modes * rows), 0);
      std::vector<Scalar>      found;
      Array<Scalar>            B;
      PetscInt                 vectors;
      for (PetscInt k = 0; k < rows; ++k) x.push_back((PetscReal)(k * 31 % 64) / 8);
      for (PetscInt p = 0; p < count; ++p) {
        const auto at = [&](PetscInt mode, PetscInt c) -> PetscScalar & {
          return expected[(size_t)(mode * rows + p * d + c)];
        };
        for (PetscInt c = 0; c < d; ++c) at(c, c) = 1;
        for (PetscInt r = 0; r < modes - d; ++r) {
          const PetscInt next = (r + 1) % d;
          at(d + r, r)        = centre[next] - x[(size_t)(p * d + next)];
          at(d + r, next)     = x[(size_t)(p * d + r)] - centre[r];
        }
      }
      PetscCall(agg::FindRigidBodyModes(x, d, centre, space, &vectors, &B));
      PetscCall(ToHost(B, space, &found));
      PetscCheck(vectors == modes && found.size() == expected.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %" PetscInt_FMT " dimensions: %" PetscInt_FMT " modes", backend.c_str(), d, vectors);
      for (size_t k = 0; k < found.size(); ++k)
        PetscCheck(Theirs(found[k]) == expected[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, %" PetscInt_FMT " dimensions: entry %zu", backend.c_str(), d, k);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Laplacians, whose eigenvalues are known.
PetscErrorCode TestEigenvalues()
{
  std::vector<std::string> backends;
  Builder                  b("laplacian", 400, 400);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 400; ++r) {
    const PetscReal row = (PetscReal)(1 + r % 5); // scales of rows and columns, which D^-1 A does not see
    b.Add(r, r, 2 * row * row);
    for (PetscInt c : {r - 1, r + 1})
      if (c >= 0 && c < 400) b.Add(r, c, -row * (PetscReal)(1 + c % 5));
  }
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    Mat       A;
    PetscReal bound, estimate, again;
    Space     space;
    PetscCall(CreateMatrix(b, backend, &A));
    PetscCall(agg::WorkSpace(A, &space));
    PetscCall(agg::BoundLargestEigenvalue(A, space, &bound));
    PetscCall(agg::EstimateLargestEigenvalue(A, 10, &estimate));
    PetscCall(agg::EstimateLargestEigenvalue(A, 10, &again));
    const PetscReal exact = 1 + PetscCosReal(PETSC_PI / 401);
    PetscCheck(bound >= exact && bound <= 6 && estimate <= exact * (1 + 100 * PETSC_MACHINE_EPSILON) &&
                   estimate >= (PetscReal)0.93 * exact && estimate == again,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: estimates %g and %g, bound %g; exact is %g", backend.c_str(),
               (double)estimate, (double)again, (double)bound, (double)exact);
    PetscCall(
        PetscPrintf(PETSC_COMM_SELF, "%s: estimate %g, exact %g\n", backend.c_str(), (double)estimate, (double)exact));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"tentative", TestTentative},
               {"smoothed", TestSmoothed},
               {"refreshed", TestRefreshed},
               {"coarse", TestCoarse},
               {"modes", TestModes},
               {"rigid", TestRigid},
               {"eigenvalues", TestEigenvalues}});
}
