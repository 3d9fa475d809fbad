/// The operations of coarsening on the device, a thread an index, and what CUB does there: sums, selections, sorts. All
/// repeat bit for bit.
#include <type_traits>
#include "device/cub_call.cuh"
#include "device/each.cuh"
#include "device/search.cuh"
#include "device/sort.hpp"
#include "mat/rows/sort_coordinates.hpp"
#include "pc/aggregate/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

/// Of a lane at a distance of `mask`, word by word.
template <class Part> __device__ __forceinline__ Part from_lane(const Part &part, int mask)
{
  static_assert(sizeof(Part) % sizeof(unsigned) == 0, "Parts of rows are whole words");
  constexpr int WORDS = sizeof(Part) / sizeof(unsigned);
  unsigned      word[WORDS];
  Part          other;
  memcpy(word, &part, sizeof(Part));
#pragma unroll
  for (int w = 0; w < WORDS; w++) word[w] = __shfl_xor_sync(0xffffffffu, word[w], mask);
  memcpy(&other, word, sizeof(Part));
  return other;
}

/// `1 << bits` neighbouring threads an index: they take the entries of its row in turn, so that they read neighbouring
/// ones. Parts are joined in a fixed order.
template <class Operation> static __global__ void rows_kernel(PetscCount count, int bits, const Operation operation)
{
  const PetscCount k    = thread_index() >> bits;
  const int        step = 1 << bits, lane = static_cast<int>(threadIdx.x) & (step - 1);
  auto             part = operation.Of(k < count ? k : count - 1, lane, step);
  for (int mask = step / 2; mask > 0; mask /= 2) part = operation.Join(part, from_lane(part, mask));
  if (k < count && lane == 0) operation.Finish(k, part);
}

template <class Operation, class = void> struct JoinsRows : std::false_type {
};
template <class Operation> struct JoinsRows<Operation, typename Operation::JoinsRows> : std::true_type {
};

/// AttachFar, a warp a node: lane t holds the label that was met as number t, and its connections.
static __global__ void attach_far_kernel(PetscCount nodes, const AttachFar p)
{
  constexpr unsigned ALL   = 0xffffffffu;
  const PetscCount   node  = thread_index() / 32;
  const int          lane  = threadIdx.x % 32;
  PetscInt           label = -1, connections = 0;
  int                labels = 0;

  if (node >= nodes) return;
  if (p.near[node] >= 0) {
    if (lane == 0) p.of[node] = p.near[node];
    return;
  }
  for (PetscInt first = p.graph.i[node], end = p.graph.i[node + 1]; first < end; first += 32) {
    const PetscInt mine = first + lane < end ? p.near[p.graph.j[first + lane]] : -1;
    unsigned       left = __ballot_sync(ALL, mine >= 0);
    while (left) {
      const PetscInt next = __shfl_sync(ALL, mine, __ffs(left) - 1);
      const unsigned same = __ballot_sync(ALL, mine == next), known = __ballot_sync(ALL, label == next);
      left &= ~same;
      if (!known && labels == AttachFar::COMPARED) continue;
      if (lane == (known ? __ffs(known) - 1 : labels)) {
        label = next;
        connections += __popc(same);
      }
      labels += !known;
    }
  }
  PetscInt members = label < 0 ? 0 : p.Members(label);
  for (int mask = 16; mask > 0; mask /= 2) {
    const PetscInt other = __shfl_xor_sync(ALL, label, mask), more = __shfl_xor_sync(ALL, connections, mask);
    const PetscInt size   = __shfl_xor_sync(ALL, members, mask);
    const bool     better = more != connections ? more > connections : size != members ? size < members : other < label;
    if (!better) continue;
    label       = other;
    connections = more;
    members     = size;
  }
  if (lane == 0) p.of[node] = label;
}

