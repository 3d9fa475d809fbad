/// The product of an off-diagonal block on the GPU: one launch awaits the ghosts, multiplies and adds.
#include "mat/formats/csr/ghosts.cuh"
#include "device/grid.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// What `to` says of A x, see csr_ghost_rows().
template <int width> static __global__ void __launch_bounds__(THREADS, 5)
    csr_ghosts_kernel(CsrLayout A, comm::DeviceExchange exchange, SumTarget to)
{
  let_next_kernel_start();
  csr_ghost_rows<width>(A, exchange, [&](PetscInt r, const Scalar &sum) {
    to.z[r] = to.z[r] + Scalar(to.factor) * (to.d ? to.d[r] * sum : sum);
  });
}

PetscErrorCode CsrAddArriving_CUDA(const CsrLayout &A, const comm::DeviceExchange &exchange, const SumTarget &to,
                                   Stream stream)
{
  PetscFunctionBegin;
  PetscCall(WithGhostRows(A, THREADS, PETSC_MAX_INT, [&](auto width, PetscInt blocks) {
    return LaunchEarly<csr_ghosts_kernel<decltype(width)::value>>(blocks, THREADS, static_cast<cudaStream_t>(stream), A,
                                                                  exchange, to);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
