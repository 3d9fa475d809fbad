/// The pattern of a factorization without fill, on the device.
#include <cub/cub.cuh>
#include "device/cuda_check.hpp"
#include "device/sort.hpp"
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

/// A warp per row of the matrix: *ascends = 0 where the steps of its columns do not ascend.
static __global__ void ascends_kernel(PetscInt rows, const PetscInt *i, const PetscInt *j, const PetscInt *column_step,
                                      int *ascends)
{
  const PetscInt r = static_cast<PetscInt>(thread_index() / 32);
  if (r >= rows) return;
  for (PetscInt e = i[r] + threadIdx.x % 32; e + 1 < i[r + 1]; e += 32)
    if (column_step[j[e]] >= column_step[j[e + 1]]) *ascends = 0;
}

/// length[k]: entries of the row that is eliminated k-th, 0 for k = rows.
static __global__ void length_kernel(PetscInt rows, const PetscInt *i, const PetscInt *row, PetscInt *length)
{
  const PetscCount k = thread_index();
  if (k <= rows) length[k] = k < rows ? i[row[k] + 1] - i[row[k]] : 0;
}

/// MOVERS lanes a row.
static constexpr int   MOVERS = 8;
static __global__ void move_kernel(PetscInt rows, const PetscInt *i, const PetscInt *j, const PetscInt *row,
                                   const PetscInt *column_step, const PetscInt *first, PetscInt *to, PetscInt *source,
                                   PetscInt *diagonal)
{
  const PetscInt k = static_cast<PetscInt>(thread_index() / MOVERS);
  if (k >= rows) return;
  const PetscInt r = row[k], begin = i[r];
  for (PetscInt e = begin + threadIdx.x % MOVERS; e < i[r + 1]; e += MOVERS) {
    const PetscInt at = first[k] + e - begin, c = column_step[j[e]];
    to[at]     = c;
    source[at] = e;
    if (c == k) diagonal[k] = at;
  }
}

/// Rows change places as they are where that leaves their columns in ascending order, as it does in subdomains of a
/// matrix in its own order: far less than a sort. *moves: whether it does.
static PetscErrorCode MoveRows(PetscInt rows, PetscInt nonzeros, const PetscInt *i, const PetscInt *j,
                               const PetscInt *column_step, DevicePattern *p, bool *moves, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<int>         ascends;
  DeviceMemory       scratch;
  int                host_ascends = 0;
  PetscInt           total        = 0;

  PetscFunctionBegin;
  PetscCall(ascends.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(ascends.data(), 1, sizeof(int), s));
  ascends_kernel<<<Blocks(static_cast<PetscCount>(rows) * 32), THREADS, 0, s>>>(rows, i, j, column_step,
                                                                                ascends.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&host_ascends, ascends.data(), sizeof(int), stream));
  *moves = host_ascends != 0;
  if (!*moves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(p->source.Allocate(nonzeros, Space::Device));
  PetscCall(p->j.Allocate(nonzeros, Space::Device));
  length_kernel<<<Blocks(static_cast<PetscCount>(rows) + 1), THREADS, 0, s>>>(rows, i, p->row.data(), p->i.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(rows, &p->i, &total, &scratch, stream));
  move_kernel<<<Blocks(static_cast<PetscCount>(rows) * MOVERS), THREADS, 0, s>>>(
      rows, i, j, p->row.data(), column_step, p->i.data(), p->j.data(), p->source.data(), p->diagonal.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *order [rows] = a copy of `from`, *step its inverse.
static PetscErrorCode TakeOrder(const PetscInt *from, Space space, Array<PetscInt> *order, Array<PetscInt> *step,
                                PetscInt rows, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(order->Allocate(rows, Space::Device));
  PetscCall(step->Allocate(rows, Space::Device));
  if (space == Space::Device)
    PetscCall(DeviceCopyWithin(order->data(), from, order->bytes(), stream));
  else
    PetscCall(DeviceCopyIn(order->data(), from, order->bytes(), stream));
  inverse_kernel<<<Blocks(rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(rows, order->data(), step->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic_CUDA(PetscInt rows, PetscInt nonzeros, const PetscInt *i, const PetscInt *j, Incomplete kind,
                             const PetscInt *row, const PetscInt *column, DevicePattern *p, PetscInt *missing,
                             Stream stream, Space of_order)
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
    PetscCall(TakeOrder(row, of_order, &p->row, &row_step, rows, stream));
    PetscCall(TakeOrder(column, of_order, &p->column, &column_step, rows, stream));
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
    bool moves = false;
    if (p->permuted && kind != Incomplete::Cholesky)
      PetscCall(MoveRows(rows, nonzeros, i, j, column_step.data(), p, &moves, stream));
    if (nonzeros > 0 && !moves)
      PetscCall(
          SortEntries(rows, nonzeros, i, j, kind == Incomplete::Cholesky, row_step.data(), column_step.data(), p, s));
    missing_kernel<<<Blocks(rows), THREADS, 0, s>>>(rows, p->diagonal.data(), found.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&host_found, found.data(), sizeof(Found), stream));
  }
  if (host_found.missing != NO_KEY) *missing = static_cast<PetscInt>(host_found.missing);
  if (*missing >= 0 && row) PetscCall(DeviceCopyOut(missing, p->row.data() + *missing, sizeof(PetscInt), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
