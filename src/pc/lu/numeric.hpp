/// The numbers of a multifrontal factorization: A's entries are put into the fronts, then each front adds what its
/// children leave to it, eliminates its pivots and leaves the update of its other rows to its parent.
#pragma once

#include "device/single.hpp"
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

/// Number: Scalar or Single. values [plan.values]: A's entries in their places, zeros elsewhere -> the factors.
/// local_row [n]: which of the rows of its tile, counted from the front's first pivot, becomes each pivot's. met
/// [n]: the pivots before any was replaced; null: not wanted. apart [pivots x pivots] of
/// the front tree.apart: what was assembled there, whose factors become unit matrices. work [plan.work] is scratch.
template <class Number> PetscErrorCode LuNumeric_Host(const FrontTree &tree, const FrontPlan &plan,
                                                      const LuPivoting &pivoting, Number *values, PetscInt *local_row,
                                                      Number *met, Number *apart, Number *work, LuReport *report);

/// Which sweeps a solve takes: up the tree with L, down with U.
enum class Sweeps {
  Both,
  Forward,
  Backward
};
/// w [n x count], ldw entries apart, in the order of elimination: the right-hand sides -> the solutions.
/// scratch [(plan.most_pivots + plan.widest) * count].
template <class Number> PetscErrorCode LuSolve_Host(const FrontTree &tree, const FrontPlan &plan, const Number *values,
                                                    const PetscInt *local_row, bool transpose, Sweeps sweeps,
                                                    PetscInt count, Number *w, PetscInt ldw, Number *scratch);

} // namespace sparsegpu::lu
