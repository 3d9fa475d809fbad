/// From the levels of a Schedule to a SweepLayout, on the device.
#include <climits>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "pc/trisolve/sweep.hpp"
#include "pc/trisolve/system.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static constexpr unsigned ALL        = 0xffffffffu;
static constexpr unsigned WIDTH_MASK = 7; ///< in a key: log2 of a piece's lanes; the level lies above, U above that

#define INDEX static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x

/// So many lanes that each has a batch of entries at most, as far as a warp goes.
static __global__ void key_kernel(SystemView S, const int *level, PetscInt entries, unsigned upper, unsigned *key)
{
  const PetscInt k = INDEX;
  if (k >= S.pieces) return;
  const PetscInt length = PieceAt(S, k).length;
  unsigned       width  = 0;
  while (width < 5 && (entries << width) < length) width++;
  key[k] = (k >= S.lower ? upper : 0) | static_cast<unsigned>(level[k]) << 3 | width;
}

/// Slices and their entries; a warp per slice, a lane per piece.
static __global__ void slice_kernel(SystemView S, const PetscInt *order, const unsigned *key, PetscInt slices,
                                    const PetscInt *first, unsigned char *width, PetscCount *entries)
{
  const PetscInt s    = (INDEX) / 32;
  const int      lane = threadIdx.x % 32;
  if (s == slices && lane == 0) entries[s] = 0; // a running sum looks at it
  if (s >= slices) return;
  const int      w       = static_cast<int>(key[first[s]] & WIDTH_MASK);
  const PetscInt count   = first[s + 1] - first[s];
  PetscInt       longest = lane < count ? PieceAt(S, order[first[s] + lane]).length : 0;
  for (int step = 16; step > 0; step /= 2) longest = max(longest, __shfl_xor_sync(ALL, longest, step));
  if (lane > 0) return;
  width[s]   = static_cast<unsigned char>(w);
  entries[s] = static_cast<PetscCount>((longest + (1 << w) - 1) >> w) * (count << w);
}

/// Facts of the unknowns; position: the inverse of order.
static __global__ void unknown_kernel(SystemView S, const PetscInt *order, PetscInt *position, PetscInt *outside,
                                      PetscInt *pivot)
{
  const PetscInt k = INDEX;
  if (k >= S.pieces) return;
  const FactorView &F     = S.factors;
  const Piece       p     = PieceAt(S, order[k]);
  const bool        upper = p.u >= F.rows;
  const PetscInt    r     = upper ? 2 * F.rows - 1 - p.u : p.u;
  position[order[k]]      = k;
  outside[k]              = !p.whole ? -1 : upper ? (F.column ? F.column[r] : r) : (F.row ? F.row[r] : r);
  pivot[k]                = p.whole && upper != F.lower_diagonal ? F.diagonal[r] : -1;
}

constexpr int BATCH = 4; ///< entries that a lane of a solve looks at together

/// The entries of a piece change places so that those of the highest levels, which come last, are the last batch of its
/// first lane: what the other lanes sum up meanwhile does not hold up the piece.
struct Exchange {
  PetscInt late[BATCH], early[BATCH];

  /// By all lanes of a piece, 2^width, whose mask this is; this one is `part`.
  __device__ __forceinline__ void Find(const SystemView &S, const Piece &p, const int *level, int part, int width,
                                       unsigned mask)
  {
    const PetscInt lanes = 1 << width, steps = (p.length + lanes - 1) / lanes, batch = (steps - 1) % BATCH + 1;
    PetscInt       from;
    long long      below = LLONG_MAX; // the last one found
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      long long most = -1;
      for (PetscInt e = part; e < p.length && q < batch; e += lanes) {
        const PetscInt  k   = EntryAt(S, p, e, &from);
        const long long of  = k < S.lower && p.u >= S.factors.rows ? 0 : level[k]; // L is done long before
        const long long key = (of << 32) + e;
        if (key < below && key > most) most = key;
      }
      for (int step = static_cast<int>(lanes) / 2; step > 0; step /= 2) {
        const long long other = __shfl_xor_sync(mask, most, step);
        most                  = other > most ? other : most;
      }
      below    = most;
      late[q]  = most >= 0 ? static_cast<PetscInt>(most & 0xffffffff) : -1;
      early[q] = q < batch ? (steps - batch + q) * lanes : -1;
    }
    // what is in both stays
#pragma unroll
    for (int q = 0; q < BATCH; q++)
#pragma unroll
      for (int r = 0; r < BATCH; r++)
        if (late[q] >= 0 && late[q] == early[r]) late[q] = early[r] = -1;
  }
  /// The entry that comes to place e.
  __device__ __forceinline__ PetscInt operator()(PetscInt e) const
  {
    PetscInt at = e;
    int      l  = 0;
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      if (late[q] < 0) continue;
      int k = 0; // the l-th of the late ones and the l-th of the early ones
#pragma unroll
      for (int r = 0; r < BATCH; r++) {
        if (early[r] < 0) continue;
        if (k == l && e == late[q]) at = early[r];
        if (k == l && e == early[r]) at = late[q];
        k++;
      }
      l++;
    }
    return at;
  }
};

