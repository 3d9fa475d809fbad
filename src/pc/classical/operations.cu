/// The operations of classical coarsening on the device, a thread an index, and the selection of undecided unknowns.
#include "device/cub_call.cuh"
#include "device/each.cuh"
#include "pc/classical/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::classical
{

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  PetscCall(LaunchEach(count, operation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_CUDA(PetscCount, const Operation &)
SPARSEGPU_FOR_CLASSICAL_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

namespace
{
struct Undecided {
  const State    *state;
  __device__ bool operator()(PetscInt node) const { return state[node] != FINE && state[node] < FRESH; }
};
} // namespace

PetscErrorCode KeepUndecided_CUDA(const State *state, NodeList *list)
{
  DeviceMemory    scratch;
  Array<PetscInt> kept;
  Stream          stream;

  PetscFunctionBegin;
  if (list->count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(kept.Allocate(1, Space::Device));
  CallCUB(&scratch, cub::DeviceSelect::If, list->nodes.data(), list->spare.data(), kept.data(),
          static_cast<int64_t>(list->count), Undecided{state}, static_cast<cudaStream_t>(stream));
  std::swap(list->nodes, list->spare);
  PetscCall(DeviceCopyOut(&list->count, kept.data(), sizeof(list->count), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
