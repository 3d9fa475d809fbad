/// Scalars where MatSetValuesCOO() may find them: in host memory, or in device memory where the library was built with
/// CUDA.
#pragma once

#include "testing.hpp"

#if defined(SPARSEGPU_HAVE_CUDA)
  #include <cuda_runtime.h>
#endif

namespace testing
{

class ScalarArray
{
public:
  ScalarArray(const std::vector<PetscScalar> &values, bool device) : values_(values)
  {
    if (device) PetscCallAbort(PETSC_COMM_SELF, ToDevice());
  }
  ScalarArray(const ScalarArray &)            = delete;
  ScalarArray &operator=(const ScalarArray &) = delete;
  ~ScalarArray()
  {
#if defined(SPARSEGPU_HAVE_CUDA)
    if (device_) (void)cudaFree(device_);
#endif
  }
  const PetscScalar *Get() const
  {
    return device_ ? static_cast<const PetscScalar *>(device_) : values_.data();
  }

private:
  PetscErrorCode ToDevice()
  {
    PetscFunctionBeginUser;
#if defined(SPARSEGPU_HAVE_CUDA)
    const size_t bytes =
        (values_.size() + 1) * sizeof(PetscScalar); // never empty, so that it is device memory for sure
    PetscCheck(cudaMalloc(&device_, bytes) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_MEM, "cudaMalloc of %zu bytes",
               bytes);
    PetscCheck(cudaMemcpy(device_, values_.data(), values_.size() * sizeof(PetscScalar), cudaMemcpyHostToDevice) ==
                   cudaSuccess,
               PETSC_COMM_SELF, PETSC_ERR_GPU, "cudaMemcpy");
#else
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Built without CUDA");
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<PetscScalar> values_;
  void                    *device_ = nullptr;
};

} // namespace testing
