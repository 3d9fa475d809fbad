#include <cub/cub.cuh>
#include "device/cuda_check.hpp"
#include "pc/trisolve/poll.cuh"
#include "pc/trisolve/system.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;
static constexpr int TILE    = 512; // pieces of a block that finds levels

static unsigned Blocks(PetscInt count, int threads = THREADS)
{
  return static_cast<unsigned>((count + threads - 1) / threads);
}

#define INDEX static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x
/// A CUB call: once for the scratch it needs, once for good.
#define CallCUB(scratch, call, ...)                                  \
  do {                                                               \
    size_t bytes_ = 0;                                               \
    SparseGPUCallCUDA(call(nullptr, bytes_, __VA_ARGS__));           \
    PetscCall((scratch)->Reserve(bytes_));                           \
    bytes_ = (scratch)->bytes();                                     \
    SparseGPUCallCUDA(call((scratch)->data(), bytes_, __VA_ARGS__)); \
  } while (0)

namespace
{
struct Largest {
  __host__ __device__ PetscInt operator()(PetscInt a, PetscInt b) const { return a > b ? a : b; }
};
} // namespace

/// How many pieces each row makes; *cut is set if any makes more than one.
static __global__ void count_pieces_kernel(FactorView F, PetscInt *pieces, int *cut)
{
  const PetscInt u = INDEX;
  if (u == 2 * F.rows) pieces[u] = 0; // a running sum looks at it
  if (u >= 2 * F.rows) return;
  const PetscInt length = RowLength(F, u);
  const PetscInt parts  = length > SystemView::PIECE ? (length + SystemView::PIECE - 1) / SystemView::PIECE : 0;
  pieces[u]             = 1 + parts;
  if (parts > 0) *cut = 1;
}

static __global__ void owner_kernel(PetscInt rows, const PetscInt *first, PetscInt *owner)
{
  const PetscInt u = INDEX;
  if (u < rows)
    for (PetscInt k = first[u]; k < first[u + 1]; k++) owner[k] = u;
}

static __global__ void preset_levels_kernel(PetscInt count, int *level, unsigned *ticket)
{
  const PetscInt k = INDEX;
  if (k < count) level[k] = -1;
  if (k == 0) *ticket = 0;
}

/// One thread per piece, one more than the level of all that it waits for, found without any other order than that of
/// the pieces: each block takes the next tile of them by ticket, so that what it waits for is running or done. Chains
/// within the tile go through shared memory. Tiles of L and of U take turns.
static __global__ void __launch_bounds__(TILE)
    level_kernel(SystemView S, int *level, unsigned *ticket, int *stuck, long long spins)
{
  constexpr int       BATCH = 4;
  __shared__ int      near[TILE];
  __shared__ unsigned claimed;

  near[threadIdx.x] = -1;
  if (threadIdx.x == 0) claimed = atomicAdd(ticket, 1u);
  __syncthreads();
  const PetscInt t = claimed, lower_tiles = (S.lower + TILE - 1) / TILE,
                 upper_tiles = (S.pieces - S.lower + TILE - 1) / TILE,
                 both        = lower_tiles < upper_tiles ? lower_tiles : upper_tiles;
  const bool     upper       = t < 2 * both ? t % 2 : upper_tiles > both;
  const PetscInt begin       = (upper ? S.lower : 0) + (t < 2 * both ? t / 2 : t - both) * TILE;
  const PetscInt end = upper ? S.pieces : S.lower, k = begin + threadIdx.x, least = upper ? S.lower : 0;
  bool           done = k >= end;
  const Piece    p    = PieceAt(S, done ? begin : k);
  PetscInt       e    = 0, dep[BATCH], from;
  int            seen[BATCH], mine = 0;
  long long      polls = 0;

  const auto load = [&]() {
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      dep[q]  = e + q < p.length ? EntryAt(S, p, e + q, &from) : -1;
      seen[q] = -1;
      if (dep[q] < least) seen[q] = 0; // none, or a right-hand side, which has no say in U's levels
      if (dep[q] < least) dep[q] = -1;
    }
  };
  if (!done) load();
  while (__any_sync(0xffffffffu, !done)) {
    if (done) continue;
    bool ready = true;
#pragma unroll
    for (int q = 0; q < BATCH; q++)
      if (dep[q] >= 0 && seen[q] < 0)
        seen[q] = dep[q] >= begin && dep[q] < begin + TILE ? static_cast<volatile int *>(near)[dep[q] - begin]
                                                           : poll(level + dep[q]);
#pragma unroll
    for (int q = 0; q < BATCH; q++) ready = ready && seen[q] >= 0;
    if (ready) {
#pragma unroll
      for (int q = 0; q < BATCH; q++)
        if (dep[q] >= 0 && seen[q] + 1 > mine) mine = seen[q] + 1;
      e += BATCH;
      polls = 0;
      if (e < p.length)
        load();
      else
        done = true;
    } else if (++polls > spins) {
      *static_cast<volatile int *>(stuck) = 1;
      done                                = true;
    }
    if (done) {
      static_cast<volatile int *>(near)[threadIdx.x] = mine;
      publish(level + k, mine);
    }
  }
}

