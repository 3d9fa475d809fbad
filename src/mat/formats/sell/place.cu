/// Puts values from compressed sparse rows into the slots of a sliced ELLPACK matrix, its long rows included.
#include "device/cuda_check.hpp"
#include "mat/formats/sell/lane_entries.cuh"
#include "mat/formats/sell/sell.hpp"
#include "mat/formats/take.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int HEIGHT = SellLayout::HEIGHT;

namespace
{
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

/// A warp a slice. Padding gets the first value of A, so that it needs no code of its own.
static __global__ void values_kernel(SellLayout layout, CsrArrays A, Scalar *values)
{
  __shared__ BlockRoom<Scalar> room;
  const PetscCount             s = thread_index() / HEIGHT;
  if (s >= layout.slices) return;
  const LanePlace     at    = place_of(layout, A.i, static_cast<PetscInt>(s));
  const PetscInt      first = static_cast<PetscInt>(s) * HEIGHT, last = PetscMin(first + HEIGHT, layout.rows);
  LaneEntries<Scalar> entries(A.a, LaneRow{at.first, at.length}, layout.local ? 0 : A.i[first],
                              layout.local ? 0 : A.i[last], room.of_warp[threadIdx.x / 32]);
  const Scalar        padding = at.slice.width ? A.a[0] : Scalar(0);
  for (PetscInt group = 0; group < at.slice.width; group += GROUP) {
    Scalar v[GROUP];
    entries.Load(group, v);
#pragma unroll
    for (int q = 0; q < GROUP; q++)
      if (group + q < at.slice.width)
        values[at.slice.begin + SellSlot(at.slice.width, group + q, threadIdx.x % HEIGHT)] =
            group + q < at.length ? v[q] : padding;
  }
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

PetscErrorCode SellLongColumns_CUDA(const SellLayout &layout, const CsrArrays &A, PetscInt *j, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(EachLong(layout, A.i, TakeColumn{A.j, j}, stream));
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
  PetscCall(EachLong(layout, A.i, TakeValue<false>{A.a, values + layout.long_values}, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