/// Neighbouring threads of a row: at most 8, which read a sector of columns at a time, and no more than it has entries.
static int LaneBits(const Graph &graph)
{
  int bits = 0;
  while (bits < 3 && graph.nodes && (PetscCount(2) << bits) <= graph.entries / graph.nodes) bits++;
  return bits;
}

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  if constexpr (JoinsRows<Operation>::value) {
    const int bits = LaneBits(operation.graph);
    rows_kernel<<<Blocks(count << bits), THREADS, 0, s>>>(count, bits, operation);
  } else if constexpr (std::is_same_v<Operation, AttachFar>) {
    attach_far_kernel<<<Blocks(count * 32), THREADS, 0, s>>>(count, operation);
  } else {
    each_kernel<<<Blocks(count), THREADS, 0, s>>>(count, operation);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_CUDA(PetscCount, const Operation &)
SPARSEGPU_FOR_AGGREGATE_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

PetscErrorCode Sum_CUDA(PetscInt count, const unsigned long long *value, unsigned long long *sum)
{
  DeviceMemory              scratch;
  Array<unsigned long long> all;
  Stream                    stream;

  PetscFunctionBegin;
  *sum = 0;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(all.Allocate(1, Space::Device));
  CallCUB(&scratch, cub::DeviceReduce::Sum, value, all.data(), static_cast<int64_t>(count),
          static_cast<cudaStream_t>(stream));
  PetscCall(DeviceCopyOut(sum, all.data(), sizeof(*sum), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
struct Undecided {
  const State    *state;
  __device__ bool operator()(PetscInt node) const { return state[node] != ROOT && state[node] != OUT; }
};

/// The aggregate of a node; of those in none the number after the last.
__global__ void member_key_kernel(PetscInt nodes, unsigned count, const PetscInt *of, unsigned *key)
{
  const PetscCount i = thread_index();
  if (i < nodes) key[i] = of[i] < 0 ? count : static_cast<unsigned>(of[i]);
}

/// begin[a] = the first of the ascending keys [nodes] that is a or more.
__global__ void first_member_kernel(PetscInt nodes, PetscInt count, const unsigned *key, PetscInt *begin)
{
  const PetscCount a = thread_index();
  if (a <= count) begin[a] = lower_bound(key, PetscInt(0), nodes, static_cast<unsigned>(a));
}
} // namespace

PetscErrorCode KeepUndecided_CUDA(NodeList *a, NodeList *b)
{
  NodeList *const lists[]  = {a, b};
  PetscInt        count[2] = {0, 0};
  DeviceMemory    scratch;
  Array<PetscInt> kept;
  Stream          stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(kept.Allocate(2, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(kept.data(), 0, kept.bytes(), static_cast<cudaStream_t>(stream)));
  for (int k = 0; k < 2; k++) {
    if (lists[k]->count == 0) continue;
    CallCUB(&scratch, cub::DeviceSelect::If, lists[k]->nodes.data(), lists[k]->spare.data(), kept.data() + k,
            static_cast<int64_t>(lists[k]->count), Undecided{lists[k]->state}, static_cast<cudaStream_t>(stream));
    std::swap(lists[k]->nodes, lists[k]->spare);
  }
  PetscCall(DeviceCopyOut(count, kept.data(), sizeof(count), stream));
  for (int k = 0; k < 2; k++) lists[k]->count = count[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortMembers_CUDA(PetscInt nodes, PetscInt count, const PetscInt *of, Array<PetscInt> *begin,
                                Array<PetscInt> *members)
{
  DeviceMemory    scratch;
  Array<unsigned> key;
  Stream          stream;
  PetscInt        placed = 0;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(begin->Allocate(static_cast<size_t>(count) + 1, Space::Device));
  PetscCall(key.Allocate(static_cast<size_t>(nodes), Space::Device));
  PetscCall(members->Allocate(0, Space::Device));
  if (nodes) {
    member_key_kernel<<<Blocks(nodes), THREADS, 0, s>>>(nodes, static_cast<unsigned>(count), of, key.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(SortKeys(nodes, PetscMax(1, BitsUpTo(count)), &key, members, &scratch, stream));
  }
  first_member_kernel<<<Blocks(static_cast<PetscCount>(count) + 1), THREADS, 0, s>>>(nodes, count, key.data(),
                                                                                     begin->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&placed, begin->data() + count, sizeof(placed), stream));
  members->Truncate(static_cast<size_t>(placed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
