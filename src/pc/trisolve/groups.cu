/// Groups of sorted keys: what a Schedule and its users are made with.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "pc/trisolve/schedule.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

#define INDEX static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x
namespace
{
struct Largest {
  __host__ __device__ PetscInt operator()(PetscInt a, PetscInt b) const { return a > b ? a : b; }
};
} // namespace

namespace
{
/// Where the run of equal keys of k begins, if it begins at k; else 0.
struct RunBegin {
  const unsigned     *key;
  unsigned            mask;
  __device__ PetscInt operator()(PetscInt k) const { return k == 0 || ((key[k] ^ key[k - 1]) & mask) != 0 ? k : 0; }
};
/// Whether k begins a group. begin: of its run.
struct GroupHead {
  const unsigned     *key;
  unsigned            capacity;
  const PetscInt     *begin;
  __device__ PetscInt operator()(PetscInt k) const
  {
    const unsigned size = capacity >> (key[k] & 7) ? capacity >> (key[k] & 7) : 1;
    return (k - begin[k]) % static_cast<PetscInt>(size) == 0;
  }
};
} // namespace
/// id: the running count of heads.
static __global__ void group_first_kernel(const PetscInt *id, PetscInt count, PetscInt *first)
{
  const PetscInt k = INDEX;
  if (k < count && (k == 0 || id[k] != id[k - 1])) first[id[k] - 1] = k;
  if (k == count - 1) first[id[k]] = count;
}

PetscErrorCode CutGroups(const unsigned *sorted, PetscInt count, unsigned mask, unsigned capacity,
                         Array<PetscInt> *first, PetscInt *groups, DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<PetscInt>    begin, id;

  PetscFunctionBegin;
  *groups = 0;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(begin.Allocate(count, Space::Device));
  PetscCall(id.Allocate(count, Space::Device));
  const int64_t                             n = count;
  const thrust::counting_iterator<PetscInt> each(0);
  CallCUB(scratch, cub::DeviceScan::InclusiveScan, thrust::make_transform_iterator(each, RunBegin{sorted, mask}),
          begin.data(), Largest(), n, s);
  CallCUB(scratch, cub::DeviceScan::InclusiveSum,
          thrust::make_transform_iterator(each, GroupHead{sorted, capacity, begin.data()}), id.data(), n, s);
  PetscCall(DeviceCopyOut(groups, id.data() + count - 1, sizeof(PetscInt), stream));
  PetscCall(first->Allocate(static_cast<size_t>(*groups) + 1, Space::Device));
  group_first_kernel<<<Blocks(count), THREADS, 0, s>>>(id.data(), count, first->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve

#undef INDEX
