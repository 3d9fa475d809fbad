/// The end of a product of several ranks: rows with ghosts, the sums of the product over all ranks, and with them those
/// that the pass before the product has left for it.
#include "ksp/cg/recurrence.cuh"
#include "mat/formats/csr/ghosts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::cg
{

/// The last block of the grid: all sums of this rank, then of all ranks.
__device__ __forceinline__ void close_product(const Closing &c)
{
  PetscReal dots[DOTS], v[DOTS + 2];

  rank_sums(c.dots.sums, c.off ? c.partial : nullptr, dots);
#pragma unroll
  for (int k = 0; k < DOTS; k++) v[k] = dots[k];
  v[DOTS] = v[DOTS + 1] = 0;
  if (threadIdx.x == 0) {
    if (c.both) {
      v[DOTS]     = c.before.state->sums[0];
      v[DOTS + 1] = c.before.state->sums[1];
    }
    lose_with(c.before.reduce, c.exchange);
  }
  sum_over_ranks(c.before.reduce, v);
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int k = 0; k < DOTS; k++) c.sums[k] = v[k];
  if (c.both) close_iteration(c.before, v[DOTS], v[DOTS + 1], c.before.state->alpha, c.before.state->before);
}

/// z and the sums of rows with ghosts as StoreAndDot has them of the others; see csr_ghost_rows().
template <int width> static __global__ void __launch_bounds__(PASS_THREADS, 4) closing_kernel(Closing c, CsrLayout off)
{
  const ProductDots &d          = c.dots;
  PetscReal          part[DOTS] = {};

  let_next_kernel_start();
  if (!comm::wanted(c.exchange)) {
    wait_for_previous_kernel();
    return;
  }
  csr_ghost_rows<width>(off, c.exchange, [&](PetscInt r, const Scalar &sum) {
    const Scalar    z      = d.z[r] + sum;
    const PetscReal weight = d.weight ? RealPart(d.weight[r]) : 1;
    d.z[r]                 = z;
    part[0] += RealPart(Conj(d.x[r]) * z);
    part[1] += weight * RealPart(Conj(d.y[r]) * z);
    part[2] += weight * RealPart(Conj(z) * z);
  });
  block_sums(part);
  leave_partial(part, c.partial);
  if (is_last_block(&c.before.state->arrived)) close_product(c);
}

/// The same where the product is complete: one block.
static __global__ void __launch_bounds__(PASS_THREADS) closing_sums_kernel(Closing c)
{
  begin_in_turn();
  if (comm::wanted(c.exchange)) close_product(c);
}

PetscErrorCode CloseProduct_CUDA(const Closing &closing, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (!closing.off) {
    PetscCall(LaunchEarly<closing_sums_kernel>(PetscInt(1), PASS_THREADS, s, closing));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const CsrLayout off = *closing.off;
  PetscCall(WithGhostRows(off, PASS_THREADS, PASS_BLOCKS, [&](auto width, PetscInt blocks) {
    return LaunchEarly<closing_kernel<decltype(width)::value>>(blocks, PASS_THREADS, s, closing, off);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
