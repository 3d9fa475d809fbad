/// Entries where MatSetValuesCOO() and MatSetPreallocationCOO() may find them: in host memory, or in device memory
/// where the library was built with CUDA.
#pragma once

#include "testing.hpp"

#if defined(SPARSEGPU_HAVE_CUDA)
  #include <cuda_runtime.h>
#endif

namespace testing
{

template <class T> class PlacedArray
{
public:
  PlacedArray(const std::vector<T> &values, bool device) : values_(values)
  {
    if (device) PetscCallAbort(PETSC_COMM_SELF, ToDevice());
  }
  PlacedArray(const PlacedArray &)            = delete;
  PlacedArray &operator=(const PlacedArray &) = delete;
  ~PlacedArray()
  {
#if defined(SPARSEGPU_HAVE_CUDA)
    if (device_) (void)cudaFree(device_);
#endif
  }
  T *Get()
  {
    return device_ ? static_cast<T *>(device_) : values_.data();
  }

private:
  PetscErrorCode ToDevice()
  {
    PetscFunctionBeginUser;
#if defined(SPARSEGPU_HAVE_CUDA)
    const size_t bytes = (values_.size() + 1) * sizeof(T); // never empty, so that it is device memory for sure
    PetscCheck(cudaMalloc(&device_, bytes) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_MEM, "cudaMalloc of %zu bytes",
               bytes);
    PetscCheck(cudaMemcpy(device_, values_.data(), values_.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess,
               PETSC_COMM_SELF, PETSC_ERR_GPU, "cudaMemcpy");
#else
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Built without CUDA");
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<T> values_;
  void          *device_ = nullptr;
};
using ScalarArray = PlacedArray<PetscScalar>;
using IndexArray  = PlacedArray<PetscInt>;

} // namespace testing
