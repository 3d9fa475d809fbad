/// The search for the levels of a Schedule.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "pc/trisolve/poll.cuh"
#include "pc/trisolve/system.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static constexpr int      TILE    = 512; // pieces of a block that finds levels
static constexpr int      ALONE   = 128; // entries that one thread may look at
static constexpr int      MISSING = -2;  // a level that is not yet there
static constexpr unsigned ALL     = 0xffffffffu;

#define INDEX static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x
/// A level for each row is to be found; *report: whether there are long rows, and some that must be cut.
static __global__ void preset_rows_kernel(FactorView F, int *level, LevelReport *report)
{
  const PetscInt u = INDEX;
  if (u >= 2 * F.rows) return;
  level[u]              = MISSING;
  const PetscInt length = RowLength(F, u);
  if (length > ALONE) report->is_long = 1;
  if (length > SystemView::PIECE) report->cut = 1;
}

/// How many pieces each row makes.
static __global__ void count_pieces_kernel(FactorView F, PetscInt *pieces)
{
  const PetscInt u = INDEX;
  if (u == 2 * F.rows) pieces[u] = 0; // a running sum looks at it
  if (u >= 2 * F.rows) return;
  const PetscInt length = RowLength(F, u);
  pieces[u]             = length > SystemView::PIECE ? 1 + (length + SystemView::PIECE - 1) / SystemView::PIECE : 1;
}

static __global__ void owner_kernel(PetscInt rows, const PetscInt *first, PetscInt *owner)
{
  const PetscInt u = INDEX;
  if (u < rows)
    for (PetscInt k = first[u]; k < first[u + 1]; k++) owner[k] = u;
}

static __global__ void preset_levels_kernel(PetscInt count, int *level)
{
  const PetscInt k = INDEX;
  if (k < count) level[k] = MISSING;
}

namespace
{
/// A tile of pieces and the levels that it has found.
struct Tile {
  PetscInt      begin, least; ///< its first piece; pieces before `least` have no say in these levels
  int          *level;        ///< [pieces]
  volatile int *near;         ///< [TILE] the tile's own, in shared memory

  /// Entry e of a piece waits for this one; -1: for none.
  __device__ __forceinline__ PetscInt Dependency(const SystemView &S, const Piece &p, PetscInt e) const
  {
    PetscInt       from;
    const PetscInt k = e < p.length ? EntryAt(S, p, e, &from) : -1;
    return k < least ? -1 : k;
  }
  /// The level of a dependency; -1: none, MISSING: not yet there.
  __device__ __forceinline__ int Look(PetscInt k) const
  {
    return k < 0 ? -1 : k >= begin && k < begin + TILE ? near[k - begin] : poll(level + k);
  }
  __device__ __forceinline__ void Tell(int at, int found) const
  {
    near[at] = found;
    publish(level + begin + at, found);
  }
};
} // namespace

