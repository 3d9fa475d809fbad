/// Many iterations of a small system in one cooperative launch, as ksp/cg/small.hpp has it. A row of A and of all
/// vectors belongs to one thread block; blocks exchange p, v and r, which products read. The product of s reads r and
/// v, of which it makes s on its way, so that pass 2 needs no barrier of its own: three an iteration, before each
/// decision.
#pragma once

#include "ksp/bcgs/arrays.hpp"
#include "ksp/common/small_matrix.hpp"
#include "ksp/common/small_mode.hpp"
#include "ksp/common/small_shape.hpp"

namespace sparsegpu::bcgs
{

struct SmallWork {
  CsrLayout  A; ///< without chunks
  Arrays     v; ///< as Start_CUDA() and earlier launches left them
  State     *state;
  PetscReal *half;    ///< [SHADOW_DOTS * blocks] sums of the first product
  PetscReal *whole;   ///< [MINIMISE_DOTS * blocks] sums of the second
  PetscReal *sums;    ///< [SHADOW_DOTS * blocks] sums of the update
  Record    *records; ///< [SMALL_RECORDS] pinned: of each iteration of a launch
};
constexpr PetscInt SMALL_RECORDS = 4096; ///< as many iterations as one launch does at most

struct SmallControl {
  NormTest  test;
  PetscInt  iteration, last; ///< those of this launch
  PetscReal rows;            ///< of the matrix
  int       round;           ///< Record::ready
  bool      with_norm;       ///< else records have 0
};

/// How a system of `rows` rows with `mean` entries each would be divided; false if its blocks cannot all be on the
/// device at once.
PetscErrorCode SmallPlan_CUDA(PetscInt rows, PetscReal mean, SmallShape *shape, bool *fits);
/// Iterations until one stops the solve or `last` is reached. Asynchronous, bitwise reproducible. *launched as
/// LaunchCooperative() has it.
PetscErrorCode SmallIterations_CUDA(const SmallShape &shape, const SmallWork &work, const SmallControl &control,
                                    Stream stream, bool *launched);

/// The host's side of it.
class SmallSolve
{
public:
  /// Whether this solve on arrays, which has begun, is to run so: see active().
  PetscErrorCode Begin(KSP ksp, ArraySolve *arrays, SmallMode mode);
  PetscErrorCode Free();
  bool           active() const { return active_; }

  /// Launches iterations from `iteration` on, up to iteration *end. Not active any more, and nothing is done, where the
  /// device does not have the room for them that it was found to have.
  PetscErrorCode Launch(PetscInt iteration, PetscInt last, const NormTest &test, PetscInt *end);
  /// Waits for the outcome of the next iteration.
  PetscErrorCode Next(Told *told);

private:
  bool            active_  = false;
  SmallShape      shape_   = {};
  SmallWork       work_    = {};
  SmallControl    control_ = {};
  ArraySolve     *arrays_  = nullptr;
  int             round_ = 0, read_ = 0;
  SmallMatrixCopy matrix_;
  DeviceMemory    scratch_;
  PinnedMemory    records_;
};

} // namespace sparsegpu::bcgs
