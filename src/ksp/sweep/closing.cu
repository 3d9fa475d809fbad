/// See closing.hpp. The last block of the grid has the norms of all blocks and exchanges this rank's with the others:
/// as sums of numbers of which all but one are zero.
#include "comm/reduce.cuh"
#include "device/cuda_check.hpp"
#include "ksp/sweep/closing.hpp"
#include "ksp/sweep/sweep.cuh"
#include "mat/formats/csr/ghosts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::sweep
{

/// `blocks` blocks have left their norms in c.partial. All threads must call.
__device__ __forceinline__ void close_over_ranks(const SweepClosing &c, unsigned blocks)
{
  __shared__ Scalar norms[comm::ReduceSide::RANKS];
  __shared__ std::uint32_t words[comm::ReduceSide::RANKS * comm::ReduceSide::RANKS * comm::ReduceSide::PARTS];
  const int                t    = static_cast<int>(threadIdx.x);
  const PetscReal          norm = blocks_joined(c.sweep.norm, c.partial, blocks);

  if (t < c.reduce.ranks) norms[t] = Scalar(0);
  __syncthreads();
  if (t == 0) {
    norms[c.reduce.rank]     = Scalar(joined(c.sweep.norm, norm, *c.control.local));
    const std::uint64_t lost = *static_cast<volatile std::uint64_t *>(&c.exchange.state->lost);
    if (lost) comm::lose(c.reduce, c.exchange.side.neighbours[comm::NeighbourOf(lost)].rank);
  }
  comm::all_reduce(c.reduce, c.reduce.ranks, norms, norms, words);
  if (t > 0) return;
  PetscReal whole = RealPart(norms[0]);
  for (int r = 1; r < c.reduce.ranks; r++) whole = joined(c.sweep.norm, whole, RealPart(norms[r]));
  close_sweep(c.control, whole);
}

/// See csr_ghost_rows().
template <int width> static __global__ void __launch_bounds__(JACOBI_THREADS, 4)
    closing_kernel(SweepClosing c, CsrLayout off)
{
  __shared__ bool last;
  PetscReal       norm = 0;

  let_next_kernel_start();
  if (!comm::wanted(c.exchange)) {
    wait_for_previous_kernel();
    return;
  }
  csr_ghost_rows<width>(off, c.exchange, [&](PetscInt r, const Scalar &sum) {
    norm = joined(c.sweep.norm, norm, jacobi_row(c.sweep, r, c.sweep.next[r] + sum));
  });
  if (!c.control.record) return;
  norm = block_joined(c.sweep.norm, norm);
  if (threadIdx.x == 0) {
    c.partial[blockIdx.x] = norm;
    __threadfence();
    last = atomicAdd(c.control.arrived, 1u) == gridDim.x - 1;
    if (last) *c.control.arrived = 0;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  close_over_ranks(c, gridDim.x);
}

/// The same without rows: one block.
static __global__ void __launch_bounds__(JACOBI_THREADS) closing_norm_kernel(SweepClosing c)
{
  begin_in_turn();
  if (comm::wanted(c.exchange)) close_over_ranks(c, 0);
}

PetscErrorCode CloseSweep_CUDA(const SweepClosing &closing, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (!closing.off) {
    if (closing.control.record) PetscCall(LaunchEarly<closing_norm_kernel>(PetscInt(1), JACOBI_THREADS, s, closing));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const CsrLayout off = *closing.off;
  PetscCall(WithGhostRows(off, JACOBI_THREADS, JACOBI_BLOCKS, [&](auto width, PetscInt blocks) {
    return LaunchEarly<closing_kernel<decltype(width)::value>>(blocks, JACOBI_THREADS, s, closing, off);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::sweep