/// One more than the level of all that a piece waits for, found without any other order than that of the pieces: each
/// block takes the next tile of them by ticket, so that what it waits for is running or done. Tiles of L and of U take
/// turns. A thread per piece; chains within the tile go through shared memory. LONG: there are pieces of more than
/// ALONE entries. The lanes of a warp try its long pieces together, one after the other and again until they are done,
/// so that an early entry that comes late holds up none of the others, and its own piece for a moment only.
template <bool LONG>
static __global__ void __launch_bounds__(TILE, LONG ? 2 : 4) // many tiles at a time: chains are long
    level_kernel(SystemView S, int *level, LevelReport *report, int *stuck, unsigned spins)
{
  constexpr int       BATCH = 4;
  __shared__ int      near[TILE];
  __shared__ unsigned claimed;
  const int           lane = threadIdx.x % 32;

  if (!LONG && report->is_long) return; // another search is to come
  near[threadIdx.x] = MISSING;
  if (threadIdx.x == 0) claimed = atomicAdd(&report->ticket, 1u);
  __syncthreads();
  const PetscInt t = claimed, lower_tiles = (S.lower + TILE - 1) / TILE,
                 upper_tiles = (S.pieces - S.lower + TILE - 1) / TILE,
                 both        = lower_tiles < upper_tiles ? lower_tiles : upper_tiles;
  const bool     upper       = t < 2 * both ? t % 2 : upper_tiles > both;
  const PetscInt begin       = (upper ? S.lower : 0) + (t < 2 * both ? t / 2 : t - both) * TILE;
  const Tile     tile{begin, upper ? S.lower : 0, level, near};
  const PetscInt k     = begin + static_cast<int>(threadIdx.x);
  bool           done  = k >= (upper ? S.pieces : S.lower);
  const Piece    p     = PieceAt(S, done ? begin : k);
  unsigned       longs = LONG ? __ballot_sync(ALL, !done && p.length > ALONE) : 0; // of the warp, not done
  const bool     alone = !LONG || p.length <= ALONE;
  PetscInt       e     = 0, dep[BATCH]; // -1: its level is known
  int            mine = 0, turn = 0;
  Patience       patience;

  const auto load = [&]() {
#pragma unroll
    for (int q = 0; q < BATCH; q++) dep[q] = tile.Dependency(S, p, e + q);
  };
  if (!done && alone) load();
  while (__any_sync(ALL, !done)) {
    if (!done && alone) {
      int  found[BATCH];
      bool ready = true;
#pragma unroll
      for (int q = 0; q < BATCH; q++) found[q] = tile.Look(dep[q]); // all on their way before the first is looked at
#pragma unroll
      for (int q = 0; q < BATCH; q++) {
        if (found[q] >= 0) dep[q] = -1;
        mine  = max(mine, found[q] + 1);
        ready = ready && found[q] > MISSING;
      }
      if (ready) {
        e += BATCH;
        patience.polls = 0;
        if (e < p.length)
          load();
        else
          done = true;
      } else if (patience.Ends(spins, &report->ended, stuck)) {
        *static_cast<volatile int *>(stuck) = 1;
        done                                = true;
      }
      if (done) tile.Tell(threadIdx.x, mine);
    }
    if (!longs) continue;
    while (!(longs >> turn & 1)) turn = (turn + 1) % 32;
    const Piece c     = PieceAt(S, k - lane + turn);
    PetscInt    at    = __shfl_sync(ALL, e, turn);
    int         least = 0;
    bool        go_on = true, moved = false;
    while (go_on) { // as far as it goes
      bool ready = true;
#pragma unroll
      for (int q = 0; q < BATCH; q++) {
        const int found = tile.Look(tile.Dependency(S, c, at + q * 32 + lane));
        ready           = ready && found > MISSING;
        least           = max(least, found + 1);
      }
      go_on = __all_sync(ALL, ready);
      moved = moved || go_on;
      if (go_on) at += BATCH * 32;
      go_on = go_on && at < c.length;
    }
    for (int step = 16; step > 0; step /= 2) least = max(least, __shfl_xor_sync(ALL, least, step));
    if (lane == turn) {
      e    = at;
      mine = max(mine, least);
      if (moved) patience.polls = 0;
      const bool over = !moved && patience.Ends(spins, &report->ended, stuck);
      done            = at >= c.length || over;
      if (over) *static_cast<volatile int *>(stuck) = 1;
      if (done) tile.Tell(threadIdx.x, mine);
    }
    if (__shfl_sync(ALL, done, turn)) longs &= ~(1u << turn);
    turn = (turn + 1) % 32;
  }
  for (int step = 16; step > 0; step /= 2) mine = max(mine, __shfl_xor_sync(ALL, mine, step));
  if (lane > 0) return;
  atomicMax(upper ? &report->upper : &report->lower, mine);
  atomicAdd(&report->ended, 1u);
}

PetscErrorCode Schedule::Build(const FactorView &F, long long spins, int *stuck, DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s    = static_cast<cudaStream_t>(stream);
  const PetscInt     rows = 2 * F.rows;
  LevelReport        report;
  const auto         find = [&](bool is_long) -> PetscErrorCode {
    const auto kernel = is_long ? level_kernel<true> : level_kernel<false>;
    PetscFunctionBegin;
    levels = level_.data();
    kernel<<<Blocks(view.lower, TILE) + Blocks(view.pieces - view.lower, TILE), TILE, 0, s>>>(
        view, levels, report_.data(), stuck, Spins(spins));
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&report, report_.data(), sizeof(report), stream)); // a stuck search is known, too
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  view         = SystemView{F, nullptr, nullptr, F.rows, rows};
  lower_levels = upper_levels = 0;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(report_.Allocate(1, Space::Device));
  PetscCall(level_.Allocate(rows, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(report_.data(), 0, sizeof(report), s));
  preset_rows_kernel<<<Blocks(rows), THREADS, 0, s>>>(F, level_.data(), report_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(find(false)); // at once, as if no row were long
  if (report.cut) {
    PetscCall(first_.Allocate(static_cast<size_t>(rows) + 1, Space::Device));
    count_pieces_kernel<<<Blocks(rows + 1), THREADS, 0, s>>>(F, first_.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(RunningSum(rows, &first_, &view.pieces, scratch, stream));
    PetscCall(owner_.Allocate(view.pieces, Space::Device));
    owner_kernel<<<Blocks(rows), THREADS, 0, s>>>(rows, first_.data(), owner_.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceCopyOut(&view.lower, first_.data() + F.rows, sizeof(PetscInt), stream));
    view.first = first_.data();
    view.owner = owner_.data();
    PetscCall(level_.Allocate(view.pieces, Space::Device));
    preset_levels_kernel<<<Blocks(view.pieces), THREADS, 0, s>>>(view.pieces, level_.data());
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  if (report.is_long) PetscCall(find(true));
  lower_levels = report.lower + 1;
  upper_levels = report.upper + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WithoutLevels::LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order,
                                         Array<PetscInt> *first, PetscInt *tasks, Stream stream)
{
  Schedule     schedule;
  DeviceMemory scratch;

  PetscFunctionBegin;
  if (!stuck()) PetscCall(AllocateStuck());
  PetscCall(schedule.Build(factors_, options.spins, stuck(), &scratch, stream));
  PetscCall(CheckStuck());
  PetscCall(schedule.LowerTasks(nullptr, longest, together, order, first, tasks, &scratch, stream));
  PetscCall(DeviceSynchronize(stream)); // the levels end here
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve

#undef INDEX
