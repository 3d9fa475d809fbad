/// The passes of block conjugate gradients on the device. The last thread block of a pass with sums does the algebra of
/// block_small.hpp. See block.cuh.
#include "ksp/cg/block.cuh"
#include <climits>

namespace sparsegpu::cg
{

/// Pass 2.
template <int S> static __global__ void __launch_bounds__(Shape<S>::THREADS) step_kernel(ManyArrays v, BlockControl c)
{
  __shared__ Scalar room[SharedSize<S, 1>::ALL];
  const TileOf      tile                  = TileOf::Warp<S>();
  Scalar            sums[1][TILE_ENTRIES] = {};
  Scalar *const     scratch               = room + BLOCK_ROOM * S * S;

  begin_in_turn();
  if (c.number > c.state->stopped_at) return;
  for (PetscInt begin = static_cast<PetscInt>(blockIdx.x) * Shape<S>::ROWS; begin < v.rows;
       begin += static_cast<PetscInt>(gridDim.x) * Shape<S>::ROWS) {
    const PetscInt rows  = v.rows - begin < Shape<S>::ROWS ? v.rows - begin : Shape<S>::ROWS;
    const auto     entry = [&](const Scalar *from, PetscInt ld, int k, PetscInt r) {
      return k < v.count ? from[static_cast<size_t>(k) * ld + begin + r] : Scalar(0);
    };
    add_tile<S>(
        tile, rows, sums, [&](int k, PetscInt r) { return entry(v.p, v.ld, k, r); },
        [&](int k, PetscInt r) { return entry(v.w, v.ldw, k, r); }, [](int, PetscInt) { return PetscReal(1); });
  }
  if (!close_tiles<S>(tile, sums, scratch, c.partial, &c.state->arrived)) return;
  const Team      team{static_cast<int>(threadIdx.x), Shape<S>::THREADS};
  const BlockRoom small = RoomIn(room, S);
  fill_gram<S>(scratch, small.gram);
  const Outcome outcome = StepBlock(team, v.count, small, c.state);
  if (outcome != GOES_ON) tell(c, v.count, outcome, nullptr);
}

/// Pass 3, with two matrices if N is not T; at the beginning of a block of its residuals.
template <int S, int matrices, bool begins> static __global__ void __launch_bounds__(Shape<S>::THREADS)
    residual_kernel(ManyArrays v, BlockControl c)
{
  constexpr int        ROWS = Shape<S>::ROWS, COLUMNS = Shape<S>::COLUMNS, SHARED = SharedSize<S, matrices>::ALL;
  __shared__ Scalar    room[SHARED > ROWS * S ? SHARED : ROWS * S], factors[2 * S * S];
  __shared__ PetscReal norms[BLOCK_MOST];
  const TileOf         tile                         = TileOf::Warp<S>();
  Scalar               sums[matrices][TILE_ENTRIES] = {};
  Scalar *const scratch = room + BLOCK_ROOM * S * S, *const xi = factors + S * S;
  const int thread = static_cast<int>(threadIdx.x), row = thread % ROWS, first = thread / ROWS * COLUMNS;

  begin_in_turn();
  if (c.number > c.state->stopped_at) return;
  for (int e = thread; e < S * S && !begins; e += Shape<S>::THREADS) {
    factors[e] = c.state->inverse[e];
    xi[e]      = c.state->xi[e];
  }
  const bool      varies = v.inverse && *c.varies != 0;
  const PetscReal d      = v.inverse ? RealPart(v.inverse[0]) : 1;
  for (PetscInt begin = static_cast<PetscInt>(blockIdx.x) * ROWS; begin < v.rows;
       begin += static_cast<PetscInt>(gridDim.x) * ROWS) {
    const PetscInt rows          = v.rows - begin < ROWS ? v.rows - begin : ROWS;
    Scalar         next[COLUMNS] = {};
    __syncthreads(); // factors are there; room is no longer read
    if (row < rows)
#pragma unroll
      for (int i = 0; i < S; i++) {
        if (i >= v.count) break;
        const Scalar q = v.r[static_cast<size_t>(i) * v.ld + begin + row];
        const Scalar w = begins ? Scalar(0) : load_stream(v.w + static_cast<size_t>(i) * v.ldw + begin + row);
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
          if (begins && i == first + j) next[j] = q;
          if (!begins) next[j] = next[j] + q * factors[i + S * (first + j)] - w * xi[i + S * (first + j)];
        }
      }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) room[(first + j) * ROWS + row] = next[j];
    __syncthreads();
    if (!begins && row < rows)
#pragma unroll
      for (int j = 0; j < COLUMNS; j++)
        if (first + j < v.count) v.r[static_cast<size_t>(first + j) * v.ld + begin + row] = next[j];
    const auto entry = [&](int k, PetscInt r) { return room[k * ROWS + r]; };
    add_tile<S>(tile, rows, sums, entry, entry, [&](int m, PetscInt r) {
      const PetscReal weight = varies ? RealPart(v.inverse[begin + r]) : d;
      return m == 0 ? weight : c.norm == Norm::Preconditioned ? weight * weight : 1;
    });
  }
  if (!close_tiles<S>(tile, sums, scratch, c.partial, &c.state->arrived)) return;
  const BlockRoom small = RoomIn(room, S);
  fill_gram<S>(scratch, small.gram);
  if (matrices > 1) fill_gram<S>(scratch + Shape<S>::TILES * TILE_ENTRIES, small.norm);
  close_residual<S, begins>(v.count, matrices > 1 ? small.norm : small.gram, small, norms, c);
}

