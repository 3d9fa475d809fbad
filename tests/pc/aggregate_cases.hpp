/// Matrices whose nodes are hard to aggregate, and what a test needs of their arrays.
#pragma once

#include "../matrices.hpp"
#include "../testing.hpp"

#include <petscmat.h>
#include <cmath>
#include <set>

#include "device/device.hpp"
#include "mat/products/multiply.hpp"
#include "pc/aggregate/aggregate.hpp"

namespace testing
{

using conformance::Builder;
using conformance::Entry;
using conformance::Problem;
using sparsegpu::Array;
using sparsegpu::Scalar;
using sparsegpu::Space;
namespace agg = sparsegpu::aggregate;

struct Case {
  Problem      problem;
  agg::Options options;
};

/// Neighbours within `reach` in each direction of an nx x ny x nz grid; blocks of bs x bs, of which `holes` lacks some
/// entries. Row sums are not zero.
inline Problem Lattice(const std::string &name, PetscInt nx, PetscInt ny, PetscInt nz, bool corners, PetscInt bs = 1,
                       bool holes = false)
{
  Builder b(name, nx * ny * nz * bs, nx * ny * nz * bs);
  for (PetscInt n = 0; n < nx * ny * nz; ++n)
    for (PetscInt d = 0; d < 27; ++d) {
      const PetscInt dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
      const PetscInt x = n % nx + dx, y = n / nx % ny + dy, z = n / nx / ny + dz;
      if (x < 0 || x >= nx || y < 0 || y >= ny || z < 0 || z >= nz) continue;
      if (!corners && dx * dx + dy * dy + dz * dz > 1) continue;
      const PetscInt m = x + nx * (y + ny * z);
      for (PetscInt r = 0; r < bs; ++r)
        for (PetscInt s = 0; s < bs; ++s) {
          if (holes && (r + 2 * s + n + m) % 3 == 0 && !(m == n && r == s)) continue;
          if (m == n && r == s)
            b.Add(n * bs + r, m * bs + s, (PetscScalar)(30.0 * (PetscReal)bs));
          else
            b.Add(n * bs + r, m * bs + s);
        }
    }
  return b;
}

/// `degree` random columns in each row, and a diagonal.
inline Problem Directed(PetscInt n, PetscInt degree)
{
  Builder b("directed_" + std::to_string(n), n, n);
  for (PetscInt r = 0; r < n; ++r) {
    std::set<PetscInt> columns{r};
    for (PetscInt d = 0; d < degree; ++d)
      columns.insert((PetscInt)((unsigned long long)(r * 7919 + d * 104729 + r * r * 31 + 17) % (unsigned long long)n));
    for (PetscInt c : columns) b.Add(r, c);
  }
  return b;
}

/// Components of 1 to 6 nodes, one after the other, some of them without a diagonal; and zero rows.
inline Problem Components(PetscInt count)
{
  Builder  b("components", 0, 0);
  PetscInt n = 0;
  for (PetscInt k = 0; k < count; ++k) {
    const PetscInt size = 1 + k % 6;
    for (PetscInt r = 0; r < size; ++r) {
      if (k % 4) b.Add(n + r, n + r, 4.0);
      if (r + 1 < size) b.Add(n + r, n + r + 1).Add(n + r + 1, n + r);
    }
    n += size + (k % 5 == 0);
  }
  Problem p = b;
  p.rows = p.cols = n;
  return p;
}

/// A path whose first row and column connect to all nodes, by entries of that magnitude.
inline Problem Hub(PetscInt n, PetscReal weight)
{
  Builder b("hub_" + std::to_string(n), n, n);
  b.Add(0, 0, (PetscScalar)3.0);
  for (PetscInt r = 1; r < n; ++r) {
    b.Add(r, r, (PetscScalar)3.0);
    b.Add(0, r, weight * conformance::Value((unsigned long long)r));
    b.Add(r, 0, weight * conformance::Value((unsigned long long)(n + r)));
    if (r + 1 < n) b.Add(r, r + 1).Add(r + 1, r);
  }
  return b;
}

/// p with a full block of bs x bs entries in place of each of its own.
inline Problem InBlocks(const Problem &p, PetscInt bs)
{
  Builder b(p.name + "_in_blocks_of_" + std::to_string(bs), p.rows * bs, p.cols * bs);
  for (const Entry &e : p.entries)
    for (PetscInt i = 0; i < bs; ++i)
      for (PetscInt j = 0; j < bs; ++j)
        b.Add(e.i * bs + i, e.j * bs + j, e.v * (i == j ? (PetscReal)1 : (PetscReal)(1 + i + 2 * j) / 64));
  return b;
}

/// Rows of Dirichlet conditions whose other entries are stored zeros, in rows alone (`columns` false) or in both.
inline Problem Dirichlet(bool columns)
{
  Problem p = Lattice(columns ? "dirichlet_both" : "dirichlet_rows", 9, 8, 1, true);
  for (Entry &e : p.entries)
    if (e.i != e.j && (e.i % 7 == 3 || (columns && e.j % 7 == 3))) e.v = 0;
  return p;
}

/// Diagonal blocks that no elimination without row exchanges inverts well, and every fifth one singular.
inline Problem HardBlocks(PetscInt bs)
{
  Problem p = Lattice("hard_blocks_of_" + std::to_string(bs), 6, 5, 2, false, bs);
  for (Entry &e : p.entries) {
    if (e.i / bs != e.j / bs) continue;
    if (e.i / bs % 5 == 4)
      e.v = 8; // and so is each of its minors
    else
      e.v *= e.i == e.j ? (PetscReal)0.01 : (PetscReal)(20 * (1 + e.i % bs));
  }
  return p;
}

inline std::vector<Case> Cases()
{
  std::vector<Case> all;
  const auto        add = [&](const Problem &p, PetscInt bs = 1, PetscReal threshold = 0, PetscInt distance = 2,
                       PetscInt smallest = 1) {
    Case c{p, {}};
    c.options.block_size = bs;
    c.options.threshold  = threshold;
    c.options.distance   = distance;
    c.options.smallest   = smallest;
    all.push_back(c);
  };
  add(Builder("empty", 0, 0));
  add(Builder("zero_rows", 5, 5));
  add(Builder("one", 1, 1).Add(0, 0));
  add(Builder("to_alone", 4, 4).Add(0, 0).Add(0, 1).Add(2, 1).Add(2, 2).Add(3, 3));
  add(Builder("one_way", 3, 3).Add(0, 1).Add(1, 2).Add(2, 2).Add(1, 1));
  add(Lattice("diagonal", 1, 1, 1, false, 1));
  for (PetscInt distance : {1, 2}) {
    add(Lattice("path", 100, 1, 1, false), 1, 0, distance);
    add(Lattice("5_point", 23, 17, 1, false), 1, 0, distance);
    add(Lattice("7_point", 9, 8, 7, false), 1, -1, distance);
    add(Lattice("27_point", 11, 9, 10, true), 1, 0, distance);
    add(Directed(400, 3), 1, 0, distance);
    add(Components(60), 1, 0, distance);
    add(Dirichlet(false), 1, 0, distance);
  }
  add(Lattice("weak", 12, 11, 3, true), 1, 0.04);
  add(Directed(300, 6), 1, 0.5);
  add(Dirichlet(true));
  add(Components(80), 1, 0, 2, 3);
  add(Lattice("merged", 40, 3, 1, false), 1, 0, 2, 8);
  add(Hub(500, 1));
  add(Hub(3000, 1e-3), 1, 0.1);
  for (const PetscInt bs : {2, 3}) add(InBlocks(Hub(400, 1e-3), bs), bs, 0.1); // rows of blocks longer than a warp's
  for (PetscInt bs = 2; bs <= 6; ++bs) {
    add(Lattice("blocks_of_" + std::to_string(bs), 5, 4, 3, true, bs), bs, bs % 2 ? 0 : 0.04);
    add(HardBlocks(bs), bs);
    add(Lattice("holes_in_" + std::to_string(bs), 7, 6, 1, false, bs, true), bs, bs % 2 ? 0.04 : 0);
  }
  return all;
}

/// The rows of a problem, by columns.
struct HostMatrix {
  PetscInt                                                   rows;
  std::vector<std::vector<std::pair<PetscInt, PetscScalar>>> row;