/// A warp per slice.
static __global__ void fill_kernel(SystemView S, const int *level, const PetscInt *order, const PetscInt *position,
                                   PetscInt slices, const PetscInt *first, const unsigned char *width,
                                   const PetscCount *base, PetscInt *j, PetscInt *from)
{
  const PetscInt s    = (INDEX) / 32;
  const int      lane = threadIdx.x % 32;
  if (s >= slices) return;
  const int lanes = (first[s + 1] - first[s]) << width[s], part = lane & ((1 << width[s]) - 1);
  if (lane >= lanes) return;
  const Piece p = PieceAt(S, order[first[s] + (lane >> width[s])]);
  PetscInt    e = part;
  Exchange    exchange;
  if (width[s] > 0) exchange.Find(S, p, level, part, width[s], (ALL >> (32 - (1 << width[s]))) << (lane - part));
  for (PetscCount at = base[s] + lane; at < base[s + 1]; at += lanes, e += 1 << width[s]) {
    PetscInt where = -1;
    j[at]          = e < p.length ? position[EntryAt(S, p, width[s] > 0 ? exchange(e) : e, &where)] : -1;
    from[at]       = where;
  }
}

/// Of numbers below `count`.
static int Bits(PetscInt count)
{
  int bits = 0;
  while ((count - 1) >> bits) bits++;
  return bits;
}

