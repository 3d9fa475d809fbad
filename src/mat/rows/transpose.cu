/// The transpose of the rows on the device: a stable sort by column, with the entries' places as its payload.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/scatter.hpp"
#include "device/search.cuh"
#include "device/sort.hpp"
#include "mat/rows/device_rows.hpp"
#include "mat/rows/transpose.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

template <class Key> static __global__ void column_key_kernel(PetscInt count, const PetscInt *j, Key *key)
{
  const PetscCount e = thread_index();
  if (e < count) key[e] = static_cast<Key>(j[e]);
}

/// begin[c] = the first entry of row c of the transpose, whose row numbers ascend in `key` [count]; c <= rows.
template <class Key> static __global__ void begin_kernel(PetscInt rows, PetscInt count, const Key *key, PetscInt *begin)
{
  const PetscCount c = thread_index();
  if (c <= rows) begin[c] = c == rows ? count : lower_bound(key, PetscInt(0), count, static_cast<Key>(c));
}

/// column[t] = the row of A [rows + 1 beginnings i] that entry from[t] of A lies in.
static __global__ void row_kernel(PetscInt rows, PetscInt count, const PetscInt *i, const PetscInt *from,
                                  PetscInt *column)
{
  const PetscCount t = thread_index();
  if (t >= count) return;
  column[t] = lower_bound(i, PetscInt(0), rows + 1, from[t] + 1) - 1;
}

template <class Key> static PetscErrorCode Sort(const CsrView &A, int bits, Array<PetscInt> *i, Array<PetscInt> *j,
                                                Array<PetscInt> *from, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<Key>         key;
  DeviceMemory       scratch;

  PetscFunctionBegin;
  PetscCall(key.Allocate(A.nonzeros, Space::Device));
  column_key_kernel<<<Blocks(A.nonzeros), THREADS, 0, s>>>(A.nonzeros, A.device.j, key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(A.nonzeros, bits, &key, from, &scratch, stream)); // equal keys keep their order: rows ascend
  begin_kernel<<<Blocks(static_cast<PetscCount>(A.cols) + 1), THREADS, 0, s>>>(A.cols, A.nonzeros, key.data(),
                                                                               i->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  row_kernel<<<Blocks(A.nonzeros), THREADS, 0, s>>>(A.rows, A.nonzeros, A.device.i, from->data(), j->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransposePattern_CUDA(const CsrView &A, Array<PetscInt> *i, Array<PetscInt> *j, Array<PetscInt> *source)
{
  Stream stream;
  int    bits = 1;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(i->Allocate(static_cast<size_t>(A.cols) + 1, Space::Device));
  PetscCall(j->Allocate(A.nonzeros, Space::Device));
  if (A.nonzeros == 0) {
    SparseGPUCallCUDA(cudaMemsetAsync(i->data(), 0, i->bytes(), static_cast<cudaStream_t>(stream)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  while (bits < 63 && static_cast<unsigned long long>(A.cols - 1) >> bits) bits++;
  if (bits <= 32)
    PetscCall(Sort<unsigned>(A, bits, i, j, source, stream));
  else
    PetscCall(Sort<unsigned long long>(A, bits, i, j, source, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceRows::Transpose_CUDA(const CsrView &A, bool conjugate, Array<PetscInt> *kept)
{
  Array<PetscInt> room, &from = kept ? *kept : room;
  Stream          stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(a_.Allocate(A.nonzeros, Space::Device));
  PetscCall(TransposePattern_CUDA(A, &i_, &j_, &from));
  PetscCall(PermuteValues_CUDA(A.nonzeros, from.data(), A.device.a, conjugate, a_.data(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
