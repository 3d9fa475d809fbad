/// The host polls pinned memory, and queries the stream now and then: an error on the device ends the wait.
#include <atomic>
#include "device/cuda_check.hpp"
#include "device/record.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

PetscErrorCode AwaitRecord(const Record *record, int ready, Stream stream, Record *copy)
{
  constexpr int          POLLS = 1 << 14; // between two looks at the stream, which are system calls
  const volatile Record *r     = record;
  const cudaStream_t     s     = static_cast<cudaStream_t>(stream);
  bool                   empty = false;

  PetscFunctionBegin;
  while (r->ready != ready) {
    for (int k = 0; k < POLLS && r->ready != ready; k++) {}
    if (r->ready == ready) break;
    PetscCheck(!empty, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The GPU has finished without telling of iteration %d", ready);
    const cudaError_t state = cudaStreamQuery(s);
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError(); // not an error
      continue;
    }
    SparseGPUCallCUDA(state);
    empty = true; // whatever was written is seen in the next round of polls
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  copy->norm    = r->norm;
  copy->outcome = r->outcome;
  copy->ready   = ready;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
