/// The driver of block conjugate gradients: runs of a block, the check of what they end with, and the way back to a
/// recurrence for each column. What a column is told is judged as in many.cxx.
#include "ksp/cg/block.hpp"
#include <algorithm>
#include <limits>
#include "device/scatter.hpp"
#include "ksp/cg/cg.hpp"

namespace sparsegpu::cg
{

namespace
{
/// Whether a norm of the recurrence has ended a column, not a limit of iterations.
bool EndsByNorm(const ManyColumn &column)
{
  return column.reason == KSP_CONVERGED_RTOL || column.reason == KSP_CONVERGED_ATOL ||
         column.reason == KSP_DIVERGED_DTOL;
}
} // namespace

/// The outcomes of iteration k of this run.
PetscErrorCode BlockSolve::TakeRun(PetscInt k, Outcome *outcome)
{
  Told told = Told{0, outcome_, 0, 0};

  PetscFunctionBegin;
  if (space_ == Space::Device) { // all slots have the outcome of a breakdown; that of one that is solved is not awaited
    const PetscInt *slots = SlotsOf(k);
    int             slot  = 0;
    while (columns_[slots[slot]].reason) slot++; // there is one
    PetscCall(ToldOf(k, slot, &told));
  }
  *outcome = told.outcome;
  if (told.outcome <= STOPS) PetscCall(TakeNorms(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A block of the columns in the slots, with their residuals in v_.r, until all are judged or the block breaks down.
PetscErrorCode BlockSolve::Run(bool *broke)
{
  const bool     device = space_ == Space::Device, late = device && !outside_;
  const PetscInt most     = last_ - base_;
  PetscInt       launched = 0, finished = 0;

  PetscFunctionBegin;
  PetscCall(device ? BeginOnDevice() : BeginOnHost());
  Outcome outcome = outcome_;
  while (left_ > 0 && outcome <= STOPS) {
    const PetscInt end = std::min(most, finished + (late ? StepsAhead(v_.rows) : 1));
    for (; launched < end; launched++) {
      Remember(launched);
      PetscCall(device ? IterateOnDevice(launched) : IterateOnHost());
    }
    PetscCall(TakeRun(finished, &outcome));
    if (outcome <= STOPS) finished++;
  }
  base_ += finished;
  *broke = outcome > STOPS && outcome != RHO_ZERO; // a block that is exhausted begins again
  PetscCall(PetscInfo(ksp_, "Block of %d right-hand sides: %s after %" PetscInt_FMT " iterations\n", v_.count,
                      *broke ? "breakdown" : "ends", base_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the columns begin with, should the block diverge.
PetscErrorCode BlockSolve::KeepGuesses()
{
  PetscFunctionBegin;
  for (int c = 0; c < begun_; c++) first_norm_[c] = columns_[c].norm;
  if (ksp_->guess_zero) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t rows = static_cast<size_t>(v_.rows), entries = rows * static_cast<size_t>(begun_) + 1;
  if (guess_.size() < entries || guess_space_ != space_) {
    guess_ = Array<Scalar>();
    PetscCall(guess_.Allocate(entries, space_));
    guess_space_ = space_;
  }
  for (int c = 0; c < begun_; c++)
    PetscCall(CopyWithin(space_, v_.x + static_cast<size_t>(c) * v_.ldx, rows, guess_.data() + rows * c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Column c of the solutions becomes what it began with.
PetscErrorCode BlockSolve::TakeGuess(int c)
{
  const size_t  rows = static_cast<size_t>(v_.rows);
  Scalar *const x    = v_.x + static_cast<size_t>(c) * v_.ldx;

  PetscFunctionBegin;
  if (!ksp_->guess_zero) {
    PetscCall(CopyWithin(space_, guess_.data() + rows * c, rows, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (space_ == Space::Host) std::fill_n(x, v_.rows, Scalar(0));
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  if (space_ == Space::Device) PetscCall(FillValues_CUDA(v_.rows, Scalar(0), x, stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns that a block has left with a larger norm than they had at first begin as they did, and so without a block.
PetscErrorCode BlockSolve::BeginDivergedAgain(const bool *open, bool *broke)
{
  bool again = false;

  PetscFunctionBegin;
  for (int c = 0; c < begun_ && norm_ != Norm::None; c++) {
    Told told;
    if (!open[c] || (columns_[c].reason && !EndsByNorm(columns_[c]))) continue;
    PetscCall(ToldOf(-1, c, &told));
    if (told.norm <= first_norm_[c]) continue;
    PetscCall(PetscInfo(ksp_, "Right-hand side %d: the block has diverged, residual norm %g\n", (int)first_ + c,
                        (double)told.norm));
    PetscCall(TakeGuess(c));
    again = true;
  }
  if (again) PetscCall(Start(true));
  *broke = *broke || again;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The reason of a column whose residual norm misses the tolerance when no iteration is left.
PetscErrorCode BlockSolve::EndAtLimit(PetscReal norm, ManyColumn *column)
{
  PetscFunctionBegin;
  column->Enter(ksp_);
  ksp_->reason = KSP_CONVERGED_ITERATING;
  ksp_->rnorm  = norm;
  ksp_->its    = base_;
  PetscCall(
      (*ksp_->converged)(ksp_, base_, norm, &ksp_->reason, ksp_->cnvP)); // a limit may be an end that was asked for
  if (!ksp_->reason) ksp_->reason = KSP_DIVERGED_ITS;
  column->Leave(ksp_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// B - A X of all columns to v_.r. Those `open` that have ended by the recurrence alone are not solved, and left for
/// another run. *worst: the largest norm of these, in tolerances; *progress: it has fallen tenfold.
PetscErrorCode BlockSolve::Verify(const bool *open, PetscReal *worst, bool *progress, bool *broke)
{
  const PetscReal before = *worst;

  PetscFunctionBegin;
  *worst = 0;
  PetscCall(Start(true));
  PetscCall(BeginDivergedAgain(open, broke));
  for (int c = 0; c < begun_; c++) {
    ManyColumn *column = columns_ + c;
    Told        told;
    if (!open[c] || norm_ == Norm::None || (column->reason && !EndsByNorm(*column))) continue;
    PetscCall(ToldOf(-1, c, &told));
    if (column->reason > 0 && told.norm <= BLOCK_SLACK * column->test.converged) continue;
    if (column->reason < 0) *broke = true;
    *worst = std::max(*worst, column->test.converged > 0 ? told.norm / column->test.converged : PETSC_MAX_REAL);
    if (!column->reason) continue;
    PetscCall(PetscInfo(ksp_, "Right-hand side %d: residual norm %g of the block, %g of the solution\n",
                        (int)first_ + c, (double)column->norm, (double)told.norm));
    if (base_ >= last_) {
      PetscCall(EndAtLimit(told.norm, column));
      continue;
    }
    column->reason     = KSP_CONVERGED_ITERATING;
    column->norm       = told.norm;
    column->iterations = base_;
    left_++;
  }
  *progress = *worst <= before / 10;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockSolve::SolveBlock(PetscInt first, int count, ManyColumn *columns)
{
  PetscReal worst = std::numeric_limits<PetscReal>::infinity();
  bool      broke = false, progress = true;

  PetscFunctionBegin;
  PetscCall(Prepare(first, count, columns));
  PetscCall(KeepGuesses());
  for (int run = 0; left_ > 0; run++) {
    bool open[MANY] = {};
    PetscCall(LeaveSlots());
    if (v_.count == 1 || broke || !progress || run > BLOCK_RESTARTS) {
      PetscCall(Iterate());
      break;
    }
    for (int c = 0; c < v_.count; c++) open[v_.column[c]] = true;
    PetscCall(Run(&broke));
    const bool solved = std::any_of(columns_, columns_ + begun_, [&](const ManyColumn &column) {
      return open[&column - columns_] && EndsByNorm(column);
    });
    if (left_ > 0 || (solved && norm_ != Norm::None)) PetscCall(Verify(open, &worst, &progress, &broke));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockSolve::Free()
{
  PetscFunctionBegin;
  PetscCall(ManySolve::Free());
  PetscCall(block_scratch_.Free());
  std::vector<Scalar>().swap(grams_);
  guess_ = Array<Scalar>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
