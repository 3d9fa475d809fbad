/// A step is two kernels, inner products and update. The first block of the update does the scalar work: the column of
/// H, the residual norm, the decision to stop, the record. Kernels after the last step return at once.
#include <climits>
#include "comm/reduce.cuh"
#include "device/cuda_check.hpp"
#include "device/launch.cuh"
#include "ksp/gmres/pipeline.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

static __global__ void begin_kernel(Pipeline p, PetscReal residual)
{
  begin_body(p, residual);
}

/// One block; a thread an entry in turn.
static __global__ void __launch_bounds__(DENSE_THREADS)
    kept_kernel(Hessenberg H, PetscInt kept, PetscReal own, const Scalar *rhs)
{
  for (PetscInt k = static_cast<PetscInt>(threadIdx.x); k < kept * kept; k += DENSE_THREADS) {
    const PetscInt c = k / kept, row = k % kept;
    H.r[static_cast<size_t>(c) * H.stride + row] = Scalar(row == c ? 1 : 0);
  }
  for (PetscInt c = static_cast<PetscInt>(threadIdx.x); c < kept; c += DENSE_THREADS) {
    H.cosine[c] = Scalar(1);
    H.sine[c]   = 0;
    H.rhs[c]    = rhs[c];
  }
  if (threadIdx.x == 0) H.rhs[kept] = Scalar(own);
}

/// dots [columns] of this rank become those of all ranks, by one block. All threads must call.
__device__ __forceinline__ void dots_over_ranks(const comm::ReduceSide &side, PetscInt columns, Scalar *dots)
{
  constexpr int     MOST = comm::ReduceSide::VALUES;
  __shared__ Scalar values[MOST];
  __shared__ std::uint32_t words[comm::ReduceSide::RANKS * MOST * comm::ReduceSide::PARTS];
  const int                t = static_cast<int>(threadIdx.x);

  for (PetscInt first = 0; first < columns; first += MOST) {
    const int count = columns - first < MOST ? static_cast<int>(columns - first) : MOST;
    __syncthreads(); // all of dots is written
    if (t < count) values[t] = dots[first + t];
    comm::all_reduce(side, count, values, values, words);
    if (t < count) dots[first + t] = values[t];
  }
}

/// See dots_body().
template <class Entry, bool ranks> static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    pipeline_dots_kernel(Pipeline p, Basis<Entry> V, PetscInt columns, int step, bool second)
{
  begin_in_turn();
  if (skipped(*p.progress, step, second)) return;
  const bool last = dots_body(V, columns, p.scratch, p.dots[second]);
  if constexpr (ranks)
    if (last) dots_over_ranks(p.reduce, columns, p.dots[second]);
}

/// See pipeline_update_body().
template <class Entry> static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    pipeline_update_kernel(Pipeline p, Basis<Entry> V, PetscInt columns, int step, bool second)
{
  begin_in_turn();
  pipeline_update_body(p, V, columns, step, second);
}

static __global__ void __launch_bounds__(DENSE_THREADS) solve_kernel(Pipeline p, PetscInt columns, Scalar *y)
{
  solve_body(p.H, columns, y);
}

PetscErrorCode PipelineKept_CUDA(const Pipeline &p, PetscInt kept, PetscReal own, Stream stream)
{
  PetscFunctionBegin;
  kept_kernel<<<1, DENSE_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(p.H, kept, own, p.dots[1]);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PipelineBegin_CUDA(const Pipeline &p, PetscReal residual, Stream stream)
{
  PetscFunctionBegin;
  begin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(p, residual);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One pass of a step: the inner products, then the update.
template <class Entry> static PetscErrorCode LaunchPass(const Pipeline &p, const Basis<Entry> &V, PetscInt step,
                                                        bool second, cudaStream_t stream)
{
  const PetscInt    columns = step + 2;
  const DenseBlocks blocks  = dense_blocks<Entry>(V.rows, columns, p.scratch.multiprocessors);

  PetscFunctionBegin;
  const dim3 grid(blocks.groups, blocks.shares);
  if (p.reduce.ranks > 1)
    PetscCall(LaunchEarly<pipeline_dots_kernel<Entry, true>>(grid, DENSE_THREADS, size_t(0), stream, p, V, columns,
                                                             static_cast<int>(step), second));
  else
    PetscCall(LaunchEarly<pipeline_dots_kernel<Entry, false>>(grid, DENSE_THREADS, size_t(0), stream, p, V, columns,
                                                              static_cast<int>(step), second));
  PetscCall(LaunchEarly<pipeline_update_kernel<Entry>>(dim3(blocks.groups, blocks.shares + 1), DENSE_THREADS,
                                                       coefficient_bytes(columns), stream, p, V, columns,
                                                       static_cast<int>(step), second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Entry>
PetscErrorCode PipelineStep_CUDA(const Pipeline &p, const Basis<Entry> &V, PetscInt step, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass(p, V, step, false, static_cast<cudaStream_t>(stream)));
  // unless it is needed, its kernels return at once
  if (p.twice) PetscCall(LaunchPass(p, V, step, true, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Entry>
PetscErrorCode PipelineAgain_CUDA(const Pipeline &p, const Basis<Entry> &V, PetscInt step, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass(p, V, step, true, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PipelineSolve_CUDA(const Pipeline &p, PetscInt columns, Scalar *y, Stream stream)
{
  PetscFunctionBegin;
  solve_kernel<<<1, DENSE_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(p, columns, y);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode PipelineStep_CUDA(const Pipeline &, const Basis<Scalar> &, PetscInt, Stream);
template PetscErrorCode PipelineStep_CUDA(const Pipeline &, const Basis<Narrow> &, PetscInt, Stream);
template PetscErrorCode PipelineAgain_CUDA(const Pipeline &, const Basis<Scalar> &, PetscInt, Stream);

} // namespace sparsegpu::gmres
