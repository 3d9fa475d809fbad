/// The halves of an incomplete Cholesky factorization on the device: a few lanes a row, set-up only.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "pc/trisolve/halves.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static constexpr int LANES = 8; ///< lanes of a row

/// length[r]: entries of row r in the half; length[rows] = 0.
static __global__ void half_length_kernel(FactorView F, bool upper, PetscInt *length)
{
  const PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  if (r < F.rows) length[r] = upper ? F.i[r + 1] - F.diagonal[r] : F.diagonal[r] - F.i[r] + 1;
  if (r == F.rows) length[r] = 0;
}

/// Entry k of row r of the half is entry from[i[r] + k] of F.
static __global__ void half_pattern_kernel(FactorView F, bool upper, const PetscInt *i, PetscInt *j, PetscInt *from,
                                           PetscInt *diagonal)
{
  const PetscCount t    = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  const PetscInt   r    = static_cast<PetscInt>(t / LANES);
  const int        lane = static_cast<int>(t % LANES);
  if (r >= F.rows) return;
  const PetscInt begin = upper ? F.diagonal[r] : F.i[r], length = i[r + 1] - i[r];
  for (PetscInt k = lane; k < length; k += LANES) {
    j[i[r] + k]    = F.j[begin + k];
    from[i[r] + k] = begin + k;
  }
  if (lane == 0) diagonal[r] = upper ? i[r] : i[r + 1] - 1;
}

/// The diagonal's place holds the root of the pivot's inverse; *bad: the least row where there is none.
static __global__ void half_values_kernel(FactorView H, bool upper, const PetscInt *from, const Scalar *values,
                                          Scalar *half, PetscInt *bad)
{
  const PetscCount t    = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  const PetscInt   r    = static_cast<PetscInt>(t / LANES);
  const int        lane = static_cast<int>(t % LANES);
  if (r >= H.rows) return;
  PetscReal  root;
  const bool good = RootOf(values[from[H.diagonal[r]]], &root);
  for (PetscInt e = H.i[r] + lane; e < H.i[r + 1]; e += LANES) {
    const Scalar v = values[from[e]];
    half[e]        = e == H.diagonal[r] ? Scalar(root) : upper ? v * Scalar(root) : v;
  }
  if (!good && lane == 0) {
#if defined(PETSC_USE_64BIT_INDICES)
    atomicMin(reinterpret_cast<long long *>(bad), static_cast<long long>(r));
#else
    atomicMin(bad, r);
#endif
  }
}

PetscErrorCode DeviceHalf::Build(const FactorView &F, bool upper, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  DeviceMemory       scratch;
  PetscInt           nonzeros = 0;

  PetscFunctionBegin;
  upper_ = upper;
  PetscCall(i_.Allocate(static_cast<size_t>(F.rows) + 1, Space::Device));
  PetscCall(diagonal_.Allocate(F.rows, Space::Device));
  PetscCall(report_.Allocate(1, Space::Device));
  half_length_kernel<<<Blocks(static_cast<PetscCount>(F.rows) + 1), THREADS, 0, s>>>(F, upper, i_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(F.rows, &i_, &nonzeros, &scratch, stream)); // waits
  PetscCall(j_.Allocate(nonzeros, Space::Device));
  PetscCall(from_.Allocate(nonzeros, Space::Device));
  PetscCall(values_.Allocate(nonzeros, Space::Device));
  view = FactorView{
      F.rows, nonzeros, i_.data(), j_.data(), diagonal_.data(), upper ? nullptr : F.row, upper ? F.column : nullptr,
      false};
  if (F.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  half_pattern_kernel<<<Blocks(static_cast<PetscCount>(F.rows) * LANES), THREADS, 0, s>>>(
      F, upper, i_.data(), j_.data(), from_.data(), diagonal_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceHalf::SetValues(const Scalar *values, Stream stream)
{
  const cudaStream_t s   = static_cast<cudaStream_t>(stream);
  PetscInt           bad = PETSC_MAX_INT;

  PetscFunctionBegin;
  if (view.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(DeviceCopyIn(report_.data(), &bad, sizeof(bad), stream));
  half_values_kernel<<<Blocks(static_cast<PetscCount>(view.rows) * LANES), THREADS, 0, s>>>(
      view, upper_, from_.data(), values, values_.data(), report_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&bad, report_.data(), sizeof(bad), stream)); // waits
  if (bad != PETSC_MAX_INT) PetscCall(NoRoot(bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
