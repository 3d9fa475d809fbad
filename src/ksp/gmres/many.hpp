/// Several right-hand sides at a time: the cycle of solve.cxx for each of them, with one product for all in each step,
/// and inner products and updates of all bases in one pass each. A right-hand side has a Hessenberg matrix, tests and
/// an end of its own. In a cycle those that are not solved have slots; one whose cycle has ended adds its correction
/// and leaves, so that products have the columns alone that are still needed. A cycle that has ended early, by a happy
/// breakdown or a basis that is no longer orthogonal, goes on when all begin the next one.
///
/// On the host, on any number of processes: products by MatMatMult(), any preconditioner by PCMatApply(), the inner
/// products of all columns in one reduction. On the device of one process: the pipeline of pipeline.hpp, whose kernels
/// have a layer of thread blocks for each slot. With a diagonal the host launches steps ahead; another preconditioner,
/// by PCMatApply(), is applied when the host has heard of the step before. Small systems with a diagonal: whole cycles
/// in one launch (small.hpp).
///
/// Memory: (restart + 1) vectors a right-hand side. Where that is too much for all of them, as many at a time as there
/// is memory for.
#pragma once

#include "device/pinned.hpp"
#include "ksp/common/device_system.hpp"
#include "ksp/common/record_ring.hpp"
#include "ksp/common/together.hpp"
#include "ksp/gmres/pipeline.hpp"
#include "ksp/gmres/small.hpp"
#include "mat/face/dense_array.hpp"

namespace sparsegpu::gmres
{

/// The columns of the right-hand sides that slots have, of a block of right-hand sides.
struct ManySlots {
  int count;
  int column[MANY];
};
/// The bases on the device. Vector k of slot s begins at v[(k * places + s) * ld]: those of a step are neighbours.
struct ManyBases {
  PetscInt rows, ld; ///< ld is a multiple of 32, so that every vector begins on a full line
  int      places;
  Scalar  *v; ///< [ld * places * (steps + 1)]

  SPARSEGPU_HD Scalar *Vector(PetscInt k, int slot) const
  {
    return v + (static_cast<size_t>(k) * static_cast<size_t>(places) + static_cast<size_t>(slot)) * ld;
  }
  SPARSEGPU_HD Basis<Scalar> Of(int slot, PetscInt columns) const
  {
    return Basis<Scalar>{rows, places * ld, Vector(0, slot), Vector(columns - 1, slot)};
  }
};
/// The pipelines of all columns. Their arrays on the device are at equal distances.
struct ManyPipelines {
  Pipeline  zero;  ///< of column 0
  size_t    bytes; ///< from an array of a column to that of the next
  PetscReal converged[MANY], diverged[MANY];
  PetscInt  tested_from[MANY];

