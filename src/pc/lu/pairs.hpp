/// Pivots of order 1 and 2 of a symmetric indefinite matrix, for both backends. Where a tile has no diagonal entry that
/// is large enough, two of its unknowns are a pivot together (Bunch & Parlett, SIAM J. Numer. Anal. 8(4), 1971). They
/// are then eliminated one by one in a matrix that is congruent to A, G^H A G, where the unitary G combines the two,
///   G = [1 -conj(s); s 1] / sqrt(2), |s| = 1,
/// so that the first pivot is as large as the entry that couples them, of a Hermitian A at least 1 / sqrt(2) times as
/// large, and D stays diagonal, with A's inertia. For a symmetric A s is 1 or -1, for a Hermitian one also i or -i; G^T
/// A G = G^H A G, as G is real, for a symmetric one.
#pragma once

#include "device/single.hpp"

namespace sparsegpu::lu
{

/// Bunch & Parlett's: a diagonal entry is the pivot if it is so large against the largest other one.
constexpr PetscReal DIAGONAL_SHARE = static_cast<PetscReal>(0.6403882032022076);

/// Whether and how a pivot is one of two: 0: it is not; c: the first of a pair whose s has the number c, 1 .. 4;
/// -c: the second.
using PairCode = signed char;

template <class Number> SPARSEGPU_HD Number PairSign(int code)
{
  const int number = code < 0 ? -code : code;
#if defined(PETSC_USE_COMPLEX)
  if (number > 2) return Number(0, number == 3 ? 1 : -1);
#endif
  return Number(number == 1 ? 1 : -1);
}

/// The factor 1 / sqrt(2).
template <class Number> SPARSEGPU_HD Number HalfTurn()
{
  return FromReal<Number>(static_cast<PetscReal>(0.70710678118654752440));
}

/// Row, or unknown, `own` of G^H v, where `other` is the pair's other one.
template <class Number> SPARSEGPU_HD Number Turned(int code, const Number &own, const Number &other)
{
  const Number s = PairSign<Number>(code);
  return HalfTurn<Number>() * (code > 0 ? own + Conj(s) * other : own - s * other);
}
/// The same of G v.
template <class Number> SPARSEGPU_HD Number TurnedBack(int code, const Number &own, const Number &other)
{
  const Number s = PairSign<Number>(code);
  return HalfTurn<Number>() * (code > 0 ? own - Conj(s) * other : own + s * other);
}
/// An entry of a row of A G, in the pair's column `own`.
template <class Number> SPARSEGPU_HD Number TurnedColumn(int code, const Number &own, const Number &other)
{
  const Number s = PairSign<Number>(code);
  return HalfTurn<Number>() * (code > 0 ? own + s * other : own - Conj(s) * other);
}

/// The number of the s that makes the first pivot of [a b; c d] largest.
template <class Number>
SPARSEGPU_HD int BestPair(bool hermitian, const Number &a, const Number &b, const Number &c, const Number &d)
{
  int       best = 1;
  PetscReal most = -1;
  for (int code = 1; code <= (hermitian ? 4 : 2); code++) {
    const Number    s    = PairSign<Number>(code);
    const PetscReal size = Magnitude(a + d + s * b + Conj(s) * c);
    if (!(size > most)) continue;
    most = size;
    best = code;
  }
  return best;
}

} // namespace sparsegpu::lu
