/// The places of the rows of a sliced ELLPACK matrix, found on the device.
#include <thrust/iterator/counting_iterator.h>
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int HEIGHT = SellLayout::HEIGHT;

namespace
{
struct Counts {
  unsigned long long entries; ///< of short rows
  unsigned long long warp_rows, block_rows;
};
/// Rows of lengths in (least, most].
struct LongRows {
  const PetscInt *i;
  PetscInt        least, most;
  __device__ bool operator()(PetscInt r) const
  {
    const PetscInt length = i[r + 1] - i[r];
    return length > least && length <= most;
  }
};
} // namespace

static __global__ void count_kernel(PetscInt rows, const PetscInt *i, PetscInt longest, Counts *counts)
{
  unsigned long long entries = 0, warps = 0, blocks = 0;
  for (PetscCount r = thread_index(); r < rows; r += static_cast<PetscCount>(gridDim.x) * THREADS) {
    const PetscInt length = i[r + 1] - i[r];
    if (length <= longest)
      entries += static_cast<unsigned long long>(length);
    else
      ++(length <= SellLayout::WARP_ROW ? warps : blocks);
  }
  entries = warp_sum(entries);
  warps   = warp_sum(warps);
  blocks  = warp_sum(blocks);
  if (threadIdx.x % 32 > 0) return;
  atomicAdd(&counts->entries, entries);
  if (warps) atomicAdd(&counts->warp_rows, warps);
  if (blocks) atomicAdd(&counts->block_rows, blocks);
}

/// Sorted by these, rows lie window by window and by falling length, those of other classes last.
template <class Key>
static __global__ void keys_kernel(PetscInt rows, const PetscInt *i, PetscInt window, PetscInt longest, Key *key)
{
  const PetscCount r = thread_index();
  if (r >= rows) return;
  const PetscInt length = i[r + 1] - i[r];
  key[r] = static_cast<Key>(r / window) << 8 | static_cast<Key>(length > longest ? longest + 1 : longest - length);
}

/// Lengths of the places, and of each slice its width in begin[slice]; a warp a slice.
static __global__ void slices_kernel(PetscInt rows, PetscInt slices, const PetscInt *i, const PetscInt *order,
                                     PetscInt longest, unsigned char *lengths, PetscInt *begin)
{
  const PetscCount p = thread_index();
  if (p >= static_cast<PetscCount>(slices) * HEIGHT) return;
  int  length = 0;
  bool here   = false;
  if (p < rows) {
    const PetscInt r = order ? order[p] : static_cast<PetscInt>(p), all = i[r + 1] - i[r];
    here   = all <= longest;
    length = here ? static_cast<int>(all) : 0;
  }
  lengths[p] = here ? static_cast<unsigned char>(length) : SellLayout::NOT_HERE;
  length     = warp_max(length);
  if (threadIdx.x % 32 == 0) begin[p / HEIGHT] = length;
}

static int Bits(unsigned long long most)
{
  int bits = 0;
  while (most >> bits) bits++;
  return bits;
}

template <class Key> static PetscErrorCode Sort(const CsrView &A, PetscInt window, SellArrangement *places,
                                                DeviceMemory *scratch, Stream stream)
{
  const int  bits = 8 + Bits(static_cast<unsigned long long>(A.rows / window));
  Array<Key> key;

  PetscFunctionBegin;
  PetscCall(key.Allocate(A.rows, Space::Device));
  keys_kernel<<<Blocks(A.rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A.rows, A.device.i, window,
                                                                                 places->longest, key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(A.rows, bits, &key, &places->device_order, scratch, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Orders the rows in windows and cuts slices; *widths: their sum.
static PetscErrorCode Slice(const CsrView &A, PetscInt window, SellArrangement *places, PetscInt *widths,
                            DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  places->window = window;
  if (window > 1 && A.rows / window < 1 << 24)
    PetscCall(Sort<unsigned>(A, window, places, scratch, stream));
  else if (window > 1)
    PetscCall(Sort<unsigned long long>(A, window, places, scratch, stream));
  PetscCall(places->device_begin.Allocate(static_cast<size_t>(places->slices) + 1, Space::Device));
  PetscCall(places->device_length.Allocate(static_cast<size_t>(places->slices) * HEIGHT, Space::Device));
  slices_kernel<<<Blocks(static_cast<PetscCount>(places->slices) * HEIGHT), THREADS, 0, s>>>(
      A.rows, places->slices, A.device.i, window > 1 ? places->device_order.data() : nullptr, places->longest,
      places->device_length.data(), places->device_begin.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(places->slices, &places->device_begin, widths, scratch, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Appends the rows of lengths in (least, most], `count` of them, to the list.
static PetscErrorCode ListLongRows(const CsrView &A, PetscInt least, PetscInt most, size_t count,
                                   SellArrangement *places, DeviceMemory *scratch, Stream stream)
{
  Array<PetscInt> row, found;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t before = places->long_row.size();
  PetscCall(row.Allocate(count, Space::Device));
  PetscCall(found.Allocate(1, Space::Device));
  CallCUB(scratch, cub::DeviceSelect::If, thrust::counting_iterator<PetscInt>(0), row.data(), found.data(),
          static_cast<int64_t>(A.rows), LongRows{A.device.i, least, most}, static_cast<cudaStream_t>(stream));
  PetscCallCXX(places->long_row.resize(before + count));
  PetscCall(DeviceCopyOut(places->long_row.data() + before, row.data(), row.bytes(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArrangeSell_CUDA(const CsrView &A, PetscInt window, PetscInt longest, SellArrangement *places)
{
  constexpr unsigned MOST = 1024; // blocks
  Counts             counts;
  Array<Counts>      found;
  DeviceMemory       scratch;
  PetscInt           widths = 0;
  Stream             stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  places->longest      = SellLongestShort(A, longest);
  places->slices       = (A.rows + HEIGHT - 1) / HEIGHT;
  places->window       = window == -1 ? 1 : window;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(found.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(found.data(), 0, found.bytes(), s));
  count_kernel<<<PetscMin(Blocks(A.rows), MOST), THREADS, 0, s>>>(A.rows, A.device.i, places->longest, found.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&counts, found.data(), sizeof(Counts), stream));
  PetscCall(ListLongRows(A, places->longest, SellLayout::WARP_ROW, counts.warp_rows, places, &scratch, stream));
  places->warp_rows = static_cast<PetscInt>(places->long_row.size());
  PetscCall(ListLongRows(A, PetscMax(places->longest, SellLayout::WARP_ROW), PETSC_MAX_INT, counts.block_rows, places,
                         &scratch, stream));
  for (PetscInt w : SellWindows::TRIED) {
    if (window != -1) w = window;
    PetscCall(Slice(A, w, places, &widths, &scratch, stream));
    places->stored = static_cast<PetscCount>(HEIGHT) * widths;
    if (window != -1 || places->stored <= SellWindows::ENOUGH * static_cast<PetscReal>(counts.entries)) break;
  }
  places->stored += A.nonzeros - static_cast<PetscCount>(counts.entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
