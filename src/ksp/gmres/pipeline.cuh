/// The bodies of the kernels that end steps, of one right-hand side and of several: pipeline.cu, many.cu.
#pragma once

#include <climits>
#include "ksp/gmres/dense.cuh"
#include "ksp/gmres/pipeline.hpp"

namespace sparsegpu::gmres
{

/// A cycle begins with this residual norm; one thread.
__device__ __forceinline__ void begin_body(const Pipeline &p, PetscReal residual)
{
  p.progress->stopped_at = INT_MAX;
  p.progress->again      = 0;
  p.progress->fallen[0]  = 1;
  p.progress->fallen[1]  = 1; // where the first step is an odd one
  p.progress->first      = residual;
  p.H.rhs[0]             = Scalar(residual);
}

__device__ __forceinline__ bool skipped(const Progress &progress, int step, bool second)
{
  return progress.stopped_at < step || (second && !progress.again);
}

/// The scalar block of the update: the new column of H, the residual norm, the decision to stop, the record. h [step +
/// 1] in shared memory holds the inner products of this pass. All threads must call.
__device__ __forceinline__ void close_step(const Pipeline &p, int step, bool second, const Projection &projection,
                                           Scalar *h)
{
  constexpr int        NEAR = 256; // rotations that are brought to shared memory first: they are needed one by one
  __shared__ Scalar    cosine[NEAR];
  __shared__ PetscReal sine[NEAR];
  const bool           near   = step <= NEAR;
  volatile Record     *record = p.records + (second && !p.twice ? p.H.stride : 0) + step;

  if (!second && threadIdx.x == 0) p.progress->again = projection.again;
  if (projection.again) {
    if (threadIdx.x == 0 && !p.twice) { // the host must launch the second pass
      p.progress->stopped_at = step;
      record->outcome        = STEP_AGAIN;
      __threadfence_system();
      record->ready = p.round;
    }
    return;
  }
  for (int j = threadIdx.x; j <= step; j += DENSE_THREADS) {
    if (second) h[j] += p.dots[0][j];
    if (near && j < step) {
      cosine[j] = p.H.cosine[j];
      sine[j]   = p.H.sine[j];
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const PetscReal whole = SquareRoot(RealPart(p.dots[0][step + 1]));
    PetscReal       residual;
    int             outcome = STEP_RESTART;
    if (projection.lost)
      residual = Magnitude(p.H.rhs[step]);
    else
      outcome = AddColumn(p.H, step, h, near ? cosine : p.H.cosine, near ? sine : p.H.sine, projection.norm, whole,
                          &residual);
    const bool tested = step >= p.tested_from && (residual <= p.converged || residual >= p.diverged);
    if (outcome == STEP_GOES_ON && (tested || !(residual - residual == 0))) outcome = STEP_STOPS; // Inf and NaN, too
    if (outcome != STEP_GOES_ON)
      p.progress->stopped_at = step;
    else if (second)
      p.progress->stopped_at = INT_MAX;
    p.progress->fallen[(step + 1) % 2] = residual / p.progress->first;
    record->norm                       = residual;
    record->outcome                    = outcome;
    __threadfence_system(); // the host reads these once it sees the next
    record->ready = p.round;
  }
  __syncthreads();
  for (int j = threadIdx.x; j <= step; j += DENSE_THREADS) p.H.r[static_cast<size_t>(step) * p.H.stride + j] = h[j];
}

/// See update_body(). Every warp finds for itself, from the same numbers in the same order, what is left of the
/// direction; the blocks with y = 0 do the scalar work meanwhile.
template <class Entry> __device__ __forceinline__ void pipeline_update_body(const Pipeline &p, const Basis<Entry> &V,
                                                                            PetscInt columns, int step, bool second)
{
  extern __shared__ __align__(16) unsigned char shared[];
  Scalar *const                                 h    = reinterpret_cast<Scalar *>(shared);
  const Scalar                                 *dots = p.dots[second];
  Scalar                                        part(0);

  if (skipped(*p.progress, step, second) || (blockIdx.y == 0 && blockIdx.x > 0)) return;
  for (PetscInt c = threadIdx.x % 32; c < columns - 1; c += 32) {
    const Scalar dot = dots[c];
    if (threadIdx.x < 32) h[c] = dot;
    part += Scalar(SquareOf(dot));
  }
  const PetscReal inside = RealPart(group_sum<32>(part));
  __syncthreads();
  const Projection projection = JudgeProjection(RealPart(dots[columns - 1]), inside, p.criterion,
                                                p.progress->fallen[step % 2], second, RealPart(p.dots[0][columns - 1]));
  if (blockIdx.y == 0)
    close_step(p, step, second, projection, h);
  else
    update_body(
        V, columns, h, ScaleOf(projection), !projection.again, blockIdx.x, gridDim.x,
        dense_share<Entry>(V.rows, static_cast<PetscInt>(blockIdx.y) - 1, static_cast<PetscInt>(gridDim.y) - 1));
}

/// R y = rhs by columns, last first; one block, a thread an entry in turn.
__device__ __forceinline__ void solve_body(const Hessenberg &H, PetscInt columns, Scalar *y)
{
  for (PetscInt j = threadIdx.x; j < columns; j += DENSE_THREADS) y[j] = H.rhs[j];
  __syncthreads();
  for (PetscInt c = columns - 1; c >= 0; c--) {
    const Scalar *r = H.r + static_cast<size_t>(c) * H.stride;
    if (threadIdx.x == 0) y[c] = Quotient(y[c], RealPart(r[c])); // AddColumn() leaves a positive diagonal
    __syncthreads();
    const Scalar yc = y[c];
    for (PetscInt j = threadIdx.x; j < c; j += DENSE_THREADS) y[j] = y[j] - r[j] * yc;
    __syncthreads();
  }
}

} // namespace sparsegpu::gmres
