/// A solve on arrays: on the device of one process, or of each of several that reach each other's memory, or on the
/// host of any number of processes.
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

inline Norm NormOf(KSPNormType type)
{
  switch (type) {
  case KSP_NORM_PRECONDITIONED: return Norm::Preconditioned;
  case KSP_NORM_UNPRECONDITIONED: return Norm::Unpreconditioned;
  case KSP_NORM_NATURAL: return Norm::Natural;
  default: return Norm::None;
  }
}

/// Columns of the arrays of a solve.
enum Column {
  COLUMN_R,
  COLUMN_P,
  COLUMN_W,
  COLUMN_Z, ///< where the preconditioner is applied from outside
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

  bool active() const { return active_; }
  /// The preconditioner is no diagonal: the passes from Multiply() on are the iteration.
  bool  outside() const { return outside_; }
  Space space() const { return space_; }
  /// Several ranks, on devices: these launch iterations ahead of what they have heard by the same number.
  bool together() { return space_ == Space::Device && system_.ranks(); }
  /// The iterations 0 ... `end` - 1 are launched ahead. On several ranks their sums are then those of all ranks with
  /// the product of the next one; the outcome of the last but one launched, or of number `end` - 1, can be awaited.
  void LaunchAheadUntil(PetscInt end) { ahead_until_ = end; }
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
  /// Pass 1 of iteration k, pass 2, and the preconditioner with passes 3 and 4; of k = -1 the last one gives the first
  /// direction. On the device asynchronous, but for the preconditioner.
  PetscErrorCode Multiply(PetscInt k);
  PetscErrorCode UpdateResidual(PetscInt k);
  PetscErrorCode Precondition(PetscInt k);
  /// Waits for the outcome of the last UpdateResidual(), with the norm if it is that of r.
  PetscErrorCode AwaitResidual(Told *told);
  /// Waits for the norm that the last Precondition() gave, if it is not that of r.
  PetscErrorCode AwaitPreconditioned(PetscReal *norm);
  /// What a launch of many iterations from iteration k on works on, which changes the solution.
  PetscErrorCode      Lend(PetscInt k, Arrays *v, State **state, Norm *norm);
  PetscLogDouble      FlopsEach() const { return 2.0 * system_.nonzeros() + 19.0 * system_.rows(); } ///< on the device
  const DeviceSystem &system() const { return system_; }
  /// The iterate where it is not in the solution vector; null if it is.
  PetscErrorCode Store(Vec v, bool *stored);

private:
  /// A record that the device is to write.
  struct Pending {
    CgRecord *record = nullptr;
    int       round  = 0;
  };

  void           NextRecord(Pending *pending);
  PetscErrorCode AwaitPending(const Pending &pending, Told *told);
  PetscErrorCode BeginOnHost(bool *admitted);
  PetscErrorCode TakeDiagonal();
  PetscErrorCode ReserveOnDevice();
  /// Which norm the first residual gives before it is preconditioned from outside.
  Norm           StartNorm() const { return outside_ && norm_ != Norm::Unpreconditioned ? Norm::None : norm_; }
  PetscErrorCode StartOnHost(PetscReal *norm);
  PetscErrorCode StartOnDevice(PetscReal *norm);
  PetscErrorCode LaunchOnHost(PetscInt k);
  PetscErrorCode LaunchOnDevice(PetscInt k);
  PetscErrorCode ProductOnDevice(PetscInt k);
  PetscErrorCode SumOverProcesses(PetscReal *sums, PetscMPIInt count);
  PetscErrorCode SumOverProcesses(Sums *sums);

  KSP                 ksp_    = nullptr;
  bool                active_ = false, outside_ = false;
  Space               space_ = Space::Host;
  Norm                norm_  = Norm::None;
  NormTest            test_  = {};
  DeviceSystem        system_;
  Columns             columns_; ///< r, p and w
  Arrays              v_ = {};
  std::vector<Scalar> inverse_; ///< [rows] of the diagonal on the host
  State               state_               = {};
  Told                told_                = {}; ///< of the last iteration on the host
  PetscReal           preconditioned_norm_ = 0;
  Pending             residual_, preconditioned_;
  DeviceMemory        scratch_;
  PinnedMemory        records_; ///< [RECORDS] record k % RECORDS is of iteration k
  ProductDots         dots_        = {};
  Control             control_     = {};
  Closing             closing_     = {};
  PetscInt            ahead_until_ = 0;
  int                 round_ = 0, first_round_ = 0; ///< Record::ready of the last launch, and of iteration 0
};

} // namespace sparsegpu::cg