  SPARSEGPU_HD Pipeline Of(int column) const
  {
    const size_t at = bytes * static_cast<size_t>(column);
    Pipeline     p  = zero;
    Shift(&p.H.r, at);
    Shift(&p.H.cosine, at);
    Shift(&p.H.sine, at);
    Shift(&p.H.rhs, at);
    Shift(&p.dots[0], at);
    Shift(&p.dots[1], at);
    Shift(&p.progress, at);
    Shift(&p.scratch.partial, at);
    Shift(&p.scratch.arrived, at);
    p.records += static_cast<size_t>(column) * static_cast<size_t>(p.H.stride);
    p.converged   = converged[column];
    p.diverged    = diverged[column];
    p.tested_from = tested_from[column];
    return p;
  }
};
/// Cycles that end: their slots, and the steps that their corrections are made of.
struct ManyEnds {
  int      count;
  int      slot[MANY];
  PetscInt steps[MANY];
};
/// A number for each slot.
struct ManyReals {
  PetscReal v[MANY];
};

/// to = scale .* (b - to) of all slots, or of b where there is no product; that of slot s begins at s * v.ld, column c
/// of b at c * ldb. scale [rows] may be null: 1. Asynchronous and bitwise reproducible, as all of these.
PetscErrorCode ManyResiduals_CUDA(const ManyBases &v, const ManySlots &slots, const Scalar *b, PetscInt ldb,
                                  bool has_product, const Scalar *scale, Scalar *to, Stream stream);
/// squares [slots.count]: the square norms of vectors 0.
PetscErrorCode ManyNorms_CUDA(const ManyBases &v, const ManySlots &slots, PetscReal *squares, const ManyPipelines &p,
                              Stream stream);
/// The cycles begin with residuals of these norms.
PetscErrorCode ManyBegin_CUDA(const ManyBases &v, const ManySlots &slots, const ManyReals &norms,
                              const ManyPipelines &p, Stream stream);
/// `count` columns: to = scale .* from. [ld * count] each.
PetscErrorCode ManyScale_CUDA(PetscInt rows, PetscInt ld, int count, const Scalar *scale, const Scalar *from,
                              Scalar *to, Stream stream);
/// Vectors step + 1 of all slots become orthogonal; records.
PetscErrorCode ManyStep_CUDA(const ManyBases &v, const ManySlots &slots, PetscInt step, const ManyPipelines &p,
                             Stream stream);
/// Column c of x, which begins at c * ldx, += scale .* the correction. scale may be null. With a panel, correction e to
/// it alone, from e * v.ld on.
PetscErrorCode ManyCorrect_CUDA(const ManyBases &v, const ManySlots &slots, const ManyEnds &ends, const Scalar *scale,
                                Scalar *x, PetscInt ldx, Scalar *panel, const ManyPipelines &p, Stream stream);
/// The columns of x += those of a panel.
PetscErrorCode ManyAdd_CUDA(const ManyBases &v, const ManySlots &slots, const ManyEnds &ends, const Scalar *panel,
                            Scalar *x, PetscInt ldx, Stream stream);
/// The first `vectors` vectors of slot `from` to slot `to`.
PetscErrorCode ManyMove_CUDA(const ManyBases &v, PetscInt vectors, int from, int to, Stream stream);

class ManySolve
{
public:
  /// Takes the solves that begin if matrix, preconditioner, options, vectors and memory allow it. Collective; the
  /// answer is the same on all ranks. b and x, which the caller has, borrow the arrays of B and X until End().
  PetscErrorCode Begin(KSP ksp, Mat B, Mat X, DenseArray *b, DenseArray *x, bool *admitted);
  /// Right-hand sides that Solve() takes at a time.
  int most() const { return most_; }
  /// Solves for the right-hand sides first .. first + count - 1. columns [all of B].
  PetscErrorCode Solve(PetscInt first, int count, ManyColumn *columns);
  PetscErrorCode End();
  PetscErrorCode Free();

  Space space() const { return space_; }
  bool  small() const { return small_.active(); }

private:
  /// A column's cycle.
  struct Cycle {
    PetscReal residual = 0; ///< norm at its beginning
    PetscReal fallen   = 1; ///< on the host
    PetscInt  built    = 0; ///< steps of the correction
    bool      ends     = false;
    bool      adds     = false; ///< a correction, at its end
  };

  PetscErrorCode Reserve(PetscInt columns, bool *admitted);
  PetscErrorCode ReserveFor(int count);
  PetscErrorCode RunCycle();
  PetscErrorCode RunSmall();
  PetscErrorCode BeginCycle();
  PetscErrorCode TakeNorm(int column, PetscReal norm);
  PetscErrorCode TakeOutcome(PetscInt k, int column, Outcome outcome, PetscReal norm);
  PetscErrorCode TakeSteps(PetscInt k);
  PetscErrorCode LeaveSlots(PetscInt launched);
  ManySlots     *SlotsOf(PetscInt k) { return &remembered_[k % RecordRing::RECORDS]; }

