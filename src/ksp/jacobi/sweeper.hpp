/// A solve under way: sweeps between work vectors, or between arrays of the device if the vectors are on the host.
#pragma once

#include "ksp/common/converged.hpp"
#include "ksp/jacobi/jacobi.hpp"
#include "ksp/jacobi/run.hpp"

namespace sparsegpu::jacobi
{

struct Sweeper {
  KSP           ksp;
  Mat           A;
  Space         space   = Space::Host;
  JacobiNorm    norm    = JacobiNorm::None;
  PetscMPIInt   size    = 1;
  JacobiControl control = {};
  Record       *records = nullptr;
  NormTest      test{-1, PETSC_MAX_REAL, PETSC_MAX_INT};
  PetscReal     value = 0;                                         ///< norm of the last sweep on the host
  Scalar       *x[2] = {}, *product = nullptr, *inverse = nullptr; ///< [rows] on the device, vectors on the host
  bool          runs   = false;                                    ///< many sweeps are launched at a time
  JacobiRun     run    = {};                                       ///< the last one launched
  PetscInt      coming = 0, longest = 0;                           ///< sweeps of the next, and of any

  PetscErrorCode Begin();
  PetscErrorCode BeginOnVectors();
  PetscErrorCode BeginOnArrays();
  PetscErrorCode End();
  PetscErrorCode FindFused(Format **format);
  PetscErrorCode Launch(PetscInt k);
  PetscErrorCode LaunchOnArrays(PetscInt k);
  PetscErrorCode JoinOnHost(PetscReal *total);
  PetscErrorCode CloseSweep(const JacobiSweep &sweep);
  PetscErrorCode LaunchSweep(PetscInt k, const JacobiSweep &sweep, Format *fused);
  PetscErrorCode PlanRuns();
  PetscErrorCode LaunchRuns(PetscInt finished, PetscInt last, PetscInt left, PetscInt *launched);
  PetscErrorCode LaunchRun(PetscInt k, PetscInt count);
  PetscErrorCode StartRun(PetscInt k, PetscInt count, Format *format, const JacobiSweep &sweep);
  void           SetCurrent();
  PetscErrorCode AwaitNorm(PetscInt k, PetscReal *norm);
  /// Whether the last launched sweep has ended.
  bool Idle() const
  {
    return norm != JacobiNorm::None && RecordReady(records + control.number % RECORDS, control.round);
  }
  /// Several ranks that reach each other's memory, on devices: all launch as many sweeps.
  bool Together() const { return space == Space::Device && JacobiOf(ksp)->ranks.active(); }
  /// The iteration that the norm of sweep k belongs to: a residual is that of the iterate before the sweep.
  PetscInt Counted(PetscInt k) const { return norm == JacobiNorm::Difference ? k + 1 : k; }
};

} // namespace sparsegpu::jacobi
