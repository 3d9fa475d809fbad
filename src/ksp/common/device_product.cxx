/// The products of a system on arrays of the device, with its preconditioner and without.
#include <petsc/private/matimpl.h>
#include "ksp/common/device_system.hpp"
#include "ksp/sweep/fused.hpp"
#include "mat/formats/dots.hpp"
#include "mat/formats/target.hpp"
#include "pc/ilu/factor.hpp"

namespace sparsegpu::ksp
{

template <class Multiply> static PetscErrorCode LogProduct(Mat A, PetscLogDouble flops, Multiply multiply)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogEventBegin(MAT_Mult, A, nullptr, nullptr, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(multiply(stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(flops));
  PetscCall(PetscLogEventEnd(MAT_Mult, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceSystem::Product(const Scalar *v, Scalar *out)
{
  return LogProduct(A_, 2.0 * nonzeros_, [&](Stream stream) -> PetscErrorCode {
    PetscFunctionBegin;
    if (!parallel_) {
      PetscCall(format_->Mult(v, nullptr, out, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(ranks_.Next(true));
    PetscCall(format_->MultInto(v, {nullptr, out}, &ranks_.exchange(), stream));
    if (ranks_.ghosts_left()) PetscCall(ranks_.blocks().off->AddArriving(ranks_.exchange(), {out}, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}
PetscErrorCode DeviceSystem::Product(const ProductDots &dots)
{
  return LogProduct(A_, 2.0 * nonzeros_ + 8.0 * rows_, [&](Stream stream) -> PetscErrorCode {
    ProductDots inside = dots;
    PetscFunctionBegin;
    if (!parallel_) {
      PetscCall(format_->MultDots(dots, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(ranks_.Next(true));
    const bool apart = dots.kind == ProductSums::Minimise && ranks_.exchange().complete;
    if (ranks_.off() && !apart) {
      inside.exchange = &ranks_.exchange();
      inside.left_out = ranks_.with_ghosts();
      PetscCall(format_->MultDots(inside, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#if defined(SPARSEGPU_HAVE_CUDA)
    PetscCall(format_->MultInto(dots.x, {nullptr, dots.z}, &ranks_.exchange(), stream));
    if (ranks_.ghosts_left()) PetscCall(ranks_.blocks().off->AddArriving(ranks_.exchange(), {dots.z}, stream));
    PetscCall(DotsOfProduct_CUDA(rows_, dots, stream));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode DeviceSystem::Precondition(const Scalar *from, Scalar *to)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_Apply, ksp_->pc, nullptr, nullptr, nullptr));
  PetscCall(factor_->SolveArrays(from, to));
  PetscCall(PetscLogEventEnd(PC_Apply, ksp_->pc, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// out = D^-1 A v, scaled as it is written.
PetscErrorCode DeviceSystem::ApplyFused(const Scalar *v, Scalar *out, Stream stream)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  sweep::JacobiSweep         fused   = {};
  const sweep::JacobiControl control = {};
  fused.rows                         = rows_;
  fused.inverse                      = inverse_;
  fused.x                            = v;
  fused.next                         = out;
  fused.norm                         = sweep::JacobiNorm::None;
  PetscCall(PetscLogEventBegin(MAT_Mult, A_, nullptr, nullptr, nullptr));
  PetscCall(PetscLogGpuTimeBegin());
  if (parallel_) {
    PetscCall(ranks_.Next());
    PetscCall(comm::BeginExchange_CUDA(ranks_.exchange(), v, stream));
  }
  PetscCall(sweep::FusedSweep(*format_, fused, control, stream));
  if (parallel_ && ranks_.has_ghosts())
    PetscCall(CsrAddArriving_CUDA(*ranks_.off(), ranks_.exchange(), {out, inverse_}, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * nonzeros_ + rows_));
  PetscCall(PetscLogEventEnd(MAT_Mult, A_, nullptr, nullptr, nullptr));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::Apply(const Scalar *v, Scalar *out)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (factor_) {
    Scalar *between = static_cast<Scalar *>(between_.data());
    PetscCall(Product(v, between));
    PetscCall(Precondition(between, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (inverse_ && !right_ && sweep::SweepsFused(*format_) && (!parallel_ || ranks_.off())) {
    PetscCall(ApplyFused(v, out, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (inverse_ && right_) {
    PetscCall(between_.Reserve(static_cast<size_t>(rows_) * sizeof(Scalar)));
    PetscCall(ScaleSystem_CUDA(rows_, inverse_, v, nullptr, static_cast<Scalar *>(between_.data()), stream));
    v = static_cast<const Scalar *>(between_.data());
  }
  PetscCall(Product(v, out));
  if (inverse_ && !right_) PetscCall(ScaleSystem_CUDA(rows_, inverse_, nullptr, out, out, stream));
  if (inverse_) PetscCall(PetscLogGpuFlops(rows_));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_SUP;
#endif
}

PetscErrorCode DeviceSystem::Residual(bool zero_guess, Scalar *out)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  const Scalar *b;
  Scalar       *x;
  Stream        stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(Rhs(&b));
  if (!zero_guess) {
    PetscCall(Solution(&x));
    PetscCall(Product(x, out));
  }
  Scalar *residual = factor_ ? static_cast<Scalar *>(between_.data()) : out;
  PetscCall(ScaleSystem_CUDA(rows_, right_ ? nullptr : inverse_, b, zero_guess ? nullptr : out, residual, stream));
  if (ksp_->reason == KSP_DIVERGED_PC_FAILED) PetscCall(FillInfinite_CUDA(rows_, residual, stream));
  if (factor_) PetscCall(Precondition(residual, out));
  PetscCall(PetscLogGpuFlops(2.0 * rows_));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  return PETSC_ERR_SUP;
#endif
}

} // namespace sparsegpu::ksp
