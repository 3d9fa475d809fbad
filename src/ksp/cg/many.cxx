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

/// What iteration k has left of a slot. Waits for the device.
PetscErrorCode ManySolve::ToldOf(PetscInt k, int slot, Told *told)
{
  Record record = {};

  PetscFunctionBegin;
  *told = told_[slot];
  if (space_ == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(in_launch_ ? small_.Await(k, slot, &record) : records_.Await(k, &record, slot));
  *told = Told{record.norm, static_cast<Outcome>(record.outcome), 0, 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The outcomes of iteration k of this run, -1: the first norms.
PetscErrorCode ManySolve::TakeNorms(PetscInt k)
{
  const PetscInt *slots = SlotsOf(k), number = k < 0 ? k : base_ + k;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < slots[MANY]; s++) {
    ManyColumn *column = columns_ + slots[s];
    Told        told;
    if (column->reason) continue;
    PetscCall(ToldOf(k, static_cast<int>(s), &told));
    if (k < 0 && outside_ && norm_ == Norm::None && !PetscIsInfOrNanReal(told.norm)) told.norm = 0;
    PetscCall(TakeTold(number, told, slots[s]));
    if (!column->reason && number + 1 >= last_) column->reason = KSP_DIVERGED_ITS;
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

/// Residuals and norms of all columns; of the right-hand sides if there is no product.
PetscErrorCode ManySolve::Start(bool product)
{
  PetscFunctionBegin;
  v_.count = begun_;
  for (int c = 0; c < begun_; c++) v_.column[c] = c;
  Remember(-1);
  PetscCall(space_ == Space::Device ? StartOnDevice(product) : StartOnHost(product));
  if (outside_ && OfZ()) PetscCall(space_ == Space::Device ? PreconditionOnDevice(-1) : Precondition(-1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes columns on, with their first norms.
PetscErrorCode ManySolve::Prepare(PetscInt first, int count, ManyColumn *columns)
{
  PetscFunctionBegin;
  columns_ = columns + first;
  first_   = first;
  begun_ = left_ = count;
  last_          = std::max<PetscInt>(1, ksp_->max_it); // PETSc's cg takes a step before it looks at the limit
  base_          = 0;
  PetscCall(Reserve());
  v_.ldx = x_->ld();
  v_.x   = x_->data() + static_cast<size_t>(first_) * x_->ld();
  PetscCall(Start(!ksp_->guess_zero));
  PetscCall(TakeNorms(-1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From Start() to the end of all columns.
PetscErrorCode ManySolve::Iterate()
{
  const bool     device = space_ == Space::Device, late = device && !outside_;
  const PetscInt most     = last_ - base_;
  PetscInt       launched = 0, finished = 0;

  PetscFunctionBegin;
  if (small_.active()) PetscCall(IterateSmall(&finished));
  launched = finished;
  while (left_ > 0) {
    PetscCall(LeaveSlots());
    const PetscInt end = std::min(most, finished + (late ? StepsAhead(v_.rows) : 1));
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

PetscErrorCode ManySolve::Solve(PetscInt first, int count, ManyColumn *columns)
{
  PetscFunctionBegin;
  PetscCall(Prepare(first, count, columns));
  PetscCall(Iterate());
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// All right-hand sides, as many at a time as possible; in blocks, and in launches of many iterations, of even sizes.
PetscErrorCode SolveAll(BlockSolve *many, bool blocks, PetscInt count, ManyColumn *columns)
{
  const PetscInt most = blocks ? BLOCK_MOST : many->most(), parts = (count + most - 1) / most;

  PetscFunctionBegin;
  for (PetscInt part = 0; part < parts; part++) {
    const bool     even  = blocks || many->small();
    const PetscInt first = even ? count * part / parts : most * part;
    const PetscInt end   = even ? count * (part + 1) / parts : std::min(count, first + most);
    if (blocks)
      PetscCall(many->SolveBlock(first, static_cast<int>(end - first), columns));
    else
      PetscCall(many->Solve(first, static_cast<int>(end - first), columns));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *WayOf(bool blocks, bool device, bool small)
{
  if (blocks)
    return device ? "several right-hand sides at a time by block conjugate gradients, on the GPU"
                  : "several right-hand sides at a time by block conjugate gradients, on the host";
  if (small) return "several right-hand sides at a time, many iterations in one launch on the GPU";
  return device ? "several right-hand sides at a time, on the GPU" : "several right-hand sides at a time, on the host";
}
} // namespace

PetscErrorCode KSPMatSolve_SparseGPUCG(KSP ksp, Mat B, Mat X)
{
  BlockSolve             *many   = &CgOf(ksp)->many;
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
  const bool blocks = CgOf(ksp)->block;
  PetscCall(SolveAll(many, blocks, count, columns.data()));
  PetscCall(many->End());
  CgOf(ksp)->way = WayOf(blocks, many->space() == Space::Device, many->small());
  for (const ManyColumn &column : columns) ksp->totalits += column.iterations;
  PetscCall(Summarise(ksp, columns, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
