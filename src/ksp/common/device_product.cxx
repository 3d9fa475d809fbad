/// The products of a system on arrays of the device.
#include <petsc/private/matimpl.h>
#include "ksp/common/device_system.hpp"
#include "mat/formats/dots.hpp"

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
  return LogProduct(A_, 2.0 * nonzeros_, [&](Stream stream) { return format_->Mult(v, nullptr, out, stream); });
}
PetscErrorCode DeviceSystem::Product(const ProductDots &dots)
{
  return LogProduct(A_, 2.0 * nonzeros_ + 8.0 * rows_, [&](Stream stream) { return format_->MultDots(dots, stream); });
}

} // namespace sparsegpu::ksp
