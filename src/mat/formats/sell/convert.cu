/// The arrays of a sliced ELLPACK matrix from compressed sparse rows, a warp a slice: what sell.cxx does on the host.
#include "device/cub_call.cuh"
#include "device/sort.hpp"
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256, HEIGHT = SellLayout::HEIGHT;

static unsigned Blocks(PetscCount threads)
{
  return static_cast<unsigned>((threads + THREADS - 1) / THREADS);
}
#define INDEX (static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x)

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

__device__ __forceinline__ PetscInt warp_min(PetscInt v)
{
  for (int mask = 16; mask > 0; mask /= 2) {
    const PetscInt other = __shfl_xor_sync(0xffffffffu, v, mask);
    v                    = other < v ? other : v;
  }
  return v;
}
__device__ __forceinline__ PetscInt warp_max(PetscInt v)
{
  for (int mask = 16; mask > 0; mask /= 2) {
    const PetscInt other = __shfl_xor_sync(0xffffffffu, v, mask);
    v                    = other > v ? other : v;
  }
  return v;
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

/// Where the entries of a warp's 32 rows, if these follow each other, are read from: a copy in shared memory, that
/// neighbouring lanes have fetched together, where it has the room; [first] is entry `first` either way. All lanes of
/// the warp must call.
template <class T> constexpr PetscInt STAGED = 4096 / static_cast<PetscInt>(sizeof(T)); ///< entries of a warp
template <class T> __device__ __forceinline__ const T *staged(const T *from, PetscInt first, PetscInt end, T *room)
{
  if (end - first > STAGED<T>) return from;
  __syncwarp(); // its last reader is done
  for (PetscInt e = first + static_cast<PetscInt>(threadIdx.x % 32); e < end; e += 32) room[e - first] = from[e];
  __syncwarp();
  return room - first;
}
/// The same for slice s of a plan; where its rows are sorted they lie apart.
template <class T>
__device__ __forceinline__ const T *staged_slice(const Places &P, const PetscInt *i, const T *from, PetscInt s, T *room)
{
  if (P.order) return from;
  const PetscInt last = (s + 1) * HEIGHT < P.rows ? (s + 1) * HEIGHT : P.rows;
  return staged(from, i[s * HEIGHT], i[last], room);
}

/// Bytes that hold the columns of slice s, relative to the smallest of each k; the warp's lanes agree.
__device__ __forceinline__ int bytes_of(const LaneRow &row, PetscInt width, const PetscInt *j, int least)
{
  int bytes = least;
  for (PetscInt k = 0; bytes < 4 && k < width; k++) {
    const bool     has = k < row.length;
    const PetscInt c   = has ? j[row.first + k] : 0;
    const PetscInt low = warp_min(has ? c : PETSC_MAX_INT), high = warp_max(has ? c : -1);
    if (high - low > 65535)
      bytes = 4;
    else if (high - low > 255 && bytes < 2)
      bytes = 2;
  }
  return bytes;
}

/// Looks at the slices 0, step, 2 step, ...
static __global__ void sample_kernel(Places P, CsrArrays A, int least, PetscInt step, Found *found)
{
  const PetscCount s    = INDEX / HEIGHT * step;
  const int        lane = threadIdx.x % HEIGHT;
  if (s >= P.slices) return;
  const PetscInt width = P.begin[s + 1] - P.begin[s];
  const int      bytes = bytes_of(row_of(P, A.i, static_cast<PetscInt>(s), lane), width, A.j, least);
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
  __shared__ PetscInt           room[THREADS / 32][STAGED<PetscInt>];
  const PetscCount              s    = INDEX / HEIGHT;
  const int                     lane = threadIdx.x % HEIGHT;

  if (threadIdx.x < 3) narrow[threadIdx.x] = 0;
  __syncthreads();
  if (s < P.slices) {
    const PetscInt  width = P.begin[s + 1] - P.begin[s];
    const LaneRow   row   = row_of(P, A.i, static_cast<PetscInt>(s), lane);
    const PetscInt *j     = staged_slice(P, A.i, A.j, static_cast<PetscInt>(s), room[threadIdx.x / 32]);
    const int       bytes = bytes_of(row, width, j, least);
    const bool      holes = s * HEIGHT + lane < P.rows && P.length[s * HEIGHT + lane] != width;
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
  const PetscCount s = INDEX;
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
  __shared__ PetscInt room[THREADS / 32][STAGED<PetscInt>];
  const PetscCount    s    = INDEX / HEIGHT;
  const int           lane = threadIdx.x % HEIGHT;
  if (s >= P.slices) return;
  const PetscInt  width = P.begin[s + 1] - P.begin[s];
  const LaneRow   row   = row_of(P, A.i, static_cast<PetscInt>(s), lane);
  const int       bytes = 1 << (column[s] & 3);
  unsigned char  *to    = columns + SellLayout::UNIT * static_cast<size_t>(column[s] >> 2);
  const PetscInt *j     = staged_slice(P, A.i, A.j, static_cast<PetscInt>(s), room[threadIdx.x / 32]);
  for (PetscInt group = 0; group < width; group += 4) {
    const int count = width - group < 4 ? static_cast<int>(width - group) : 4;
    if (bytes < 4) to += SellLayout::UNIT;
    for (int q = 0; q < count; q++) {
      const bool     has  = group + q < row.length;
      const PetscInt c    = has ? j[row.first + group + q] : 0;
      PetscInt       base = 0;
      if (bytes < 4) {
        base = warp_min(has ? c : PETSC_MAX_INT);
        if (base == PETSC_MAX_INT) base = 0;
        if (lane == 0) store(to - SellLayout::UNIT, 4, q, base);
      }
      store(to, bytes, count == 4 ? 4 * lane + q : q * HEIGHT + lane, has ? c - base : 0);
    }
    to += static_cast<size_t>(count) * HEIGHT * bytes;
  }
}

static __global__ void local_kernel(PetscInt rows, PetscInt window, const PetscInt *order, unsigned short *local)
{
  const PetscCount p = INDEX;
  if (p < rows) local[p] = static_cast<unsigned short>(order[p] - p / window * window);
}

namespace
{
struct TakeSlot {
  PetscInt       *slot, first;
  __device__ void operator()(PetscInt e, PetscInt s) const { slot[e] = first + s; }
};
struct TakeValue {
  const Scalar   *a;
  Scalar         *values;
  __device__ void operator()(PetscInt e, PetscInt s) const { values[s] = a[e]; }
};
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
  const PetscCount s = INDEX / HEIGHT;
  if (s >= layout.slices) return;
  const LanePlace at = place_of(layout, i, static_cast<PetscInt>(s));
  for (PetscInt k = 0; k < at.length; k++)
    slot[at.first + k] = at.slice.begin + SellSlot(at.slice.width, k, threadIdx.x % HEIGHT);
}

static __global__ void values_kernel(SellLayout layout, CsrArrays A, Scalar *values)
{
  __shared__ Scalar room[THREADS / 32][STAGED<Scalar>];
  const PetscCount  s = INDEX / HEIGHT;
  if (s >= layout.slices) return;
  const LanePlace at = place_of(layout, A.i, static_cast<PetscInt>(s));
  const Scalar   *a  = A.a;
  if (!layout.local) {
    const PetscInt first = static_cast<PetscInt>(s) * HEIGHT;
    const PetscInt last  = first + HEIGHT < layout.rows ? first + HEIGHT : layout.rows;
    a                    = staged(A.a, A.i[first], A.i[last], room[threadIdx.x / 32]);
  }
  for (PetscInt k = 0; k < at.length; k++)
    values[at.slice.begin + SellSlot(at.slice.width, k, threadIdx.x % HEIGHT)] = a[at.first + k];
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
  PetscCall(there.Copy(&found, 1, Space::Device));
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
    PetscCall(there.Copy(&found, 1, Space::Device));
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
  PetscCall(EachLong(layout, A.i, TakeValue{A.a, values + layout.long_values}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
