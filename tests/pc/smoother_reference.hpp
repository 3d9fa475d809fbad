/// Gauss-Seidel sweeps by colours and l1-Jacobi by their definitions, row after row.
#pragma once

#include <petscmat.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace amg_tests
{

/// The rows of this process: columns are global numbers.
struct Rows {
  PetscInt                              begin = 0, end = 0;
  std::vector<std::vector<PetscInt>>    j;
  std::vector<std::vector<PetscScalar>> a;

  PetscInt count() const { return end - begin; }
  bool     own(PetscInt column) const { return column >= begin && column < end; }
};

inline PetscErrorCode Read(Mat A, Rows *rows)
{
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &rows->begin, &rows->end));
  rows->j.resize((size_t)rows->count());
  rows->a.resize((size_t)rows->count());
  for (PetscInt r = rows->begin; r < rows->end; ++r) {
    PetscInt           n;
    const PetscInt    *j;
    const PetscScalar *a;
    PetscCall(MatGetRow(A, r, &n, &j, &a));
    rows->j[(size_t)(r - rows->begin)].assign(j, j + n);
    rows->a[(size_t)(r - rows->begin)].assign(a, a + n);
    PetscCall(MatRestoreRow(A, r, &n, &j, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row before another: the lowest bit that differs is 0 in it.
inline bool Before(PetscInt a, PetscInt b)
{
  const PetscInt differ = a ^ b, lowest = differ & -differ;
  return differ && !(a & lowest);
}

/// The colours by definition: rows in their order take the first that is free.
inline std::vector<PetscInt> ColorsOf(const Rows &rows)
{
  const size_t                       n = (size_t)rows.count();
  std::vector<std::vector<PetscInt>> coupled(n);
  std::vector<PetscInt>              color(n, -1), order(n);

  for (PetscInt r = 0; r < rows.count(); ++r)
    for (PetscInt c : rows.j[(size_t)r])
      if (rows.own(c) && c - rows.begin != r) {
        coupled[(size_t)r].push_back(c - rows.begin);
        coupled[(size_t)(c - rows.begin)].push_back(r);
      }
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), Before);
  for (PetscInt r : order) {
    PetscInt    free  = 0;
    const auto &c     = coupled[(size_t)r];
    const auto  taken = [&](PetscInt k) { return color[(size_t)k] == free; };
    while (std::any_of(c.begin(), c.end(), taken)) ++free;
    color[(size_t)r] = free;
  }
  return color;
}

/// What row r is divided by.
inline PetscScalar DivisorOf(const Rows &rows, PetscInt r, bool l1)
{
  PetscScalar diagonal = 0;
  PetscReal   own = 0, others = 0;

  for (size_t e = 0; e < rows.j[(size_t)r].size(); ++e) {
    const PetscInt    c = rows.j[(size_t)r][e];
    const PetscScalar a = rows.a[(size_t)r][e];
    if (c == rows.begin + r)
      diagonal = a;
    else
      (rows.own(c) ? own : others) += PetscAbsScalar(a);
  }
  const PetscReal size = PetscAbsScalar(diagonal);
  const PetscReal more = (l1 ? own : 0) + (l1 || 3 * others > size ? others : 0);
  if (size == 0) return more > 0 ? more : 1;
  return diagonal * (1 + more / size);
}

struct Case {
  const char *type, *sweep;
  PetscInt    steps;
};

/// x after the steps, from x; `b` and the x of other processes, before each step, by `whole`.
inline PetscErrorCode Reference(const Rows &rows, const std::vector<PetscInt> &color, const Case &c, Mat A, Vec b,
                                Vec x, PetscReal *scale)
{
  const bool               l1     = !strcmp(c.type, "l1jacobi");
  const PetscInt           colors = color.empty() ? 0 : *std::max_element(color.begin(), color.end()) + 1;
  const PetscScalar       *right;
  VecScatter               scatter;
  Vec                      all;
  std::vector<PetscInt>    turns;
  std::vector<PetscScalar> divisor;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < colors && strcmp(c.sweep, "backward"); ++k) turns.push_back(k);
  for (PetscInt k = colors - 1; k >= 0 && strcmp(c.sweep, "forward"); --k)
    if (turns.empty() || k != turns.back()) turns.push_back(k);
  for (PetscInt r = 0; r < rows.count(); ++r) divisor.push_back(DivisorOf(rows, r, l1));
  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  *scale = 0;
  for (PetscInt s = 0; s < c.steps; ++s) {
    PetscScalar *v, *mine;
    PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(b, &right));
    PetscCall(VecGetArray(all, &v));
    const std::vector<PetscScalar> before(v + rows.begin, v + rows.end);
    const auto                     relax = [&](PetscInt r, bool jacobi) {
      PetscScalar sum  = right[r];
      PetscReal   size = PetscAbsScalar(right[r]);
      for (size_t e = 0; e < rows.j[(size_t)r].size(); ++e) {
        const PetscInt    to   = rows.j[(size_t)r][e];
        const PetscScalar from = jacobi && rows.own(to) ? before[(size_t)(to - rows.begin)] : v[to];
        sum -= rows.a[(size_t)r][e] * from;
        size += PetscAbsScalar(rows.a[(size_t)r][e] * from);
      }
      *scale = PetscMax(*scale, size / PetscAbsScalar(divisor[(size_t)r]));
      v[rows.begin + r] += sum / divisor[(size_t)r];
    };
    if (l1) {
      for (PetscInt r = 0; r < rows.count(); ++r) relax(r, true);
    } else {
      for (PetscInt turn : turns)
        for (PetscInt r = 0; r < rows.count(); ++r)
          if (color[(size_t)r] == turn) relax(r, false);
    }
    PetscCall(VecGetArray(x, &mine));
    std::copy(v + rows.begin, v + rows.end, mine);
    PetscCall(VecRestoreArray(x, &mine));
    PetscCall(VecRestoreArray(all, &v));
    PetscCall(VecRestoreArrayRead(b, &right));
  }
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, scale, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace amg_tests
