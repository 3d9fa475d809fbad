#include <climits>
#include "device/cuda_check.hpp"
#include "ksp/gmres/dense.cuh"
#include "ksp/gmres/pipeline.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static __global__ void begin_kernel(Pipeline p, PetscReal residual)
{
  p.progress->stopped_at = INT_MAX;
  p.progress->again      = 0;
  p.progress->fallen[0]  = 1;
  p.progress->first      = residual;
  p.H.rhs[0]             = Scalar(residual);
}

__device__ __forceinline__ bool skipped(const Progress &progress, int step, bool second)
{
  return progress.stopped_at < step || (second && !progress.again);
}

/// See dots_body().
static __global__ void __launch_bounds__(DENSE_THREADS)
    pipeline_dots_kernel(Pipeline p, Dense V, PetscInt columns, int step, bool second)
{
  if (skipped(*p.progress, step, second)) return;
  dots_body(V, columns, p.scratch, p.dots[second]);
}

/// Block 0 of the update: the new column of H, the residual norm, the decision to stop, the record. h [step + 1] in
/// shared memory holds the inner products of this pass. All threads must call.
__device__ __forceinline__ void close_step(const Pipeline &p, int step, bool second, const Projection &projection,
                                           Scalar *h)
{
  constexpr int        NEAR = 256; // rotations that are brought to shared memory first: they are needed one by one
  __shared__ Scalar    cosine[NEAR];
  __shared__ PetscReal sine[NEAR];
  const bool           near = step <= NEAR;

  if (!second && threadIdx.x == 0) p.progress->again = projection.again;
  if (projection.again) return;
  for (int j = threadIdx.x; j <= step; j += DENSE_THREADS) {
    if (second) h[j] += p.dots[0][j];
    if (near && j < step) {
      cosine[j] = p.H.cosine[j];
      sine[j]   = p.H.sine[j];
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const PetscReal  whole  = SquareRoot(RealPart(p.dots[0][step + 1]));
    volatile Record *record = p.records + step;
    PetscReal        residual;
    int              outcome =
        AddColumn(p.H, step, h, near ? cosine : p.H.cosine, near ? sine : p.H.sine, projection.norm, whole, &residual);
    const bool tested = step >= p.tested_from && (residual <= p.converged || residual >= p.diverged);
    if (outcome == STEP_GOES_ON && (tested || !(residual - residual == 0))) outcome = STEP_STOPS; // Inf and NaN, too
    if (outcome != STEP_GOES_ON) p.progress->stopped_at = step;
    p.progress->fallen[(step + 1) % 2] = residual / p.progress->first;
    record->norm                       = residual;
    record->outcome                    = outcome;
    __threadfence_system(); // the host reads these once it sees the next
    record->ready = p.round;
  }
  __syncthreads();
  for (int j = threadIdx.x; j <= step; j += DENSE_THREADS) p.H.r[static_cast<size_t>(step) * p.H.stride + j] = h[j];
}

/// See update_body(). Every block finds for itself, from the same numbers in the same order, what is left of the
/// direction; block 0 does the scalar work meanwhile.
static __global__ void __launch_bounds__(DENSE_THREADS)
    pipeline_update_kernel(Pipeline p, Dense V, PetscInt columns, int step, bool second)
{
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ Scalar                             warps[DENSE_THREADS / 32];
  __shared__ PetscReal                          inside;
  Scalar *const                                 h    = reinterpret_cast<Scalar *>(shared);
  const Scalar                                 *dots = p.dots[second];
  Scalar                                        part(0);

  if (skipped(*p.progress, step, second)) return;
  for (PetscInt c = threadIdx.x; c < columns - 1; c += DENSE_THREADS) {
    h[c] = dots[c];
    part += Scalar(SquareOf(h[c]));
  }
  part = block_sum<DENSE_THREADS>(part, warps);
  if (threadIdx.x == 0) inside = RealPart(part);
  __syncthreads();
  const Projection projection =
      JudgeProjection(RealPart(dots[columns - 1]), inside, p.criterion, p.progress->fallen[step % 2], second);
  if (blockIdx.x == 0)
    close_step(p, step, second, projection, h);
  else
    update_body(V, columns, h, ScaleOf(projection), static_cast<PetscInt>(blockIdx.x) - 1,
                static_cast<PetscInt>(gridDim.x) - 1);
}

/// R y = rhs by columns, last first; one block, a thread an entry in turn.
static __global__ void __launch_bounds__(DENSE_THREADS) solve_kernel(Pipeline p, PetscInt columns, Scalar *y)
{
  for (PetscInt j = threadIdx.x; j < columns; j += DENSE_THREADS) y[j] = p.H.rhs[j];
  __syncthreads();
  for (PetscInt c = columns - 1; c >= 0; c--) {
    const Scalar *r = p.H.r + static_cast<size_t>(c) * p.H.stride;
    if (threadIdx.x == 0) y[c] = Quotient(y[c], RealPart(r[c])); // AddColumn() leaves a positive diagonal
    __syncthreads();
    const Scalar yc = y[c];
    for (PetscInt j = threadIdx.x; j < c; j += DENSE_THREADS) y[j] = y[j] - r[j] * yc;
    __syncthreads();
  }
}

PetscErrorCode PipelineBegin_CUDA(const Pipeline &p, PetscReal residual, Stream stream)
{
  PetscFunctionBegin;
  begin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(p, residual);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PipelineStep_CUDA(const Pipeline &p, const Dense &V, PetscInt step, Stream stream)
{
  const cudaStream_t s       = static_cast<cudaStream_t>(stream);
  const PetscInt     columns = step + 2;
  const dim3         dots    = dots_blocks(V.rows, columns, p.scratch.multiprocessors);
  const unsigned     update  = update_blocks(V.rows, p.scratch.multiprocessors) + 1;

  PetscFunctionBegin;
  for (bool second : {false, true}) { // the second time, unless it is needed, both return at once
    pipeline_dots_kernel<<<dots, DENSE_THREADS, 0, s>>>(p, V, columns, static_cast<int>(step), second);
    pipeline_update_kernel<<<update, DENSE_THREADS, coefficient_bytes(columns), s>>>(p, V, columns,
                                                                                     static_cast<int>(step), second);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PipelineSolve_CUDA(const Pipeline &p, PetscInt columns, Scalar *y, Stream stream)
{
  PetscFunctionBegin;
  solve_kernel<<<1, DENSE_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(p, columns, y);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
