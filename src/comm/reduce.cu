/// A reduction as a launch of its own.
#include "comm/reduce.cuh"
#include "device/launch.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

static __global__ void reduce_kernel(ReduceSide side, Exchange k, int n, Scalar *values, unsigned long long timeout)
{
  __shared__ std::uint32_t words[ReduceSide::WORDS];

  begin_in_turn();
  all_reduce(side, k, n, values, values, words, timeout);
}

PetscErrorCode Reduce_CUDA(const ReduceSide &side, Exchange k, int n, Scalar *values, double timeout, Stream stream)
{
  constexpr int threads = 256; // a word each, of 32 values in double precision from 4 ranks

  PetscFunctionBegin;
  PetscCall((LaunchEarly<reduce_kernel>(PetscInt(1), threads, static_cast<cudaStream_t>(stream), side, k, n, values,
                                        static_cast<unsigned long long>(timeout * 1e9))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
