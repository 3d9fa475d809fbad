/// The arrays of several right-hand sides on the device, and the passes over them; see many.hpp.
#pragma once

#include "ksp/cg/recurrence.hpp"
#include "ksp/common/together.hpp"

namespace sparsegpu::cg
{

struct ManyArrays {
  int           count; ///< slots in use
  PetscInt      rows, ld, ldw, ldx;
  Scalar       *r, *p, *z;    ///< [ld * count] slot c begins at c * ld; z: null with a diagonal
  Scalar       *w;            ///< [ldw * count]
  const Scalar *inverse;      ///< [rows] D; null: 1
  Scalar       *x;            ///< [ldx * columns] the solutions
  PetscInt      column[MANY]; ///< of x, of each slot

  /// Of one slot, as for one right-hand side.
  SPARSEGPU_HD Arrays Slot(int c) const
  {
    const size_t at = static_cast<size_t>(c) * ld;
    return Arrays{rows,   x + static_cast<size_t>(column[c]) * ldx, r + at,
                  p + at, w + static_cast<size_t>(c) * ldw,         z ? z + at : nullptr,
                  inverse};
  }
};

/// Control of one iteration on the device.
struct ManyControl {
  State     *state;   ///< [MANY] what an iteration leaves of a slot
  PetscReal *dots;    ///< [DOTS * MANY] of the products, by slots
  PetscReal *partial; ///< [DOTS * PASS_BLOCKS] sums of thread blocks
  PetscReal *product; ///< [DenseDotsRoom(rows)] the same of a product that leaves its inner products
  unsigned  *arrived; ///< [DOT_GROUPS + 1] for such a product
  Record    *records; ///< [MANY] pinned: of this iteration
  int       *varies;  ///< [1] the diagonal is not the same in all rows
  bool       later;   ///< the norm is told by a later pass of the iteration
  int        number, round, tested_from;
  Norm       norm;
  PetscReal  converged[MANY], diverged[MANY]; ///< of each slot: it stops at a norm <= the one or >= the other
};

/// Residuals b - W, or b where there is no product, first directions and norms of all slots; column c of b begins at
/// c * ldb. Asynchronous and bitwise reproducible, as all of these.
PetscErrorCode StartMany_CUDA(const ManyArrays &v, const Scalar *b, PetscInt ldb, bool has_product,
                              const ManyControl &control, Stream stream);
/// The inner products of the products in W: around a preconditioner (p, w) alone.
PetscErrorCode DotsMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
/// Pass 2 of an iteration, its decisions, its records.
PetscErrorCode UpdateMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
/// The passes around a preconditioner, as for one right-hand side: x and r, where Control::norm is None or
/// Unpreconditioned; and, of Z in v.z, rho and the next directions, where it is None, Preconditioned or
/// Natural.
PetscErrorCode UpdateResidualMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
PetscErrorCode UpdateDirectionMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
/// Slot `to` takes over from slot `from`.
PetscErrorCode MoveSlot_CUDA(const ManyArrays &v, const ManyControl &control, int from, int to, Stream stream);

} // namespace sparsegpu::cg
