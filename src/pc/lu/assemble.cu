/// What children leave is added to large fronts, in global memory.
#include "pc/lu/fronts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int ASSEMBLE_THREADS = 128;

/// A warp per column of the front: adds the children's updates there, in their order; no other warp writes it.
template <bool half, class Number> static __global__ void __launch_bounds__(ASSEMBLE_THREADS)
    assemble_kernel(FrontsView V, const PetscInt *list, LuWorkspace<Number> W)
{
  const PetscInt            f = list[blockIdx.y];
  const DeviceFront<Number> F(V, f, W.values, W.work);
  const int                 lane = threadIdx.x % 32;
  const PetscCount          p = F.pivots, r = F.others, m = F.rows;

  for (PetscCount j = (static_cast<PetscCount>(blockIdx.x) * ASSEMBLE_THREADS + threadIdx.x) / 32; j < m;
       j += static_cast<PetscCount>(gridDim.x) * ASSEMBLE_THREADS / 32) {
    // rows of pivots at top + row, others at rest + row
    Number *top  = j < p ? F.template Column<half>(j) : F.upper + (j - p) * p;
    Number *rest = (j < p ? F.template Rest<half>(j) : F.template Update<half>(j - p)) - p;
    if (j >= p)
      for (PetscCount i = (half ? j - p : 0) + lane; i < r; i += 32) rest[p + i] = Number(0);
    __syncwarp();
    const PetscCount number = F.first + F.row_begin + j;
    for (PetscInt s = V.source_begin[number]; s < V.source_begin[number + 1]; s++) {
      const PetscInt   column = V.source[s], child = V.owner[column];
      const PetscCount begin = V.row_begin[child], n = V.row_begin[child + 1] - begin;
      const Number   *from = W.work + V.update[child] + (half ? UpdateColumn(n, column - begin) : (column - begin) * n);
      const PetscInt *at   = V.relative + begin;
      for (PetscCount a = (half ? column - begin : 0) + lane; a < n; a += 32) {
        const PetscInt i = at[a];
        (i < p ? top : rest)[i] += from[a];
      }
      __syncwarp();
    }
  }
}

template <bool half, class Number> static PetscErrorCode Assemble(const FrontsView &fronts, const LargeStep &step,
                                                                  PetscInt begin, PetscInt count, const PetscInt *list,
                                                                  const LuWorkspace<Number> &work, cudaStream_t s)
{
  PetscInt rows = 0;

  PetscFunctionBegin;
  for (PetscInt k = begin; k < begin + count; k++) rows = PetscMax(rows, step.pivots[k] + step.others[k]);
  assemble_kernel<half>
      <<<Grid(Parts(rows, ASSEMBLE_THREADS / 32), count), ASSEMBLE_THREADS, 0, s>>>(fronts, list + begin, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode AssembleFronts_CUDA(const FrontsView &fronts, const LargeStep &step,
                                                           const PetscInt *list, const LuWorkspace<Number> &work,
                                                           Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  for (PetscInt begin = 0; begin < step.count; begin += LISTED_FRONTS) {
    const PetscInt count = PetscMin(LISTED_FRONTS, step.count - begin);
    PetscCall(fronts.shape != Shape::General ? Assemble<true>(fronts, step, begin, count, list, work, s)
                                             : Assemble<false>(fronts, step, begin, count, list, work, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode AssembleFronts_CUDA(const FrontsView &, const LargeStep &, const PetscInt *,
                                            const LuWorkspace<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode AssembleFronts_CUDA(const FrontsView &, const LargeStep &, const PetscInt *,
                                            const LuWorkspace<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
