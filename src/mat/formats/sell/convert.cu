/// The arrays of a sliced ELLPACK matrix from compressed sparse rows, a warp a slice: what sell.cxx does on the host.
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "device/row_windows.cuh"
#include "device/sort.hpp"
#include "mat/formats/sell/sell.hpp"
#include "mat/formats/take.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int HEIGHT = SellLayout::HEIGHT;
static constexpr int GROUP = 4; ///< entries of a row whose columns lie together; loaded together, before what is stored

namespace
{
/// A plan's arrays as kernels take them.
struct Places {
  PetscInt             rows, slices;
  const PetscInt      *order; ///< null: places are rows
  const PetscInt      *begin;
  const unsigned char *length;

  __device__ PetscInt Row(PetscInt p) const { return order ? order[p] : p; }
};
/// What is known of the columns once their widths are.
struct Found {
  unsigned long long narrow[3];  ///< entries of slices with columns of 1, 2, 4 bytes
  unsigned long long sampled[2]; ///< sums of widths, and of widths times bytes
  int                different;  ///< a slice is not like the first
  int                holes;      ///< a row is shorter than its slice, or elsewhere
};
} // namespace

static Places PlacesOf(const CsrView &A, const SellPlan &plan)
{
  return Places{A.rows, plan.slices, plan.window > 1 ? plan.device_order.data() : nullptr, plan.device_begin.data(),
                plan.device_length.data()};
}

/// A lane's row of slice s: its first entry and its length.
struct LaneRow {
  PetscInt first;
  int      length;
};
__device__ __forceinline__ LaneRow row_of(const Places &P, const PetscInt *i, PetscInt s, int lane)
{
  const PetscInt p = s * HEIGHT + lane;
  const int      l = P.length[p];
  if (l == SellLayout::NOT_HERE) return LaneRow{0, 0};
  return LaneRow{i[P.Row(p)], l};
}

/// The entries of a lane's row, GROUP at a time: of rows that follow each other and are short, all are copied to shared
/// memory at once, of others a window. All lanes of the warp must call.
template <class T> class LaneEntries
{
  using Windows                    = RowWindows<T, 1, 8>;
  static constexpr PetscInt STAGED = 4096 / static_cast<PetscInt>(sizeof(T));

public:
  static constexpr size_t ROOM =
      (PetscMax(STAGED * sizeof(T), sizeof(typename Windows::Room)) + 15) / 16 * 16; ///< bytes

  /// `room`: of the warp. Rows that follow each other have the entries [begin, end); 0 for
  /// both where rows lie apart.
  __device__ LaneEntries(const T *from, const LaneRow &row, PetscInt begin, PetscInt end, unsigned char *room)
      : windows_(from, reinterpret_cast<typename Windows::Room *>(room)),
        row_(row)
  {
    if (begin < end && end - begin <= STAGED) {
      T *all = reinterpret_cast<T *>(room);
      for (PetscInt e = begin + static_cast<PetscInt>(threadIdx.x % 32); e < end; e += 32) all[e - begin] = from[e];
      __syncwarp();
      all_ = all - begin;
    } else {
      windows_.Set(0, row.first, row.first + row.length);
      windows_.Begin();
    }
  }
  /// v[q] = entry group + q, of those there are; groups in turn.
  __device__ void Load(PetscInt group, T (&v)[GROUP])
  {
    if (!all_) windows_.Ready(GROUP);
#pragma unroll
    for (int q = 0; q < GROUP; q++)
      if (group + q < row_.length) v[q] = all_ ? all_[row_.first + group + q] : windows_.Get(0, q);
    if (!all_) windows_.Advance(0, GROUP);
  }

private:
  Windows  windows_;
  LaneRow  row_;
  const T *all_ = nullptr;
};

/// For the warps of a block.
template <class T> struct alignas(16) BlockRoom {
  unsigned char of_warp[THREADS / 32][LaneEntries<T>::ROOM];
};
using ColumnRoom = BlockRoom<PetscInt>;

