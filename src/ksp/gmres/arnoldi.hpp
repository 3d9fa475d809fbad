/// A cycle of GMRES once the operator has been applied: orthogonalisation, least squares, the minimiser.
#pragma once

#include <petscvec.h>
#include "device/buffer.hpp"
#include "device/pinned.hpp"
#include "ksp/common/ranks.hpp"
#include "ksp/gmres/pipeline.hpp"

namespace sparsegpu::gmres
{

/// Two ways through a cycle. Begin(), Step(): the outcome of every step is known when it ends; the sums of all
/// processes in one reduction, two where a direction must be made orthogonal again. BeginPipeline(), LaunchStep(),
/// AwaitStep(): on devices of one process or of several that reach each other's memory; the host reads outcomes later.
class Arnoldi
{
public:
  /// For cycles of at most `steps` steps with the basis V [steps + 1 columns]. `narrow`: V [2 columns] has directions
  /// by turns, and a copy of the basis in single precision is here; PETSc's numbers must be of double precision.
  PetscErrorCode Allocate(MPI_Comm comm, Columns *V, PetscInt steps, bool narrow = false);
  PetscErrorCode Free();
  PetscInt       steps() const { return steps_; }
  bool           narrow() const { return narrow_; }
  /// The column of V that direction c is in.
  PetscInt Slot(PetscInt c) const { return narrow_ ? c % 2 : c; }
  bool     CanPipeline() const { return space_ == Space::Device && (size_ == 1 || ranks_); }
  /// The ranks that reach each other's memory where the basis is; null: one process, or sums by MPI.
  void   SumOver(Ranks *ranks) { ranks_ = ranks; }
  Ranks *ranks() const { return ranks_; }

  Criterion criterion;
  bool      keeps_operator = false; ///< for the estimates of the spectrum

  /// Cycles from now on begin with step `count`: so many columns of the basis are orthonormal images of the columns of
  /// `operands`, or of those of what the preconditioner made where that is null. Column `count` is the first of the
  /// cycle's own.
  void SetKept(PetscInt count, Columns *operands)
  {
    kept_          = count;
    kept_operands_ = operands;
  }
  PetscErrorCode Begin(PetscReal residual);
  /// Column Slot(k + 1) of V holds a new direction: makes it the next basis vector.
  PetscErrorCode Step(PetscInt k, Outcome *outcome, PetscReal *residual);

  /// Steps from `tested_from` stop the cycle where the residual norm is <= converged or >= diverged.
  PetscErrorCode BeginPipeline(PetscReal residual, PetscReal converged, PetscReal diverged, PetscInt tested_from);
  /// Products from now on are those of step k.
  void           GateProducts(PetscInt k) { ranks_->Gate(&pipeline_.progress->stopped_at, static_cast<int>(k)); }
  PetscErrorCode LaunchStep(PetscInt k);
  /// STEP_AGAIN: StepAgain() gives the outcome; steps launched after this one have done nothing, and must be again.
  PetscErrorCode AwaitStep(PetscInt k, Outcome *outcome, PetscReal *residual);
  PetscErrorCode StepAgain(PetscInt k, Outcome *outcome, PetscReal *residual);
  /// Instead, for a narrow basis, whose steps after step k have overwritten its direction: the operator is to be
  /// applied to direction k, and step k launched, again.
  PetscErrorCode Rewind(PetscInt k);
  /// Whether step k has ended.
  bool Ended(PetscInt k) const { return RecordReady(pipeline_.records + k, pipeline_.round); }

  /// Column 0 of the basis, or the first behind the kept ones, becomes orthogonal to those before it and of norm 1.
  /// *norm is what it was, *inside: most of it lay in their space; it is not defined then.
  PetscErrorCode Normalize(PetscReal *norm, bool *inside);
  /// A narrow basis takes over column 0, of norm 1.
  PetscErrorCode TakeFirst();
  /// out = the combination of the first `steps` columns of B that minimises the residual; B is V, or what the
  /// preconditioner made of it.
  PetscErrorCode Combine(PetscInt steps, Columns *B, Vec out);
  /// The same on the device: out = base + scale .* the combination; scale and base may be null.
  PetscErrorCode Combine(PetscInt steps, Columns *B, const Scalar *scale, const Scalar *base, Scalar *out);

  /// Triangle() becomes that of the cycle, of so many steps, wherever it is.
  PetscErrorCode ReadTriangle(PetscInt steps);
  /// Of a cycle by Step(): the triangle, and what it came from, where that is kept: column k of the operator in the
  /// basis begins at k * Triangle().stride and has k + 2 entries.
  const Hessenberg &Triangle() const { return H_; }
  const Scalar     *Operator() const { return operator_.data(); }

private:
  PetscErrorCode AllocateOnDevice();
  /// run(the basis with its first `columns` columns).
  template <class Run> PetscErrorCode WithBasis(PetscInt columns, Run run)
  {
    const Dense V = V_->view();

    PetscFunctionBegin;
    if (narrow_)
      PetscCall(run(Basis<Narrow>{V.rows, V.stride, entries_.data(), V.Column(Slot(columns - 1))}));
    else
      PetscCall(run(FullBasis(V, columns)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// The same with B, which is V or all in full.
  template <class Run> PetscErrorCode WithColumnsOf(Columns *B, PetscInt columns, Run run)
  {
    PetscFunctionBegin;
    if (B == V_)
      PetscCall(WithBasis(columns, run));
    else
      PetscCall(run(FullBasis(B->view(), columns)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode CombineOnDevice(PetscInt steps, Columns *B, const Scalar *scale, const Scalar *base, Scalar *out);
  PetscErrorCode CombineOnHost(PetscInt steps, Columns *B, Scalar *out);
  PetscErrorCode SumOverRanks(PetscInt columns, Scalar *dots, Stream stream);
  PetscErrorCode Dots(PetscInt columns, Scalar *dots);
  PetscErrorCode Update(PetscInt columns, const Scalar *h, PetscReal scale, bool ends);
  PetscErrorCode AwaitRecordOf(PetscInt number, Outcome *outcome, PetscReal *residual);

  MPI_Comm      comm_   = MPI_COMM_NULL;
  PetscMPIInt   size_   = 1;
  Columns      *V_      = nullptr;
  Ranks        *ranks_  = nullptr;
  PetscInt      steps_  = 0;
  bool          narrow_ = false;
  Space         space_  = Space::Host;
  PetscReal     first_ = 0, fallen_ = 1; ///< |r_0| and |r_k| / |r_0| of the cycle
  PetscInt      kept_          = 0;      ///< columns of the basis from cycles before
  Columns      *kept_operands_ = nullptr;
  PetscReal     own_           = 0;                        ///< norm of the part of the residual outside of kept columns
  bool          pipelined_     = false;                    ///< the cycle under way
  Hessenberg    H_             = {};                       ///< in host memory: host_
  Pipeline      pipeline_      = {};                       ///< in device_, pinned_
  Scalar       *dots_ = nullptr, *coefficients_ = nullptr; ///< [steps_ + 2] each, on the host, pinned where V is not
  Array<Narrow> entries_; ///< [stride of V_ * (steps_ + 1)] of a narrow basis, in space_
  std::vector<Scalar>    host_, operator_;
  std::vector<PetscReal> sines_;
  DeviceMemory           device_;
  PinnedMemory           pinned_;
};

} // namespace sparsegpu::gmres
