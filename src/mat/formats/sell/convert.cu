/// The arrays of a sliced ELLPACK matrix from compressed sparse rows, a warp a slice: what sell.cxx does on the host.
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "mat/formats/sell/lane_entries.cuh"
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int HEIGHT = SellLayout::HEIGHT;

namespace
{
/// The arrays of a SellArrangement as kernels take them.
struct Places {
  PetscInt             rows, slices;
  const PetscInt      *order; ///< null: places are rows
  const PetscInt      *begin;
  const unsigned char *length;

  __device__ PetscInt Row(PetscInt p) const { return order ? order[p] : p; }
};
/// Statistics of the columns once their widths are known.
struct Found {
  unsigned long long narrow[3];  ///< entries of slices with columns of 1, 2, 4 bytes
  unsigned long long sampled[2]; ///< sums of widths, and of widths times bytes
  int                different;  ///< some slice differs from the first in width or bytes
  int                holes;      ///< a row is shorter than its slice, or elsewhere
};
} // namespace

static Places PlacesOf(const CsrView &A, const SellArrangement &places)
{
  return Places{A.rows, places.slices, places.window > 1 ? places.device_order.data() : nullptr,
                places.device_begin.data(), places.device_length.data()};
}

/// A lane's row of slice s.
__device__ __forceinline__ LaneRow row_of(const Places &P, const PetscInt *i, PetscInt s, int lane)
{
  const PetscInt p = s * HEIGHT + lane;
  const int      l = P.length[p];
  if (l == SellLayout::NOT_HERE) return LaneRow{0, 0};
  return LaneRow{i[P.Row(p)], l};
}

using ColumnRoom = BlockRoom<PetscInt>;

/// The entries of slice s; those of sorted rows are not contiguous.
__device__ __forceinline__ LaneEntries<PetscInt> columns_of(const Places &P, const CsrArrays &A, const LaneRow &row,
                                                            PetscInt s, ColumnRoom &room)
{
  const PetscInt last = (s + 1) * HEIGHT < P.rows ? (s + 1) * HEIGHT : P.rows;
  return LaneEntries<PetscInt>(A.j, row, P.order ? 0 : A.i[s * HEIGHT], P.order ? 0 : A.i[last],
                               room.of_warp[threadIdx.x / 32]);
}

/// Bytes that hold the columns of a slice, relative to the smallest of each k; the warp's lanes agree.
__device__ __forceinline__ int bytes_of(const LaneRow &row, PetscInt width, LaneEntries<PetscInt> columns, int least)
{
  int bytes = least;
  for (PetscInt group = 0; bytes < 4 && group < width; group += GROUP) {
    PetscInt c[GROUP];
    columns.Load(group, c);
#pragma unroll
    for (int q = 0; q < GROUP; q++) {
      const bool     has = group + q < row.length;
      const PetscInt low = warp_min(has ? c[q] : PETSC_MAX_INT), high = warp_max(has ? c[q] : -1);
      if (high - low > 65535) // without any entry the difference is negative
        bytes = 4;
      else if (high - low > 255 && bytes < 2)
        bytes = 2;
    }
  }
  return bytes;
}

/// Looks at the slices 0, step, 2 step, ...
static __global__ void sample_kernel(Places P, CsrArrays A, int least, PetscInt step, Found *found)
{
  __shared__ ColumnRoom room;
  const PetscCount      s    = thread_index() / HEIGHT * step;
  const int             lane = threadIdx.x % HEIGHT;
  if (s >= P.slices) return;
  const PetscInt width = P.begin[s + 1] - P.begin[s];
  const LaneRow  row   = row_of(P, A.i, static_cast<PetscInt>(s), lane);
  const int      bytes = bytes_of(row, width, columns_of(P, A, row, static_cast<PetscInt>(s), room), least);
  if (lane > 0) return;
  atomicAdd(found->sampled, static_cast<unsigned long long>(width));
  atomicAdd(found->sampled + 1, static_cast<unsigned long long>(width) * bytes);
}

