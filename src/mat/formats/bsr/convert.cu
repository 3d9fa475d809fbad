/// Blocks counted and put in place from compressed sparse rows on the device, to the arrays that blocks.cxx and bsr.cxx
/// make on the host. They are found by a warp a slice: each of its threads merges the rows of a block row.
#include "device/cub_call.cuh"
#include "device/grid.cuh"
#include "device/row_windows.cuh"
#include "device/sort.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int HEIGHT = BsrLayout::HEIGHT;
static_assert(HEIGHT == 32, "a slice is a warp's");

namespace
{
struct Counts {
  unsigned long long blocks, partial, steps; ///< as in BsrBlocks
  PetscInt           longest;
  int                disorder; ///< the columns of some row do not ascend
};

/// The blocks of a lane's block row by ascending column: a cursor in each of its rows. All lanes of the warp must call.
template <int size> class BlockRow
{
public:
  using Windows = RowWindows<PetscInt, size, 16>;

  static constexpr unsigned long long FULL = ~0ull >> (64 - size * size);

  bool disorder = false;

  __device__ BlockRow(PetscInt rows, const CsrArrays &A, PetscCount I, typename Windows::Room *room)
      : windows_(A.j, room)
  {
#pragma unroll
    for (int p = 0; p < size; p++) {
      const PetscCount r = I * size + p;
      windows_.Set(p, r < rows ? A.i[r] : 0, r < rows ? A.i[r + 1] : 0);
    }
    windows_.Begin();
  }
  /// Column / size of the next block, or NONE if there are no more.
  __device__ PetscInt Next()
  {
    PetscInt least = PETSC_MAX_INT; // no column is that large
    windows_.Ready(size + 1);
#pragma unroll
    for (int p = 0; p < size; p++) {
      column_[p] = windows_.Left(p) > 0 ? windows_.Get(p, 0) : PETSC_MAX_INT;
      least      = column_[p] < least ? column_[p] : least;
    }
    return least == PETSC_MAX_INT ? BsrLayout::NONE : least / size;
  }
  /// Advances past the block of column J, which Next() gave, and returns its mask. Lanes may call it separately.
  __device__ unsigned long long Take(PetscInt J)
  {
    unsigned long long mask = 0;
#pragma unroll
    for (int p = 0; p < size; p++) {
      PetscInt column = column_[p];
      int      taken  = 0;
#pragma unroll
      for (int q = 0; q < size; q++) {
        if (taken >= windows_.Left(p) || column / size != J) break;
        mask |= 1ull << (p * size + column - J * size);
        const PetscInt next = ++taken < windows_.Left(p) ? windows_.Get(p, taken) : PETSC_MAX_INT;
        disorder |= next <= column;
        column = next;
      }
      windows_.Advance(p, taken);
    }
    return mask;
  }

private:
  Windows  windows_;
  PetscInt column_[size];
};
} // namespace

/// width, partial [slices]: as in BsrSlices. A thread block is a warp and has a slice.
template <int size>
static __global__ void count_kernel(PetscInt rows, CsrArrays A, PetscInt *width, PetscInt *partial, Counts *counts)
{
  __shared__ typename BlockRow<size>::Windows::Room room;
  BlockRow<size>                                    row(rows, A, thread_index(), &room);
  PetscInt                                          length = 0, lacking = 0;

  for (PetscInt J = row.Next(); __any_sync(0xffffffffu, J != BsrLayout::NONE); J = row.Next()) {
    if (J == BsrLayout::NONE) continue;
    length++;
    lacking += row.Take(J) != row.FULL;
  }
  const PetscInt widest = warp_max(length), all = warp_sum(length), all_lacking = warp_sum(lacking);
  if (row.disorder) counts->disorder = 1;
  if (threadIdx.x) return;
  width[blockIdx.x]   = widest;
  partial[blockIdx.x] = all_lacking;
  atomicAdd(&counts->blocks, static_cast<unsigned long long>(all));
  if (all_lacking) atomicAdd(&counts->partial, static_cast<unsigned long long>(all_lacking));
  atomicAdd(&counts->steps, static_cast<unsigned long long>(HEIGHT) * static_cast<unsigned long long>(widest));
  atomic_max(&counts->longest, widest);
}

