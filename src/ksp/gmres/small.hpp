/// Whole cycles of GMRES in one launch, for systems so small that launch latency and the host would dominate; for
/// several right-hand sides each with thread blocks of its own (a group), as many at a time as have a third of their
/// bases in shared memory then. Of a group:
///
/// A row of A, of b, of x and of the basis belongs to one thread block; its part of the basis and of A is in shared
/// memory if it fits, of several groups' bases the first vectors that do. Blocks exchange the vector that the next
/// product reads and one partial sum a column: two barriers of the group an iteration, three if a direction is
/// orthogonalised twice. One more block without rows does the scalar work at the same time.
#pragma once

#include "device/pinned.hpp"
#include "device/record.hpp"
#include "ksp/common/device_system.hpp"
#include "ksp/common/small_groups.hpp"
#include "ksp/common/small_matrix.hpp"
#include "ksp/common/small_mode.hpp"
#include "ksp/common/together.hpp"
#include "ksp/gmres/dense.hpp"
#include "ksp/gmres/hessenberg.hpp"

namespace sparsegpu::gmres
{

/// The system, on the device.
struct SmallSystem {
  CsrLayout     A;       ///< without chunks
  const Scalar *inverse; ///< [rows] of the diagonal that preconditions; null for none
  bool          right;
  const Scalar *b;        ///< [ldb * columns], from the column with number 0 on
  Scalar       *x;        ///< [ldx * columns]
  PetscInt      ldb, ldx; ///< of several right-hand sides
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
  PetscInt groups;    ///< right-hand sides at a time
  PetscInt blocks;    ///< of a group, that have rows; it has one more
  PetscInt rows;      ///< of a block
  int      lanes;     ///< threads that share a row of A, a power of two
  PetscInt kept;      ///< vectors of the basis in shared memory, the first ones: they are read most often
  size_t   bytes;     ///< of shared memory
  size_t   for_basis; ///< of these, before A's part
};

/// *array moves by so many bytes.
template <class T> SPARSEGPU_HD void Shift(T **array, size_t bytes)
{
  *array = reinterpret_cast<T *>(reinterpret_cast<char *>(*array) + bytes);
}

struct SmallWork {
  Dense       V;          ///< [steps + 1 columns] column 0, of norm 1, starts the first cycle; where !shared, all
  size_t      between;    ///< from an entry of V to that of the next group
  size_t      bytes;      ///< from any array of those below to that of the next group, but for the last two
  Hessenberg  H;          ///< on the device; its rotations and right-hand side are unused
  Scalar     *gather;     ///< [rows] what the next product reads
  Scalar     *partial[2]; ///< [(steps + 1) * blocks] each, of the first and the second pass
  Scalar     *y;          ///< [steps]
  SmallState *state;      ///< [1]
  unsigned   *arrived;    ///< [GROUP_COUNTERS * groups]
  Record     *records;    ///< [recorded * groups] pinned: of every step, and of the beginning of every cycle but the
                          ///< first
  PetscInt recorded;

  SPARSEGPU_HD SmallWork Of(int group) const
  {
    const size_t at  = bytes * static_cast<size_t>(group);
    SmallWork    own = *this;
    own.V.v += between * static_cast<size_t>(group);
    Shift(&own.H.r, at);
    Shift(&own.gather, at);
    Shift(&own.partial[0], at);
    Shift(&own.partial[1], at);
    Shift(&own.y, at);
    Shift(&own.state, at);
    own.records += static_cast<size_t>(recorded) * static_cast<size_t>(group);
    return own;
  }
};

/// The solve of a group.
struct SmallSolveOf {
  PetscInt  column;              ///< of b and x
  PetscReal residual;            ///< norm at the beginning
  PetscReal converged, diverged; ///< the solve stops at a residual norm not above the one or not below the other
  PetscInt  tested_from;         ///< iterations before this one do not stop at the norms above
  PetscInt  iteration, last;     ///< done before, and the last that is allowed
};

struct SmallControl {
  Criterion    criterion;
  PetscReal    breakdown;  ///< at a restart the residual norm may differ by this part of the last cycle's first
  PetscInt     steps;      ///< of a cycle
  bool         happy_ends; ///< an invariant space is the end; else the true residual is to show that
  int          round;      ///< Record::ready of this launch
  int          count;      ///< groups of this launch
  SmallSolveOf solve[MANY];
};

/// How a system of `rows` rows with `mean` entries each would be divided for as many groups; false if their blocks
/// cannot all be on the device at once, or have fewer than `least` vectors of their bases in shared memory.
PetscErrorCode SmallPlan_CUDA(PetscInt rows, PetscReal mean, PetscInt steps, PetscInt groups, PetscInt least,
                              SmallShape *shape, bool *fits);
/// Cycles until the residual norms stop them, `last` is reached, or records run out. Asynchronous, bitwise
/// reproducible. *launched as LaunchCooperative() has it.
PetscErrorCode SmallCycles_CUDA(const SmallSystem &system, const SmallShape &shape, const SmallWork &work,
                                const SmallControl &control, Stream stream, bool *launched);

/// The host's side of it.
class SmallCycles
{
public:
  /// Whether cycles of `steps` steps of this solve are supported and enabled: see active(). Of several `columns`, for
  /// as many groups as have a third of their bases in shared memory, and at least two.
  PetscErrorCode Begin(KSP ksp, const DeviceSystem &system, PetscInt steps, SmallMode mode, PetscInt columns = 1);
  void           End() { active_ = false; }
  PetscErrorCode Free();
  bool           active() const { return active_; }
  int            groups() const { return static_cast<int>(shape_.groups); }

  /// Runs cycles from column 0 of the bases, that of group g `between` entries from that of the one before. Not active
  /// any more, and nothing is done, where the device does not have the room for them that it was found to have.
  PetscErrorCode Launch(const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, const Dense &V, size_t between,
                        const SmallControl &control);
  /// The next record of a group: of a step, or of the beginning of a cycle.
  PetscErrorCode NextRecord(int group, Outcome *outcome, PetscReal *norm);
  PetscLogDouble FlopsEach(PetscInt steps) const ///< of an iteration, on the average
  {
    return 2.0 * nonzeros_ + (2.0 * static_cast<PetscLogDouble>(steps) + 6.0) * system_.A.rows;
  }
  /// Whether the device has ended a group's cycles for lack of records, of which `used` have been read.
  bool RecordsEnd(PetscInt used) const { return used + control_.steps + 1 > work_.recorded; }

private:
  bool            active_             = false;
  SmallSystem     system_             = {};
  SmallShape      shape_              = {};
  SmallWork       work_               = {};
  SmallControl    control_            = {};
  PetscLogDouble  nonzeros_           = 0;
  int             round_              = 0;
  PetscInt        records_read_[MANY] = {};
  SmallMatrixCopy matrix_;
  DeviceMemory    device_;
  PinnedMemory    pinned_;
};

} // namespace sparsegpu::gmres
