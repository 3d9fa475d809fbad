/// The columns that a deflated restart keeps, from all of a cycle's.
#pragma once

#include "device/device.hpp"
#include "ksp/common/columns.hpp"
#include "ksp/gmres/names.hpp"

namespace sparsegpu::gmres
{

/// No more columns are kept than this: a thread has their sums in registers.
constexpr PetscInt MOST_KEPT = 16;

/// The basis V, and what the operator was applied to: w_c is column c of `head` for c < `before`, else of `tail`, which
/// may be V.
struct Recombination {
  Dense         V, head, tail;
  PetscInt      steps, before, kept; ///< V has steps + 1 columns; kept <= MOST_KEPT
  const Scalar *image, *operand; ///< [kept * (steps + 1)], [kept * steps]: coefficient q of column c at c * kept + q
};

/// V_q = sum of image(c, q) v_c, and head_q = sum of operand(c, q) w_c, for q < kept, from the columns as they were. On
/// the device one launch, asynchronous; the coefficients are there, too.
PetscErrorCode Recombine_Host(const Recombination &r);
PetscErrorCode Recombine_CUDA(const Recombination &r, Stream stream);

} // namespace sparsegpu::gmres