/// The same blocks. first_partial [slices]: partial blocks of the slices before, numbered as their columns lie in j.
template <int size> static __global__ void fill_kernel(BsrLayout layout, CsrArrays A, const PetscInt *first_partial,
                                                       PetscInt *j, PetscInt *partial_column,
                                                       unsigned long long *partial_mask)
{
  __shared__ typename BlockRow<size>::Windows::Room room;
  BlockRow<size>                                    row(layout.rows, A, thread_index(), &room);
  const int                                         lane   = threadIdx.x;
  PetscInt                                          before = first_partial[blockIdx.x];

  for (PetscInt k = layout.begin[blockIdx.x]; k < layout.begin[blockIdx.x + 1]; k++) { // the warp together
    const PetscInt           J       = row.Next();
    const unsigned long long mask    = J == BsrLayout::NONE ? row.FULL : row.Take(J);
    const unsigned           lacking = __ballot_sync(0xffffffffu, mask != row.FULL);
    const PetscInt           at      = before + __popc(lacking & ((1u << lane) - 1));
    j[k * HEIGHT + lane]             = mask == row.FULL ? J : -2 - at;
    before += __popc(lacking);
    if (mask == row.FULL) continue;
    partial_column[at] = J;
    partial_mask[at]   = mask;
  }
}

/// Where row r's entries of block k of its slice are put.
template <int size> struct BlockPlace {
  static constexpr int ROWS = HEIGHT * size; // of a slice

  PetscInt k, end;
  int      t;

  __device__ BlockPlace(const BsrLayout &layout, PetscCount r)
      : k(layout.begin[r / ROWS]),
        end(layout.begin[r / ROWS + 1]),
        t(static_cast<int>(r % ROWS))
  {
  }
  __device__ PetscInt Slot(int q) const { return (k * size + q) * ROWS + t; }
  /// Bit q: the row has entry q of the block.
  __device__ unsigned Mask(const BsrLayout &layout) const
  {
    const PetscInt j = layout.j[k * HEIGHT + t / size];
    if (j == BsrLayout::NONE) return 0;
    return static_cast<unsigned>(j >= 0 ? ~0ull : layout.partial_mask[-2 - j] >> (t % size * size)) &
           ((1u << size) - 1);
  }
};

/// A thread a row; neighbours write to neighbouring slots, having read their rows together.
template <int size> static __global__ void values_kernel(BsrLayout layout, CsrArrays A, Scalar *values)
{
  using Windows = RowWindows<Scalar, 1, 16>;
  __shared__ typename Windows::Room room;
  const PetscCount                  r   = thread_index();
  const bool                        has = r < layout.rows;
  BlockPlace<size>                  at(layout, has ? r : layout.rows - 1);
  Windows                           row(A.a, &room);

  row.Set(0, has ? A.i[r] : 0, has ? A.i[r + 1] : 0);
  row.Begin();
  for (; __any_sync(0xffffffffu, row.Left(0) > 0 && at.k < at.end); at.k++) {
    row.Ready(size);
    const unsigned mask = at.k < at.end && row.Left(0) > 0 ? at.Mask(layout) : 0;
    int            next = 0;
#pragma unroll
    for (int q = 0; q < size; q++)
      if (mask >> q & 1) values[at.Slot(q)] = row.Get(0, next++);
    row.Advance(0, next);
  }
}

template <int size> static __global__ void slots_kernel(BsrLayout layout, const PetscInt *i, PetscInt *slot)
{
  const PetscCount r = thread_index();
  if (r >= layout.rows) return;
  PetscInt e = i[r];
  for (BlockPlace<size> at(layout, r); e < i[r + 1] && at.k < at.end; at.k++) {
    const unsigned mask = at.Mask(layout);
    for (int q = 0; q < size; q++)
      if (mask >> q & 1) slot[e++] = at.Slot(q);
  }
}