/// The entries of slice s of a plan; where its rows are sorted they lie apart.
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
      if (high - low > 65535) // where none has one, the difference is negative
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

namespace
{
struct TakeColumn {
  const PetscInt *j;
  PetscInt       *long_j;
  __device__ void operator()(PetscInt e, PetscInt k) const { long_j[k] = j[e]; }
};
} // namespace

/// The slice, the length and the first entry of a lane's row; length 0: none.
struct LanePlace {
  SellSlice slice;
  int       length;
  PetscInt  first;
};
__device__ __forceinline__ LanePlace place_of(const SellLayout &layout, const PetscInt *i, PetscInt s)
{
  const PetscInt p = s * HEIGHT + static_cast<PetscInt>(threadIdx.x % HEIGHT);
  LanePlace      at{SellSliceOf(layout, s), 0, 0};
  if (p >= layout.rows) return at;
  at.length = layout.length ? layout.length[p] : static_cast<int>(at.slice.width);
  if (at.length == SellLayout::NOT_HERE) at.length = 0;
  at.first = i[layout.local ? p / layout.window * layout.window + layout.local[p] : p];
  return at;
}

static __global__ void slots_kernel(SellLayout layout, const PetscInt *i, PetscInt *slot)
{
  const PetscCount s = thread_index() / HEIGHT;
  if (s >= layout.slices) return;
  const LanePlace at = place_of(layout, i, static_cast<PetscInt>(s));
  for (PetscInt k = 0; k < at.length; k++)
    slot[at.first + k] = at.slice.begin + SellSlot(at.slice.width, k, threadIdx.x % HEIGHT);
}

static __global__ void values_kernel(SellLayout layout, CsrArrays A, Scalar *values)
{
  __shared__ BlockRoom<Scalar> room;
  const PetscCount             s = thread_index() / HEIGHT;
  if (s >= layout.slices) return;
  const LanePlace     at    = place_of(layout, A.i, static_cast<PetscInt>(s));
  const PetscInt      first = static_cast<PetscInt>(s) * HEIGHT, last = PetscMin(first + HEIGHT, layout.rows);
  LaneEntries<Scalar> entries(A.a, LaneRow{at.first, at.length}, layout.local ? 0 : A.i[first],
                              layout.local ? 0 : A.i[last], room.of_warp[threadIdx.x / 32]);
  for (PetscInt group = 0; group < at.slice.width; group += GROUP) {
    Scalar v[GROUP];
    entries.Load(group, v);
#pragma unroll
    for (int q = 0; q < GROUP; q++)
      if (group + q < at.length)
        values[at.slice.begin + SellSlot(at.slice.width, group + q, threadIdx.x % HEIGHT)] = v[q];
  }
}

