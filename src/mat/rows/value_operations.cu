/// Operations on values on the device: a thread an index, several a row for what is joined over rows, and sums
/// and maxima by CUB, which repeat bit for bit.
#include <thrust/iterator/transform_iterator.h>
#include "device/cub_call.cuh"
#include "device/each.cuh"
#include "mat/rows/value_operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows::values
{

/// `1 << bits` threads a row, of one warp. Neighbouring threads read neighbouring entries. Bitwise reproducible.
static __global__ void magnitude_kernel(PetscCount rows, const RowMagnitude operation)
{
  const Lane lane(thread_index(), operation.bits);
  PetscReal  all = lane.row < rows ? operation.Of(lane.row, lane.first, lane.step) : 0;
  for (int mask = lane.step / 2; mask > 0; mask /= 2)
    all = operation.Join(all, __shfl_xor_sync(0xffffffffu, all, mask));
  if (lane.row < rows && lane.first == 0) operation.magnitude[lane.row] = Scalar(all);
}

template <class Operation> static void Launch(PetscCount count, const Operation &operation, cudaStream_t stream)
{
  each_kernel<<<Blocks(count), THREADS, 0, stream>>>(count, operation);
}
static void Launch(PetscCount rows, const RowMagnitude &operation, cudaStream_t stream)
{
  magnitude_kernel<<<Blocks(rows << operation.bits), THREADS, 0, stream>>>(rows, operation);
}

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  Launch(count, operation, static_cast<cudaStream_t>(stream));
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_CUDA(PetscCount, const Operation &)
SPARSEGPU_FOR_VALUE_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

namespace
{
struct Square {
  __device__ PetscReal operator()(const Scalar &v) const { return RealPart(Conj(v) * v); }
};
struct Real {
  __device__ PetscReal operator()(const Scalar &v) const { return RealPart(v); }
};
struct Plus {
  __device__ PetscReal operator()(PetscReal a, PetscReal b) const { return a + b; }
};
struct Larger {
  __device__ PetscReal operator()(PetscReal a, PetscReal b) const { return a < b || a != a ? b : a; } // no NaN
};

template <class Map, class Join>
PetscErrorCode Reduce(PetscCount count, const Scalar *a, Map map, Join join, PetscReal *result)
{
  DeviceMemory     scratch;
  Array<PetscReal> all;
  Stream           stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(all.Allocate(1, Space::Device));
  const auto values = thrust::make_transform_iterator(a, map);
  CallCUB(&scratch, cub::DeviceReduce::Reduce, values, all.data(), static_cast<int64_t>(count), join, PetscReal(0),
          static_cast<cudaStream_t>(stream));
  PetscCall(DeviceCopyOut(result, all.data(), sizeof(*result), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SumOfSquares_CUDA(PetscCount count, const Scalar *a, PetscReal *sum)
{
  PetscFunctionBegin;
  PetscCall(Reduce(count, a, Square(), Plus(), sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Largest_CUDA(PetscCount count, const Scalar *a, PetscReal *largest)
{
  PetscFunctionBegin;
  PetscCall(Reduce(count, a, Real(), Larger(), largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows::values
