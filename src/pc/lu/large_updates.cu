/// What large fronts leave to their parents: all updates of a step together, those of the largest fronts by cuBLAS, one
/// after the other. `half`: of symmetric factorizations, the lower triangle.
#include "device/cublas.hpp"
#include "pc/lu/fronts.cuh"
#include "pc/lu/product.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// The update of the others.
template <bool half, class Number> static __global__ void __launch_bounds__(PRODUCT_THREADS, PRODUCT_BLOCKS)
    update_kernel(FrontsView V, const PetscInt *list, PetscInt most, LuWorkspace<Number> W)
{
  const DeviceFront<Number> F(V, list[blockIdx.y], W.values, W.work);
  __shared__ ProductShared<Number> shared;
  const PetscCount                 r = F.others, high = Parts(F.others, BLOCK), part = blockIdx.x;
  const PetscCount                 i0 = part % high * BLOCK, j0 = part / high * BLOCK;
  const PlainRows<Number>          L{F.upper, r}; // of a half
  const auto                       column = [&](PetscCount j) { return F.template Update<half>(j); };

  if (r > most || part >= high * high || (half && i0 < j0)) return;
  if (half)
    SubtractBlock<true>(r, r, F.pivots, L, ScaledFactor<Number, PlainRows<Number>>{F, 0, L}, column, i0, j0, &shared);
  else
    SubtractBlock<false>(r, r, F.pivots, PlainRows<Number>{F.lower + F.pivots, F.rows},
                         PlainFactor<Number>{F.upper, F.pivots}, column, i0, j0, &shared);
}

/// scaled [others x size]: columns k0 ... of L below the pivots, conjugated if Hermitian, times D. A column has
/// blockIdx.y.
template <class Number>
static __global__ void scale_kernel(FrontsView V, PetscInt f, PetscInt k0, LuWorkspace<Number> W, Number *scaled)
{
  const DeviceFront<Number> F(V, f, W.values, W.work);
  const PetscCount          i = static_cast<PetscCount>(blockIdx.x) * blockDim.x + threadIdx.x, k = k0 + blockIdx.y;
  if (i < F.others)
    scaled[i + static_cast<PetscCount>(blockIdx.y) * F.others] = F.Pivot(k) * F.Mirrored(F.template Rest<true>(k)[i]);
}

template <class Number> static PetscErrorCode SubtractLargestHalf(const FrontsView &fronts, const FrontPlan &plan,
                                                                  PetscInt f, PetscInt p, PetscInt r,
                                                                  const LuWorkspace<Number> &work, Stream stream)
{
  constexpr PetscInt threads  = 256;  // any multiple of 32
  constexpr PetscInt TRIANGLE = 1024; // rows of one that is worth more products for less work
  Number *const      scaled   = work.work + plan.scaled;
  const PetscInt     tile     = static_cast<PetscInt>(UpdateTile(r));

  PetscFunctionBegin;
  for (PetscInt k0 = 0; k0 < p; k0 += SCALED_PIVOTS) {
    const PetscInt      size = PetscMin(SCALED_PIVOTS, p - k0);
    const Number *const L    = work.values + plan.upper[f] + static_cast<PetscCount>(k0) * r;
    const dim3          grid(static_cast<unsigned>(Parts(r, threads)), static_cast<unsigned>(size));
    scale_kernel<<<grid, threads, 0, static_cast<cudaStream_t>(stream)>>>(fronts, f, k0, work, scaled);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    for (PetscInt j0 = 0; j0 < r; j0 += tile) { // a tile of columns, from its diagonal down
      const PetscInt rows = r - j0, columns = PetscMin(tile, rows), whole = columns < TRIANGLE ? 0 : columns;
      Number *const  diagonal = work.work + plan.update[f] + UpdateColumn(r, j0) + j0;
      PetscCall(CublasSubtractLowerProduct(whole, size, L + j0, r, scaled + j0, r, diagonal, rows, stream));
      PetscCall(CublasSubtractTransposedProduct(rows - whole, columns, size, L + j0 + whole, r, scaled + j0, r,
                                                diagonal + whole, rows, stream));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> static PetscErrorCode SubtractLargest(const FrontsView &fronts, const FrontPlan &plan,
                                                              const LargeStep &step, PetscInt most,
                                                              const LuWorkspace<Number> &work, Stream stream)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < step.count; k++) {
    const PetscInt f = step.front[k], p = step.pivots[k], r = step.others[k];
    if (r <= most) continue;
    if (plan.Half())
      PetscCall(SubtractLargestHalf(fronts, plan, f, p, r, work, stream));
    else
      PetscCall(CublasSubtractProduct(r, r, p, work.values + plan.lower[f] + p, p + r, work.values + plan.upper[f], p,
                                      work.work + plan.update[f], r, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode LargeUpdates_CUDA(const FrontsView &fronts, const FrontPlan &plan,
                                                         const LargeStep &step, const PetscInt *list,
                                                         const LuWorkspace<Number> &work, Stream stream)
{
  const cudaStream_t s    = static_cast<cudaStream_t>(stream);
  bool               blas = false;

  PetscFunctionBegin;
  if (plan.widest > MOST_OTHERS) PetscCall(CublasFound(&blas));
  const PetscInt most = blas ? MOST_OTHERS : PETSC_MAX_INT;
  for (PetscInt begin = 0; begin < step.count; begin += LISTED_FRONTS) {
    const PetscInt count  = PetscMin(LISTED_FRONTS, step.count - begin);
    PetscInt       widest = 0;
    for (PetscInt k = begin; k < begin + count; k++)
      if (step.others[k] <= most) widest = PetscMax(widest, step.others[k]);
    if (widest == 0) continue; // CUDA rejects an empty grid
    const PetscCount high   = Parts(widest, BLOCK);
    const auto       update = plan.Half() ? update_kernel<true, Number> : update_kernel<false, Number>;
    update<<<Grid(high * high, count), PRODUCT_THREADS, 0, s>>>(fronts, list + begin, most, work);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscCall(SubtractLargest(fronts, plan, step, most, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode LargeUpdates_CUDA(const FrontsView &, const FrontPlan &, const LargeStep &, const PetscInt *,
                                          const LuWorkspace<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode LargeUpdates_CUDA(const FrontsView &, const FrontPlan &, const LargeStep &, const PetscInt *,
                                          const LuWorkspace<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
