/// Jacobi sweeps over the factors on the GPU: approximate triangular solves without dependencies.
#include "pc/trisolve/jacobi.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/segmented.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

/// next = d (in - N now), d the factor's inverse diagonal, or 1; `now` null: zero. W lanes per row.
template <int W, class Values> static __global__ void __launch_bounds__(THREADS)
    jacobi_kernel(FactorView F, bool upper, Values a, const Scalar *in, const PetscInt *in_at, const Scalar *now,
                  Scalar *next, const PetscInt *next_at)
{
  const PetscInt r    = (static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x) / W;
  const int      lane = threadIdx.x % W;
  Scalar         sum(0);
  if (r < F.rows && now) {
    const PetscInt begin = upper ? F.diagonal[r] + 1 : F.i[r], end = upper ? F.i[r + 1] : F.diagonal[r];
    for (PetscInt e = begin + lane; e < end; e += W) sum += a[e] * now[F.j[e]];
  }
  sum = group_sum<W>(sum);
  if (r >= F.rows || lane != 0) return;
  Scalar result = in[in_at ? in_at[r] : r] - sum;
  if (upper != F.lower_diagonal) result = result * a[F.diagonal[r]];
  next[next_at ? next_at[r] : r] = result;
}

PetscErrorCode JacobiSweeps::Analyse(const FactorView &factors, Stream)
{
  PetscFunctionBegin;
  factors_ = factors;
  PetscCall(AllocateStuck());
  for (Array<Scalar> *scratch : {&a_, &b_, &c_}) PetscCall(scratch->Allocate(factors.rows, Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiSweeps::SetValues(const Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(values_.Set(values, factors_.nonzeros, options.single, Space::Device, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Values> static PetscErrorCode Sweep(const FactorView &F, bool upper, const Values &a, const Scalar *in,
                                                    const PetscInt *in_at, const Scalar *now, Scalar *next,
                                                    const PetscInt *next_at, Stream stream)
{
  const bool     narrow = F.nonzeros / F.rows < 8;
  const auto     kernel = narrow ? jacobi_kernel<1, Values> : jacobi_kernel<8, Values>;
  const unsigned blocks =
      static_cast<unsigned>((static_cast<PetscCount>(F.rows) * (narrow ? 1 : 8) + THREADS - 1) / THREADS);

  PetscFunctionBegin;
  kernel<<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(F, upper, a, in, in_at, now, next, next_at);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiSweeps::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   Stream stream)
{
  const FactorView &F = factors_;

  PetscFunctionBegin;
  if (F.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(values_.With([&](const auto &a) -> PetscErrorCode {
    PetscFunctionBegin;
    for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx) {
      Scalar *now = nullptr, *next = a_.data(), *other = b_.data();
      for (PetscInt k = 0; k <= options.sweeps; k++) { // the first has no products: y = D^-1 b
        PetscCall(Sweep(F, false, a, b, F.row, now, next, nullptr, stream));
        now = next;
        std::swap(next, other);
      }
      const Scalar *lower = now;
      now                 = nullptr; // `next` is free, and so is c_
      other               = c_.data();
      for (PetscInt k = 0; k <= options.sweeps; k++) {
        const bool last = k == options.sweeps;
        PetscCall(Sweep(F, true, a, lower, nullptr, now, last ? x : next, last ? F.column : nullptr, stream));
        now = next;
        std::swap(next, other);
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
