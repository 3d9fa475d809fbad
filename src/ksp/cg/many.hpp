/// Several right-hand sides at a time: the recurrence of recurrence.hpp for each of them, with one product A P for all.
/// A right-hand side has a slot, a column of R, P and W (and Z, around a preconditioner that is no diagonal). One that
/// is solved leaves: the last slot takes its place, so that products have the columns alone that are still needed.
///
/// On the host, on any number of processes: products by MatMatMult(), the preconditioner by PCMatApply(), sums of all
/// columns in one reduction, as many of these as for one right-hand side.
/// On the device of one process: one kernel for each pass, of all columns. With a diagonal the device stops each by
/// itself; the host launches iterations ahead and hears of the norms later. Around another preconditioner the host
/// hears of an iteration before it launches the next.
///
/// Entries of vectors moved in an iteration of a column: 2 of the product, 3 of its inner products (1 where the
/// product's kernel forms them, Format::MultDenseDots()), 7 of the update, or 2, 6, 2 and 3 of the passes around a
/// preconditioner; the matrix once for all columns.
#pragma once

#include <petsc/private/kspimpl.h>
#include <vector>
#include "ksp/cg/arrays.hpp"
#include "ksp/common/record_ring.hpp"
#include "ksp/common/together.hpp"
#include "mat/face/dense_array.hpp"

namespace sparsegpu::cg
{

struct ManyArrays {
  int           count; ///< slots in use
  PetscInt      rows, ld, ldw, ldx;
  Scalar       *r, *p, *z;    ///< [ld * count] slot c begins at c * ld; z: null with a diagonal
  Scalar       *w;            ///< [ldw * count]
  const Scalar *inverse;      ///< [rows] D; null: 1
  Scalar       *x;            ///< [ldx * columns] the solutions
  PetscInt      column[MANY]; ///< of x, of each slot

  /// Of one slot, as for one right-hand side.
  SPARSEGPU_HD Arrays Slot(int c) const
  {
    const size_t at = static_cast<size_t>(c) * ld;
    return Arrays{rows,   x + static_cast<size_t>(column[c]) * ldx, r + at,
                  p + at, w + static_cast<size_t>(c) * ldw,         z ? z + at : nullptr,
                  inverse};
  }
};

/// Control of one iteration on the device.
struct ManyControl {
  State     *state;   ///< [MANY] what an iteration leaves of a slot
  PetscReal *dots;    ///< [DOTS * MANY] of the products, by slots
  PetscReal *partial; ///< [DOTS * PASS_BLOCKS] sums of thread blocks
  PetscReal *product; ///< [DenseDotsRoom(rows)] the same of a product that leaves its inner products
  unsigned  *arrived; ///< [DOT_GROUPS + 1] for such a product
  Record    *records; ///< [MANY] pinned: of this iteration
  int       *varies;  ///< [1] the diagonal is not the same in all rows
  bool       later;   ///< the norm is told by a later pass of the iteration
  int        number, round, tested_from;
  Norm       norm;
  PetscReal  converged[MANY], diverged[MANY]; ///< of each slot: it stops at a norm <= the one or >= the other
};

/// Residuals b - W, or b where there is no product, first directions and norms of all slots; column c of b begins at
/// c * ldb. Asynchronous and bitwise reproducible, as all of these.
PetscErrorCode StartMany_CUDA(const ManyArrays &v, const Scalar *b, PetscInt ldb, bool has_product,
                              const ManyControl &control, Stream stream);
/// The inner products of the products in W: around a preconditioner (p, w) alone.
PetscErrorCode DotsMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
/// Pass 2 of an iteration, its decisions, its records.
PetscErrorCode UpdateMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
/// The passes around a preconditioner, as for one right-hand side: x and r, where Control::norm is None or
/// Unpreconditioned; and, of Z in v.z, rho and the next directions, where it is None, Preconditioned or
/// Natural.
PetscErrorCode UpdateResidualMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
PetscErrorCode UpdateDirectionMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream);
/// Slot `to` takes over from slot `from`.
PetscErrorCode MoveSlot_CUDA(const ManyArrays &v, const ManyControl &control, int from, int to, Stream stream);

class ManySolve
{
public:
  /// Takes the solves that begin if matrix, preconditioner, options and vectors allow it. Collective; the answer is the
  /// same on all ranks.
  /// b and x, which the caller has, borrow the arrays of B and X until End().
  PetscErrorCode Begin(KSP ksp, Mat B, Mat X, DenseArray *b, DenseArray *x, bool *admitted);
  /// Solves for the right-hand sides first .. first + count - 1, at most MANY. columns [all of B].
  PetscErrorCode Solve(PetscInt first, int count, ManyColumn *columns);
  PetscErrorCode End();
  PetscErrorCode Free();

  Space space() const { return space_; }

protected: // of BlockSolve, too
  PetscErrorCode Prepare(PetscInt first, int count, ManyColumn *columns);
  PetscErrorCode Iterate();
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

  int            TestedFrom() const;
  PetscErrorCode ReserveOnDevice();
  PetscErrorCode StartOnDevice(bool product);
  PetscErrorCode LaunchOnDevice(PetscInt k);
  PetscErrorCode LaunchAroundOnDevice(PetscInt k);
  PetscErrorCode PreconditionOnDevice(PetscInt k);
  PetscErrorCode MultiplyOnDevice(const Scalar *from, PetscInt ld, bool dot);
  PetscErrorCode MoveOnDevice(int from, int to);

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
};

/// KSPMatSolve() of sparsegpucg; other systems column by column.
PetscErrorCode KSPMatSolve_SparseGPUCG(KSP ksp, Mat B, Mat X);

} // namespace sparsegpu::cg
