/// The sums of a product over all ranks, by one thread block.
#include "ksp/bcgs/recurrence.hpp"
#include "ksp/common/passes.cuh"
#include "ksp/common/ranks.cuh"

namespace sparsegpu::bcgs
{

template <int count> static __global__ void __launch_bounds__(PASS_THREADS)
    closing_kernel(Closing c, comm::ReduceSide reduce)
{
  __shared__ PetscReal whole[count];
  PetscReal            v[count];

  begin_in_turn();
  if (*c.stopped_at < c.number) return;
  product_sums(c.sums, whole);
#pragma unroll
  for (int k = 0; k < count; k++) v[k] = whole[k];
  if (threadIdx.x == 0) lose_with(reduce, c.exchange);
  sum_over_ranks(reduce, v);
#pragma unroll
  for (int k = 0; k < count; k++)
    if (threadIdx.x == 0) c.all[k] = v[k];
}

PetscErrorCode CloseProduct_CUDA(ProductSums kind, const Closing &closing, const comm::ReduceSide &reduce,
                                 Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  PetscCall(kind == ProductSums::Shadow
                ? LaunchEarly<closing_kernel<SHADOW_DOTS>>(PetscInt(1), PASS_THREADS, s, closing, reduce)
                : LaunchEarly<closing_kernel<MINIMISE_DOTS>>(PetscInt(1), PASS_THREADS, s, closing, reduce));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