  explicit HostMatrix(const Problem &p) : rows(p.rows), row((size_t)p.rows)
  {
    for (const Entry &e : p.entries) row[(size_t)e.i].push_back({e.j, e.v});
    for (auto &r : row) std::sort(r.begin(), r.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  }
};

/// The rows of a problem in `space`, columns descending if asked for.
struct PlacedRows {
  Array<PetscInt>                 i, j;
  Array<Scalar>                   a;
  sparsegpu::products::SparseRows rows;

  PetscErrorCode Make(const Problem &p, bool descending, Space space)
  {
    const HostMatrix      host(p);
    std::vector<PetscInt> begin{0}, columns;
    std::vector<Scalar>   values;
    PetscFunctionBeginUser;
    for (auto row : host.row) {
      if (descending) std::reverse(row.begin(), row.end());
      for (const auto &e : row) {
        Scalar v;
        memcpy(static_cast<void *>(&v), &e.second, sizeof(v));
        columns.push_back(e.first);
        values.push_back(v);
      }
      begin.push_back((PetscInt)columns.size());
    }
    PetscCall(i.Copy(begin.data(), begin.size(), space));
    PetscCall(j.Copy(columns.data(), columns.size(), space));
    PetscCall(a.Copy(values.data(), values.size(), space));
    rows = {p.rows, p.cols, (PetscInt)columns.size(), {i.data(), j.data(), a.data()}};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

inline PetscErrorCode CreateMatrix(const Problem &p, const std::string &backend, Mat *A)
{
  const HostMatrix      host(p);
  std::vector<PetscInt> lengths;

  PetscFunctionBeginUser;
  for (const auto &r : host.row) lengths.push_back((PetscInt)r.size());
  lengths.push_back(0);
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, p.rows, p.rows, p.rows, p.rows));
  PetscCall(MatSetType(*A, MATSEQAIJSPARSEGPU));
  PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, lengths.data()));
  for (PetscInt r = 0; r < p.rows; ++r)
    for (const auto &e : host.row[(size_t)r]) PetscCall(MatSetValue(*A, r, e.first, e.second, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A copy of an array that lies in `space`.
template <class T> PetscErrorCode ToHost(const T *array, size_t size, Space space, std::vector<T> *host)
{
  PetscFunctionBeginUser;
  host->assign(size, T());
  if (space == Space::Host) {
    std::copy_n(array, size, host->begin());
  } else if (size) {
    sparsegpu::Stream stream;
    PetscCall(sparsegpu::DeviceStream(&stream));
    PetscCall(sparsegpu::DeviceCopyOut(host->data(), array, size * sizeof(T), stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class T> PetscErrorCode ToHost(const Array<T> &array, Space space, std::vector<T> *host)
{
  return ToHost(array.data(), array.size(), space, host);
}

inline PetscScalar Theirs(const Scalar &v)
{
  PetscScalar w;
  memcpy(static_cast<void *>(&w), &v, sizeof(w));
  return w;
}
inline Scalar Ours(const PetscScalar &v)
{
  Scalar w;
  memcpy(static_cast<void *>(&w), &v, sizeof(w));
  return w;
}

} // namespace testing
