/// A solve on arrays: on the device of one process, or of each of several that reach each other's memory, or on the
/// host of any number of processes.
#pragma once

#include <petsc/private/kspimpl.h>
#include "ksp/bcgs/recurrence.hpp"
#include "ksp/common/columns.hpp"
#include "ksp/common/converged.hpp"
#include "ksp/common/device_system.hpp"
#include "ksp/common/record_ring.hpp"

namespace sparsegpu::bcgs
{

/// What the host hears of an iteration.
struct Told {
  PetscReal norm;
  Outcome   outcome;
};

/// Columns of the arrays of a solve.
enum Column {
  COLUMN_R,
  COLUMN_P,
  COLUMN_V,
  COLUMN_T,
  COLUMN_SHADOW,
  COLUMN_S_HAT, ///< with a preconditioner from the right
  COLUMN_P_HAT, ///< if it is applied from outside
  COLUMNS,
  COLUMN_PRODUCT = COLUMN_S_HAT ///< of A, with a preconditioner from the left that is applied from outside
};

/// The two products of an iteration.
enum Half {
  HALF_P, ///< v of p
  HALF_S  ///< t of s
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
  /// The preconditioner is no diagonal: PCApply() is part of an iteration.
  bool outside() const { return outside_; }
  /// s is not stored, on the device: three kernels an iteration, else four.
  bool  late() const { return v_.late; }
  Space space() const { return space_; }
  /// Several ranks, on devices: these launch iterations ahead of what they have heard by the same number.
  bool together() { return space_ == Space::Device && system_.ranks(); }
  /// The iterations 0 ... `end` - 1 are launched ahead: the outcome of the last but one launched, or of number `end` -
  /// 1, can be awaited.
  void LaunchAheadUntil(PetscInt end) { ahead_until_ = end; }
  /// Residual, first direction and first norm.
  PetscErrorCode Start(PetscReal *norm);
  /// What ends the solve on the device by itself.
  void Test(const NormTest &test) { test_ = test; }
  /// Iteration k, the one after the last launched. On the device asynchronous, but for the preconditioner.
  PetscErrorCode Launch(PetscInt k);
  /// What of iteration k can be done before it is known whether there is one.
  PetscErrorCode LaunchAhead(PetscInt k);
  /// Waits for the outcome of iteration k; -1: for the first norm.
  PetscErrorCode Await(PetscInt k, Told *told);
  /// Whether iteration k, the last launched, is over.
  bool Idle(PetscInt k) const { return space_ == Space::Host || records_.Ready(k + 1 < ahead_until_ ? k - 1 : k); }
  const DeviceSystem &system() const { return system_; }
  /// For iterations on the device that are not launched by Launch().
  PetscErrorCode Lend(Arrays *v, State **state, bool *with_norm);
  /// The iterate where it is not in the solution vector.
  PetscErrorCode Store(Vec v, bool *stored);

private:
  PetscErrorCode BeginOnHost(bool *admitted);
  PetscErrorCode TakeDiagonal();
  PetscErrorCode TakeColumns(bool device_only);
  PetscErrorCode ReserveOnDevice();
  PetscErrorCode StartOnDevice();
  PetscErrorCode StartOnHost();
  /// v or t = the preconditioned operator applied to p or s, with its sums.
  PetscErrorCode                      Apply(Half half, PetscInt k);
  PetscErrorCode                      Multiply(Half half, Column from, Column to);
  PetscErrorCode                      Precondition(Column from, Column to);
  PetscErrorCode                      PreconditionResidual(const Scalar *b);
  PetscErrorCode                      CloseProduct(Half half);
  PetscErrorCode                      LaunchOnDevice(PetscInt k);
  PetscErrorCode                      LaunchOnHost(PetscInt k);
  template <int count> PetscErrorCode SumOverProcesses(PetscReal (&sums)[count])
  {
    PetscFunctionBegin;
    PetscCall(ksp::SumOverProcesses(PetscObjectComm((PetscObject)ksp_), system_.ranks(), sums, count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  KSP                 ksp_    = nullptr;
  bool                active_ = false, outside_ = false, right_ = false;
  bool                ahead_       = false; ///< the first product of the next iteration has been launched
  bool                ghosts_left_ = false; ///< by the product last made, whose rest adds them
  Space               space_       = Space::Host;
  NormTest            test_        = {};
  DeviceSystem        system_;
  Columns             columns_;
  Arrays              v_ = {};
  std::vector<Scalar> inverse_;                                  ///< [rows] of the diagonal on the host
  State               state_ = {};                               ///< on the host
  PetscReal           half_[SHADOW_DOTS], whole_[MINIMISE_DOTS]; ///< sums of the products on the host
  Told                told_ = {};                                ///< of the last iteration on the host
  DeviceMemory        scratch_;
  RecordRing          records_;
  PetscInt            ahead_until_ = 0;
  ProductDots         dots_[2]     = {};
  PetscReal          *all_[2]      = {}; ///< on several ranks: sums of the products over all of them
  Control             control_     = {};
};

} // namespace sparsegpu::bcgs
