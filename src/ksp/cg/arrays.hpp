/// A solve on arrays: on the device of one process, or on the host of any number of processes.
#pragma once

#include <petsc/private/kspimpl.h>
#include "device/pinned.hpp"
#include "ksp/cg/recurrence.hpp"
#include "ksp/common/columns.hpp"
#include "ksp/common/converged.hpp"
#include "ksp/common/device_system.hpp"

namespace sparsegpu::cg
{

/// What the host hears of an iteration.
struct Told {
  PetscReal norm;
  Outcome   outcome;
  PetscReal alpha, rho;
};

/// Columns of the arrays of a solve.
enum Column {
  COLUMN_R,
  COLUMN_P,
  COLUMN_W,
  COLUMNS
};

class ArraySolve
{
public:
  /// Takes the solve that begins if its matrix, preconditioner and vectors allow it: see active(). Collective.
  PetscErrorCode Begin(KSP ksp);
  /// The solution to its vector.
  PetscErrorCode End();
  PetscErrorCode Free();

  bool  active() const { return active_; }
  Space space() const { return space_; }
  /// Residual, first direction and first norm.
  PetscErrorCode Start(PetscReal *norm);
  /// What ends the solve on the device by itself.
  void Test(const NormTest &test) { test_ = test; }
  /// Iteration k, the one after the last launched. On the device asynchronous.
  PetscErrorCode Launch(PetscInt k);
  /// Waits for the outcome of iteration k.
  PetscErrorCode Await(PetscInt k, Told *told);
  /// Whether iteration k, the last launched, is over.
  bool Idle(PetscInt k) const;
  /// The iterate where it is not in the solution vector; null if it is.
  PetscErrorCode Store(Vec v, bool *stored);

private:
  PetscErrorCode BeginOnHost(bool *admitted);
  PetscErrorCode TakeDiagonal();
  PetscErrorCode ReserveOnDevice();
  PetscErrorCode StartOnHost(PetscReal *norm);
  PetscErrorCode StartOnDevice(PetscReal *norm);
  PetscErrorCode LaunchOnHost(PetscInt k);
  PetscErrorCode LaunchOnDevice(PetscInt k);
  PetscErrorCode SumOverProcesses(PetscReal *sums, PetscMPIInt count);
  PetscErrorCode SumOverProcesses(Sums *sums);

  KSP                 ksp_    = nullptr;
  bool                active_ = false;
  Space               space_  = Space::Host;
  Norm                norm_   = Norm::None;
  NormTest            test_   = {};
  DeviceSystem        system_;
  Columns             columns_; ///< r, p and w
  Arrays              v_ = {};
  std::vector<Scalar> inverse_; ///< [rows] of the diagonal on the host
  State               state_ = {};
  Told                told_  = {}; ///< of the last iteration on the host
  DeviceMemory        scratch_;
  PinnedMemory        records_; ///< [RECORDS] record k % RECORDS is of iteration k
  ProductDots         dots_    = {};
  Control             control_ = {};
  int                 round_ = 0, first_round_ = 0; ///< Record::ready of the last launch, and of iteration 0
};

} // namespace sparsegpu::cg
