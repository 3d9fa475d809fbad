#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "ksp/jacobi/sweep_row.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;

/// The norm of the block, in a fixed order, to thread 0. All threads must call.
__device__ __forceinline__ PetscReal block_joined(SweepNorm norm, PetscReal v)
{
  __shared__ PetscReal warps[THREADS / 32];
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) v = joined(norm, v, shuffle_xor(v, mask, 32));
  __syncthreads(); // the scratch may still be read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < THREADS / 32; w++) v = joined(norm, v, warps[w]);
  return v;
}

/// next = x + damping D^-1 (b - A x), a thread a row in turn; neighbouring threads read neighbouring entries. Each
/// block leaves its norm, the last one to arrive joins them in their order, decides and tells the host.
static __global__ void __launch_bounds__(THREADS) sweep_kernel(Sweep sweep, SweepControl control)
{
  __shared__ bool last;
  PetscReal       norm = 0;

  if (*control.stopped_at < control.number) return; // this sweep itself may be setting it to its own number
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x; r < sweep.rows;
       r += static_cast<PetscInt>(gridDim.x) * THREADS)
    norm = joined(sweep.norm, norm, sweep_row(sweep, r));
  if (!control.record) return;
  norm = block_joined(sweep.norm, norm);
  if (threadIdx.x == 0) {
    control.partial[blockIdx.x] = norm;
    __threadfence();
    last = atomicAdd(control.arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  norm = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
    norm = joined(sweep.norm, norm, load_shared(control.partial + b));
  norm = block_joined(sweep.norm, norm);
  if (threadIdx.x > 0) return;
  *control.arrived = 0;
  if (control.root)
    norm = sizeof(PetscReal) == sizeof(float) ? static_cast<PetscReal>(sqrtf(static_cast<float>(norm)))
                                              : static_cast<PetscReal>(sqrt(static_cast<double>(norm)));
  const bool       stop   = control.tested && (norm <= control.converged || norm >= control.diverged);
  const bool       finite = norm - norm == 0;
  volatile Record *record = control.record;
  if (stop || !finite) *control.stopped_at = control.number;
  record->norm    = norm;
  record->outcome = stop || !finite;
  __threadfence_system(); // the host reads these once it sees the next
  record->ready = control.round;
}

PetscErrorCode Sweep_CUDA(const Sweep &sweep, const SweepControl &control, Stream stream)
{
  const PetscInt useful = (sweep.rows + THREADS - 1) / THREADS;
  const PetscInt blocks = useful < 1 ? 1 : useful < SWEEP_BLOCKS ? useful : SWEEP_BLOCKS; // without rows, a norm of 0

  PetscFunctionBegin;
  sweep_kernel<<<static_cast<unsigned>(blocks), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(sweep, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
