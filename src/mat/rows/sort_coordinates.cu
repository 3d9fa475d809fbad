/// Coordinates sorted on the device. The key of an entry is its row and, in the low bits, its column, in as few bits as
/// these need; ignored entries have the key of a row beyond the last and come last. A stable radix sort of the keys
/// with the entries' numbers gives perm; the first entry of each key is a nonzero, and a running sum of these numbers
/// the nonzeros. One thread an entry, or a row: all but the comparison of neighbours and the search for a row's first
/// entry reads and writes neighbouring places.
#include <algorithm>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "device/search.cuh"
#include "device/sort.hpp"
#include "mat/rows/sort_coordinates.hpp"

namespace sparsegpu::rows
{

namespace
{
/// Of the entries that are not ignored.
struct Extent {
  PetscInt   row, col; ///< the largest
  PetscCount kept;
};
struct ExtentOf {
  const PetscInt   *i, *j;
  __device__ Extent operator()(PetscCount k) const
  {
    return i[k] < 0 || j[k] < 0 ? Extent{-1, -1, 0} : Extent{i[k], j[k], 1};
  }
};
struct Join {
  __device__ Extent operator()(const Extent &a, const Extent &b) const
  {
    return Extent{a.row < b.row ? b.row : a.row, a.col < b.col ? b.col : a.col, a.kept + b.kept};
  }
};

PetscErrorCode FindExtent(PetscCount count, const PetscInt *i, const PetscInt *j, DeviceMemory *scratch, Stream stream,
                          Extent *extent)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<Extent>      all;