PetscErrorCode Schedule::Build(const FactorView &F, long long spins, int *stuck, DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s    = static_cast<cudaStream_t>(stream);
  const PetscInt     rows = 2 * F.rows;
  Array<unsigned>    ticket;
  Array<int>         cut;
  int                any = 0;

  PetscFunctionBegin;
  view = SystemView{F, nullptr, nullptr, F.rows, rows};
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(ticket.Allocate(1, Space::Device));
  PetscCall(cut.Allocate(1, Space::Device));
  PetscCall(first_.Allocate(static_cast<size_t>(rows) + 1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(cut.data(), 0, sizeof(int), s));
  count_pieces_kernel<<<Blocks(rows + 1), THREADS, 0, s>>>(F, first_.data(), cut.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&any, cut.data(), sizeof(int), stream));
  if (any) {
    PetscCall(RunningSum(rows, &first_, &view.pieces, scratch, stream));
    PetscCall(owner_.Allocate(view.pieces, Space::Device));
    owner_kernel<<<Blocks(rows), THREADS, 0, s>>>(rows, first_.data(), owner_.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&view.lower, first_.data() + F.rows, sizeof(PetscInt), stream));
    view.first = first_.data();
    view.owner = owner_.data();
  }
  PetscCall(level_.Allocate(view.pieces, Space::Device));
  levels = level_.data();
  preset_levels_kernel<<<Blocks(view.pieces), THREADS, 0, s>>>(view.pieces, levels, ticket.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  level_kernel<<<Blocks(view.lower, TILE) + Blocks(view.pieces - view.lower, TILE), TILE, 0, s>>>(
      view, levels, ticket.data(), stuck, spins);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // the ticket ends here, and a stuck search must be known
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode RunningSum(PetscInt count, Array<T> *values, T *total, DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  CallCUB(scratch, cub::DeviceScan::ExclusiveSum, values->data(), values->data(), static_cast<int64_t>(count) + 1, s);
  PetscCall(DeviceCopyOut(total, values->data() + count, sizeof(T), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode RunningSum(PetscInt, Array<PetscInt> *, PetscInt *, DeviceMemory *, Stream);
#if !defined(PETSC_USE_64BIT_INDICES)
template PetscErrorCode RunningSum(PetscInt, Array<PetscCount> *, PetscCount *, DeviceMemory *, Stream);
#endif

static __global__ void identity_kernel(PetscInt count, PetscInt *index)
{
  const PetscInt k = INDEX;
  if (k < count) index[k] = k;
}

PetscErrorCode SortKeys(PetscInt count, int bits, Array<unsigned> *keys, Array<PetscInt> *order, DeviceMemory *scratch,
                        Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<unsigned>    other_keys;
  Array<PetscInt>    other_order;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(order->Allocate(count, Space::Device));
  PetscCall(other_order.Allocate(count, Space::Device));
  PetscCall(other_keys.Allocate(count, Space::Device));
  identity_kernel<<<Blocks(count), THREADS, 0, s>>>(count, other_order.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  CallCUB(scratch, cub::DeviceRadixSort::SortPairs, keys->data(), other_keys.data(), other_order.data(), order->data(),
          static_cast<int64_t>(count), 0, bits, s);
  std::swap(*keys, other_keys);
  PetscCall(DeviceSynchronize(stream)); // the other arrays end here
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __device__ __forceinline__ bool Heads(const unsigned *key, PetscInt k, unsigned mask)
{
  return k == 0 || ((key[k] ^ key[k - 1]) & mask) != 0;
}
static __global__ void run_begin_kernel(const unsigned *key, PetscInt count, unsigned mask, PetscInt *begin)
{
  const PetscInt k = INDEX;
  if (k < count) begin[k] = Heads(key, k, mask) ? k : 0;
}
static __global__ void group_head_kernel(const unsigned *key, PetscInt count, unsigned capacity, PetscInt *begin)
{
  const PetscInt k = INDEX;
  if (k >= count) return;
  const unsigned size = capacity >> (key[k] & 7) ? capacity >> (key[k] & 7) : 1;
  begin[k]            = (k - begin[k]) % static_cast<PetscInt>(size) == 0;
}
/// id: the running count of heads.
static __global__ void group_first_kernel(const PetscInt *id, PetscInt count, PetscInt *first)
{
  const PetscInt k = INDEX;
  if (k < count && (k == 0 || id[k] != id[k - 1])) first[id[k] - 1] = k;
  if (k == count - 1) first[id[k]] = count;
}

PetscErrorCode CutGroups(const unsigned *sorted, PetscInt count, unsigned mask, unsigned capacity,
                         Array<PetscInt> *first, PetscInt *groups, DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<PetscInt>    id;

  PetscFunctionBegin;
  *groups = 0;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(id.Allocate(count, Space::Device));
  const int64_t n = count;
  run_begin_kernel<<<Blocks(count), THREADS, 0, s>>>(sorted, count, mask, id.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  CallCUB(scratch, cub::DeviceScan::InclusiveScan, id.data(), id.data(), Largest(), n, s);
  group_head_kernel<<<Blocks(count), THREADS, 0, s>>>(sorted, count, capacity, id.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  CallCUB(scratch, cub::DeviceScan::InclusiveSum, id.data(), id.data(), n, s);
  PetscCall(DeviceCopyOut(groups, id.data() + count - 1, sizeof(PetscInt), stream));
  PetscCall(first->Allocate(static_cast<size_t>(*groups) + 1, Space::Device));
  group_first_kernel<<<Blocks(count), THREADS, 0, s>>>(id.data(), count, first->data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // `id` ends here
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