/// take(e, k) for entry k of the long rows; a block a row.
template <class Take> static __global__ void each_long_kernel(SellLayout layout, const PetscInt *i, Take take)
{
  for (PetscInt l = static_cast<PetscInt>(blockIdx.x); l < layout.long_rows; l += static_cast<PetscInt>(gridDim.x)) {
    const PetscInt first = i[layout.long_row[l]], begin = layout.long_begin[l], end = layout.long_begin[l + 1];
    for (PetscInt k = begin + static_cast<PetscInt>(threadIdx.x); k < end; k += THREADS) take(first + k - begin, k);
  }
}
template <class Take>
static PetscErrorCode EachLong(const SellLayout &layout, const PetscInt *i, Take take, Stream stream)
{
  PetscFunctionBegin;
  if (layout.long_rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  each_long_kernel<<<static_cast<unsigned>(PetscMin(layout.long_rows, 65535)), THREADS, 0,
                     static_cast<cudaStream_t>(stream)>>>(layout, i, take);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SampleSellColumns_CUDA(const CsrView &A, const SellPlan &plan, int least, PetscInt step,
                                      PetscLogDouble *widths, PetscLogDouble *bytes)
{
  Found        found = {};
  Array<Found> there;
  Stream       stream;

  PetscFunctionBegin;
  *widths = *bytes = 0;
  if (plan.slices == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(there.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(there.data(), 0, there.bytes(), static_cast<cudaStream_t>(stream)));
  const PetscCount sampled = (plan.slices + step - 1) / step;
  sample_kernel<<<Blocks(sampled * HEIGHT), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      PlacesOf(A, plan), A.device, least, step, there.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&found, there.data(), sizeof(Found), stream));
  *widths = static_cast<PetscLogDouble>(found.sampled[0]);
  *bytes  = static_cast<PetscLogDouble>(found.sampled[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BuildSellColumns_CUDA(const CsrView &A, const SellPlan &plan, int least, SellColumnsOnDevice *out)
{
  const Places         P     = PlacesOf(A, plan);
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
  if (plan.slices) {
    PetscCall(there.Allocate(1, Space::Device));
    SparseGPUCallCUDA(cudaMemsetAsync(there.data(), 0, there.bytes(), s));
    PetscCall(code.Allocate(plan.slices, Space::Device));
    PetscCall(out->column.Allocate(static_cast<size_t>(plan.slices) + 1, Space::Device));
    const unsigned blocks = Blocks(static_cast<PetscCount>(plan.slices) * HEIGHT);
    bytes_kernel<<<blocks, THREADS, 0, s>>>(P, A.device, least, code.data(), out->column.data(), there.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(RunningSum(plan.slices, &out->column, &units, &scratch, stream));
    column_kernel<<<Blocks(plan.slices), THREADS, 0, s>>>(P, code.data(), out->column.data(), there.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(out->columns.Allocate(SellLayout::UNIT * static_cast<size_t>(units), Space::Device));
    out->column.Truncate(plan.slices);
    if (units) SparseGPUCallCUDA(cudaMemsetAsync(out->columns.data(), 0, out->columns.bytes(), s));
    fill_kernel<<<blocks, THREADS, 0, s>>>(P, A.device, out->column.data(), out->columns.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&first_code, code.data(), 1, stream));
    PetscCall(DeviceCopyOut(begins, plan.device_begin.data(), sizeof(begins), stream));
    PetscCall(DeviceCopyOut(&found, there.data(), sizeof(Found), stream));
  }
  for (int k = 0; k < 3; k++) out->narrow[k] = static_cast<PetscCount>(found.narrow[k]);
  out->width   = begins[1];
  out->bytes   = 1 << first_code;
  out->uniform = !found.different;
  out->full    = out->uniform && !found.holes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellLocalRows_CUDA(const CsrView &A, const SellPlan &plan, unsigned short *local)
{
  Stream stream;

  PetscFunctionBegin;
  if (plan.slices == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  SparseGPUCallCUDA(cudaMemsetAsync(local, 0, static_cast<size_t>(plan.slices) * HEIGHT * sizeof(*local), s));
  local_kernel<<<Blocks(A.rows), THREADS, 0, s>>>(A.rows, plan.window, plan.device_order.data(), local);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // the order goes
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellLongColumns_CUDA(const SellLayout &layout, const CsrArrays &A, PetscInt *j, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(EachLong(layout, A.i, TakeColumn{A.j, j}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellSlots_CUDA(const SellLayout &layout, const CsrArrays &A, PetscInt *slot, Stream stream)
{
  PetscFunctionBegin;
  if (layout.slices) {
    slots_kernel<<<Blocks(static_cast<PetscCount>(layout.slices) * HEIGHT), THREADS, 0,
                   static_cast<cudaStream_t>(stream)>>>(layout, A.i, slot);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscCall(EachLong(layout, A.i, TakeSlot{slot, layout.long_values}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellPlace_CUDA(const SellLayout &layout, const CsrArrays &A, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  if (layout.slices) {
    values_kernel<<<Blocks(static_cast<PetscCount>(layout.slices) * HEIGHT), THREADS, 0,
                    static_cast<cudaStream_t>(stream)>>>(layout, A, values);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscCall(EachLong(layout, A.i, TakeValue<false>{A.a, values + layout.long_values}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
