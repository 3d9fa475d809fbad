/// The pattern of a factorization without fill, on the device.
#include <cub/cub.cuh>
#include "device/cuda_check.hpp"
#include "pc/ilu/ilu.hpp"
#include "pc/ilu/keys.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

static constexpr Key NO_KEY = ~0ull; // sorts last

namespace
{
/// Faults of a matrix: the first row without a diagonal entry, NO_KEY: none; 0 where columns do not ascend.
struct Found {
  Key missing, sorted;
};
} // namespace

/// A warp per row: where its diagonal lies (-1: nowhere), and whether columns ascend.
static __global__ void diagonal_kernel(PetscInt rows, const PetscInt *i, const PetscInt *j, PetscInt *diagonal,
                                       Found *found)
{
  const PetscInt r = static_cast<PetscInt>(thread_index() / 32);
  if (r >= rows) return;
  PetscInt at = -1;
  for (PetscInt e = i[r] + threadIdx.x % 32; e < i[r + 1]; e += 32) {
    if (j[e] == r) at = e;
    if (e + 1 < i[r + 1] && j[e] >= j[e + 1]) found->sorted = 0;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    const PetscInt other = __shfl_xor_sync(0xffffffffu, at, mask);
    at                   = other > at ? other : at;
  }
  if (threadIdx.x % 32 > 0) return;
  diagonal[r] = at;
  if (at < 0) atomicMin(&found->missing, static_cast<Key>(r));
}

static __global__ void missing_kernel(PetscInt rows, const PetscInt *diagonal, Found *found)
{
  const PetscCount r = thread_index();
  if (r < rows && diagonal[r] < 0) atomicMin(&found->missing, static_cast<Key>(r));
}

static __global__ void inverse_kernel(PetscInt rows, const PetscInt *order, PetscInt *step)
{
  const PetscCount r = thread_index();
  if (r < rows) step[order[r]] = static_cast<PetscInt>(r);
}

/// Sort keys (row, column) of the permuted entries; a Cholesky factorization takes the upper ones twice, in key[e] and
/// key[nonzeros + e], the second one mirrored. A warp per row.
static __global__ void key_kernel(PetscInt rows, PetscInt nonzeros, const PetscInt *i, const PetscInt *j,
                                  const PetscInt *row_step, const PetscInt *column_step, int bits, bool mirror,
                                  Key *key, PetscInt *entry)
{
  const PetscInt row = static_cast<PetscInt>(thread_index() / 32);
  if (row >= rows) return;
  const Key r = static_cast<Key>(row_step ? row_step[row] : row);
  for (PetscInt e = i[row] + threadIdx.x % 32; e < i[row + 1]; e += 32) {
    const Key c = static_cast<Key>(column_step ? column_step[j[e]] : j[e]);
    key[e]      = mirror && c < r ? NO_KEY : r << bits | c;
    entry[e]    = e;
    if (!mirror) continue;
    key[nonzeros + e]   = c > r ? c << bits | r : NO_KEY;
    entry[nonzeros + e] = e;
  }
}

static __global__ void unpack_kernel(PetscCount count, const Key *key, int bits, PetscInt rows, PetscInt *i,
                                     PetscInt *j, PetscInt *diagonal, unsigned long long *kept)
{
  const PetscCount t = thread_index();
  if (t >= count || key[t] == NO_KEY) return;
  const PetscInt row    = static_cast<PetscInt>(key[t] >> bits),
                 column = static_cast<PetscInt>(key[t] & ((Key(1) << bits) - 1));
  j[t]                  = column;
  if (row == column) diagonal[row] = static_cast<PetscInt>(t);
  if (t == 0 || key[t - 1] >> bits != static_cast<Key>(row)) i[row] = static_cast<PetscInt>(t);
  if (t == count - 1 || key[t + 1] == NO_KEY) {
    *kept   = static_cast<unsigned long long>(t) + 1;
    i[rows] = static_cast<PetscInt>(t) + 1;
  }
}

