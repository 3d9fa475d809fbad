/// The product of sliced ELLPACK with values that still lie in the order of the matrix's rows: new values multiply at
/// once, and are put in their places when enough products share them.
#include <cuda_pipeline.h>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/launch.cuh"
#include "device/limits.hpp"
#include "mat/formats/epilogue.cuh"
#include "mat/formats/sell/slice.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int WARPS = THREADS / 32;

/// The values of a lane's row in shared memory, as slice_sum() asks for them: by their slots in the slice.
struct StagedRow {
  const Scalar *value; ///< [width of the slice]
  PetscInt      begin; ///< the slice's first slot
  PetscInt      width;
  int           lane;
};
__device__ __forceinline__ void load_pair(const StagedRow &a, PetscInt e, Scalar *v)
{
  const PetscInt k = (e - a.begin - 2 * a.lane) / 32;
  v[0]             = a.value[k];
  v[1]             = a.value[k + 1];
}
__device__ __forceinline__ Scalar load_one(const StagedRow &a, PetscInt e)
{
  const PetscInt slot = e - a.begin, last = a.width - 1;
  return a.value[a.width % 2 && slot >= 32 * last ? last : slot / 64 * 2 + slot % 2];
}

/// Copies the rows of a warp's lanes, each `length` entries from `first` on, to room[lane * stride]: neighbouring
/// threads copy neighbouring entries, 1 << log threads a row. All lanes must call.
__device__ __forceinline__ void stage_rows(const Scalar *values, PetscInt first, int length, int log, int stride,
                                           Scalar *room)
{
  const int lane = threadIdx.x % 32, group = lane >> log, within = lane & ((1 << log) - 1);
  for (int row = group; row < 32; row += 32 >> log) {
    const PetscInt begin = __shfl_sync(0xffffffffu, first, row);
    const int      count = __shfl_sync(0xffffffffu, length, row);
    for (int k = within; k < count; k += 1 << log)
      __pipeline_memcpy_async(room + row * stride + k, values + begin + k, sizeof(Scalar));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
}

/// epilogue(row, A x) as sell_kernel() has it, bit for bit, from `values` in the order of the rows, which begin at
/// begin[row]. Slices go through shared memory, `stride` entries a row (odd, so that lanes meet different banks).
template <class Epilogue> static __global__ void __launch_bounds__(THREADS)
    sell_unplaced_kernel(SellLayout A, const PetscInt *begin, const Scalar *values, int log, int stride,
                         const Scalar *x, Epilogue epilogue)
{
  extern __shared__ __align__(16) unsigned char shared[];

  const PetscInt warp   = (static_cast<PetscInt>(blockIdx.x) - A.chunks) * WARPS + threadIdx.x / 32;
  const PetscInt s      = warp - A.warp_rows;
  const int      lane   = threadIdx.x % 32;
  int            length = SellLayout::NOT_HERE;
  PetscInt       row = 0, first = 0;
  SellSlice      slice = {};
  // The values of long row l, seen as if they lay behind those of the slices.
  const auto of_long = [&](PetscInt l) {
    return FullValues{values + (begin[A.long_row[l]] - A.long_begin[l]) - A.long_values};
  };

  if (s >= 0 && s < A.slices && s * 32 + lane < A.rows) {
    slice  = SellSliceOf(A, s);
    length = place_length(A, s * 32 + lane);
    row    = place_row(A, s * 32 + lane);
    first  = begin[row];
  }
  begin_in_turn();
  if (warp < 0) {
    const RowChunk   chunk = sell_chunk(A, blockIdx.x);
    const FullValues a     = of_long(A.chunk_row[blockIdx.x]);
    add_chunks<THREADS>(chunk, blockIdx.x, sell_chunk_sum<THREADS>(A, chunk, a, x), A.chunk_sum, A.arrived,
                        [&](const Scalar &sum) { epilogue(A.long_row[chunk.row], sum); });
  } else if (s < 0) {
    const Scalar sum = warp_row_sum(A, warp, lane, of_long(warp), x);
    if (lane == 0) epilogue(A.long_row[warp], sum);
  } else if (s < A.slices) {
    Scalar *room = reinterpret_cast<Scalar *>(shared) + static_cast<int>(threadIdx.x / 32) * 32 * stride;
    stage_rows(values, first, length == SellLayout::NOT_HERE ? 0 : length, log, stride, room);
    if (length != SellLayout::NOT_HERE)
      epilogue(row, slice_row_sum(slice, length, lane, StagedRow{room + lane * stride, slice.begin, slice.width, lane},
                                  Gather{x}));
  }
  epilogue.Finish();
}

static size_t Room(int stride)
{
  return sizeof(Scalar) * THREADS * static_cast<size_t>(stride);
}

PetscErrorCode SellMultipliesUnplaced_CUDA(PetscInt longest, bool *can)
{
  const auto kernel = sell_unplaced_kernel<StoreSum>;
  size_t     most;

  PetscFunctionBegin;
  PetscCall(SharedMemoryFor(reinterpret_cast<const void *>(kernel), &most));
  *can = longest <= SellLayout::STAGED && Room(static_cast<int>(longest) | 1) <= most;
  // whatever another matrix needs
  if (*can)
    SparseGPUCallCUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellMultUnplaced_CUDA(const SellLayout &A, PetscInt longest, const PetscInt *begin, const Scalar *values,
                                     const Scalar *x, const ProductTarget &to, Stream stream)
{
  const int stride = static_cast<int>(longest) | 1;
  int       log    = 0;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  while (log < 5 && (1 << log) < longest) log++;
  const PetscInt blocks = A.chunks + (A.warp_rows + A.slices + WARPS - 1) / WARPS;
  PetscCall((LaunchEarly<sell_unplaced_kernel<StoreSum>>(dim3(static_cast<unsigned>(blocks)), THREADS, Room(stride),
                                                         static_cast<cudaStream_t>(stream), A, begin, values, log,
                                                         stride, x, StoreSum{to})));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
