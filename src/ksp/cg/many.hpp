/// Several right-hand sides at a time: the recurrence of recurrence.hpp for each of them, with one product A P for all.
/// A right-hand side has a slot, a column of R, P and W (and Z, around a preconditioner that is no diagonal). One that
/// is solved leaves: the last slot takes its place, so that products have the columns alone that are still needed.
///
/// On the host, on any number of processes: products by MatMatMult(), the preconditioner by PCMatApply(), sums of all
/// columns in one reduction, as many of these as for one right-hand side.
/// On the device of one process: one kernel for each pass, of all columns. With a diagonal the device stops each by
/// itself; the host launches iterations ahead and hears of the norms later. Around another preconditioner the host
/// hears of an iteration before it launches the next. Small systems with a diagonal: many_small.hpp.
///
/// Entries of vectors moved in an iteration of a column: 2 of the product, 3 of its inner products (1 where the
/// product's kernel forms them, Format::MultDenseDots()), 7 of the update, or 2, 6, 2 and 3 of the passes around a
/// preconditioner; the matrix once for all columns.
#pragma once

#include <petsc/private/kspimpl.h>
#include <vector>
#include "ksp/cg/arrays.hpp"
#include "ksp/cg/many_small.hpp"
#include "ksp/common/record_ring.hpp"
#include "ksp/common/together.hpp"
#include "mat/face/dense_array.hpp"

namespace sparsegpu::cg
{

class ManySolve
{
public:
  /// Takes the solves that begin if matrix, preconditioner, options and vectors allow it. Collective; the answer is the
  /// same on all ranks.
  /// b and x, which the caller has, borrow the arrays of B and X until End().
  PetscErrorCode Begin(KSP ksp, Mat B, Mat X, DenseArray *b, DenseArray *x, bool *admitted);
  /// Solves for the right-hand sides first .. first + count - 1, at most most(). columns [all of B].
  PetscErrorCode Solve(PetscInt first, int count, ManyColumn *columns);
  PetscErrorCode End();
  PetscErrorCode Free();

  Space space() const { return space_; }
  bool  small() const { return small_.active(); }
  int   most() const { return small_.active() ? small_.most() : MANY; } ///< right-hand sides at a time

protected: // of BlockSolve, too
  PetscErrorCode Prepare(PetscInt first, int count, ManyColumn *columns);
  PetscErrorCode Iterate();
  PetscErrorCode IterateSmall(PetscInt *finished);
  PetscErrorCode BeginOnDevice(bool *admitted);
  PetscErrorCode TakeDiagonal();
  PetscErrorCode Reserve();
  PetscErrorCode Start(bool product);
  PetscErrorCode ToldOf(PetscInt k, int slot, Told *told);
  PetscErrorCode TakeNorms(PetscInt k);
  PetscErrorCode TakeTold(PetscInt k, const Told &told, PetscInt c);
  PetscErrorCode TestFirst(PetscInt c);
  PetscErrorCode EndNotFinite(PetscInt c, PetscReal norm);
  PetscErrorCode LeaveSlots();
  void           Remember(PetscInt k);
  PetscInt      *SlotsOf(PetscInt k) { return slots_[(k + RecordRing::RECORDS) % RecordRing::RECORDS]; }

  PetscErrorCode StartOnHost(bool product);
  PetscErrorCode LaunchOnHost(PetscInt k);
  PetscErrorCode LaunchAround(PetscInt k);
  PetscErrorCode Precondition(PetscInt k);
  PetscErrorCode ApplyPreconditioner();
  PetscErrorCode SumOverRanks(int count);
  PetscErrorCode Wrap();
  PetscErrorCode Unwrap();
  PetscErrorCode MultiplyOnHost();
  void           MoveOnHost(int from, int to);
  /// Whether norms are those of preconditioned residuals.
  bool OfZ() const { return norm_ == Norm::Preconditioned || norm_ == Norm::Natural; }

  int                           TestedFrom() const;
  template <class Control> void SetTests(Control *control) const;
  PetscErrorCode                ReserveOnDevice();
  PetscErrorCode                StartOnDevice(bool product);
  PetscErrorCode                LaunchOnDevice(PetscInt k);
  PetscErrorCode                LaunchAroundOnDevice(PetscInt k);
  PetscErrorCode                PreconditionOnDevice(PetscInt k);
  PetscErrorCode                MultiplyOnDevice(const Scalar *from, PetscInt ld, bool dot);
  PetscErrorCode                MoveOnDevice(int from, int to);

  KSP                 ksp_ = nullptr;
  Mat                 A_ = nullptr, B_ = nullptr, X_ = nullptr; ///< borrowed
  ManyColumn         *columns_ = nullptr;                       ///< [begun_]
  PetscInt            first_   = 0;                             ///< column of B and X that is columns_[0]
  int                 begun_ = 0, left_ = 0;                    ///< columns of this call, and those not solved
  PetscInt            last_    = 0;                             ///< iterations that are allowed
  PetscInt            base_    = 0;                             ///< iterations before number 0 of this run
  bool                outside_ = false;                         ///< the preconditioner is no diagonal
  bool                alone_   = true;                          ///< there is one process
  Space               space_   = Space::Host;
  Norm                norm_    = Norm::None;
  DeviceSystem        system_;
  DenseArray         *b_ = nullptr, *x_ = nullptr;
  Space               entries_space_ = Space::Host;
  Array<Scalar>       entries_; ///< [ld * begun_] each R, P, on the device W, around a preconditioner Z
  std::vector<Scalar> inverse_; ///< [rows] of the diagonal on the host
  ManyArrays          v_            = {};
  ManyControl         control_      = {};
  State               states_[MANY] = {};                    ///< on the host
  Told                told_[MANY]   = {};                    ///< of the last iteration on the host
  PetscReal           sums_[MANY * DOTS];                    ///< to be summed over all ranks
  PetscInt            slots_[RecordRing::RECORDS][MANY + 1]; ///< columns of an iteration's slots, and how many
  Mat R_ = nullptr, P_ = nullptr, Z_ = nullptr; ///< [rows x wrapped_] laid over the arrays; P_ on the host alone
  Mat W_       = nullptr;                       ///< A P_, on the host
  int wrapped_ = 0;
  DeviceMemory scratch_, gather_;
  RecordRing   records_;
  ManySmall    small_;
  bool         in_launch_ = false; ///< records are those of small_
};

/// What the device tests the norms of all slots with, in a ManyControl or a BlockControl.
template <class Control> void ManySolve::SetTests(Control *control) const
{
  control->tested_from = TestedFrom();
  for (int c = 0; c < v_.count; c++) {
    control->converged[c] = columns_[v_.column[c]].test.converged;
    control->diverged[c]  = columns_[v_.column[c]].test.diverged;
  }
}

/// KSPMatSolve() of sparsegpucg; other systems column by column.
PetscErrorCode KSPMatSolve_SparseGPUCG(KSP ksp, Mat B, Mat X);

} // namespace sparsegpu::cg
