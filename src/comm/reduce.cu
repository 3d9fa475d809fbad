/// A reduction as a launch of its own.
#include "comm/reduce.cuh"
#include "device/launch.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

static __global__ void reduce_kernel(ReduceSide side, int n, Scalar *values)
{
  __shared__ std::uint32_t words[ReduceSide::WORDS];

  begin_in_turn();
  all_reduce(side, n, values, values, words);
}

PetscErrorCode Reduce_CUDA(const ReduceSide &side, int n, Scalar *values, Stream stream)
{
  constexpr int threads = 256; // a word each, of 32 values in double precision from 4 ranks

  PetscFunctionBegin;
  PetscCall((LaunchEarly<reduce_kernel>(PetscInt(1), threads, static_cast<cudaStream_t>(stream), side, n, values)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
