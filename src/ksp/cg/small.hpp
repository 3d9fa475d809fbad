/// Many iterations of a small system in one cooperative launch, where launch latency and the host would dominate. A row
/// of A and of all vectors belongs to one thread block, in shared memory for all iterations; blocks exchange p, which
/// the next product reads, and their sums: two barriers of all blocks an iteration. All blocks add up the sums in the
/// same order and decide alike.
#pragma once

#include "ksp/cg/arrays.hpp"
#include "ksp/common/small_solve.hpp"

namespace sparsegpu::cg
{

struct SmallWork {
  CsrLayout  A; ///< without chunks
  Arrays     v; ///< as Start_CUDA() and earlier launches left them
  State     *state;
  PetscReal *dots;    ///< [DOTS * blocks] sums of the product
  PetscReal *sums;    ///< [2 * blocks] sums of the update
  unsigned  *arrived; ///< [GROUP_COUNTERS] of the barrier
  CgRecord  *records; ///< [SMALL_RECORDS] pinned: of each iteration of a launch
};

struct SmallControl {
  Norm     norm;
  NormTest test;
  PetscInt iteration, last; ///< those of this launch
  int      round;           ///< Record::ready
};

/// See ksp/common/small_solve.hpp.
struct SmallMethod {
  using Arrays  = ArraySolve;
  using Entry   = CgRecord;
  using Told    = cg::Told;
  using Work    = SmallWork;
  using Control = SmallControl;

  /// How a system of `rows` rows with `mean` entries each would be divided; false if its blocks cannot all be on the
  /// device at once.
  static PetscErrorCode Plan(PetscInt rows, PetscReal mean, SmallShape *shape, bool *fits);
  static void           Place(const SmallShape &shape, char *base, size_t *used, SmallWork *work);
  static PetscErrorCode Lend(ArraySolve *arrays, PetscInt iteration, SmallWork *work, SmallControl *control);
  /// Iterations until one stops the solve or control.last is reached. Asynchronous, bitwise reproducible. *launched as
  /// LaunchCooperative() has it.
  static PetscErrorCode Launch(const SmallShape &shape, const SmallWork &work, const SmallControl &control,
                               Stream stream, bool *launched);
  static Told           Tell(const Record &record, const Entry &entry);
};
using SmallSolve = ksp::SmallSolve<SmallMethod>;

} // namespace sparsegpu::cg
