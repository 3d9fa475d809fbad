/// On the host: rows in tiles, so that w is read from memory once, however many columns there are.
#include <algorithm>
#include "ksp/gmres/dense.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

static constexpr PetscInt TILE = 1024; // rows: a tile of w stays in the first-level cache

template <class Entry> static Entry *Column(const Basis<Entry> &V, PetscInt c, PetscInt row)
{
  return V.v + static_cast<size_t>(c) * V.stride + row;
}

template <class Entry> static Scalar TileDot(const Entry *v, const Scalar *w, PetscInt rows, PetscInt even)
{
  Scalar sum[4] = {Scalar(0), Scalar(0), Scalar(0), Scalar(0)}; // additions that need not wait

  for (PetscInt r = 0; r < even; r += 4)
    for (int k = 0; k < 4; k++) sum[k] += Conj(Widen(v[r + k])) * w[r + k];
  for (PetscInt r = even; r < rows; r++) sum[0] += Conj(Widen(v[r])) * w[r];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class Entry> PetscErrorCode ColumnDots_Host(const Basis<Entry> &V, PetscInt columns, Scalar *dots)
{
  PetscFunctionBegin;
  std::fill_n(dots, columns, Scalar(0));
  for (PetscInt begin = 0; begin < V.rows; begin += TILE) {
    const PetscInt rows = std::min(TILE, V.rows - begin), even = rows - rows % 4;
    const Scalar  *w = V.w + begin;
    for (PetscInt c = 0; c < columns - 1; c++) dots[c] += TileDot(Column(V, c, begin), w, rows, even);
    dots[columns - 1] += TileDot(w, w, rows, even);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// tile[r] += y[c] V_c[begin + r] for all columns.
template <class Entry> static void AddColumns(const Basis<Entry> &V, PetscInt columns, const Scalar *y, PetscInt begin,
                                              PetscInt rows, Scalar *tile)
{
  for (PetscInt c = 0; c < columns; c++) {
    const Entry *v  = Column(V, c, begin);
    const Scalar yc = y[c];
    for (PetscInt r = 0; r < rows; r++) tile[r] += yc * Widen(v[r]);
  }
}

template <class Entry>
PetscErrorCode ColumnUpdate_Host(const Basis<Entry> &V, PetscInt columns, const Scalar *h, PetscReal scale, bool ends)
{
  Scalar tile[TILE];

  PetscFunctionBegin;
  for (PetscInt begin = 0; begin < V.rows; begin += TILE) {
    const PetscInt rows = std::min(TILE, V.rows - begin);
    Scalar        *w    = V.w + begin;
    std::fill_n(tile, rows, Scalar(0));
    AddColumns(V, columns - 1, h, begin, rows, tile);
    for (PetscInt r = 0; r < rows; r++) w[r] = Scalar(scale) * (w[r] - tile[r]);
    if (!Basis<Entry>::NARROW || !ends) continue;
    Entry *stored = Column(V, columns - 1, begin);
    for (PetscInt r = 0; r < rows; r++) {
      Store(w[r], stored + r);
      w[r] = Widen(stored[r]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Entry>
PetscErrorCode ColumnCombine_Host(const Basis<Entry> &V, PetscInt columns, const Scalar *y, bool add, Scalar *out)
{
  PetscFunctionBegin;
  for (PetscInt begin = 0; begin < V.rows; begin += TILE) {
    const PetscInt rows = std::min(TILE, V.rows - begin);
    if (!add) std::fill_n(out + begin, rows, Scalar(0));
    AddColumns(V, columns, y, begin, rows, out + begin);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode ColumnDots_Host(const Basis<Scalar> &, PetscInt, Scalar *);
template PetscErrorCode ColumnDots_Host(const Basis<Narrow> &, PetscInt, Scalar *);
template PetscErrorCode ColumnUpdate_Host(const Basis<Scalar> &, PetscInt, const Scalar *, PetscReal, bool);
template PetscErrorCode ColumnUpdate_Host(const Basis<Narrow> &, PetscInt, const Scalar *, PetscReal, bool);
template PetscErrorCode ColumnCombine_Host(const Basis<Scalar> &, PetscInt, const Scalar *, bool, Scalar *);
template PetscErrorCode ColumnCombine_Host(const Basis<Narrow> &, PetscInt, const Scalar *, bool, Scalar *);

} // namespace sparsegpu::gmres