  PetscErrorCode ResidualsOnHost(PetscReal *norms);
  PetscErrorCode NormaliseOnHost(PetscReal *norms);
  PetscErrorCode StepOnHost(PetscInt k);
  PetscErrorCode CorrectOnHost(const ManyEnds &ends);
  PetscErrorCode SumOverRanks(const bool *wanted, PetscInt columns);
  PetscErrorCode Wrap();
  PetscErrorCode Unwrap();
  PetscErrorCode MultiplyOnHost();
  PetscErrorCode PreconditionOnHost(Mat from, Mat to);
  PetscErrorCode PreconditionCorrections(int count);
  Basis<Scalar>  BasisOnHost(int column, PetscInt columns)
  {
    Scalar *const v = entries_.data() + static_cast<size_t>(column) * static_cast<size_t>(v_.ld * (steps_ + 1));
    return Basis<Scalar>{v_.rows, v_.ld, v, v + static_cast<size_t>(columns - 1) * v_.ld};
  }
  Hessenberg HessenbergOnHost(int column);
  Scalar    *Panel(Scalar *panel, int slot) { return panel + static_cast<size_t>(slot) * v_.ld; }

  PetscErrorCode BeginOnDevice(PetscInt columns, bool *admitted);
  PetscErrorCode ReserveOnDevice();
  PetscErrorCode PreconditionOnDevice(Scalar *vectors, bool to_panel);
  PetscErrorCode MultiplyOnDevice(int count, const Scalar *from, PetscInt ldx, Scalar *to);
  PetscErrorCode ResidualsOnDevice(PetscReal *norms);
  PetscErrorCode BeginCycleOnDevice();
  PetscErrorCode LaunchStep(PetscInt k);
  PetscErrorCode CorrectOnDevice(const ManyEnds &ends);
  PetscErrorCode MoveOnDevice(PetscInt vectors, int from, int to);

  KSP         ksp_ = nullptr;
  Mat         A_ = nullptr, B_ = nullptr, X_ = nullptr; ///< borrowed
  ManyColumn *columns_ = nullptr;                       ///< [begun_]
  Cycle       cycles_[MANY];
  PetscInt    first_ = 0; ///< column of B and X that is columns_[0]
  int         begun_ = 0, most_ = MANY;
  PetscInt    steps_       = 0;     ///< of a cycle
  bool        first_cycle_ = false; ///< of a block
  bool        outside_     = false; ///< PCMatApply() applies the preconditioner: on the host any, a diagonal, too
  bool        alone_ = true, right_ = false;
  Space       space_ = Space::Host;
  Criterion   criterion_;
  ManySlots   slots_ = {}, remembered_[RecordRing::RECORDS];
  ManyBases   v_     = {};
  DenseArray *b_ = nullptr, *x_ = nullptr;

  Space                  entries_space_ = Space::Host;
  Array<Scalar>          entries_;                    ///< bases; on the host by columns, then the panels
  Scalar                *p_ = nullptr, *q_ = nullptr; ///< [ld * most_] panels; on the host products are of p_
  std::vector<Scalar>    triangles_, dots_;           ///< on the host: of each column its Hessenberg; [stride + 1] sums
  std::vector<PetscReal> sines_;
  Outcome                outcomes_[MANY]; ///< of the last step on the host
  PetscReal              norms_[MANY];
  /// [rows x wrapped_] over p_ and q_, on the device Q_ over vectors of a step; A P_ on the host.
  Mat P_ = nullptr, Q_ = nullptr, W_ = nullptr;
  int wrapped_ = 0;

  DeviceSystem  system_;
  ManyPipelines pipelines_ = {};
  DeviceMemory  scratch_, gather_;
  PetscReal    *squares_ = nullptr; ///< [MANY] on the device
  PinnedMemory  records_;           ///< [most_ * stride]
  SmallCycles   small_;
};

/// KSPMatSolve() of sparsegpugmres; other systems column by column.
PetscErrorCode KSPMatSolve_SparseGPUGMRES(KSP ksp, Mat B, Mat X);

} // namespace sparsegpu::gmres
