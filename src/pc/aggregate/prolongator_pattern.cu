/// The pattern of the smoothed prolongator on the device: a warp a node gathers the aggregates of its neighbours, as
/// many as its registers hold, counts them, and in a second pass writes them in ascending order. The few nodes that
/// have more, those of dense rows, are sorted together.
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/sort_coordinates.hpp"
#include "pc/aggregate/prolongator.hpp"
#include "petsc/compat.hpp"

#include <thrust/iterator/counting_iterator.h>

namespace sparsegpu::aggregate
{

namespace
{
constexpr unsigned ALL  = 0xffffffffu;
constexpr int      HELD = 4;         ///< aggregates in a lane
constexpr int      MOST = 32 * HELD; ///< in a warp

/// The arrays of ProlongatorInput that kernels read.
struct Neighbours {
  PetscInt             nodes, block_size;
  const PetscInt      *i, *j, *of;
  const unsigned char *strong;
  bool                 smoothed;
  /// The aggregate that entry e leads to, -1: none.
  __device__ PetscInt To(PetscInt e) const { return strong && !strong[e] ? -1 : of[NodeOf(j[e], block_size)]; }
};

/// Different aggregates, in the order in which they were met: number t in held[t / 32] of lane t % 32.
struct Met {
  PetscInt        held[HELD];
  int             count;
  __device__ void Begin()
  {
#pragma unroll
    for (int q = 0; q < HELD; q++) held[q] = -1;
    count = 0;
  }
  /// All lanes: of one aggregate.
  __device__ void Add(PetscInt aggregate, int lane)
  {
    bool here = false;
#pragma unroll
    for (int q = 0; q < HELD; q++) here = here || held[q] == aggregate;
    if (__any_sync(ALL, here)) return;
#pragma unroll
    for (int q = 0; q < HELD; q++)
      if (count == 32 * q + lane) held[q] = aggregate;
    count++; // beyond MOST nothing is held
  }
};

/// Those of a node's row; no more are looked for once there are more than MOST.
__device__ __forceinline__ void meet(const Neighbours &p, PetscCount node, int lane, Met *met)
{
  const PetscInt own = p.of[node];
  met->Begin();
  if (own < 0) return;
  met->Add(own, lane);
  if (!p.smoothed) return;
  const PetscInt end = p.i[(node + 1) * p.block_size];
  for (PetscInt first = p.i[node * p.block_size]; first < end && met->count <= MOST; first += 32) {
    const PetscInt mine = first + lane < end ? p.To(first + lane) : -1;
    unsigned       left = __ballot_sync(ALL, mine >= 0 && mine != own);
    while (left && met->count <= MOST) {
      const PetscInt next = __shfl_sync(ALL, mine, __ffs(left) - 1);
      left &= ~__ballot_sync(ALL, mine == next);
      met->Add(next, lane);
    }
  }
}

/// count[node] <= MOST + 1; *longest = the largest of them.
__global__ void count_kernel(Neighbours p, PetscInt *count, PetscInt *longest)
{
  const PetscCount node = thread_index() / 32;
  const int        lane = threadIdx.x % 32;
  Met              met;
  if (node >= p.nodes) return;
  meet(p, node, lane, &met);
  if (lane != 0) return;
  count[node] = met.count;
  if (met.count > *longest) atomic_max(longest, met.count); // which is read to spare most of the atomic operations
}

/// j [from begin[node] on] = the aggregates of a node, ascending, but for nodes with more than MOST.
__global__ void columns_kernel(Neighbours p, const PetscInt *begin, PetscInt *j)
{
  const PetscCount node = thread_index() / 32;
  const int        lane = threadIdx.x % 32;
  Met              met;
  int              place[HELD] = {};
  if (node >= p.nodes) return;
  meet(p, node, lane, &met);
  if (met.count > MOST) return;
#pragma unroll
  for (int from = 0; from < HELD; from++)
    for (int l = 0; l < 32 && 32 * from + l < met.count; l++) {
      const PetscInt other = __shfl_sync(ALL, met.held[from], l);
#pragma unroll
      for (int q = 0; q < HELD; q++) place[q] += other < met.held[q];
    }
#pragma unroll
  for (int q = 0; q < HELD; q++)
    if (32 * q + lane < met.count) j[begin[node] + place[q]] = met.held[q];
}

// Nodes with more than MOST.

struct Long {
  const PetscInt *count;
  __device__ bool operator()(PetscInt node) const { return count[node] > MOST; }
};

/// entries[k] = those of the rows of long node k, and one for its own aggregate.
__global__ void long_entries_kernel(Neighbours p, PetscInt number, const PetscInt *list, PetscCount *entries)
{
  const PetscCount k = thread_index();
  if (k >= number) return;
  const PetscCount node = list[k];
  entries[k]            = p.i[(node + 1) * p.block_size] - p.i[node * p.block_size] + 1;
}

/// row, column [first[number]]: k and an aggregate of long node k, which a block of threads lists.
__global__ void long_coordinates_kernel(Neighbours p, const PetscInt *list, const PetscCount *first, PetscInt *row,
                                        PetscInt *column)
{
  const PetscInt   k     = static_cast<PetscInt>(blockIdx.x);
  const PetscCount node  = list[k];
  const PetscInt   begin = p.i[node * p.block_size];
  for (PetscCount e = threadIdx.x; e < first[k + 1] - first[k]; e += blockDim.x) {
    row[first[k] + e]    = k;
    column[first[k] + e] = e == 0 ? p.of[node] : p.To(begin + static_cast<PetscInt>(e) - 1);
  }
}

__global__ void long_counts_kernel(PetscInt number, const PetscInt *list, const PetscInt *i, PetscInt *count)
{
  const PetscCount k = thread_index();
  if (k < number) count[list[k]] = i[k + 1] - i[k];
}

/// A block of threads for each long node.
__global__ void long_columns_kernel(const PetscInt *list, const PetscInt *i, const PetscInt *sorted,
                                    const PetscInt *begin, PetscInt *j)
{
  const PetscInt k = static_cast<PetscInt>(blockIdx.x);
  for (PetscInt e = i[k] + static_cast<PetscInt>(threadIdx.x); e < i[k + 1]; e += static_cast<PetscInt>(blockDim.x))
    j[begin[list[k]] + e - i[k]] = sorted[e];
}

struct LongNodes {
  PetscInt          number = 0;
  Array<PetscInt>   list; ///< ascending
  SortedCoordinates sorted;
};

/// Finds their aggregates, and corrects count.
PetscErrorCode FindLong(const Neighbours &p, PetscInt aggregates, PetscInt *count, LongNodes *all, Stream stream)
{
  const cudaStream_t                        s = static_cast<cudaStream_t>(stream);
  DeviceMemory                              scratch;
  Array<PetscInt>                           number, row, column;
  Array<PetscCount>                         first;
  PetscCount                                total = 0;
  const thrust::counting_iterator<PetscInt> each(0);

  PetscFunctionBegin;
  PetscCall(all->list.Allocate(static_cast<size_t>(p.nodes), Space::Device));
  PetscCall(number.Allocate(1, Space::Device));
  CallCUB(&scratch, cub::DeviceSelect::If, each, all->list.data(), number.data(), static_cast<int64_t>(p.nodes),
          Long{count}, s);
  PetscCall(DeviceCopyOut(&all->number, number.data(), sizeof(PetscInt), stream));
  PetscCall(first.Allocate(static_cast<size_t>(all->number) + 1, Space::Device));
  long_entries_kernel<<<Blocks(all->number), THREADS, 0, s>>>(p, all->number, all->list.data(), first.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(RunningSum(all->number, &first, &total, &scratch, stream));
  PetscCheck(CanSortCoordinates(all->number, aggregates, total), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " dense rows have %lld entries, too many to sort", all->number,
             static_cast<long long>(total));
  PetscCall(row.Allocate(static_cast<size_t>(total), Space::Device));
  PetscCall(column.Allocate(static_cast<size_t>(total), Space::Device));
  long_coordinates_kernel<<<static_cast<unsigned>(all->number), THREADS, 0, s>>>(p, all->list.data(), first.data(),
                                                                                 row.data(), column.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortCoordinates(all->number, aggregates, total, row.data(), column.data(), Space::Device, &all->sorted));
  long_counts_kernel<<<Blocks(all->number), THREADS, 0, s>>>(all->number, all->list.data(), all->sorted.i.data(),
                                                             count);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindProlongatorPattern_CUDA(const ProlongatorInput &in, ProlongatorPattern *pattern)
{
  const Neighbours p{in.nodes, in.block_size, in.A.arrays.i, in.A.arrays.j, in.of, in.strong, in.damping != 0};
  const PetscCount threads = static_cast<PetscCount>(in.nodes) * 32;
  Array<PetscInt>  most;
  PetscInt         longest = 0, total = 0;
  LongNodes        long_nodes;
  Stream           stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(pattern->i.Allocate(static_cast<size_t>(in.nodes) + 1, Space::Device));
  PetscCall(most.Copy(&longest, 1, Space::Device));
  if (in.nodes) {
    count_kernel<<<Blocks(threads), THREADS, 0, s>>>(p, pattern->i.data(), most.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&longest, most.data(), sizeof(longest), stream));
    if (longest > MOST) PetscCall(FindLong(p, in.aggregates, pattern->i.data(), &long_nodes, stream));
  }
  PetscCall(RunningSumIn(Space::Device, in.nodes, &pattern->i, &total));
  PetscCall(pattern->j.Allocate(static_cast<size_t>(total), Space::Device));
  if (total == 0) PetscFunctionReturn(PETSC_SUCCESS);
  columns_kernel<<<Blocks(threads), THREADS, 0, s>>>(p, pattern->i.data(), pattern->j.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  if (long_nodes.number)
    long_columns_kernel<<<static_cast<unsigned>(long_nodes.number), THREADS, 0, s>>>(
        long_nodes.list.data(), long_nodes.sorted.i.data(), long_nodes.sorted.j.data(), pattern->i.data(),
        pattern->j.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
