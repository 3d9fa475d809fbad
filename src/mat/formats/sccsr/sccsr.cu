/// The product of SC-CSR on the GPU: one warp per group of rows of similar length.
#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/formats/epilogue.cuh"
#include "mat/formats/sccsr/sccsr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// One group of c rows by one warp: lane l takes entries l, l + 32, ... of the group, all of them of row l % c, and the
/// 32 / c lanes of a row are summed by shuffles. All reads of j and a are coalesced; x is gathered. Bitwise
/// reproducible.
template <int c, class Epilogue> __device__ __forceinline__ void sccsr_group(const SccsrLayout &A, int segment,
                                                                             PetscInt group, const Scalar *x,
                                                                             Epilogue &epilogue)
{
  const int      lane = threadIdx.x % 32;
  const PetscInt end  = A.start[group + 1];
  Scalar         sum(0);

#pragma unroll 4
  for (PetscInt e = A.start[group] + lane; e < end; e += 32) {
    const PetscInt column = load_stream(A.j + e);
    if (column >= 0) sum += load_stream(A.a + e) * x[column];
  }
#pragma unroll
  for (int mask = 16; mask >= c; mask /= 2) sum += shuffle_xor(sum, mask, 32);
  if (lane < c) {
    const PetscInt row = A.row_index[A.first_row[segment] + (group - A.first_group[segment]) * c + lane];
    if (row >= 0) epilogue(row, sum);
  }
}

/// epilogue(row, A x), a warp per group. The thesis launches one kernel per segment; a launch costs what a small
/// product does, and all lanes of a warp agree on the segment, so one launch serves all four.
template <class Epilogue> static __global__ void sccsr_kernel(SccsrLayout A, const Scalar *x, Epilogue epilogue)
{
  const PetscInt group = static_cast<PetscInt>(blockIdx.x) * SccsrLayout::WARPS_PER_BLOCK + threadIdx.x / 32;

  if (group < A.groups) {
    if (group < A.first_group[1])
      sccsr_group<32>(A, 0, group, x, epilogue);
    else if (group < A.first_group[2])
      sccsr_group<16>(A, 1, group, x, epilogue);
    else if (group < A.first_group[3])
      sccsr_group<8>(A, 2, group, x, epilogue);
    else
      sccsr_group<4>(A, 3, group, x, epilogue);
  }
  epilogue.Finish();
}

PetscErrorCode SccsrMult_CUDA(const SccsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  constexpr int warps = SccsrLayout::WARPS_PER_BLOCK;

  PetscFunctionBegin;
  if (A.groups == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  sccsr_kernel<<<static_cast<unsigned>((A.groups + warps - 1) / warps), warps * 32, 0,
                 static_cast<cudaStream_t>(stream)>>>(A, x, StoreSum{{y, z}});
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