PetscErrorCode Sweep::Analyse(const FactorView &F, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<unsigned>    key;

  PetscFunctionBegin;
  PetscCheck(F.rows < 1 << 28, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Solves on a GPU take factors of fewer than %d rows, not %" PetscInt_FMT, 1 << 28, F.rows);
  PetscCall(AllocateStuck());
  PetscCall(schedule_.Build(F, options.spins, stuck(), &scratch_, stream));
  PetscCall(CheckStuck());
  const SystemView &S = schedule_.view;
  layout_             = SweepLayout{};
  lower_levels        = schedule_.lower_levels;
  upper_levels        = schedule_.upper_levels;
  PetscCall(slice_of_.Allocate(0, Space::Device));
  layout_.lower  = S.lower;
  layout_.pieces = S.pieces;
  if (S.pieces == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(key.Allocate(S.pieces, Space::Device));
  const int bits = 3 + Bits(PetscMax(lower_levels, upper_levels)); // as few as a sort must look at
  key_kernel<<<Blocks(S.pieces), THREADS, 0, s>>>(S, schedule_.levels, options.entries, 1u << bits, key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(S.pieces, bits + 1, &key, &order_, &scratch_, stream));
  PetscCall(CutGroups(key.data(), S.pieces, WIDTH_MASK, 32, &first_, &layout_.slices, &scratch_, stream));
  PetscCall(width_.Allocate(layout_.slices, Space::Device));
  PetscCall(base_.Allocate(static_cast<size_t>(layout_.slices) + 1, Space::Device));
  slice_kernel<<<Blocks(layout_.slices + 1, THREADS / 32), THREADS, 0, s>>>(
      S, order_.data(), key.data(), layout_.slices, first_.data(), width_.data(), base_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(Fill(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::Fill(Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  const SystemView  &S = schedule_.view;
  Array<PetscInt>    position;
  PetscCount         entries;

  PetscFunctionBegin;
  PetscCall(RunningSum(layout_.slices, &base_, &entries, &scratch_, stream));
  PetscCall(position.Allocate(S.pieces, Space::Device));
  PetscCall(outside_.Allocate(S.pieces, Space::Device));
  PetscCall(pivot_.Allocate(S.pieces, Space::Device));
  PetscCall(scale_.Allocate(S.pieces, Space::Device));
  PetscCall(j_.Allocate(entries, Space::Device));
  PetscCall(from_.Allocate(entries, Space::Device));
  if (options.single)
    PetscCall(single_.Allocate(entries, Space::Device));
  else
    PetscCall(a_.Allocate(entries, Space::Device));
  PetscCall(ticket_.Allocate(2, Space::Device));
  unknown_kernel<<<Blocks(S.pieces), THREADS, 0, s>>>(S, order_.data(), position.data(), outside_.data(),
                                                      pivot_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  fill_kernel<<<Blocks(layout_.slices, THREADS / 32), THREADS, 0, s>>>(
      S, schedule_.levels, order_.data(), position.data(), layout_.slices, first_.data(), width_.data(), base_.data(),
      j_.data(), from_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  layout_.first   = first_.data();
  layout_.base    = base_.data();
  layout_.width   = width_.data();
  layout_.j       = j_.data();
  layout_.from    = from_.data();
  layout_.a       = options.single ? nullptr : a_.data();
  layout_.single  = single_.data();
  layout_.outside = outside_.data();
  layout_.pivot   = pivot_.data();
  layout_.scale   = scale_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keys of rows of L, not of their pieces: level, then long rows; of row order[k], or k.
static __global__ void row_key_kernel(SystemView S, const int *level, const PetscInt *order, PetscInt longest,
                                      unsigned *key)
{
  const PetscInt k = INDEX;
  if (k >= S.factors.rows) return;
  const PetscInt r       = order ? order[k] : k;
  const bool     is_long = S.factors.i[r + 1] - S.factors.i[r] > longest;
  key[k]                 = static_cast<unsigned>(level[UnknownOf(S, r)]) << 3 | (is_long ? 7u : 0u);
}

PetscErrorCode Schedule::LowerTasks(const PetscInt *by_level, PetscInt longest, PetscInt together,
                                    Array<PetscInt> *order, Array<PetscInt> *first, PetscInt *tasks,
                                    DeviceMemory *scratch, Stream stream) const
{
  const cudaStream_t s    = static_cast<cudaStream_t>(stream);
  const PetscInt     rows = view.factors.rows;
  Array<unsigned>    key;

  PetscFunctionBegin;
  *tasks = 0;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(key.Allocate(rows, Space::Device));
  row_key_kernel<<<Blocks(rows), THREADS, 0, s>>>(view, levels, by_level, longest, key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  if (by_level) {
    PetscCall(order->Allocate(rows, Space::Device));
    SparseGPUCallCUDA(cudaMemcpyAsync(order->data(), by_level, order->bytes(), cudaMemcpyDeviceToDevice, s));
  } else {
    PetscCall(SortKeys(rows, 3 + Bits(lower_levels), &key, order, scratch, stream));
  }
  PetscCall(CutGroups(key.data(), rows, ~0u, static_cast<unsigned>(together), first, tasks, scratch, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order, Array<PetscInt> *first,
                                 PetscInt *tasks, Stream stream)
{
  const bool whole = schedule_.view.first == nullptr; // no pieces: the order of the solves will do

  PetscFunctionBegin;
  PetscCall(
      schedule_.LowerTasks(whole ? order_.data() : nullptr, longest, together, order, first, tasks, &scratch_, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t Sweep::Bytes() const
{
  return schedule_.Bytes() + scratch_.bytes() + order_.bytes() + first_.bytes() + j_.bytes() + from_.bytes() +
         outside_.bytes() + pivot_.bytes() + base_.bytes() + width_.bytes() + a_.bytes() + single_.bytes() +
         scale_.bytes() + unknowns_.bytes() + slice_of_.bytes();
}

} // namespace sparsegpu::trisolve

#undef INDEX
