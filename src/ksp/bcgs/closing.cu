/// The end of a product of several ranks: rows with ghosts, and the sums of the product over all ranks.
#include "ksp/bcgs/recurrence.hpp"
#include "ksp/common/passes.cuh"
#include "ksp/common/ranks.cuh"
#include "mat/formats/csr/ghosts.cuh"

namespace sparsegpu::bcgs
{

/// The last block of the grid: all sums of this rank, then of all ranks.
template <int count> __device__ __forceinline__ void close_product(const Closing &c)
{
  PetscReal v[count];

  rank_sums(c.dots.sums, c.off ? c.partial : nullptr, v);
  if (threadIdx.x == 0) lose_with(c.reduce, c.exchange);
  sum_over_ranks(c.reduce, v);
#pragma unroll
  for (int k = 0; k < count; k++)
    if (threadIdx.x == 0) c.all[k] = v[k];
}

/// z and the sums of rows with ghosts as ScaledDots has them of the others; see csr_ghost_rows().
template <int width, int count> static __global__ void __launch_bounds__(PASS_THREADS, 4)
    closing_kernel(Closing c, CsrLayout off)
{
  const ProductDots &d           = c.dots;
  PetscReal          part[count] = {};

  let_next_kernel_start();
  if (!comm::wanted(c.exchange)) {
    wait_for_previous_kernel();
    return;
  }
  csr_ghost_rows<width>(off, c.exchange, [&](PetscInt r, const Scalar &sum) {
    const Scalar whole = d.z[r] + sum, z = d.weight ? d.weight[r] * whole : whole;
    d.z[r] = z;
    add_parts(Conj(d.y[r]) * z, part);
    part[PARTS] += RealPart(Conj(z) * z);
    if constexpr (count == MINIMISE_DOTS) {
      const Scalar s = d.s[r];
      add_parts(Conj(s) * z, part + SHADOW_DOTS);
      part[SHADOW_DOTS + PARTS] += RealPart(Conj(s) * s);
    }
  });
  block_sums(part);
  leave_partial(part, c.partial);
  if (is_last_block(c.waiting)) close_product<count>(c);
}

/// The same where the product is complete: one block.
template <int count> static __global__ void __launch_bounds__(PASS_THREADS) closing_sums_kernel(Closing c)
{
  begin_in_turn();
  if (comm::wanted(c.exchange)) close_product<count>(c);
}

template <int count> static PetscErrorCode Launch(const Closing &c, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!c.off) {
    PetscCall(LaunchEarly<closing_sums_kernel<count>>(PetscInt(1), PASS_THREADS, stream, c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const CsrLayout off = *c.off;
  PetscCall(WithGhostRows(off, PASS_THREADS, PASS_BLOCKS, [&](auto width, PetscInt blocks) {
    return LaunchEarly<closing_kernel<decltype(width)::value, count>>(blocks, PASS_THREADS, stream, c, off);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CloseProduct_CUDA(const Closing &closing, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  PetscCall(closing.dots.kind == ProductSums::Shadow ? Launch<SHADOW_DOTS>(closing, s)
                                                     : Launch<MINIMISE_DOTS>(closing, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