static PetscInt Slices(const CsrView &A, int size)
{
  const PetscInt block_rows = A.rows / size + (A.rows % size > 0);
  return block_rows / HEIGHT + (block_rows % HEIGHT > 0);
}

template <int size>
static PetscErrorCode Count(const CsrView &A, PetscInt slices, BsrSlices *cut, Counts *counts, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  Array<Counts>      found;

  PetscFunctionBegin;
  if (slices == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(found.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(found.data(), 0, found.bytes(), s));
  count_kernel<size><<<static_cast<unsigned>(slices), HEIGHT, 0, s>>>(A.rows, A.device, cut->width.data(),
                                                                      cut->partial.data(), found.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(counts, found.data(), sizeof(Counts), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CountBsr_CUDA(const CsrView &A, int size, BsrBlocks *out)
{
  const PetscInt slices = Slices(A, size);
  Counts         counts = {};
  Stream         stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  *out      = BsrBlocks();
  out->size = size;
  PetscCallCXX(out->cut = std::make_shared<BsrSlices>());
  for (Array<PetscInt> *array : {&out->cut->width, &out->cut->partial}) {
    PetscCall(array->Allocate(static_cast<size_t>(slices) + 1, Space::Device));
    SparseGPUCallCUDA(cudaMemsetAsync(array->data() + slices, 0, sizeof(PetscInt), static_cast<cudaStream_t>(stream)));
  }
  PetscCall(
      WithBsrSize(size, [&](auto s) { return Count<decltype(s)::value>(A, slices, out->cut.get(), &counts, stream); }));
  out->blocks    = static_cast<PetscCount>(counts.blocks);
  out->partial   = static_cast<PetscCount>(counts.partial);
  out->steps     = static_cast<PetscCount>(counts.steps);
  out->longest   = counts.longest;
  out->ascending = !counts.disorder;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BuildBsr_CUDA(const CsrView &A, BsrSlices &&cut, BsrLayout *layout, BsrArrays *out)
{
  DeviceMemory scratch;
  PetscInt     steps = 0, partial = 0;
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  layout->slices = Slices(A, layout->size);
  PetscCall(RunningSum(layout->slices, &cut.width, &steps, &scratch, stream));
  PetscCall(RunningSum(layout->slices, &cut.partial, &partial, &scratch, stream));
  out->begin    = std::move(cut.width);
  layout->begin = out->begin.data();
  PetscCall(out->j.Allocate(static_cast<size_t>(HEIGHT) * steps, Space::Device));
  PetscCall(out->partial_column.Allocate(partial, Space::Device));
  PetscCall(out->partial_mask.Allocate(partial, Space::Device));
  if (steps == 0) PetscFunctionReturn(PETSC_SUCCESS);
  WithBsrSize(layout->size, [&](auto s) {
    fill_kernel<decltype(s)::value>
        <<<static_cast<unsigned>(layout->slices), HEIGHT, 0, static_cast<cudaStream_t>(stream)>>>(
            *layout, A.device, cut.partial.data(), out->j.data(), out->partial_column.data(), out->partial_mask.data());
  });
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceSynchronize(stream)); // as Format::Build() ends
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrSlots_CUDA(const BsrLayout &layout, const CsrArrays &A, PetscInt *slot, Stream stream)
{
  PetscFunctionBegin;
  if (layout.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  WithBsrSize(layout.size, [&](auto s) {
    slots_kernel<decltype(s)::value>
        <<<Blocks(layout.rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(layout, A.i, slot);
  });
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrPlace_CUDA(const BsrLayout &layout, const CsrArrays &A, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  if (layout.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const unsigned blocks = static_cast<unsigned>((static_cast<PetscCount>(layout.rows) + HEIGHT - 1) / HEIGHT);
  WithBsrSize(layout.size, [&](auto s) {
    values_kernel<decltype(s)::value><<<blocks, HEIGHT, 0, static_cast<cudaStream_t>(stream)>>>(layout, A, values);
  });
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
