/// Which systems are solved for several right-hand sides at a time, and the memory for it.
#include "device/local_array.hpp"
#include "ksp/cg/cg.hpp"

namespace sparsegpu::cg
{

PetscErrorCode ManySolve::Begin(KSP ksp, Mat B, Mat X, DenseArray *b, DenseArray *x, bool *admitted)
{
  PetscInt count;

  PetscFunctionBegin;
  ksp_  = ksp;
  B_    = B;
  X_    = X;
  b_    = b;
  x_    = x;
  norm_ = NormOf(ksp->normtype);
  PetscCall(Unwrap()); // of a solve that ended with an error
  PetscCall(MatGetSize(B, nullptr, &count));
  const Cg          *cg     = CgOf(ksp);
  const bool         serves = cg->hermitian && !cg->residuals && !cg->flexible;
  const bool         fewer  = cg->block && cg->many_mode == SmallMode::Auto; // iterations, of a diagonal
  const Togetherness asked{fewer ? SmallMode::On : cg->many_mode, serves, 4, // x, r, p and w
                           cg->block ? SmallMode::Off : cg->small_mode};
  TogetherPlace      place;
  PetscCall(AdmitTogether(ksp, B, X, asked, &place, admitted));
  if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  A_       = place.A;
  outside_ = place.outside;
  alone_   = place.alone;
  space_   = place.space;
  PetscCall(DeviceOrder()); // the work vectors may be in use on another stream
  small_.End();
  in_launch_ = false; // of a solve that ended with an error
  v_         = ManyArrays{};
  if (space_ == Space::Device) {
    PetscCall(BeginOnDevice(admitted));
    if (*admitted && alone_ && !outside_) PetscCall(small_.Begin(system_, asked.small, count, place.gains));
    if (*admitted && !small_.active() && !place.gains) { // it was to be small
      *admitted = false;
      PetscCall(system_.End());
    }
    if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  } else if (!outside_) {
    PetscCall(TakeDiagonal());
  }
  PetscCall(b_->Get(B, space_, Access::Read));
  PetscCall(x_->Get(X, space_, Access::Read)); // the newest entries to where they are written
  PetscCall(x_->Restore());
  PetscCall(x_->Get(X, space_, Access::Write));
  PetscCall(MatGetLocalSize(B, &v_.rows, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal that PCJACOBI of any kind multiplies with, on the host.
PetscErrorCode ManySolve::TakeDiagonal()
{
  const Vec  ones = ksp_->work[0], d = ksp_->work[1];
  PetscBool  none;
  PetscInt   rows;
  LocalArray entries;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp_->pc, PCNONE, &none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(ksp_->pc, ones, d));
  PetscCall(VecGetLocalSize(d, &rows));
  PetscCall(entries.Get(d, Space::Host, Access::Read));
  PetscCallCXX(inverse_.assign(entries.read(), entries.read() + rows));
  PetscCall(entries.Restore());
  v_.inverse = inverse_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Memory for begun_ slots.
PetscErrorCode ManySolve::Reserve()
{
  constexpr PetscInt LINE   = 32; // entries: on the device columns begin on full lines
  const bool         device = space_ == Space::Device;
  const size_t       parts  = 2 + (device ? 1 : 0) + (outside_ ? 1 : 0);

  PetscFunctionBegin;
  PetscCall(Unwrap()); // of other places
  v_.ld             = device ? (v_.rows + LINE - 1) / LINE * LINE : v_.rows;
  const size_t each = static_cast<size_t>(v_.ld) * static_cast<size_t>(begun_);
  if (entries_.size() < parts * each + 1 || entries_space_ != space_) {
    entries_ = Array<Scalar>();
    PetscCall(entries_.Allocate(parts * each + 1, space_)); // on a rank without rows an address, too
    entries_space_ = space_;
  }
  v_.r   = entries_.data();
  v_.p   = v_.r + each;
  v_.w   = device ? v_.p + each : nullptr; // on the host where the product has it
  v_.z   = outside_ ? entries_.data() + (parts - 1) * each : nullptr;
  v_.ldw = v_.ld;
  if (device) PetscCall(ReserveOnDevice());
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
  std::vector<Scalar>().swap(inverse_);
  PetscCall(scratch_.Free());
  PetscCall(gather_.Free());
  PetscCall(records_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