/// Pass 3 without its sums, a thread a row: the preconditioner is applied to Q' first.
template <int S> static __global__ void __launch_bounds__(PASS_THREADS) update_kernel(ManyArrays v, BlockControl c)
{
  __shared__ Scalar inverse[S * S], xi[S * S];

  begin_in_turn();
  if (c.number > c.state->stopped_at) return;
  for (int e = threadIdx.x; e < S * S; e += PASS_THREADS) {
    inverse[e] = c.state->inverse[e];
    xi[e]      = c.state->xi[e];
  }
  __syncthreads();
#pragma unroll 1
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * PASS_THREADS + threadIdx.x; r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * PASS_THREADS) {
    Scalar next[S] = {};
#pragma unroll
    for (int i = 0; i < S; i++) {
      if (i >= v.count) break;
      const Scalar q = v.r[static_cast<size_t>(i) * v.ld + r];
      const Scalar w = load_stream(v.w + static_cast<size_t>(i) * v.ldw + r);
#pragma unroll
      for (int j = 0; j < S; j++) {
        if (j >= i) next[j] += q * inverse[i + S * j];
        next[j] = next[j] - w * xi[i + S * j];
      }
    }
#pragma unroll
    for (int j = 0; j < S; j++)
      if (j < v.count) v.r[static_cast<size_t>(j) * v.ld + r] = next[j];
  }
}

/// Pass 4, a thread a row; at the beginning of a block P = D Q alone.
template <int S, bool begins> static __global__ void __launch_bounds__(PASS_THREADS)
    direction_kernel(ManyArrays v, BlockControl c)
{
  __shared__ Scalar inverse[S * S], tau[S * S], step[S * S];

  begin_in_turn();
  if (c.number > c.state->stopped_at) return;
  for (int e = threadIdx.x; e < S * S; e += PASS_THREADS) {
    inverse[e] = c.state->inverse[e];
    tau[e]     = c.state->tau[e];
    step[e]    = begins ? Scalar(0) : c.state->step[e];
  }
  __syncthreads();
  const bool   varies = v.inverse && *c.varies != 0;
  const Scalar first  = v.inverse ? v.inverse[0] : Scalar(1);
#pragma unroll 1 // a row has up to 48 entries in flight
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * PASS_THREADS + threadIdx.x; r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * PASS_THREADS) {
    const Scalar d       = varies ? v.inverse[r] : first;
    Scalar       next[S] = {}, change[S] = {};
#pragma unroll
    for (int i = 0; i < S; i++) {
      if (i >= v.count) break;
      const Scalar q = v.z ? v.z[static_cast<size_t>(i) * v.ld + r] : d * v.r[static_cast<size_t>(i) * v.ld + r];
      const Scalar p = begins ? Scalar(0) : v.p[static_cast<size_t>(i) * v.ld + r];
#pragma unroll
      for (int j = 0; j < S; j++) {
        if (j >= i) next[j] += q * inverse[i + S * j];
        if (!begins && j <= i) next[j] += p * Conj(tau[j + S * i]);
        if (!begins) change[j] += p * step[i + S * j];
      }
    }
#pragma unroll
    for (int j = 0; j < S; j++) {
      if (j >= v.count) break;
      Scalar *const x                        = v.x + static_cast<size_t>(v.column[j]) * v.ldx + r;
      v.p[static_cast<size_t>(j) * v.ld + r] = next[j];
      if (!begins) store_stream(x, load_stream(x) + change[j]);
    }
  }
}

static __global__ void clear_block_kernel(BlockControl c)
{
  if (threadIdx.x < BLOCK_MOST) c.state->done[threadIdx.x] = 0;
  if (threadIdx.x > 0) return;
  c.state->stopped_at = INT_MAX;
  c.state->arrived    = 0;
}

template <int S> static PetscErrorCode Begin(const ManyArrays &v, const BlockControl &control, Stream stream)
{
  PetscFunctionBegin;
  clear_block_kernel<<<1, PASS_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  if (v.z)
    PetscCall(AroundBlock_CUDA(v, control, true, stream));
  else
    PetscCall(LaunchTiles<residual_kernel<S, 1, true>, S>(v, control, stream));
  PetscCall(LaunchPass<direction_kernel<S, true>>(v.rows, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int S> static PetscErrorCode Residual(const ManyArrays &v, const BlockControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchTiles<step_kernel<S>, S>(v, control, stream));
  if (v.z)
    PetscCall(LaunchPass<update_kernel<S>>(v.rows, stream, v, control));
  else if (HasTwoGrams(!v.inverse, control.norm))
    PetscCall(LaunchTiles<residual_kernel<S, 2, false>, S>(v, control, stream));
  else
    PetscCall(LaunchTiles<residual_kernel<S, 1, false>, S>(v, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BeginBlock_CUDA(const ManyArrays &v, const BlockControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(WithWidth(v.count, [&](auto width) { return Begin<width>(v, control, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ResidualBlock_CUDA(const ManyArrays &v, const BlockControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(WithWidth(v.count, [&](auto width) { return Residual<width>(v, control, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionBlock_CUDA(const ManyArrays &v, const BlockControl &control, Stream stream)
{
  PetscFunctionBegin;
  if (v.z) PetscCall(AroundBlock_CUDA(v, control, false, stream));
  PetscCall(WithWidth(
      v.count, [&](auto width) { return LaunchPass<direction_kernel<width, false>>(v.rows, stream, v, control); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
