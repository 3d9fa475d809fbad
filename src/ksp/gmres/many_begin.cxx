/// Which systems are solved for several right-hand sides at a time, and the memory for it.
#include <algorithm>
#include "ksp/gmres/gmres.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode ManySolve::Begin(KSP ksp, Mat B, Mat X, DenseArray *b, DenseArray *x, bool *admitted)
{
  constexpr PetscReal KEPT[] = {KEPT_PART * KEPT_PART, 0.5, PETSC_MAX_REAL}; // by Refinement
  Gmres              *gmres  = GmresOf(ksp);
  TogetherPlace       place;
  Refinement          refinement;
  PetscBool           none;
  PetscInt            rows, columns;

  PetscFunctionBegin;
  ksp_   = ksp;
  B_     = B;
  X_     = X;
  b_     = b;
  x_     = x;
  steps_ = std::max<PetscInt>(1, std::min({gmres->restart, ksp->max_it, PETSC_MAX_INT - 1})); // one vector more
  PetscCall(Unwrap());                                           // of a solve that ended with an error
  if (gmres->arnoldi.narrow()) PetscCall(gmres->arnoldi.Free()); // of a solve before, by which steps are judged
  const bool serves = !gmres->flexible && !gmres->single_basis && !gmres->restart_auto && gmres->deflation == 0 &&
                      ksp->pc_side != PC_SYMMETRIC;
  // half of the basis is read in a step
  const Togetherness asked{gmres->many_mode, serves, static_cast<int>(std::min<PetscInt>(steps_ / 2 + 3, 1000)),
                           gmres->small_mode};
  PetscCall(AdmitTogether(ksp, B, X, asked, &place, admitted));
  if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  A_       = place.A;
  space_   = place.space;
  outside_ = space_ == Space::Device ? place.outside : !none;
  alone_   = place.alone;
  right_   = ksp->pc_side == PC_RIGHT;
  PetscCall(DeviceOrder()); // the work vectors may be in use on another stream
  PetscCall(MatGetSize(B, &rows, &columns));
  PetscCall(MatGetLocalSize(B, &v_.rows, nullptr));
  small_.End();
  if (space_ == Space::Device) PetscCall(BeginOnDevice(columns, admitted));
  if (*admitted && gmres->many_mode == SmallMode::Auto && space_ == Space::Device && !outside_ && !small_.active()) {
    // Between these a single solve's cycles are one launch, and the passes of several columns read more than they save:
    // 8 columns of 5 points, in single solves' time: 0.77 times with 10,000 rows, 1.67 times with 90,000.
    constexpr PetscInt FEW = 32768;
    *admitted              = place.gains && (rows <= FEW || rows > SMALL_ROWS);
    if (!*admitted) PetscCall(system_.End());
  }
  if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Reserve(columns, admitted));
  if (!*admitted && space_ == Space::Device) PetscCall(system_.End());
  if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetRefinement(ksp, &refinement));
  criterion_       = Criterion{};
  criterion_.kept  = KEPT[static_cast<int>(refinement)];
  criterion_.happy = gmres->happy_tolerance;
  PetscCall(b_->Get(B, space_, Access::Read));
  PetscCall(x_->Get(X, space_, Access::Read)); // the newest entries to where they are written
  PetscCall(x_->Restore());
  PetscCall(x_->Get(X, space_, Access::Write));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Memory for all columns, or for as many at a time as there is memory for. Not admitted: for less than two.
PetscErrorCode ManySolve::Reserve(PetscInt columns, bool *admitted)
{
  constexpr PetscInt LINE = 32; // entries: on the device vectors begin on full lines

  PetscFunctionBegin;
  v_.ld            = space_ == Space::Device ? (v_.rows + LINE - 1) / LINE * LINE : v_.rows;
  const int wanted = static_cast<int>(std::min<PetscInt>(columns, small_.active() ? small_.groups() : MANY));
  most_            = wanted;
  for (; most_ > 1; most_ = (most_ + 1) / 2) { // 3 and 2: the last two
    int lacks = static_cast<double>(most_) * static_cast<double>(v_.ld) > static_cast<double>(PETSC_MAX_INT);
    if (!lacks) {
      bool memory;
      PetscCall(MayLackMemory([&] { return ReserveFor(most_); }, &memory));
      lacks = memory;
    }
    if (!alone_)
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp_)));
    if (!lacks) break;
    entries_ = Array<Scalar>();
    if (most_ == 2) most_ = 1; // one by one
  }
  *admitted = most_ > 1;
  if (*admitted && most_ < wanted)
    PetscCall(PetscInfo(ksp_, "Memory for the bases of %d right-hand sides at a time\n", most_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::ReserveFor(int count)
{
  const size_t panel  = static_cast<size_t>(v_.ld) * static_cast<size_t>(count);
  const bool   scales = space_ == Space::Device && right_ && system_.inverse();
  const size_t panels = outside_ ? 2 : space_ == Space::Host || scales ? 1 : 0;
  const size_t bases = panel * (static_cast<size_t>(steps_) + 1), stride = static_cast<size_t>(steps_) + 1;

  PetscFunctionBegin;
  if (entries_.size() < bases + panels * panel + 1 || entries_space_ != space_) {
    entries_ = Array<Scalar>();
    PetscCall(entries_.Allocate(bases + panels * panel + 1, space_)); // on a rank without rows an address, too
    entries_space_ = space_;
  }
  v_.places = count;
  v_.v      = entries_.data();
  p_        = panels ? v_.v + bases : nullptr;
  q_        = panels > 1 ? p_ + panel : nullptr;
  if (space_ == Space::Device) {
    PetscCall(ReserveOnDevice());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const size_t columns = static_cast<size_t>(count);
  PetscCallCXX(triangles_.resize(columns * (stride * (stride - 1) + 2 * stride)));
  PetscCallCXX(sines_.resize(columns * stride));
  PetscCallCXX(dots_.resize(columns * (stride + 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::End()
{
  PetscFunctionBegin;
  PetscCall(Unwrap());
  PetscCall(x_->Restore());
  PetscCall(b_->Restore());
  if (space_ == Space::Device) PetscCall(system_.End());
  PetscCall(EndTogether(ksp_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::Free()
{
  PetscFunctionBegin;
  PetscCall(Unwrap());
  PetscCall(system_.Free());
  PetscCall(small_.Free());
  entries_ = Array<Scalar>();
  std::vector<Scalar>().swap(triangles_);
  std::vector<Scalar>().swap(dots_);
  std::vector<PetscReal>().swap(sines_);
  PetscCall(scratch_.Free());
  PetscCall(gather_.Free());
  PetscCall(records_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
