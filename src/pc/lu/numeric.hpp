/// The numbers of a multifrontal factorization: A's entries are put into the fronts, then each front adds what its
/// children leave to it, eliminates its pivots and leaves the update of its other rows to its parent.
#pragma once

#include "pc/lu/pairs.hpp"
#include "pc/lu/plan.hpp"

namespace sparsegpu::lu
{

struct LuPivoting {
  PetscReal exchange = 0; ///< rows change places where a pivot is smaller than this times its column in the tile; 0:
                          ///< never
  PetscReal tiny    = 0;  ///< a pivot of at most this magnitude is replaced ...
  PetscReal replace = 0;  ///< ... by this magnitude, keeping its direction
};

/// The outcome of a numeric factorization.
struct LuReport {
  PetscInt  perturbed = 0;  ///< pivots replaced
  PetscInt  first     = -1; ///< the first of them, in the order of elimination; -1: none
  PetscReal smallest  = 0;  ///< magnitude of the smallest pivot before it was replaced
  PetscInt  negative  = 0;  ///< pivots below zero
  bool      finite    = true;
  PetscReal largest   = 0; ///< entry of the scaled matrix
  PetscReal growth    = 0; ///< largest part of an entry of the factors, against the scaled matrix's largest entry or 1
};

/// What becomes of the pivots, in the order of elimination.
template <class Number> struct PivotsOf {
  PetscInt *row;  ///< [n] which of the rows of its tile, counted from the front's first pivot, becomes each pivot's
  PairCode *pair; ///< [n] pairs of a symmetric factorization that chooses pivots of order 1 and 2; null: it does not
  Number   *met;  ///< [n] pivots before any was replaced; null: not wanted

  /// Those of a front whose first pivot this is.
  PivotsOf From(PetscInt first) const
  {
    return PivotsOf{row + first, pair ? pair + first : nullptr, met ? met + first : nullptr};
  }
};

/// Number: Scalar or Single. values [plan.values]: A's entries in their places, zeros elsewhere -> the factors.
/// apart [pivots x pivots] of the front tree.apart: what was assembled there, whose factors become unit matrices. work
/// [plan.work] is scratch.
template <class Number> PetscErrorCode LuNumeric_Host(const FrontTree &tree, const FrontPlan &plan,
                                                      const LuPivoting &pivoting, const PivotsOf<Number> &pivots,
                                                      Number *values, Number *apart, Number *work, LuReport *report);

/// Which sweeps a solve takes: up the tree with L, down with U.
enum class Sweeps {
  Both,
  Forward,
  Backward
};
/// w [n x count], ldw entries apart, in the order of elimination: the right-hand sides -> the solutions. local_row and
/// pair as LuNumeric_Host() has left them. scratch [(plan.most_pivots + plan.widest) * count].
template <class Number> PetscErrorCode LuSolve_Host(const FrontTree &tree, const FrontPlan &plan, const Number *values,
                                                    const PetscInt *local_row, const PairCode *pair, bool transpose,
                                                    Sweeps sweeps, PetscInt count, Number *w, PetscInt ldw,
                                                    Number *scratch);

} // namespace sparsegpu::lu
