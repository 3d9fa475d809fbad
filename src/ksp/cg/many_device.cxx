/// The passes for several right-hand sides, launched on the device of one process.
#include <algorithm>
#include <climits>
#include "ksp/cg/cg.hpp"
#include "ksp/common/passes.hpp"

namespace sparsegpu::cg
{

/// The first columns stand for all where the system is judged.
PetscErrorCode ManySolve::BeginOnDevice(bool *admitted)
{
  PetscFunctionBegin;
  PetscCall(WithColumn(ksp_, B_, X_, 0, [&] { return system_.Begin(ksp_, Preconditioners::Any); }));
  *admitted  = system_.active() && system_.outside() == outside_ && !system_.copies();
  v_.inverse = system_.inverse();
  if (!*admitted) PetscCall(system_.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::ReserveOnDevice()
{
  char *base = nullptr;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used      = 0;
    control_.state   = Take<State>(base, &used, MANY);
    control_.varies  = Take<int>(base, &used, 1);
    control_.dots    = Take<PetscReal>(base, &used, DOTS * MANY);
    control_.partial = Take<PetscReal>(base, &used, DOTS * PASS_BLOCKS);
    control_.product = Take<PetscReal>(base, &used, DenseDotsRoom(v_.rows));
    control_.arrived = Take<unsigned>(base, &used, DOT_GROUPS + 1);
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  control_.norm  = norm_;
  control_.later = false;
  PetscCall(records_.Reserve(MANY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// W = A of `from`, whose columns begin at `ld` entries from each other; of P where `dot`, with its inner products.
PetscErrorCode ManySolve::MultiplyOnDevice(const Scalar *from, PetscInt ld, bool dot)
{
  // rows; of smaller systems a pass of its own for the sums costs little
  constexpr PetscInt LARGE = 131072;
  const DenseColumns d{v_.count, from, ld, v_.w, v_.ldw};
  const DenseDots    dots{outside_ ? nullptr : v_.r, v_.ld,           v_.inverse, control_.varies, control_.dots,
                       control_.product,          control_.arrived};
  Format *const      format = system_.format();
  const bool         fused  = dot && v_.rows >= LARGE && format->TakesDenseDots(v_.count);
  Stream             stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogEventBegin(MAT_MatMultNumeric, A_, nullptr, nullptr, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  if (fused)
    PetscCall(format->MultDenseDots(d, dots, stream));
  else
    PetscCall(format->MultDense(d, &gather_, stream));
#if defined(SPARSEGPU_HAVE_CUDA)
  if (dot && !fused) PetscCall(DotsMany_CUDA(v_, control_, stream));
#endif
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops((2.0 * system_.nonzeros() + (dot ? (outside_ ? 2.0 : 8.0) * v_.rows : 0)) * v_.count));
  PetscCall(PetscLogEventEnd(MAT_MatMultNumeric, A_, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::StartOnDevice(bool product)
{
  PetscFunctionBegin;
  if (product) PetscCall(MultiplyOnDevice(v_.x, v_.ldx, false));
#if defined(SPARSEGPU_HAVE_CUDA)
  const Scalar *const b = b_->data() + static_cast<size_t>(first_) * b_->ld();
  Stream              stream;
  records_.Begin();
  control_.round   = records_.Round(-1);
  control_.records = records_.Of(-1);
  control_.later   = outside_ && OfZ();
  control_.norm    = outside_ ? Norm::Unpreconditioned : norm_;
  PetscCall(DeviceStream(&stream));
  PetscCall(StartMany_CUDA(v_, b, b_->ld(), product, control_, stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first iteration of this run whose norm is tested, counted from 1.
int ManySolve::TestedFrom() const
{
  return static_cast<int>(std::min<PetscInt>(columns_[v_.column[0]].test.from, INT_MAX / 2) - base_);
}

/// Launches of many iterations each until all columns have ended, or the device has no room for them.
PetscErrorCode ManySolve::IterateSmall(PetscInt *finished)
{
  PetscFunctionBegin;
  while (left_ > 0) {
    bool ends = false;
    PetscCall(LeaveSlots());
    SetTests(&control_);
    control_.number = static_cast<int>(*finished);
    PetscCall(small_.Launch(v_, last_ - base_, &control_));
    if (!small_.active()) break;
    in_launch_ = true;
    while (!ends) {
      PetscCall(PetscLogGpuFlops((2.0 * system_.nonzeros() + 20.0 * v_.rows) * left_));
      Remember(*finished);
      PetscCall(TakeNorms(*finished));
      PetscCall(small_.Ends((*finished)++, &ends));
    }
    in_launch_ = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::LaunchOnDevice(PetscInt k)
{
  PetscFunctionBegin;
  control_.number  = static_cast<int>(k);
  control_.round   = records_.Round(k);
  control_.records = records_.Of(k);
  SetTests(&control_);
  PetscCall(MultiplyOnDevice(v_.p, v_.ld, true));
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(UpdateMany_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscCall(PetscLogGpuFlops(12.0 * v_.rows * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Iteration k around a preconditioner that is applied from outside.
PetscErrorCode ManySolve::LaunchAroundOnDevice(PetscInt k)
{
  PetscFunctionBegin;
  if (!OfZ()) PetscCall(PreconditionOnDevice(k - 1));
  control_.number = static_cast<int>(k); // of the inner products, too
  PetscCall(MultiplyOnDevice(v_.p, v_.ld, true));
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  control_.round   = records_.Round(k);
  control_.records = records_.Of(k);
  control_.later   = OfZ();
  control_.norm    = OfZ() ? Norm::None : norm_;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(UpdateResidualMany_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscCall(PetscLogGpuFlops(6.0 * v_.rows * v_.count));
  if (OfZ()) PetscCall(PreconditionOnDevice(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Z = M^-1 R after iteration k, -1: before the first; the next rho and the next directions, and the records where
/// norms are of Z.
PetscErrorCode ManySolve::PreconditionOnDevice(PetscInt k)
{
  PetscFunctionBegin;
  PetscCall(ApplyPreconditioner());
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  control_.number = static_cast<int>(k);
  control_.later  = !OfZ();
  control_.norm   = OfZ() ? norm_ : Norm::None;
  if (OfZ()) {
    control_.round   = records_.Round(k);
    control_.records = records_.Of(k);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(UpdateDirectionMany_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscCall(PetscLogGpuFlops(6.0 * v_.rows * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::MoveOnDevice(int from, int to)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(MoveSlot_CUDA(v_, control_, from, to, stream));
#else
  (void)from;
  (void)to;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
