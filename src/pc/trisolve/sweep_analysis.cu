/// From the levels of a Schedule to a SweepLayout, on the device.
#include "device/cuda_check.hpp"
#include "pc/trisolve/sweep.hpp"
#include "pc/trisolve/system.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int      THREADS    = 256;
static constexpr unsigned UPPER      = 1u << 31; ///< in a key: a piece of U
static constexpr unsigned WIDTH_MASK = 7;        ///< in a key: log2 of a piece's lanes; the level lies between

static unsigned Blocks(PetscInt count, int threads = THREADS)
{
  return static_cast<unsigned>((count + threads - 1) / threads);
}
#define INDEX static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x

/// So many lanes that each has a batch of entries at most, as far as a warp goes.
static __global__ void key_kernel(SystemView S, const int *level, PetscInt entries, unsigned *key)
{
  const PetscInt k = INDEX;
  if (k >= S.pieces) return;
  const PetscInt length = PieceAt(S, k).length;
  unsigned       width  = 0;
  while (width < 5 && (entries << width) < length) width++;
  key[k] = (k >= S.lower ? UPPER : 0) | static_cast<unsigned>(level[k]) << 3 | width;
}

static __global__ void position_kernel(PetscInt count, const PetscInt *order, PetscInt *position)
{
  const PetscInt k = INDEX;
  if (k < count) position[order[k]] = k;
}

/// Facts of the unknowns, and the entries of each slice.
static __global__ void slice_kernel(SystemView S, const PetscInt *order, const unsigned *key, PetscInt slices,
                                    const PetscInt *first, unsigned char *width, PetscCount *entries)
{
  const PetscInt s = INDEX;
  if (s == slices) entries[s] = 0; // a running sum looks at it
  if (s >= slices) return;
  const int w       = static_cast<int>(key[first[s]] & WIDTH_MASK);
  PetscInt  longest = 0;
  for (PetscInt k = first[s]; k < first[s + 1]; k++) {
    const PetscInt length = PieceAt(S, order[k]).length;
    longest               = length > longest ? length : longest;
  }
  const PetscInt lanes = (first[s + 1] - first[s]) << w;
  width[s]             = static_cast<unsigned char>(w);
  entries[s]           = static_cast<PetscCount>((longest + (1 << w) - 1) >> w) * lanes;
}

static __global__ void unknown_kernel(SystemView S, const PetscInt *order, PetscInt *outside, PetscInt *pivot)
{
  const PetscInt k = INDEX;
  if (k >= S.pieces) return;
  const FactorView &F     = S.factors;
  const Piece       p     = PieceAt(S, order[k]);
  const bool        upper = p.u >= F.rows;
  const PetscInt    r     = upper ? 2 * F.rows - 1 - p.u : p.u;
  outside[k]              = !p.whole ? -1 : upper ? (F.column ? F.column[r] : r) : (F.row ? F.row[r] : r);
  pivot[k]                = p.whole && upper != F.lower_diagonal ? F.diagonal[r] : -1;
}

