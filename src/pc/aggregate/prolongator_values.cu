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

__device__ __forceinline__ Scalar row_sum(Scalar v)
{
  return group_sum<WIDTH>(v);
}

/// All lanes of a warp call; those of a row without entries, too.
__device__ __forceinline__ RowScale look_at_row(const ProlongatorInput &in, PetscInt row, PetscInt begin, PetscInt end,
                                                int lane)
{
  Scalar diagonal(0), weak(0);
  for (PetscInt e = begin + lane; e < end; e += WIDTH) {
    const PetscInt column = in.A.arrays.j[e];
    if (column == row) diagonal = in.A.arrays.a[e];
    if (in.strong && !in.strong[e] && column % in.block_size == row % in.block_size) weak += in.A.arrays.a[e];
  }
  diagonal           = row_sum(diagonal);
  const Scalar whole = diagonal + row_sum(weak);
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

/// `parts` lanes of a group belong to one entry of A, for the columns of P0; WIDTH / parts entries are taken at a time.
/// A row whose sums exceed `capacity` has them in P itself, by the lanes of one entry.
template <int parts> __global__ void __launch_bounds__(THREADS) values_kernel(Arguments p, PetscInt capacity)
{
  extern __shared__ double2 memory[];
  constexpr int             ENTRIES = WIDTH / parts;
  const ProlongatorInput   &in      = p.in;
  const PetscCount          index   = thread_index() / WIDTH;
  const int                 lane = threadIdx.x % WIDTH, part = lane % parts, worker = lane / parts;
  const bool                valid = index < in.A.rows;
  const PetscInt            row = valid ? static_cast<PetscInt>(index) : 0, node = NodeOf(row, in.block_size);
  const PetscInt            own = valid ? in.of[node] : -1, k = in.vectors;
  const PetscInt            first = own < 0 ? 0 : p.i[row], length = own < 0 ? 0 : p.i[row + 1] - first;
  const PetscInt            begin = own < 0 ? 0 : in.A.arrays.i[row], end = own < 0 ? 0 : in.A.arrays.i[row + 1];
  const bool                local  = length <= capacity / ENTRIES;
  const int                 stride = local ? ENTRIES : 1;
  Scalar *const sum = local ? reinterpret_cast<Scalar *>(memory) + threadIdx.x / WIDTH * capacity : p.p + first;

  for (PetscInt q = lane; q < length * stride; q += WIDTH) sum[q] = Scalar(0);
  const RowScale scale = look_at_row(in, row, begin, end, lane);
  __syncwarp();
  if (local || worker == 0)
    for (PetscInt e = begin + (local ? worker : 0); e < end; e += stride) {
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
      for (PetscInt c = part; c < k; c += parts) sum[(place + c) * stride + (local ? worker : 0)] += a * from[c];
    }
  __syncwarp();
  if (own < 0) return;
  const Scalar   factor = Magnitude(scale.diagonal) > 0 ? Scalar(-in.damping) * Inverse(scale.diagonal) : Scalar(0);
  const PetscInt mine   = place_of(p.j + first, length, k, own) * k;
  for (PetscInt q = lane; q < length; q += WIDTH) {
    Scalar all(0);
    for (int w = 0; w < stride; w++) all += sum[q * stride + w];
    all = factor * all;
    if (q >= mine && q < mine + k) all += in.P0[static_cast<PetscCount>(row) * k + q - mine];
    p.p[first + q] = all;
  }
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
  values_kernel<parts><<<Blocks(static_cast<PetscCount>(p.in.A.rows) * WIDTH), THREADS, SHARED, stream>>>(p, CAPACITY);
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
