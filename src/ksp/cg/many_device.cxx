/// The passes for several right-hand sides, launched on the device of one process.
#include <algorithm>
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
    control_.state   = Take<ManyState>(base, &used, MANY);
    control_.varies  = Take<int>(base, &used, 1);
    control_.partial = Take<PetscReal>(base, &used, DOTS * PASS_BLOCKS);
    if (pass == 0) PetscCall(scratch_.Reserve(used));
    base = static_cast<char *>(scratch_.data());
  }
  control_.norm  = norm_;
  control_.later = false;
  PetscCall(records_.Reserve(MANY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// W = A of `from`, whose columns begin at `ld` entries from each other.
PetscErrorCode ManySolve::MultiplyOnDevice(const Scalar *from, PetscInt ld)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogEventBegin(MAT_MatMultNumeric, A_, nullptr, nullptr, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(system_.format()->MultDense(DenseColumns{v_.count, from, ld, v_.w, v_.ldw}, &gather_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * system_.nonzeros() * v_.count));
  PetscCall(PetscLogEventEnd(MAT_MatMultNumeric, A_, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::StartOnDevice()
{
  const bool product = !ksp_->guess_zero;

  PetscFunctionBegin;
  if (product) PetscCall(MultiplyOnDevice(v_.x, v_.ldx));
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

PetscErrorCode ManySolve::LaunchOnDevice(PetscInt k)
{
  PetscFunctionBegin;
  control_.number      = static_cast<int>(k);
  control_.round       = records_.Round(k);
  control_.records     = records_.Of(k);
  control_.tested_from = static_cast<int>(std::min<PetscInt>(columns_[v_.column[0]].test.from, PETSC_MAX_INT / 2));
  for (int c = 0; c < v_.count; c++) {
    control_.converged[c] = columns_[v_.column[c]].test.converged;
    control_.diverged[c]  = columns_[v_.column[c]].test.diverged;
  }
  PetscCall(MultiplyOnDevice(v_.p, v_.ld));
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(DotsMany_CUDA(v_, control_, stream));
  PetscCall(UpdateMany_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscCall(PetscLogGpuFlops(20.0 * v_.rows * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Iteration k around a preconditioner that is applied from outside.
PetscErrorCode ManySolve::LaunchAroundOnDevice(PetscInt k)
{
  PetscFunctionBegin;
  if (!OfZ()) PetscCall(PreconditionOnDevice(k - 1));
  PetscCall(MultiplyOnDevice(v_.p, v_.ld));
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  control_.number  = static_cast<int>(k);
  control_.round   = records_.Round(k);
  control_.records = records_.Of(k);
  control_.later   = OfZ();
  control_.norm    = OfZ() ? Norm::None : norm_;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(UpdateResidualMany_CUDA(v_, control_, stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscCall(PetscLogGpuFlops(8.0 * v_.rows * v_.count));
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
