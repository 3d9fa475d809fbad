/// The front of a Schur complement: what was assembled is kept, and its factors become unit matrices.
#include "pc/lu/fronts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int THREADS = 256;

/// block [pivots x pivots]: a thread an entry, neighbouring threads neighbouring rows.
template <bool half, class Number>
static __global__ void take_kernel(FrontsView V, PetscInt f, LuWorkspace<Number> W, Number *block)
{
  const DeviceFront<Number> F(V, f, W.values, W.work);
  const PetscCount          p = F.pivots, e = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (e >= p * p) return;
  const PetscCount i = e % p, j = e / p;
  block[e] = half && i < j ? F.Mirrored(F.template Column<half>(i)[j]) : F.template Column<half>(j)[i];
}

/// The same threads, once all have read.
template <bool half, class Number> static __global__ void unit_kernel(FrontsView V, PetscInt f, LuWorkspace<Number> W)
{
  const DeviceFront<Number> F(V, f, W.values, W.work);
  const PetscCount          p = F.pivots, e = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (e >= p * p) return;
  const PetscCount i = e % p, j = e / p;
  if (!half || i >= j / LU_TILE * LU_TILE) F.template Column<half>(j)[i] = Number(i == j);
  if (i != j) return;
  W.local_row[F.first + j] = static_cast<PetscInt>(j);
  if (half) W.met[F.first + j] = Number(1);
  if (half && W.pair) W.pair[F.first + j] = 0;
}

template <bool half, class Number> static PetscErrorCode Take(const FrontsView &fronts, PetscInt front, PetscInt pivots,
                                                              const LuWorkspace<Number> &work, Number *block,
                                                              cudaStream_t s)
{
  const PetscCount entries = static_cast<PetscCount>(pivots) * pivots;
  const unsigned   blocks  = static_cast<unsigned>((entries + THREADS - 1) / THREADS);

  PetscFunctionBegin;
  take_kernel<half><<<blocks, THREADS, 0, s>>>(fronts, front, work, block);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  unit_kernel<half><<<blocks, THREADS, 0, s>>>(fronts, front, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode TakeApart_CUDA(const FrontsView &fronts, PetscInt front, PetscInt pivots,
                                                      const LuWorkspace<Number> &work, Number *block, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (pivots == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(fronts.shape == Shape::General ? Take<false>(fronts, front, pivots, work, block, s)
                                           : Take<true>(fronts, front, pivots, work, block, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode TakeApart_CUDA(const FrontsView &, PetscInt, PetscInt, const LuWorkspace<Scalar> &, Scalar *,
                                       Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode TakeApart_CUDA(const FrontsView &, PetscInt, PetscInt, const LuWorkspace<Single> &, Single *,
                                       Stream);
#endif

} // namespace sparsegpu::lu
