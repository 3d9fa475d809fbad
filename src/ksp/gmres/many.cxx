/// KSPMatSolve(): cycles of several right-hand sides at a time, and the judgement of each of them, by the tests that
/// KSPSolve() makes for it alone.
#include <algorithm>
#include "ksp/common/versions.hpp"
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

/// The norm of the residual that a cycle begins with. With a guess KSPConvergedDefault() takes the norm of the
/// right-hand side that the KSP has.
PetscErrorCode ManySolve::TakeNorm(int c, PetscReal norm)
{
  ManyColumn *column = columns_ + c;
  const auto  take   = [&] { return TakeResidual(ksp_, norm); };

  PetscFunctionBegin;
  column->Enter(ksp_);
  GmresOf(ksp_)->residual = cycles_[c].residual;
  if (PetscIsInfOrNanReal(norm) || (first_cycle_ && !ksp_->guess_zero))
    PetscCall(WithColumn(ksp_, B_, X_, first_ + c, take));
  else
    PetscCall(take());
  if (!ksp_->reason && ksp_->its >= ksp_->max_it) ksp_->reason = KSP_DIVERGED_ITS;
  column->Leave(ksp_);
  column->test              = DefaultNormTest(ksp_);
  cycles_[c]                = Cycle{};
  cycles_[c].residual       = norm;
  pipelines_.converged[c]   = column->test.converged;
  pipelines_.diverged[c]    = column->test.diverged;
  pipelines_.tested_from[c] = std::max<PetscInt>(0, column->test.from - column->iterations - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The outcome of step k of a column. Where the norm is not finite the last good iterate stays.
PetscErrorCode ManySolve::TakeOutcome(PetscInt k, int c, Outcome outcome, PetscReal norm)
{
  ManyColumn *column = columns_ + c;
  Cycle      *cycle  = cycles_ + c;
  const bool  finite = !PetscIsInfOrNanReal(norm);
  const auto  take   = [&] { return TakeStep(ksp_, outcome, norm, &cycle->built); };

  PetscFunctionBegin;
  column->Enter(ksp_);
  if (finite)
    PetscCall(take());
  else
    PetscCall(WithColumn(ksp_, B_, X_, first_ + c, take));
  if (finite && !ksp_->reason && ksp_->its >= ksp_->max_it) ksp_->reason = KSP_DIVERGED_ITS;
  column->Leave(ksp_);
  cycle->ends = column->reason || outcome != STEP_GOES_ON || k + 1 == steps_;
  cycle->adds = cycle->ends && finite && cycle->built > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The outcomes of step k, the next that the host has not heard of.
PetscErrorCode ManySolve::TakeSteps(PetscInt k)
{
  const ManySlots *slots = SlotsOf(k);

  PetscFunctionBegin;
  for (int s = 0; s < slots->count; s++) {
    const int c = slots->column[s];
    if (cycles_[c].ends) continue; // before step k
    Outcome   outcome = outcomes_[c];
    PetscReal norm    = norms_[c];
#if defined(SPARSEGPU_HAVE_CUDA)
    if (space_ == Space::Device) {
      Record record;
      Stream stream;
      PetscCall(DeviceStream(&stream));
      PetscCall(AwaitRecord(pipelines_.Of(c).records + k, pipelines_.zero.round, stream, &record));
      outcome = static_cast<Outcome>(record.outcome);
      norm    = record.norm;
    }
#endif
    PetscCall(TakeOutcome(k, c, outcome, norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns whose cycles have ended get their corrections; their slots are taken over by the last ones, whose bases have
/// `launched` + 1 vectors.
PetscErrorCode ManySolve::LeaveSlots(PetscInt launched)
{
  ManyEnds ends{};

  PetscFunctionBegin;
  for (int s = 0; s < slots_.count; s++) {
    const Cycle &cycle = cycles_[slots_.column[s]];
    if (!cycle.ends || !cycle.adds) continue;
    ends.slot[ends.count]    = s;
    ends.steps[ends.count++] = cycle.built;
  }
  if (ends.count) PetscCall(space_ == Space::Device ? CorrectOnDevice(ends) : CorrectOnHost(ends));
  for (int s = slots_.count - 1; s >= 0; s--) { // those behind s go on
    const int last = slots_.count - 1;
    if (!cycles_[slots_.column[s]].ends) continue;
    if (s < last && space_ == Space::Device) PetscCall(MoveOnDevice(launched + 1, last, s));
    slots_.column[s] = slots_.column[last];
    slots_.count--;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Slots for the columns that are not solved, and their residuals.
PetscErrorCode ManySolve::BeginCycle()
{
  PetscReal norms[MANY];

  PetscFunctionBegin;
  slots_.count = 0;
  for (int c = 0; c < begun_; c++)
    if (!columns_[c].reason) slots_.column[slots_.count++] = c;
  if (!slots_.count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(space_ == Space::Device ? ResidualsOnDevice(norms) : ResidualsOnHost(norms));
  for (int s = 0; s < slots_.count; s++) {
    const int c = slots_.column[s];
    PetscCall(TakeNorm(c, norms[s]));
    cycles_[c].ends = columns_[c].reason != KSP_CONVERGED_ITERATING;
  }
  first_cycle_ = false;
  PetscCall(LeaveSlots(0));
  if (slots_.count && space_ == Space::Device) PetscCall(BeginCycleOnDevice());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::RunCycle()
{
  const bool device = space_ == Space::Device, late = device && !outside_;
  PetscInt   launched = 0, finished = 0;

  PetscFunctionBegin;
  PetscCall(BeginCycle());
  if (slots_.count > 0 && small_.active()) PetscCall(RunSmall());
  while (slots_.count > 0) {
    const PetscInt end = std::min(steps_, finished + (late ? StepsAhead(v_.rows) : 1));
    for (; launched < end; launched++) {
      *SlotsOf(launched) = slots_;
      PetscCall(device ? LaunchStep(launched) : StepOnHost(launched));
    }
    PetscCall(TakeSteps(finished++));
    PetscCall(LeaveSlots(launched));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::Solve(PetscInt first, int count, ManyColumn *columns)
{
  PetscFunctionBegin;
  columns_     = columns + first;
  first_       = first;
  begun_       = count;
  first_cycle_ = true;
  for (int c = 0; c < count; c++) {
    cycles_[c]       = Cycle{};
    columns_[c].norm = -1; // no cycle before
  }
  const auto unsolved = [&] {
    return std::any_of(columns_, columns_ + count, [](const ManyColumn &c) { return !c.reason; });
  };
  while (unsolved()) PetscCall(RunCycle());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPMatSolve_SparseGPUGMRES(KSP ksp, Mat B, Mat X)
{
  ManySolve              *many   = &GmresOf(ksp)->many;
  const ManyColumn        before = BatchesBefore(ksp);
  std::vector<ManyColumn> columns;
  PetscInt                count;
  DenseArray              b, x;
  bool                    admitted;

  PetscFunctionBegin;
  GmresOf(ksp)->together = nullptr;
  PetscCall(MatGetSize(B, nullptr, &count));
  PetscCallCXX(columns.resize(static_cast<size_t>(count)));
  PetscCall(many->Begin(ksp, B, X, &b, &x, &admitted));
  if (!admitted) {
    PetscCall(SolveByColumn(ksp, B, X, &columns));
    PetscCall(Summarise(ksp, columns, before));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt first = 0; first < count; first += many->most())
    PetscCall(many->Solve(first, static_cast<int>(std::min<PetscInt>(many->most(), count - first)), columns.data()));
  PetscCall(many->End());
  GmresOf(ksp)->together = many->small() ? "several right-hand sides at a time, whole cycles in one launch on the GPU"
                           : many->space() == Space::Device ? "several right-hand sides at a time, on the GPU"
                                                            : "several right-hand sides at a time, on the host";
  for (const ManyColumn &column : columns) ksp->totalits += column.iterations;
  PetscCall(Summarise(ksp, columns, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
