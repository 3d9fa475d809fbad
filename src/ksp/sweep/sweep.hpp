/// One sweep of the Jacobi method, next = x + damping D^-1 (b - A x), and its norm, in one pass over the vectors.
#pragma once

#include <cstdint>
#include "device/device.hpp"
#include "device/scalar.hpp"
#include "device/record.hpp"

namespace sparsegpu::sweep
{

enum class JacobiNorm {
  None,
  Preconditioned,   ///< || D^-1 (b - A x) ||_2
  Unpreconditioned, ///< || b - A x ||_2
  Difference        ///< max |next - x|
};

/// Without b: next = D^-1 A x, the operator that other methods precondition with the diagonal.
struct JacobiSweep {
  PetscInt      rows;
  const Scalar *b, *product, *inverse, *x; ///< [rows] each; product = A x, inverse = D^-1
  Scalar       *next;                      ///< [rows]
  PetscReal     damping;
  JacobiNorm    norm;
  /// [rows / 32 + 1] bit r % 32 of word r / 32: next[r] = (A x)_r alone, of a row that is not complete; null: all are.
  const std::uint32_t *left_out;
};

/// *norm of this process's rows: the square of a 2-norm.
PetscErrorCode JacobiSweep_Host(const JacobiSweep &sweep, PetscReal *norm);

/// Control of a sweep on the device, which does nothing if an earlier sweep has stopped the solve.
struct JacobiControl {
  PetscReal *partial;    ///< [JACOBI_BLOCKS] norms of the blocks; of a run twice as many
  unsigned  *arrived;    ///< [1] zero before and after
  int       *stopped_at; ///< [1] the sweep after which nothing more is to change; null: never
  PetscReal *local;      ///< [1] this rank's norm, or its square, and no record and no decision; null on one process
  Record    *record;     ///< pinned: of this sweep; null without a norm
  int        number, round;
  bool       root;   ///< the record holds the root of the sum of squares
  bool       tested; ///< stop at a norm <= converged or >= diverged
  PetscReal  converged, diverged;
};
constexpr PetscInt JACOBI_BLOCKS = 2048; // at most

/// One launch, asynchronous, bitwise reproducible.
PetscErrorCode JacobiSweep_CUDA(const JacobiSweep &sweep, const JacobiControl &control, Stream stream);

} // namespace sparsegpu::sweep