__device__ __forceinline__ int log2_of(int bytes)
{
  return bytes == 4 ? 2 : bytes - 1;
}

/// code[s] = log2 of the bytes of a column, unit[s] = units of the columns of slice s.
static __global__ void bytes_kernel(Places P, CsrArrays A, int least, unsigned char *code, PetscInt *unit, Found *found)
{
  __shared__ unsigned long long narrow[3];
  __shared__ ColumnRoom         room;
  const PetscCount              s    = thread_index() / HEIGHT;
  const int                     lane = threadIdx.x % HEIGHT;

  if (threadIdx.x < 3) narrow[threadIdx.x] = 0;
  __syncthreads();
  if (s < P.slices) {
    const PetscInt width = P.begin[s + 1] - P.begin[s];
    const LaneRow  row   = row_of(P, A.i, static_cast<PetscInt>(s), lane);
    const int      bytes = bytes_of(row, width, columns_of(P, A, row, static_cast<PetscInt>(s), room), least);
    const bool     holes = s * HEIGHT + lane < P.rows && P.length[s * HEIGHT + lane] != width;
    if (holes) found->holes = 1;
    if (lane == 0) {
      code[s] = static_cast<unsigned char>(log2_of(bytes));
      unit[s] = SellColumnUnits(width, bytes);
      atomicAdd(narrow + log2_of(bytes), static_cast<unsigned long long>(HEIGHT) * width);
    }
  }
  __syncthreads();
  if (threadIdx.x < 3 && narrow[threadIdx.x]) atomicAdd(found->narrow + threadIdx.x, narrow[threadIdx.x]);
}

/// column[s] = 4 * first unit + code, from the running sum of units; and whether all slices are alike.
static __global__ void column_kernel(Places P, const unsigned char *code, PetscInt *column, Found *found)
{
  const PetscCount s = thread_index();
  if (s >= P.slices) return;
  column[s] = 4 * column[s] + code[s];
  if (code[s] != code[0] || P.begin[s + 1] - P.begin[s] != P.begin[1]) found->different = 1;
}

__device__ __forceinline__ void store(unsigned char *to, int bytes, PetscInt place, PetscInt v)
{
  if (bytes == 4)
    reinterpret_cast<std::uint32_t *>(to)[place] = static_cast<std::uint32_t>(v);
  else if (bytes == 2)
    reinterpret_cast<std::uint16_t *>(to)[place] = static_cast<std::uint16_t>(v);
  else
    to[place] = static_cast<unsigned char>(v);
}

/// The columns of every slice, see the head of sell.hpp.
static __global__ void fill_kernel(Places P, CsrArrays A, const PetscInt *column, unsigned char *columns)
{
  __shared__ ColumnRoom room;
  const PetscCount      s    = thread_index() / HEIGHT;
  const int             lane = threadIdx.x % HEIGHT;
  if (s >= P.slices) return;
  const PetscInt        width   = P.begin[s + 1] - P.begin[s];
  const LaneRow         row     = row_of(P, A.i, static_cast<PetscInt>(s), lane);
  const int             bytes   = 1 << (column[s] & 3);
  unsigned char        *to      = columns + SellLayout::UNIT * static_cast<size_t>(column[s] >> 2);
  LaneEntries<PetscInt> entries = columns_of(P, A, row, static_cast<PetscInt>(s), room);
  for (PetscInt group = 0; group < width; group += GROUP) {
    const int count = width - group < GROUP ? static_cast<int>(width - group) : GROUP;
    PetscInt  c[GROUP];
    entries.Load(group, c);
    if (bytes < 4) to += SellLayout::UNIT;
#pragma unroll
    for (int q = 0; q < GROUP; q++) {
      if (q >= count) break;
      const bool has  = group + q < row.length;
      PetscInt   base = 0;
      if (bytes < 4) {
        base = warp_min(has ? c[q] : PETSC_MAX_INT);
        if (base == PETSC_MAX_INT) base = 0;
        if (lane == 0) store(to - SellLayout::UNIT, 4, q, base);
      }
      store(to, bytes, count == GROUP ? GROUP * lane + q : q * HEIGHT + lane, has ? c[q] - base : 0);
    }
    to += static_cast<size_t>(count) * HEIGHT * bytes;
  }
}

