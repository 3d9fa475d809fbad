/// Matrices of grids with one stencil, and of such grids with a few other rows.
#pragma once

#include <petscmat.h>
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace grids
{

/// A grid without the last CUT rows, so that no walk ends with a line: its matrix has fewer rows than columns. Rows are
/// cut at the boundary; `cross`: without diagonal neighbours.
constexpr PetscInt CUT = 37;
enum class Rows {
  Alike,
  OfSides,    ///< another value on the diagonal where a neighbour lacks
  Planes,     ///< the same, but in the first and the last plane alone
  Broken,     ///< a few rows inside have nothing but their diagonal
  Dirichlet,  ///< the sides have nothing but a one on their diagonal
  Eliminated, ///< the same, and nothing in their columns
  Periodic,   ///< not cut
  Materials,  ///< another value on the diagonal of some lines, which are met first
  Tall        ///< none has an entry in the last CUT columns, which the matrix has not
};
struct Grid {
  const char *name;
  PetscInt    x, y, z;
  bool        cross;
  Rows        rows = Rows::Alike;
  bool        many = false; ///< of the rows are others: not walked

  bool At(PetscInt x0, PetscInt y0, PetscInt z0) const
  {
    return x0 == 0 || x0 + 1 == x || y0 == 0 || y0 + 1 == y || (z > 1 && (z0 == 0 || z0 + 1 == z));
  }
  bool IsSide(PetscInt r) const { return At(r % x, r / x % y, r / x / y); }
};

/// add(column, d) for each entry of row r, towards d % 3 - 1, d / 3 % 3 - 1 and d / 9 - 1 along the axes.
template <class Add> inline void EachEntry(const Grid &g, PetscInt r, Add add)
{
  const PetscInt place[] = {r % g.x, r / g.x % g.y, r / g.x / g.y};
  const bool     side    = g.IsSide(r);

  for (PetscInt d = 0; d < 27; ++d) {
    const PetscInt step[] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1}, size[] = {g.x, g.y, g.z};
    PetscInt       at[3];
    bool           inside = true;
    if (g.cross && std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]) > 1) continue;
    for (int k : {0, 1, 2}) {
      at[k] = place[k] + step[k];
      if (g.rows == Rows::Periodic && size[k] > 1) at[k] = (at[k] + size[k]) % size[k];
      inside = inside && at[k] >= 0 && at[k] < size[k];
    }
    if (!inside) continue;
    const PetscInt column = (at[2] * g.y + at[1]) * g.x + at[0];
    const bool     alone =
        g.rows == Rows::Broken ? r % 2003 == 1000 : side && (g.rows == Rows::Dirichlet || g.rows == Rows::Eliminated);
    if (g.rows == Rows::Tall && column >= g.x * g.y * g.z - CUT) continue;
    if (d != 13 && (alone || (g.rows == Rows::Eliminated && g.IsSide(column)))) continue;
    add(column, d);
  }
}

/// Which value entry d of row r has: d, or one of these.
constexpr PetscInt OTHER = 27, ONE = 28;
inline PetscInt    KindOf(const Grid &g, PetscInt r, PetscInt d)
{
  const PetscInt z     = r / g.x / g.y;
  const bool     other = g.rows == Rows::OfSides     ? g.IsSide(r)
                         : g.rows == Rows::Planes    ? z == 0 || z + 1 == g.z
                         : g.rows == Rows::Materials ? r % g.x < g.x / 5 && r / g.x % g.y < g.y / 5
                                                     : false;
  if ((g.rows == Rows::Dirichlet || g.rows == Rows::Eliminated) && g.IsSide(r)) return ONE;
  return d == 13 && other ? OTHER : d;
}

/// value(d): of the neighbour d. The last `cut` rows are left out. All planes are dealt out to the ranks alike.
template <class Value> inline PetscErrorCode Create(MPI_Comm comm, const Grid &g, PetscInt cut, Value value, Mat *A)
{
  const PetscInt                                all = g.x * g.y * g.z, plane = g.x * g.y;
  PetscMPIInt                                   rank, size;
  std::vector<PetscInt>                         i{0}, j;
  std::vector<PetscScalar>                      a;
  std::vector<std::pair<PetscInt, PetscScalar>> row;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  const PetscInt first = g.z * rank / size * plane, end = g.z * (rank + 1) / size * plane;
  const PetscInt cols = end - first, n = rank + 1 == size ? cols - cut : cols;
  for (PetscInt r = first; r < first + n; ++r) {
    row.clear();
    EachEntry(g, r, [&](PetscInt column, PetscInt d) {
      const PetscInt kind = KindOf(g, r, d);
      row.emplace_back(column, kind == ONE ? (PetscScalar)1 : value(d) + (PetscReal)(kind == OTHER ? 1 : 0));
    });
    std::sort(row.begin(), row.end(), [](const auto &p, const auto &q) { return p.first < q.first; });
    for (const auto &[column, v] : row) {
      j.push_back(column);
      a.push_back(v);
    }
    i.push_back((PetscInt)j.size());
  }
  PetscCall(MatCreate(comm, A));
  const PetscInt without = g.rows == Rows::Tall && rank + 1 == size ? CUT : 0;
  PetscCall(MatSetSizes(*A, n, cols - without, all - cut, g.rows == Rows::Tall ? all - CUT : all));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i.data(), j.data(), a.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, i.data(), j.data(), a.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace grids
