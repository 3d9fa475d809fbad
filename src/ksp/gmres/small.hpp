/// Whole cycles of GMRES in one launch, for systems so small that launch latency and the host would dominate.
/// A row of A, of b, of x and of the basis belongs to one thread block; its part of the basis and of A is in shared
/// memory if it fits. Blocks exchange the vector that the next product reads and one partial sum a column: two
/// grid-wide barriers an iteration, three if a direction is orthogonalised twice. One more block without rows does the
/// scalar work at the same time.
#pragma once

#include "ksp/common/device_system.hpp"
#include "device/pinned.hpp"
#include "device/record.hpp"
#include "ksp/common/small_matrix.hpp"
#include "ksp/common/small_mode.hpp"
#include "ksp/gmres/dense.hpp"
#include "ksp/gmres/hessenberg.hpp"

namespace sparsegpu::gmres
{

/// The system, on the device.
struct SmallSystem {
  CsrLayout     A;       ///< without chunks
  const Scalar *inverse; ///< [rows] of the diagonal that preconditions; null for none
  bool          right;
  const Scalar *b; ///< [rows]
  Scalar       *x; ///< [rows]
};

/// Written by the scalar block for the others, between two barriers.
struct SmallState {
  PetscReal fallen;     ///< |r_k| / |r_0| before the next step
  PetscReal recurrence; ///< |r_k|
  int       outcome;    ///< of the last step, STEP_GOES_ON or why the cycle ends
  int       ends;       ///< so does the solve
  int       taken;      ///< steps of this cycle
  int       columns;    ///< of the basis that the correction is made of
};

/// How the work is divided; of SmallPlan().
struct SmallShape {
  PetscInt blocks;    ///< that have rows; one more is launched
  PetscInt rows;      ///< of a block
  int      lanes;     ///< threads that share a row of A, a power of two
  bool     shared;    ///< the basis is in shared memory
  size_t   bytes;     ///< of shared memory
  size_t   for_basis; ///< of these, before A's part
};

struct SmallWork {
  Dense       V;          ///< [steps + 1 columns] column 0, of norm 1, starts the first cycle; where !shared, all
  Hessenberg  H;          ///< on the device; its rotations and right-hand side are unused
  Scalar     *gather;     ///< [rows] what the next product reads
  Scalar     *partial[2]; ///< [(steps + 1) * blocks] each, of the first and the second pass
  Scalar     *y;          ///< [steps]
  SmallState *state;      ///< [1]
  Record     *records;    ///< [SMALL_RECORDS] pinned: of every step, and of the beginning of every cycle but the first
};

struct SmallControl {
  Criterion criterion;
  PetscReal residual;            ///< norm at the beginning
  PetscReal converged, diverged; ///< the solve stops at a residual norm not above the one or not below the other
  PetscReal breakdown;           ///< at a restart the residual norm may differ by this part of the last cycle's first
  PetscInt  tested_from;         ///< iterations before this one do not stop at the norms above
  PetscInt  iteration, last;     ///< done before, and the last that is allowed
  PetscInt  steps;               ///< of a cycle
  bool      happy_ends;          ///< an invariant space is the end; else the true residual is to show that
  int       round;               ///< Record::ready of this launch
};

/// How a system of `rows` rows with `mean` entries each would be divided; false if its blocks cannot all be on the
/// device at once.
PetscErrorCode SmallPlan_CUDA(PetscInt rows, PetscReal mean, PetscInt steps, SmallShape *shape, bool *fits);
/// Cycles until the residual norm stops them, `last` is reached, or records run out. Asynchronous, bitwise
/// reproducible. *launched as LaunchCooperative() has it.
PetscErrorCode SmallCycles_CUDA(const SmallSystem &system, const SmallShape &shape, const SmallWork &work,
                                const SmallControl &control, Stream stream, bool *launched);

/// The host's side of it.
class SmallCycles
{
public:
  /// Whether cycles of `steps` steps of this solve are supported and enabled: see active().
  PetscErrorCode Begin(KSP ksp, const DeviceSystem &system, PetscInt steps, SmallMode mode);
  PetscErrorCode Free();
  bool           active() const { return active_; }

  /// Runs cycles from column 0 of the basis. Not active any more, and nothing is done, where the device does not have
  /// the room for them that it was found to have.
  PetscErrorCode Launch(DeviceSystem *system, Columns *basis, const SmallControl &control);
  /// The next record: of a step, or of the beginning of a cycle.
  PetscErrorCode NextRecord(Outcome *outcome, PetscReal *norm);

private:
  bool            active_  = false;
  SmallSystem     system_  = {};
  SmallShape      shape_   = {};
  SmallWork       work_    = {};
  SmallControl    control_ = {};
  int             round_ = 0, records_read_ = 0;
  SmallMatrixCopy matrix_;
  DeviceMemory    device_;
  PinnedMemory    pinned_;
};

} // namespace sparsegpu::gmres