static __global__ void local_kernel(PetscInt rows, PetscInt window, const PetscInt *order, unsigned short *local)
{
  const PetscCount p = thread_index();
  if (p < rows) local[p] = static_cast<unsigned short>(order[p] - p / window * window);
}

PetscErrorCode SampleSellColumns_CUDA(const CsrView &A, const SellArrangement &places, int least, PetscInt step,
                                      PetscLogDouble *widths, PetscLogDouble *bytes)
{
  Found        found = {};
  Array<Found> there;
  Stream       stream;

  PetscFunctionBegin;
  *widths = *bytes = 0;
  if (places.slices == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(there.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(there.data(), 0, there.bytes(), static_cast<cudaStream_t>(stream)));
  const PetscCount sampled = (places.slices + step - 1) / step;
  sample_kernel<<<Blocks(sampled * HEIGHT), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      PlacesOf(A, places), A.device, least, step, there.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&found, there.data(), sizeof(Found), stream));
  *widths = static_cast<PetscLogDouble>(found.sampled[0]);
  *bytes  = static_cast<PetscLogDouble>(found.sampled[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BuildSellColumns_CUDA(const CsrView &A, const SellArrangement &places, int least,
                                     SellColumnsOnDevice *out)
{
  const Places         P     = PlacesOf(A, places);
  Found                found = {};
  Array<Found>         there;
  Array<unsigned char> code;
  DeviceMemory         scratch;
  unsigned char        first_code = 2;
  PetscInt             units = 0, begins[2] = {0, 0};
  Stream               stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  if (places.slices) {
    PetscCall(there.Allocate(1, Space::Device));
    SparseGPUCallCUDA(cudaMemsetAsync(there.data(), 0, there.bytes(), s));
    PetscCall(code.Allocate(places.slices, Space::Device));
    PetscCall(out->column.Allocate(static_cast<size_t>(places.slices) + 1, Space::Device));
    const unsigned blocks = Blocks(static_cast<PetscCount>(places.slices) * HEIGHT);
    bytes_kernel<<<blocks, THREADS, 0, s>>>(P, A.device, least, code.data(), out->column.data(), there.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(RunningSum(places.slices, &out->column, &units, &scratch, stream));
    column_kernel<<<Blocks(places.slices), THREADS, 0, s>>>(P, code.data(), out->column.data(), there.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(out->columns.Allocate(SellLayout::UNIT * static_cast<size_t>(units), Space::Device));
    out->column.Truncate(places.slices);
    if (units) SparseGPUCallCUDA(cudaMemsetAsync(out->columns.data(), 0, out->columns.bytes(), s));
    fill_kernel<<<blocks, THREADS, 0, s>>>(P, A.device, out->column.data(), out->columns.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&first_code, code.data(), 1, stream));
    PetscCall(DeviceCopyOut(begins, places.device_begin.data(), sizeof(begins), stream));
    PetscCall(DeviceCopyOut(&found, there.data(), sizeof(Found), stream));
  }
  for (int k = 0; k < 3; k++) out->narrow[k] = static_cast<PetscCount>(found.narrow[k]);
  out->width   = begins[1];
  out->bytes   = 1 << first_code;
  out->uniform = !found.different;
  out->full    = out->uniform && !found.holes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellLocalRows_CUDA(const CsrView &A, const SellArrangement &places, unsigned short *local)
{
  Stream stream;

  PetscFunctionBegin;
  if (places.slices == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  SparseGPUCallCUDA(cudaMemsetAsync(local, 0, static_cast<size_t>(places.slices) * HEIGHT * sizeof(*local), s));
  local_kernel<<<Blocks(A.rows), THREADS, 0, s>>>(A.rows, places.window, places.device_order.data(), local);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // the order is freed on return
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
