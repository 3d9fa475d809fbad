/// The values of the smoothed prolongator on the device. A group of lanes makes a row: some take the entries of A's row
/// in turn, with sums of their own, and each of these is as many lanes as P0 has columns. Sums are added in the lanes'
/// order, so that the bits repeat.
#include <algorithm>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/search.cuh"
#include "device/segmented.cuh"
#include "pc/aggregate/prolongator.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
constexpr int WIDTH = 8; ///< lanes of a row
constexpr int ROWS  = THREADS / WIDTH;

struct Arguments {
  ProlongatorInput in;
  const PetscInt  *i, *j; ///< of P
  Scalar          *p;
};

/// What a row of A is scaled by, and whether its weak entries are added to its diagonal.
struct RowScale {
  Scalar diagonal;
  bool   lumped;
};

/// By `width` lanes. All lanes of a warp call; those of a row without entries, too.
template <int width> __device__ __forceinline__ RowScale look_at_row(const ProlongatorInput &in, PetscInt row,
                                                                     PetscInt begin, PetscInt end, int lane)
{
  Scalar diagonal(0), weak(0);
  for (PetscInt e = begin + lane; e < end; e += width) {
    const PetscInt column = in.A.arrays.j[e];
    if (column == row) diagonal = in.A.arrays.a[e];
    if (in.strong && !in.strong[e] && column % in.block_size == row % in.block_size) weak += in.A.arrays.a[e];
  }
  diagonal           = group_sum<width>(diagonal);
  const Scalar whole = diagonal + group_sum<width>(weak);
  const bool   lump  = Magnitude(whole) > Magnitude(diagonal) / 4;
  return RowScale{lump ? whole : diagonal, lump};
}

