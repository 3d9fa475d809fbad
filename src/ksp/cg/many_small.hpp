/// Many iterations for several right-hand sides of a small system in one cooperative launch. A thread block has its
/// rows of A and of all columns' vectors in shared memory for all iterations, those of a row side by side; a thread has
/// one column, and some of the block's rows. Blocks exchange directions and sums as for one right-hand side
/// (small.hpp): two barriers of all blocks an iteration, however many columns there are. All blocks decide alike.
///
/// A column that is solved goes idle. A launch ends with the iteration that leaves no more than half of its columns, so
/// that the next one has fewer; R, P and the states are then as ManySolve's own passes would have left them.
#pragma once

#include <algorithm>
#include "device/pinned.hpp"
#include "ksp/cg/many_arrays.hpp"
#include "ksp/common/device_system.hpp"
#include "ksp/common/small_matrix.hpp"
#include "ksp/common/small_mode.hpp"
#include "ksp/common/small_shape.hpp"

namespace sparsegpu::cg
{

constexpr int      MANY_SMALL_LEAST   = 2;    ///< columns of the narrowest kernel
constexpr PetscInt MANY_SMALL_RECORDS = 1024; ///< iterations of a launch at most

struct ManySmallWork {
  CsrLayout  A; ///< without chunks
  ManyArrays v;
  Scalar    *gather;  ///< [rows * width] the directions, for all blocks
  PetscReal *dots;    ///< [DOTS * width * blocks] sums of the product
  PetscReal *sums;    ///< [2 * width * blocks] sums of the update
  Record    *records; ///< pinned: [width + 1] of each iteration; the last one's outcome: the launch ends with it
  PetscInt   last;    ///< the iteration before which the launch ends; it begins with ManyControl::number
};

/// How a system of `rows` rows with `mean` entries each is divided for `width` columns, a power of two; false if its
/// blocks cannot all be on the device at once.
PetscErrorCode PlanManySmall(int width, PetscInt rows, PetscReal mean, ksp::SmallShape *shape, bool *fits);
/// Asynchronous, bitwise reproducible. *launched as LaunchCooperative() has it.
PetscErrorCode LaunchManySmall(int width, const ksp::SmallShape &shape, const ManySmallWork &work,
                               const ManyControl &control, Stream stream, bool *launched);

/// The host's side: which solves run so, their memory, the launches and their records.
class ManySmall
{
public:
  /// Whether the system, on the device of one process and with a diagonal, is solved so for `columns` right-hand sides:
  /// see active(). `gains`: columns gain by products with several vectors; then launches are for those systems whose
  /// matrix they keep in shared memory, unless `mode` is On.
  PetscErrorCode Begin(const DeviceSystem &system, SmallMode mode, PetscInt columns, bool gains);
  void           End() { most_ = 0; }
  PetscErrorCode Free();
  bool           active() const { return most_ > 0; }
  int            most() const { return most_; } ///< columns at a time

  /// The iterations from control->number up to `last` at most, of v's slots. Not active any more where the device does
  /// not have the room for them that it was found to have.
  PetscErrorCode Launch(const ManyArrays &v, PetscInt last, ManyControl *control);
  /// What iteration k of the launch has left of a slot. Waits for the device.
  PetscErrorCode Await(PetscInt k, int slot, Record *record) const;
  /// Whether the launch ends with iteration k.
  PetscErrorCode Ends(PetscInt k, bool *ends) const;

private:
  static constexpr int WIDTHS = 5; ///< 2, 4, ... MANY
  static_assert(MANY_SMALL_LEAST << (WIDTHS - 1) == MANY);
  static int        WidthFor(PetscInt columns); ///< of the kernel
  const SmallShape &ShapeOf(int width) const;
  PetscErrorCode    Reserve(int width);

  int             most_ = 0, width_ = 0; ///< width_: of the launch
  SmallShape      shapes_[WIDTHS] = {};
  ManySmallWork   work_           = {};
  PetscInt        first_          = 0; ///< iteration of the launch
  int             round_          = 0;
  SmallMatrixCopy matrix_;
  DeviceMemory    scratch_;
  PinnedMemory    records_;
};

} // namespace sparsegpu::cg
