/// The element-wise operations of a system on arrays of the device: scaling, residual, copy.
#include "device/cuda_check.hpp"
#include "ksp/common/device_system.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

/// One thread a row in turn; neighbouring threads read neighbouring entries.
static __global__ void __launch_bounds__(256)
    scale_system_kernel(PetscInt rows, const Scalar *scale, const Scalar *b, const Scalar *product, Scalar *out)
{
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * 256 + threadIdx.x; r < rows;
       r += static_cast<PetscInt>(gridDim.x) * 256) {
    const Scalar v = !b ? product[r] : product ? b[r] - product[r] : b[r];
    out[r]         = scale ? scale[r] * v : v;
  }
}

static __global__ void __launch_bounds__(256) fill_kernel(PetscInt rows, Scalar value, Scalar *out)
{
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * 256 + threadIdx.x; r < rows;
       r += static_cast<PetscInt>(gridDim.x) * 256)
    out[r] = value;
}

PetscErrorCode FillInfinite_CUDA(PetscInt rows, Scalar *out, Stream stream)
{
  PetscFunctionBegin;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  fill_kernel<<<1, 256, 0, static_cast<cudaStream_t>(stream)>>>(rows, Scalar(PETSC_INFINITY), out);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ScaleSystem_CUDA(PetscInt rows, const Scalar *scale, const Scalar *b, const Scalar *product, Scalar *out,
                                Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt useful = (rows + 255) / 256, full = 8 * multiprocessors;
  scale_system_kernel<<<static_cast<unsigned>(useful < full ? useful : full), 256, 0,
                        static_cast<cudaStream_t>(stream)>>>(rows, scale, b, product, out);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