/// The entry of row [length / vectors] whose aggregate is `to`; rows hold it.
__device__ __forceinline__ PetscInt place_of(const PetscInt *j, PetscInt length, PetscInt vectors, PetscInt to)
{
  PetscInt low = 0, high = length / vectors;
  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;
    if (j[middle * vectors] <= to * vectors)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// What a row of A is multiplied with: 1 where D^-1 follows for the whole node.
__device__ __forceinline__ Scalar factor_of(const ProlongatorInput &in, const RowScale &scale)
{
  if (in.blocks) return Scalar(1);
  return Magnitude(scale.diagonal) > 0 ? Scalar(-in.damping) * Inverse(scale.diagonal) : Scalar(0);
}

/// `parts` lanes of a group belong to one entry of A, for the columns of P0; WIDTH / parts entries are taken at a time.
/// Rows whose sums exceed `capacity` are left to long_rows_kernel().
template <int parts> __global__ void __launch_bounds__(THREADS) values_kernel(Arguments p, PetscInt capacity)
{
  extern __shared__ double2 memory[];
  constexpr int             ENTRIES = WIDTH / parts;
  const ProlongatorInput   &in      = p.in;
  const PetscCount          index   = thread_index() / WIDTH;
  const int                 lane = threadIdx.x % WIDTH, part = lane % parts, worker = lane / parts;
  const PetscInt            row  = index < in.A.rows ? static_cast<PetscInt>(index) : 0;
  const PetscInt            node = NodeOf(row, in.block_size), k = in.vectors, first = p.i[row];
  const PetscInt            own    = index < in.A.rows ? in.of[node] : -1;
  const PetscInt            length = own < 0 ? 0 : p.i[row + 1] - first;
  const bool                mine   = own >= 0 && length <= capacity / ENTRIES;
  const PetscInt            begin = mine ? in.A.arrays.i[row] : 0, end = mine ? in.A.arrays.i[row + 1] : 0;
  Scalar *const             sum = reinterpret_cast<Scalar *>(memory) + threadIdx.x / WIDTH * capacity;

  for (PetscInt q = lane; mine && q < length * ENTRIES; q += WIDTH) sum[q] = Scalar(0);
  const RowScale scale = look_at_row<WIDTH>(in, row, begin, end, lane);
  __syncwarp();
  for (PetscInt e = begin + worker; e < end; e += ENTRIES) {
    PetscInt column = in.A.arrays.j[e];
    if (in.strong && !in.strong[e]) {
      if (!scale.lumped) continue;
      column = node * in.block_size + column % in.block_size;
    }
    const PetscInt to = in.of[NodeOf(column, in.block_size)];
    if (to < 0) continue;
    const PetscInt      place = place_of(p.j + first, length, k, to) * k;
    const Scalar        a     = in.A.arrays.a[e];
    const Scalar *const from  = in.P0 + static_cast<PetscCount>(column) * k;
    for (PetscInt c = part; c < k; c += parts) sum[(place + c) * ENTRIES + worker] += a * from[c];
  }
  __syncwarp();
  if (!mine) return;
  const Scalar   factor = factor_of(in, scale);
  const PetscInt at     = place_of(p.j + first, length, k, own) * k;
  for (PetscInt q = lane; q < length; q += WIDTH) {
    Scalar all(0);
    for (int w = 0; w < ENTRIES; w++) all += sum[q * ENTRIES + w];
    all = factor * all;
    if (!in.blocks && q >= at && q < at + k) all += in.P0[static_cast<PetscCount>(row) * k + q - at];
    p.p[first + q] = all;
  }
}

/// The same where A's rows are made of the blocks of nodes: a warp has all rows of a node, and lanes the entries of a
/// block's product with P0. Rows of more than capacity / block_size entries are left to long_rows_kernel().
__global__ void __launch_bounds__(THREADS) node_values_kernel(Arguments p, PetscInt capacity)
{
  extern __shared__ double2 memory[];
  const ProlongatorInput   &in    = p.in;
  const PetscCount          index = thread_index() / 32;
  const int                 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const PetscInt            size = in.block_size, k = in.vectors, node = static_cast<PetscInt>(index);
  if (index >= in.nodes || in.of[node] < 0) return;
  const PetscInt row = node * size, first = p.i[row], length = p.i[row + 1] - first;
  if (length > capacity / size) return;
  const PetscInt      begin = in.A.arrays.i[row], count = (in.A.arrays.i[row + 1] - begin) / size;
  const Scalar *const a  = in.A.arrays.a + begin;
  Scalar *const diagonal = reinterpret_cast<Scalar *>(memory) + warp * (capacity + size), *const sum = diagonal + size;

  for (PetscInt q = lane; q < size * length; q += 32) sum[q] = Scalar(0);
  for (PetscInt q = lane; q < size; q += 32) diagonal[q] = Scalar(0);
  __syncwarp();
  PetscInt mine = -1, mine_at = -1; // the next 32 blocks' nodes and places, each by a lane, ahead of their use
  for (PetscInt e = 0; e < count; e++) {
    const int turn = static_cast<int>(e % 32);
    if (turn == 0) {
      mine              = e + lane < count ? NodeOf(in.A.arrays.j[begin + (e + lane) * size], size) : -1;
      const PetscInt to = mine >= 0 ? in.of[mine] : -1;
      mine_at           = to >= 0 ? place_of(p.j + first, length, k, to) * k : -1;
    }
    const PetscInt other = __shfl_sync(0xffffffffu, mine, turn), place = __shfl_sync(0xffffffffu, mine_at, turn);
    if (other == node)
      for (PetscInt q = lane; q < size; q += 32) diagonal[q] = a[(q * count + e) * size + q];
    if (place < 0) continue;
    const Scalar *const from = in.P0 + static_cast<PetscCount>(other) * size * k;
    for (PetscInt q = lane, s = lane / k, c = lane % k; q < size * k; q += 32) {
      const Scalar *const of_row = a + (s * count + e) * size;
      Scalar              all(0);
      for (PetscInt t = 0; t < size; t++) all += of_row[t] * from[t * k + c];
      sum[s * length + place + c] += all; // always this lane's
      s += 32 / k + (c + 32 % k >= k);    // of q + 32
      c += 32 % k - (c + 32 % k >= k ? k : 0);
    }
  }
  __syncwarp();
  const PetscInt at = place_of(p.j + first, length, k, in.of[node]) * k;
  for (PetscInt q = lane; q < size * length; q += 32) {
    const PetscInt s = q / length, c = q % length - at;
    Scalar         all = factor_of(in, RowScale{diagonal[s], false}) * sum[q];
    if (!in.blocks && c >= 0 && c < k) all += in.P0[static_cast<PetscCount>(row + s) * k + c];
    p.p[first + q] = all;
  }
}

/// The sum over the members of aggregate `to` for column c of its part of a row, whose entries are begin .. end - 1 of
/// A; where their columns do not ascend each lane looks at all of them.
__device__ __forceinline__ Scalar gather(const ProlongatorInput &in, PetscInt begin, PetscInt end, bool ascending,
                                         PetscInt to, PetscInt c)
{
  const CsrArrays &a = in.A.arrays;
  Scalar           sum(0);
  if (!ascending) {
    for (PetscInt e = begin; e < end; e++)
      if (in.of[NodeOf(a.j[e], in.block_size)] == to && !(in.strong && !in.strong[e]))
        sum += a.a[e] * in.P0[static_cast<PetscCount>(a.j[e]) * in.vectors + c];
    return sum;
  }
  for (PetscInt m = in.begin[to]; m < in.begin[to + 1]; m++) {
    const PetscInt unknown = in.members[m] * in.block_size;
    for (PetscInt e = lower_bound(a.j, begin, end, unknown); e < end && a.j[e] < unknown + in.block_size; e++)
      if (!(in.strong && !in.strong[e])) sum += a.a[e] * in.P0[static_cast<PetscCount>(a.j[e]) * in.vectors + c];
  }
  return sum;
}

/// One of the rows that values_kernel() leaves, by a warp.
__device__ void long_row(const Arguments &p, PetscInt row, int lane)
{
  const ProlongatorInput &in = p.in;
  const PetscInt *const   j  = in.A.arrays.j;
  const PetscInt          k = in.vectors, node = NodeOf(row, in.block_size);
  const PetscInt          first = p.i[row], length = p.i[row + 1] - first;
  const PetscInt          begin = in.A.arrays.i[row], end = in.A.arrays.i[row + 1];
  bool                    ascending = true;

  for (PetscInt e = begin + 1 + lane; e < end; e += 32) ascending = ascending && j[e - 1] < j[e];
  ascending             = __all_sync(0xffffffffu, ascending);
  const RowScale scale  = look_at_row<32>(in, row, begin, end, lane);
  const Scalar   factor = factor_of(in, scale);
  const PetscInt at     = place_of(p.j + first, length, k, in.of[node]) * k;
  for (PetscInt q = lane; q < length; q += 32)
    p.p[first + q] = factor * gather(in, begin, end, ascending, p.j[first + q] / k, q % k);
  __syncwarp();
  for (PetscInt c = 0; c < k; c++) {
    Scalar weak(0);
    for (PetscInt e = begin + lane; in.strong && scale.lumped && e < end; e += 32)
      if (!in.strong[e])
        weak += in.A.arrays.a[e] * in.P0[static_cast<PetscCount>(node * in.block_size + j[e] % in.block_size) * k + c];
    weak = group_sum<32>(weak);
    if (lane == 0)
      p.p[first + at + c] += factor * weak + (in.blocks ? Scalar(0) : in.P0[static_cast<PetscCount>(row) * k + c]);
  }
}

/// A warp for the rows of more than `most` entries among 32.
__global__ void long_rows_kernel(Arguments p, PetscInt most)
{
  const PetscCount row    = thread_index();
  const int        lane   = threadIdx.x % 32;
  const bool       inside = row < p.in.A.rows;
  unsigned left = __ballot_sync(0xffffffffu, inside && p.i[inside ? row + 1 : 0] - p.i[inside ? row : 0] > most);
  for (; left; left &= left - 1) long_row(p, static_cast<PetscInt>(row - lane) + __ffs(left) - 1, lane);
}

/// P = P0.
__global__ void tentative_kernel(Arguments p)
{
  const PetscCount row = thread_index();
  if (row >= p.in.A.rows || p.in.of[NodeOf(static_cast<PetscInt>(row), p.in.block_size)] < 0) return;
  for (PetscInt c = 0; c < p.in.vectors; c++) p.p[p.i[row] + c] = p.in.P0[row * p.in.vectors + c];
}

template <int parts> PetscErrorCode Launch(const Arguments &p, cudaStream_t stream)
{
  constexpr size_t   SHARED   = 32768; ///< bytes of a block: leaves room for six on a multiprocessor
  constexpr PetscInt CAPACITY = SHARED / ROWS / sizeof(Scalar);

  PetscFunctionBegin;
  if (p.in.whole && !p.in.strong) { // shorter than looking at each row
    const PetscInt capacity = CAPACITY * ROWS / (THREADS / 32) - p.in.block_size;
    node_values_kernel<<<Blocks(static_cast<PetscCount>(p.in.nodes) * 32), THREADS, SHARED, stream>>>(p, capacity);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    long_rows_kernel<<<Blocks(p.in.A.rows), THREADS, 0, stream>>>(p, capacity / p.in.block_size);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  values_kernel<parts><<<Blocks(static_cast<PetscCount>(p.in.A.rows) * WIDTH), THREADS, SHARED, stream>>>(p, CAPACITY);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  long_rows_kernel<<<Blocks(p.in.A.rows), THREADS, 0, stream>>>(p, CAPACITY / (WIDTH / parts));
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindProlongatorValues_CUDA(const ProlongatorInput &in, const PetscInt *i, const PetscInt *j, Scalar *p)
{
  const Arguments arguments{in, i, j, p};
  Stream          stream;

  PetscFunctionBegin;
  if (in.A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  if (in.damping == 0) {
    tentative_kernel<<<Blocks(in.A.rows), THREADS, 0, s>>>(arguments);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  } else if (in.vectors == 1) {
    PetscCall(Launch<1>(arguments, s));
  } else if (in.vectors == 2) {
    PetscCall(Launch<2>(arguments, s));
  } else if (in.vectors <= 4) {
    PetscCall(Launch<4>(arguments, s));
  } else {
    PetscCall(Launch<8>(arguments, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
