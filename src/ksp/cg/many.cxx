/// KSPMatSolve(): the iteration for several right-hand sides at a time, and the judgement of each of them, by the tests
/// that KSPSolve() makes for it alone.
#include "ksp/cg/many.hpp"
#include <algorithm>
#include <limits>
#include "ksp/cg/cg.hpp"

namespace sparsegpu::cg
{

/// The first norm of a column has come. With a guess KSPConvergedDefault() takes the norm of the right-hand side that
/// the KSP has.
PetscErrorCode ManySolve::TestFirst(PetscInt c)
{
  const auto test = [&] { return (*ksp_->converged)(ksp_, 0, ksp_->rnorm, &ksp_->reason, ksp_->cnvP); };

  PetscFunctionBegin;
  if (ksp_->guess_zero)
    PetscCall(test());
  else
    PetscCall(WithColumn(ksp_, B_, X_, first_ + c, test));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A norm is Inf or NaN: PETSc finds out whether the preconditioner has failed, and marks the solution if so.
PetscErrorCode ManySolve::EndNotFinite(PetscInt c, PetscReal norm)
{
  PetscFunctionBegin;
  PetscCall(WithColumn(ksp_, B_, X_, first_ + c, [&] { return EndWithNorm(ksp_, norm); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the outcome of iteration k of column c in; k = -1: its first norm.
PetscErrorCode ManySolve::TakeTold(PetscInt k, const Told &told, PetscInt c)
{
  ManyColumn *column = columns_ + c;

  PetscFunctionBegin;
  ksp_->reason = KSP_CONVERGED_ITERATING;
  ksp_->rnorm  = column->norm;
  ksp_->rnorm0 = column->first;
  ksp_->ttol   = column->tolerance;
  ksp_->its    = told.outcome == RHO_NOT_FINITE ? std::max<PetscInt>(k, 0) : k + 1;
  if (told.outcome == RHO_NOT_FINITE || told.outcome == CURVATURE_NOT_FINITE) {
    PetscCall(EndNotFinite(c, std::numeric_limits<PetscReal>::quiet_NaN()));
  } else if (told.outcome == RHO_ZERO) {
    ksp_->reason = KSP_CONVERGED_ATOL;
  } else if (told.outcome == INDEFINITE_PC) {
    ksp_->reason = KSP_DIVERGED_INDEFINITE_PC;
  } else if (told.outcome == INDEFINITE_MAT) {
    PetscCall(EndWithCurvature(ksp_));
  } else if (PetscIsInfOrNanReal(told.norm)) {
    PetscCall(EndNotFinite(c, told.norm));
  } else if (k < 0) {
    ksp_->rnorm = told.norm;
    PetscCall(TestFirst(c));
    column->first     = ksp_->rnorm0;
    column->tolerance = ksp_->ttol;
    column->test      = DefaultNormTest(ksp_);
  } else {
    const bool seen = ksp_->normtype == KSP_NORM_NATURAL || ksp_->chknorm <= ksp_->its; // else PETSc's knows no norm
    ksp_->rnorm     = seen ? told.norm : 0;
    PetscCall((*ksp_->converged)(ksp_, ksp_->its, ksp_->rnorm, &ksp_->reason, ksp_->cnvP));
    PetscCheck(ksp_->reason || told.outcome == GOES_ON, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The GPU has stopped at the residual norm %g, which is not the end", (double)told.norm);
  }
  column->reason     = ksp_->reason;
  column->norm       = ksp_->rnorm;
  column->iterations = ksp_->its;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The outcomes of iteration k, -1: the first norms.
PetscErrorCode ManySolve::TakeNorms(PetscInt k)
{
  const PetscInt *slots = SlotsOf(k);

  PetscFunctionBegin;
  for (PetscInt s = 0; s < slots[MANY]; s++) {
    ManyColumn *column = columns_ + slots[s];
    Told        told   = told_[s];
    if (column->reason) continue;
    if (space_ == Space::Device) {
      Record record = {};
      PetscCall(records_.Await(k, &record, s));
      told = Told{record.norm, static_cast<Outcome>(record.outcome), 0, 0};
    }
    if (k < 0 && outside_ && norm_ == Norm::None && !PetscIsInfOrNanReal(told.norm)) told.norm = 0;
    PetscCall(TakeTold(k, told, slots[s]));
    if (!column->reason && k + 1 >= last_) column->reason = KSP_DIVERGED_ITS;
    if (column->reason) left_--;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Slots of columns that are solved take over from the last ones.
PetscErrorCode ManySolve::LeaveSlots()
{
  PetscFunctionBegin;
  for (int c = v_.count - 1; c >= 0; c--) { // those behind c are not solved
    const int last = v_.count - 1;
    if (!columns_[v_.column[c]].reason) continue;
    if (c < last && space_ == Space::Device) PetscCall(MoveOnDevice(last, c));
    if (c < last && space_ == Space::Host) MoveOnHost(last, c);
    v_.column[c] = v_.column[last];
    v_.count--;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What iteration k has in its slots.
void ManySolve::Remember(PetscInt k)
{
  PetscInt *slots = SlotsOf(k);

  std::copy_n(v_.column, v_.count, slots);
  slots[MANY] = v_.count;
}

PetscErrorCode ManySolve::Start()
{
  PetscFunctionBegin;
  PetscCall(Reserve());
  v_.count = begun_;
  v_.ldx   = x_->ld();
  v_.x     = x_->data() + static_cast<size_t>(first_) * x_->ld();
  for (int c = 0; c < begun_; c++) v_.column[c] = c;
  Remember(-1);
  PetscCall(space_ == Space::Device ? StartOnDevice() : StartOnHost());
  if (outside_ && OfZ()) PetscCall(space_ == Space::Device ? PreconditionOnDevice(-1) : Precondition(-1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::Solve(PetscInt first, int count, ManyColumn *columns)
{
  const bool device = space_ == Space::Device, late = device && !outside_;
  PetscInt   launched = 0, finished = 0;

  PetscFunctionBegin;
  columns_ = columns + first;
  first_   = first;
  begun_ = left_ = count;
  last_          = std::max<PetscInt>(1, ksp_->max_it); // PETSc's cg takes a step before it looks at the limit
  PetscCall(Start());
  PetscCall(TakeNorms(-1));
  while (left_ > 0) {
    PetscCall(LeaveSlots());
    const PetscInt end = std::min(last_, finished + (late ? StepsAhead(v_.rows) : 1));
    for (; launched < end; launched++) {
      Remember(launched);
      if (device)
        PetscCall(outside_ ? LaunchAroundOnDevice(launched) : LaunchOnDevice(launched));
      else
        PetscCall(outside_ ? LaunchAround(launched) : LaunchOnHost(launched));
    }
    PetscCall(TakeNorms(finished++));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPMatSolve_SparseGPUCG(KSP ksp, Mat B, Mat X)
{
  ManySolve              *many   = &CgOf(ksp)->many;
  const ManyColumn        before = BatchesBefore(ksp);
  std::vector<ManyColumn> columns;
  PetscInt                count;
  DenseArray              b, x;
  bool                    admitted;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, nullptr, &count));
  PetscCallCXX(columns.resize(static_cast<size_t>(count)));
  PetscCall(many->Begin(ksp, B, X, &b, &x, &admitted));
  if (!admitted) {
    PetscCall(SolveByColumn(ksp, B, X, &columns));
    PetscCall(Summarise(ksp, columns, before));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt first = 0; first < count; first += MANY)
    PetscCall(many->Solve(first, static_cast<int>(std::min<PetscInt>(MANY, count - first)), columns.data()));
  PetscCall(many->End());
  CgOf(ksp)->way = many->space() == Space::Device ? "several right-hand sides at a time, on the GPU"
                                                  : "several right-hand sides at a time, on the host";
  for (const ManyColumn &column : columns) ksp->totalits += column.iterations;
  PetscCall(Summarise(ksp, columns, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
