/// A thread has a row of all columns, so that it can write where it has read.
#include "device/cuda_check.hpp"
#include "ksp/gmres/recombine.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

namespace
{
constexpr int THREADS = 256;
constexpr int GROUP   = 8; ///< columns of which coefficients are in shared memory, and loads in flight

/// kept [MOST] or fewer: coefficients beyond are 0.
template <int MOST> __global__ void __launch_bounds__(THREADS) recombine_kernel(Recombination r)
{
  __shared__ Scalar image[GROUP][MOST], operand[GROUP][MOST];
  const PetscInt    row  = static_cast<PetscInt>(blockIdx.x) * THREADS + static_cast<PetscInt>(threadIdx.x);
  const bool        mine = row < r.V.rows;
  Scalar            images[MOST], operands[MOST];

#pragma unroll
  for (int q = 0; q < MOST; q++) images[q] = operands[q] = Scalar(0);
  for (PetscInt first = 0; first <= r.steps; first += GROUP) {
    __syncthreads();
    for (int t = static_cast<int>(threadIdx.x); t < GROUP * MOST; t += THREADS) {
      const int      q     = t % MOST;
      const PetscInt c     = first + t / MOST;
      image[t / MOST][q]   = q < r.kept && c <= r.steps ? r.image[c * r.kept + q] : Scalar(0);
      operand[t / MOST][q] = q < r.kept && c < r.steps ? r.operand[c * r.kept + q] : Scalar(0);
    }
    __syncthreads();
    Scalar v[GROUP], w[GROUP];
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
      const PetscInt c = first + k;
      v[k]             = mine && c <= r.steps ? r.V.Column(c)[row] : Scalar(0);
      w[k] = !mine || c >= r.steps ? Scalar(0) : c < r.before ? r.head.Column(c)[row] : r.tail.Column(c)[row];
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++)
#pragma unroll
      for (int q = 0; q < MOST; q++) {
        images[q] += image[k][q] * v[k];
        operands[q] += operand[k][q] * w[k];
      }
  }
  if (!mine) return;
#pragma unroll
  for (int q = 0; q < MOST; q++)
    if (q < r.kept) {
      r.V.Column(q)[row]    = images[q];
      r.head.Column(q)[row] = operands[q];
    }
}
} // namespace

PetscErrorCode Recombine_CUDA(const Recombination &r, Stream stream)
{
  const cudaStream_t s      = static_cast<cudaStream_t>(stream);
  const unsigned     blocks = static_cast<unsigned>((static_cast<PetscCount>(r.V.rows) + THREADS - 1) / THREADS);

  PetscFunctionBegin;
  if (blocks == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (r.kept <= 4)
    recombine_kernel<4><<<blocks, THREADS, 0, s>>>(r);
  else if (r.kept <= 8)
    recombine_kernel<8><<<blocks, THREADS, 0, s>>>(r);
  else
    recombine_kernel<MOST_KEPT><<<blocks, THREADS, 0, s>>>(r);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