/// A warp per slice.
static __global__ void fill_kernel(SystemView S, const PetscInt *order, const PetscInt *position, PetscInt slices,
                                   const PetscInt *first, const unsigned char *width, const PetscCount *base,
                                   PetscInt *j, PetscInt *from)
{
  const PetscInt s    = (INDEX) / 32;
  const int      lane = threadIdx.x % 32;
  if (s >= slices) return;
  const int lanes = (first[s + 1] - first[s]) << width[s], part = lane & ((1 << width[s]) - 1);
  if (lane >= lanes) return;
  const Piece p = PieceAt(S, order[first[s] + (lane >> width[s])]);
  PetscInt    e = part;
  for (PetscCount at = base[s] + lane; at < base[s + 1]; at += lanes, e += 1 << width[s]) {
    PetscInt where = -1;
    j[at]          = e < p.length ? position[EntryAt(S, p, e, &where)] : -1;
    from[at]       = where;
  }
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
  lower_levels = upper_levels = 0;
  layout_                     = SweepLayout{};
  PetscCall(slice_of_.Allocate(0, Space::Device));
  layout_.lower  = S.lower;
  layout_.pieces = S.pieces;
  if (S.pieces == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(key.Allocate(S.pieces, Space::Device));
  key_kernel<<<Blocks(S.pieces), THREADS, 0, s>>>(S, schedule_.levels, options.entries, key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(S.pieces, 32, &key, &order_, &scratch_, stream));
  unsigned last[2]; // the highest levels come last
  PetscCall(DeviceCopyOut(last, key.data() + S.lower - 1, sizeof(unsigned), stream));
  PetscCall(DeviceCopyOut(last + 1, key.data() + S.pieces - 1, sizeof(unsigned), stream));
  lower_levels = static_cast<PetscInt>(last[0] >> 3) + 1;
  upper_levels = static_cast<PetscInt>((last[1] & ~UPPER) >> 3) + 1;
  PetscCall(CutGroups(key.data(), S.pieces, WIDTH_MASK, 32, &first_, &layout_.slices, &scratch_, stream));
  PetscCall(width_.Allocate(layout_.slices, Space::Device));
  PetscCall(base_.Allocate(static_cast<size_t>(layout_.slices) + 1, Space::Device));
  slice_kernel<<<Blocks(layout_.slices + 1), THREADS, 0, s>>>(S, order_.data(), key.data(), layout_.slices,
                                                              first_.data(), width_.data(), base_.data());
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
  PetscCall(a_.Allocate(entries, Space::Device));
  PetscCall(ticket_.Allocate(1, Space::Device));
  position_kernel<<<Blocks(S.pieces), THREADS, 0, s>>>(S.pieces, order_.data(), position.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  unknown_kernel<<<Blocks(S.pieces), THREADS, 0, s>>>(S, order_.data(), outside_.data(), pivot_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  fill_kernel<<<Blocks(layout_.slices, THREADS / 32), THREADS, 0, s>>>(S, order_.data(), position.data(),
                                                                       layout_.slices, first_.data(), width_.data(),
                                                                       base_.data(), j_.data(), from_.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // `position` ends here
  layout_.first   = first_.data();
  layout_.base    = base_.data();
  layout_.width   = width_.data();
  layout_.j       = j_.data();
  layout_.from    = from_.data();
  layout_.a       = a_.data();
  layout_.outside = outside_.data();
  layout_.pivot   = pivot_.data();
  layout_.scale   = scale_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keys of rows of L, not of their pieces: level, then long rows.
static __global__ void row_key_kernel(SystemView S, const int *level, PetscInt longest, unsigned *key)
{
  const PetscInt r = INDEX;
  if (r >= S.factors.rows) return;
  const bool is_long = S.factors.i[r + 1] - S.factors.i[r] > longest;
  key[r]             = static_cast<unsigned>(level[UnknownOf(S, r)]) << 3 | (is_long ? 7u : 0u);
}

PetscErrorCode Sweep::LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order, Array<PetscInt> *first,
                                 PetscInt *tasks, Stream stream)
{
  const PetscInt  rows = schedule_.view.factors.rows;
  Array<unsigned> key;

  PetscFunctionBegin;
  *tasks = 0;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(key.Allocate(rows, Space::Device));
  row_key_kernel<<<Blocks(rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(schedule_.view, schedule_.levels,
                                                                                  longest, key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(rows, 32, &key, order, &scratch_, stream));
  PetscCall(CutGroups(key.data(), rows, ~0u, static_cast<unsigned>(together), first, tasks, &scratch_, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t Sweep::Bytes() const
{
  return schedule_.Bytes() + scratch_.bytes() + order_.bytes() + first_.bytes() + j_.bytes() + from_.bytes() +
         outside_.bytes() + pivot_.bytes() + base_.bytes() + width_.bytes() + a_.bytes() + scale_.bytes() +
         unknowns_.bytes() + slice_of_.bytes();
}

} // namespace sparsegpu
