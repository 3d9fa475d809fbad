/// Which rows are not empty, where the beginnings of rows are on the GPU.
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include "device/cub_call.cuh"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

namespace
{
struct IsFilled {
  const PetscInt *i;

  __host__ __device__ bool operator()(PetscInt row) const { return i[row] < i[row + 1]; }
};
} // namespace

PetscErrorCode FilledRows_CUDA(PetscInt rows, const PetscInt *i, Array<PetscInt> *filled)
{
  Array<PetscInt> selected;
  DeviceMemory    scratch;
  Stream          stream;

  PetscFunctionBegin;
  if (filled->size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(selected.Allocate(1, Space::Device));
  CallCUB(&scratch, cub::DeviceSelect::If, thrust::counting_iterator<PetscInt>(0), filled->data(), selected.data(),
          static_cast<int64_t>(rows), IsFilled{i}, static_cast<cudaStream_t>(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
