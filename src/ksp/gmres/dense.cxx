/// On the host: rows in tiles, so that w is read from memory once, however many columns there are.
#include <algorithm>
#include "ksp/gmres/dense.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

static constexpr PetscInt TILE = 1024; // rows: a tile of w stays in the first-level cache

static const Scalar *Column(const Dense &V, PetscInt c, PetscInt row)
{
  return V.v + static_cast<size_t>(c) * V.stride + row;
}

PetscErrorCode ColumnDots_Host(const Dense &V, PetscInt columns, Scalar *dots)
{
  PetscFunctionBegin;
  std::fill_n(dots, columns, Scalar(0));
  for (PetscInt begin = 0; begin < V.rows; begin += TILE) {
    const PetscInt rows = std::min(TILE, V.rows - begin), even = rows - rows % 4;
    const Scalar  *w = Column(V, columns - 1, begin);
    for (PetscInt c = 0; c < columns; c++) {
      const Scalar *v      = Column(V, c, begin);
      Scalar        sum[4] = {Scalar(0), Scalar(0), Scalar(0), Scalar(0)}; // additions that need not wait
      for (PetscInt r = 0; r < even; r += 4)
        for (int k = 0; k < 4; k++) sum[k] += Conj(v[r + k]) * w[r + k];
      for (PetscInt r = even; r < rows; r++) sum[0] += Conj(v[r]) * w[r];
      dots[c] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// tile[r] += y[c] V_c[begin + r] for all columns.
static void AddColumns(const Dense &V, PetscInt columns, const Scalar *y, PetscInt begin, PetscInt rows, Scalar *tile)
{
  for (PetscInt c = 0; c < columns; c++) {
    const Scalar *v = Column(V, c, begin), yc = y[c];
    for (PetscInt r = 0; r < rows; r++) tile[r] += yc * v[r];
  }
}

PetscErrorCode ColumnUpdate_Host(const Dense &V, PetscInt columns, const Scalar *h, PetscReal scale)
{
  Scalar tile[TILE];

  PetscFunctionBegin;
  for (PetscInt begin = 0; begin < V.rows; begin += TILE) {
    const PetscInt rows = std::min(TILE, V.rows - begin);
    Scalar        *w    = const_cast<Scalar *>(Column(V, columns - 1, begin));
    std::fill_n(tile, rows, Scalar(0));
    AddColumns(V, columns - 1, h, begin, rows, tile);
    for (PetscInt r = 0; r < rows; r++) w[r] = Scalar(scale) * (w[r] - tile[r]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColumnCombine_Host(const Dense &V, PetscInt columns, const Scalar *y, Scalar *out)
{
  PetscFunctionBegin;
  for (PetscInt begin = 0; begin < V.rows; begin += TILE) {
    const PetscInt rows = std::min(TILE, V.rows - begin);
    std::fill_n(out + begin, rows, Scalar(0));
    AddColumns(V, columns, y, begin, rows, out + begin);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
