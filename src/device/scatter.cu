/// One thread an entry, in all of these kernels. Indices are read by neighbouring threads from neighbouring places;
/// values are gathered or scattered.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/scatter.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static __global__ void scatter_kernel(PetscInt count, const PetscInt *slot, const Scalar *a, bool canonical,
                                      Scalar *value)
{
  const PetscCount e = thread_index();
  if (e < count) value[slot ? slot[e] : e] = canonical ? StoredValue(a[e]) : a[e];
}

static __global__ void permute_kernel(PetscInt count, const PetscInt *perm, const Scalar *b, bool conjugate, Scalar *a)
{
  const PetscCount e = thread_index();
  if (e < count) a[e] = conjugate ? Conj(b[perm[e]]) : b[perm[e]];
}

static __global__ void fill_kernel(PetscInt count, Scalar v, Scalar *value)
{
  const PetscCount e = thread_index();
  if (e < count) value[e] = v;
}

static __global__ void coordinates_kernel(PetscInt count, const PetscInt *jmap, const PetscInt *perm, const Scalar *v,
                                          bool add, Scalar *a)
{
  const PetscInt e = static_cast<PetscInt>(thread_index());
  if (e >= count) return;
  Scalar sum(0);
  for (PetscInt k = jmap ? jmap[e] : e, end = jmap ? jmap[e + 1] : e + 1; k < end; k++) sum += v[perm[k]];
  a[e] = add ? a[e] + sum : sum;
}

PetscErrorCode ScatterValues_CUDA(PetscInt count, const PetscInt *slot, const Scalar *a, bool canonical, Scalar *value,
                                  Stream stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  scatter_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, slot, a, canonical, value);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PermuteValues_CUDA(PetscInt count, const PetscInt *perm, const Scalar *b, bool conjugate, Scalar *a,
                                  Stream stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  permute_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, perm, b, conjugate, a);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FillValues_CUDA(PetscInt count, Scalar v, Scalar *value, Stream stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  fill_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, v, value);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumCoordinates_CUDA(PetscInt count, const PetscInt *jmap, const PetscInt *perm, const Scalar *v,
                                   bool add, Scalar *a, Stream stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  coordinates_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, jmap, perm, v, add, a);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