  PetscFunctionBegin;
  PetscCall(all.Allocate(1, Space::Device));
  const auto each = thrust::make_transform_iterator(thrust::counting_iterator<PetscCount>(0), ExtentOf{i, j});
  CallCUB(scratch, cub::DeviceReduce::Reduce, each, all.data(), static_cast<int64_t>(count), Join(), Extent{-1, -1, 0},
          s);
  PetscCall(DeviceCopyOut(extent, all.data(), sizeof(*extent), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// key [count]; `ignored` is that of ignored entries.
template <class Key> static __global__ void coordinate_key_kernel(PetscCount count, const PetscInt *i,
                                                                  const PetscInt *j, int col_bits, Key ignored,
                                                                  Key *key)
{
  const PetscCount k = thread_index();
  if (k >= count) return;
  key[k] = i[k] < 0 || j[k] < 0 ? ignored : (static_cast<Key>(i[k]) << col_bits) | static_cast<Key>(j[k]);
}

/// first[k] = 1 where key k is not its predecessor's, k < kept; first[kept] = 0.
template <class Key> static __global__ void first_kernel(PetscInt kept, const Key *key, PetscInt *first)
{
  const PetscCount k = thread_index();
  if (k <= kept) first[k] = k < kept && (k == 0 || key[k] != key[k - 1]);
}

/// The nonzeros from the sorted keys; nonzero[k]: those that begin before entry k <= kept. jmap may be null.
template <class Key> static __global__ void nonzeros_kernel(PetscInt kept, const Key *key, const PetscInt *nonzero,
                                                            const PetscInt *order, int col_bits, PetscInt *j,
                                                            PetscInt *jmap, PetscInt *perm)
{
  const PetscCount k = thread_index();
  if (k > kept) return;
  const PetscInt e = nonzero[k];
  if (k == kept) {
    if (jmap) jmap[e] = kept;
    return;
  }
  perm[k] = order[k];
  if (nonzero[k + 1] == e) return;
  if (jmap) jmap[e] = static_cast<PetscInt>(k);
  j[e] = static_cast<PetscInt>(key[k] & ((Key(1) << col_bits) - 1));
}

/// i[r], r <= rows: the nonzeros before the first entry of row r.
template <class Key> static __global__ void beginnings_kernel(PetscInt rows, PetscInt kept, const Key *key,
                                                              const PetscInt *nonzero, int col_bits, PetscInt *i)
{
  const PetscCount r = thread_index();
  if (r > rows) return;
  i[r] = nonzero[r == rows ? kept : lower_bound(key, PetscInt(0), kept, static_cast<Key>(r) << col_bits)];
}

template <class Key> static PetscErrorCode Sort(PetscInt rows, int row_bits, int col_bits, PetscInt count,
                                                PetscInt kept, const PetscInt *i, const PetscInt *j,
                                                DeviceMemory *scratch, Stream stream, SortedCoordinates *sorted)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  const PetscCount   r = static_cast<PetscCount>(rows) + 1, k = static_cast<PetscCount>(kept) + 1;
  Array<Key>         key;
  Array<PetscInt>    order, nonzero;
  PetscInt           nonzeros;

  PetscFunctionBegin;
  PetscCall(key.Allocate(count, Space::Device));
  coordinate_key_kernel<<<Blocks(count), THREADS, 0, s>>>(count, i, j, col_bits, static_cast<Key>(rows) << col_bits,
                                                          key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(count, row_bits + col_bits, &key, &order, scratch, stream));
  PetscCall(nonzero.Allocate(k, Space::Device));
  first_kernel<<<Blocks(k), THREADS, 0, s>>>(kept, key.data(), nonzero.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(kept, &nonzero, &nonzeros, scratch, stream));
  PetscCall(sorted->i.Allocate(r, Space::Device));
  PetscCall(sorted->j.Allocate(nonzeros, Space::Device));
  if (nonzeros < kept) PetscCall(sorted->jmap.Allocate(static_cast<size_t>(nonzeros) + 1, Space::Device));
  PetscCall(sorted->perm.Allocate(kept, Space::Device));
  nonzeros_kernel<<<Blocks(k), THREADS, 0, s>>>(kept, key.data(), nonzero.data(), order.data(), col_bits,
                                                sorted->j.data(), nonzeros < kept ? sorted->jmap.data() : nullptr,
                                                sorted->perm.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  beginnings_kernel<<<Blocks(r), THREADS, 0, s>>>(rows, kept, key.data(), nonzero.data(), col_bits, sorted->i.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of no entries.
static PetscErrorCode NoEntries(PetscInt rows, Stream stream, SortedCoordinates *sorted)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  PetscCall(sorted->i.Allocate(static_cast<size_t>(rows) + 1, Space::Device));
  PetscCall(sorted->j.Allocate(0, Space::Device));
  PetscCall(sorted->perm.Allocate(0, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(sorted->i.data(), 0, sorted->i.bytes(), s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortCoordinates_CUDA(PetscInt rows, PetscInt cols, PetscCount count, const PetscInt *i,
                                    const PetscInt *j, SortedCoordinates *sorted)
{
  DeviceMemory scratch;
  Extent       extent = {-1, -1, 0};
  Stream       stream;

  PetscFunctionBegin;
  PetscCheck(CanSortCoordinates(rows, cols, count), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Too many to sort: %lld coordinates of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns",
             static_cast<long long>(count), rows, cols);
  PetscCall(DeviceStream(&stream));
  if (count > 0) PetscCall(FindExtent(count, i, j, &scratch, stream, &extent));
  PetscCall(CheckLargest(rows, cols, extent.row, extent.col));
  if (extent.kept == 0) {
    PetscCall(NoEntries(rows, stream, sorted));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscInt kept = static_cast<PetscInt>(extent.kept), n = static_cast<PetscInt>(count);
  const int      row_bits = BitsUpTo(kept < n ? rows : rows - 1), col_bits = std::max(BitsUpTo(cols - 1), 1);
  if (row_bits + col_bits < 32) // a shift by all bits of a key is not defined
    PetscCall(Sort<unsigned>(rows, row_bits, col_bits, n, kept, i, j, &scratch, stream, sorted));
  else
    PetscCall(Sort<unsigned long long>(rows, row_bits, col_bits, n, kept, i, j, &scratch, stream, sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
