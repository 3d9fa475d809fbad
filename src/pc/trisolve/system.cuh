/// The rows of a SystemView as kernels see them.
#pragma once

#include "pc/trisolve/schedule.hpp"

namespace sparsegpu::trisolve
{

/// Entries of row u.
__device__ __forceinline__ PetscInt RowLength(const FactorView &F, PetscInt u)
{
  if (u < F.rows) return F.diagonal[u] - F.i[u];
  const PetscInt r = 2 * F.rows - 1 - u;
  return F.i[r + 1] - F.diagonal[r]; // its right-hand side in the diagonal's stead
}

/// The piece that holds the unknown of row u.
__device__ __forceinline__ PetscInt UnknownOf(const SystemView &S, PetscInt u)
{
  return S.first ? S.first[u + 1] - 1 : u;
}

struct Piece {
  PetscInt u;      ///< row
  PetscInt begin;  ///< its first entry among the row's; -1: it sums up the row's other pieces
  PetscInt length; ///< entries
  bool     whole;  ///< it holds the row's unknown
};

__device__ __forceinline__ Piece PieceAt(const SystemView &S, PetscInt k)
{
  Piece p;
  p.u     = S.owner ? S.owner[k] : k;
  p.begin = 0;
  p.whole = true;
  if (S.first) {
    const PetscInt part = k - S.first[p.u], parts = S.first[p.u + 1] - S.first[p.u] - 1;
    if (parts > 0) {
      p.whole  = part == parts;
      p.begin  = p.whole ? -1 : part * SystemView::PIECE;
      p.length = parts;
      if (p.whole) return p;
      const PetscInt rest = RowLength(S.factors, p.u) - p.begin;
      p.length            = rest < SystemView::PIECE ? rest : SystemView::PIECE;
      return p;
    }
  }
  p.length = RowLength(S.factors, p.u);
  return p;
}

/// Entry e of a piece: the piece that it waits for; *from: where its value lies among the factors', -1: it is -1.
/// Entries that are done first come first.
__device__ __forceinline__ PetscInt EntryAt(const SystemView &S, const Piece &p, PetscInt e, PetscInt *from)
{
  const FactorView &F = S.factors;
  *from               = -1;
  if (p.begin < 0) return S.first[p.u] + e;
  e += p.begin;
  if (p.u < F.rows) {
    *from = F.i[p.u] + e;
    return UnknownOf(S, F.j[*from]);
  }
  const PetscInt r = 2 * F.rows - 1 - p.u;
  if (e == 0) return UnknownOf(S, r);
  *from = F.i[r + 1] - e;
  return UnknownOf(S, 2 * F.rows - 1 - F.j[*from]);
}

} // namespace sparsegpu::trisolve