/// Rows and columns of the permuted matrix by a sort of all entries.
static PetscErrorCode SortEntries(PetscInt rows, PetscInt nonzeros, const PetscInt *i, const PetscInt *j, bool mirror,
                                  const PetscInt *row_step, const PetscInt *column_step, DevicePattern *p,
                                  cudaStream_t s)
{
  const PetscCount count = static_cast<PetscCount>(nonzeros) * (mirror ? 2 : 1);
  Array<Key>       key, sorted, kept;
  Array<PetscInt>  entry;
  DeviceMemory     scratch;
  size_t           bytes     = 0;
  int              bits      = 1;
  Key              host_kept = 0;

  PetscFunctionBegin;
  PetscCall(ColumnBits(rows, &bits));
  PetscCheck(count <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The factors may have more than %" PetscInt_FMT " entries", PETSC_MAX_INT);
  PetscCall(key.Allocate(count, Space::Device));
  PetscCall(sorted.Allocate(count, Space::Device));
  PetscCall(entry.Allocate(count, Space::Device));
  PetscCall(kept.Allocate(1, Space::Device));
  PetscCall(p->source.Allocate(count, Space::Device));
  PetscCall(p->j.Allocate(count, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(kept.data(), 0, sizeof(Key), s));
  SparseGPUCallCUDA(cudaMemsetAsync(p->i.data(), 0, p->i.bytes(), s));
  key_kernel<<<Blocks(static_cast<PetscCount>(rows) * 32), THREADS, 0, s>>>(rows, nonzeros, i, j, row_step, column_step,
                                                                            bits, mirror, key.data(), entry.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  const int end = mirror ? 64 : 2 * bits; // entries left out have all bits set
  SparseGPUCallCUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key.data(), sorted.data(), entry.data(),
                                                    p->source.data(), static_cast<int64_t>(count), 0, end, s));
  PetscCall(scratch.Reserve(bytes));
  SparseGPUCallCUDA(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, key.data(), sorted.data(), entry.data(),
                                                    p->source.data(), static_cast<int64_t>(count), 0, end, s));
  unpack_kernel<<<Blocks(count), THREADS, 0, s>>>(count, sorted.data(), bits, rows, p->i.data(), p->j.data(),
                                                  p->diagonal.data(), kept.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&host_kept, kept.data(), sizeof(Key), s));
  p->nonzeros = static_cast<PetscInt>(host_kept);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic_CUDA(PetscInt rows, PetscInt nonzeros, const PetscInt *i, const PetscInt *j, Incomplete kind,
                             const PetscInt *row, const PetscInt *column, DevicePattern *p, PetscInt *missing,
                             Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<PetscInt>    row_step, column_step;
  Array<Found>       found;
  Found              host_found;

  PetscFunctionBegin;
  *missing     = -1;
  p->rows      = rows;
  p->nonzeros  = nonzeros;
  p->permuted  = row != nullptr;
  p->identical = false;
  PetscCall(p->i.Allocate(static_cast<size_t>(rows) + 1, Space::Device));
  PetscCall(p->diagonal.Allocate(rows, Space::Device));
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(found.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(found.data(), 0xff, sizeof(Found), s));
  if (p->permuted) {
    PetscCall(p->row.Allocate(rows, Space::Device));
    PetscCall(p->column.Allocate(rows, Space::Device));
    PetscCall(row_step.Allocate(rows, Space::Device));
    PetscCall(column_step.Allocate(rows, Space::Device));
    PetscCall(DeviceCopyIn(p->row.data(), row, p->row.bytes(), stream));
    PetscCall(DeviceCopyIn(p->column.data(), column, p->column.bytes(), stream));
    inverse_kernel<<<Blocks(rows), THREADS, 0, s>>>(rows, p->row.data(), row_step.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    inverse_kernel<<<Blocks(rows), THREADS, 0, s>>>(rows, p->column.data(), column_step.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
  } else if (kind != Incomplete::Cholesky) {
    diagonal_kernel<<<Blocks(static_cast<PetscCount>(rows) * 32), THREADS, 0, s>>>(rows, i, j, p->diagonal.data(),
                                                                                   found.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&host_found, found.data(), sizeof(Found), stream));
    p->identical = host_found.sorted != 0;
  }
  if (p->identical) {
    PetscCall(p->j.Allocate(nonzeros, Space::Device));
    SparseGPUCallCUDA(cudaMemcpyAsync(p->i.data(), i, p->i.bytes(), cudaMemcpyDeviceToDevice, s));
    SparseGPUCallCUDA(cudaMemcpyAsync(p->j.data(), j, p->j.bytes(), cudaMemcpyDeviceToDevice, s));
  } else {
    SparseGPUCallCUDA(cudaMemsetAsync(p->diagonal.data(), 0xff, p->diagonal.bytes(), s)); // -1
    SparseGPUCallCUDA(cudaMemsetAsync(found.data(), 0xff, sizeof(Found), s));
    if (nonzeros > 0)
      PetscCall(
          SortEntries(rows, nonzeros, i, j, kind == Incomplete::Cholesky, row_step.data(), column_step.data(), p, s));
    missing_kernel<<<Blocks(rows), THREADS, 0, s>>>(rows, p->diagonal.data(), found.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&host_found, found.data(), sizeof(Found), stream));
  }
  if (host_found.missing != NO_KEY) *missing = static_cast<PetscInt>(host_found.missing);
  if (*missing >= 0 && row) *missing = row[*missing];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
