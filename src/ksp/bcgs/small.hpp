/// Many iterations of a small system in one cooperative launch, as ksp/cg/small.hpp has it. A row of A and of all
/// vectors belongs to one thread block; blocks exchange p, v and r, which products read. The product of s reads r and
/// v, of which it makes s on its way, so that pass 2 needs no barrier of its own: three an iteration, before each
/// decision.
#pragma once

#include "ksp/bcgs/arrays.hpp"
#include "ksp/common/small_solve.hpp"

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

struct SmallControl {
  NormTest  test;
  PetscInt  iteration, last; ///< those of this launch
  PetscReal rows;            ///< of the matrix
  int       round;           ///< Record::ready
  bool      with_norm;       ///< else records have 0
};

/// See ksp/common/small_solve.hpp.
struct SmallMethod {
  using Arrays  = ArraySolve;
  using Entry   = Record;
  using Told    = bcgs::Told;
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

} // namespace sparsegpu::bcgs
