/// One cooperative kernel runs many iterations of all columns; see many_small.hpp for the division of the work.
#include <cooperative_groups.h>
#include <climits>
#include "ksp/cg/many.cuh"
#include "ksp/cg/many_small.hpp"
#include "ksp/common/passes.cuh"
#include "ksp/common/small_rows.cuh"
#include "ksp/common/small_sums.cuh"

namespace sparsegpu::cg
{

/// The vectors of a block's rows, in shared memory.
struct ManyVectors {
  Scalar *x, *r, *p, *w; ///< [rows of a block * width]
  Scalar *d;             ///< [rows of a block] of the diagonal
};
/// Vectors' worth of shared memory for a row.
inline __host__ __device__ constexpr int many_vectors(int width)
{
  return 4 * width + 1;
}

/// each(row, place in a block's vectors) for the rows that this thread has of its column.
template <int width, class Each> __device__ __forceinline__ void for_own_rows(PetscInt count, Each each)
{
  for (PetscInt at = static_cast<PetscInt>(threadIdx.x); at < count * width; at += SMALL_THREADS) each(at / width, at);
}

/// The block's sums of each column, to partial [count * width][blocks]. All threads must call.
template <int width, int count>
__device__ __forceinline__ void leave_column_sums(PetscReal (&v)[count], PetscReal *by_warp, PetscReal *partial)
{
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int mine = static_cast<int>(threadIdx.x);

#pragma unroll
  for (int k = 0; k < count; k++) {
#pragma unroll
    for (int mask = 16; mask >= width; mask /= 2) v[k] += shuffle_xor(v[k], mask, 32);
    if (lane < width) by_warp[(warp * count + k) * width + lane] = v[k];
  }
  __syncthreads();
  if (mine >= count * width) return;
  PetscReal sum = 0;
#pragma unroll
  for (int q = 0; q < SMALL_WARPS; q++) sum += by_warp[q * count * width + mine];
  partial[static_cast<unsigned>(mine) * gridDim.x + blockIdx.x] = sum;
}

/// The sums of all blocks for this thread's column, in the blocks' order. After a barrier of the grid; all must call.
template <int width, int count>
__device__ __forceinline__ void column_sums(const PetscReal *partial, PetscReal *whole, PetscReal (&v)[count])
{
  constexpr int VALUES = count * width, EACH = (VALUES + SMALL_WARPS - 1) / SMALL_WARPS;
  const int     lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  PetscReal     sums[EACH] = {};

  for (unsigned b = lane; b < gridDim.x; b += 32)
#pragma unroll
    for (int q = 0; q < EACH; q++) {
      const unsigned value = warp + q * SMALL_WARPS;
      if (value < VALUES) sums[q] += load_shared(partial + value * gridDim.x + b);
    }
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const int value = warp + q * SMALL_WARPS;
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) sums[q] += shuffle_xor(sums[q], mask, 32);
    if (lane == 0 && value < VALUES) whole[value] = sums[q];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < count; k++) v[k] = whole[k * width + static_cast<int>(threadIdx.x) % width];
}

/// Of its column, by one thread of the grid.
template <int width>
__device__ __forceinline__ void tell(Record *records, int which, PetscReal norm, int outcome, int round)
{
  if (blockIdx.x > 0 || threadIdx.x >= width) return;
  begin_record(records + which, Record{norm, outcome, round});
  end_record(records + which, round);
}

template <int width> __device__ __forceinline__ ManyVectors take_vectors(const ManySmallWork &work, PetscInt first,
                                                                         PetscInt count, PetscInt most, bool used,
                                                                         unsigned char *shared)
{
  Scalar *const s    = reinterpret_cast<Scalar *>(shared);
  const size_t  each = static_cast<size_t>(most) * width;
  ManyVectors   own{s, s + each, s + 2 * each, s + 3 * each, s + 4 * each};
  const Arrays  v = work.v.Slot(used ? static_cast<int>(threadIdx.x) % width : 0);

  for_own_rows<width>(count, [&](PetscInt r, PetscInt at) {
    own.x[at]                                            = v.x[first + r];
    own.r[at]                                            = v.r[first + r];
    own.p[at]                                            = v.p[first + r];
    work.gather[static_cast<size_t>(first) * width + at] = own.p[at];
  });
  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) own.d[r] = v.inverse ? v.inverse[first + r] : Scalar(1);
  __syncthreads();
  return own;
}

template <int width>
__device__ __forceinline__ void store_vectors(const ManyVectors &own, const Arrays &v, PetscInt first, PetscInt count)
{
  for_own_rows<width>(count, [&](PetscInt r, PetscInt at) {
    v.x[first + r] = own.x[at];
    v.r[first + r] = own.r[at];
    v.p[first + r] = own.p[at];
  });
}

/// The product of the thread's rows of column c, and its share of the sums.
template <int width> __device__ __forceinline__ void many_product(const SmallMatrix &A, const ManyVectors &own,
                                                                  PetscInt count, int c, const Scalar *gather,
                                                                  PetscReal (&dots)[DOTS])
{
  for_own_rows<width>(count, [&](PetscInt r, PetscInt at) {
    const Scalar sum = batched_sum<4>(
        A.i[r], A.i[r + 1], 1, [&](PetscInt e) { return A.a[e]; }, [&](PetscInt e) { return A.j[e]; },
        [&](PetscInt j) { return load_shared(gather + static_cast<size_t>(j) * width + c); });
    const PetscReal weight = RealPart(own.d[r]);
    own.w[at]              = sum;
    dots[0] += RealPart(Conj(own.p[at]) * sum);
    dots[1] += weight * RealPart(Conj(own.r[at]) * sum);
    dots[2] += weight * RealPart(Conj(sum) * sum);
  });
}

/// Pass 2 of the thread's rows, and its share of the sums.
template <int width> __device__ __forceinline__ void many_update(const ManyVectors &own, const Step &step, Norm norm,
                                                                 PetscInt count, Scalar *gather, PetscReal (&sums)[2])
{
  const Scalar alpha(step.alpha), beta(step.beta);

  for_own_rows<width>(count, [&](PetscInt r, PetscInt at) {
    const Scalar p = own.p[at], residual = own.r[at] - alpha * own.w[at], z = own.d[r] * residual;
    Sums         part{0, 0};
    own.x[at]  = own.x[at] + alpha * p;
    own.r[at]  = residual;
    own.p[at]  = z + beta * p;
    gather[at] = own.p[at];
    AddShares(norm, residual, z, &part);
    sums[0] += part.rho;
    sums[1] += part.square;
  });
}

/// What all blocks exchange is written before one barrier and read before the next.
template <int width> static __global__ void __launch_bounds__(SMALL_THREADS, 1)
    many_small_kernel(SmallShape shape, ManySmallWork work, ManyControl control)
{
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ PetscReal by_warp[SMALL_WARPS * DOTS * width], whole_dots[DOTS * width], whole_sums[2 * width];
  const cooperative_groups::grid_group grid  = cooperative_groups::this_grid();
  const PetscInt                       first = static_cast<PetscInt>(blockIdx.x) * shape.rows;
  const PetscInt                       left = work.v.rows - first, count = left < shape.rows ? left : shape.rows;
  const size_t      vectors = small_aligned(static_cast<size_t>(many_vectors(width)) * shape.rows * sizeof(Scalar));
  const int         c       = static_cast<int>(threadIdx.x) % width;
  State             state   = control.state[c];
  bool              alive   = c < work.v.count && state.stopped_at == INT_MAX;
  const ManyVectors own     = take_vectors<width>(work, first, count, shape.rows, c < work.v.count, shared);
  const SmallMatrix A       = take_matrix(work.A, first, count, shape.rows, shared + vectors, shape.bytes - vectors);

  grid.sync(); // all have read the states, and all directions are there
  for (PetscInt k = control.number;; k++) {
    PetscReal     dots[DOTS] = {}, sums[2] = {};
    Record *const records = work.records + static_cast<size_t>(k - control.number) * (width + 1);
    if (alive) many_product<width>(A, own, count, c, work.gather, dots);
    leave_column_sums<width>(dots, by_warp, work.dots);
    grid.sync();
    column_sums<width>(work.dots, whole_dots, dots);
    Step step{0, 0, GOES_ON};
    if (alive) step = TakeStep(state, k > 0 ? 1 : 0, dots); // all blocks find the same; the first differs from the rest
    if (alive && step.outcome != GOES_ON) {
      alive            = false;
      state.stopped_at = static_cast<int>(k);
      tell<width>(records, c, 0, step.outcome, control.round);
    }
    if (__any_sync(0xffffffffu, alive)) { // each warp has all columns
      if (alive)
        many_update<width>(own, step, control.norm, count, work.gather + static_cast<size_t>(first) * width, sums);
      leave_column_sums<width>(sums, by_warp, work.sums);
      grid.sync();
      column_sums<width>(work.sums, whole_sums, sums);
    }
    if (alive) {
      const PetscReal norm  = norm_of(control, sums[0], sums[1]);
      const bool      stops = stops_by(control, c, k, norm);
      tell<width>(records, c, norm, stops ? STOPS : GOES_ON, control.round);
      state.before    = state.rho;
      state.curvature = dots[0];
      state.rho       = sums[0];
      if (stops) state.stopped_at = static_cast<int>(k);
      alive = !stops;
    }
    const int  remain = __popc(__ballot_sync(0xffffffffu, alive && threadIdx.x % 32 < width));
    const bool ends   = remain == 0 || k + 1 == work.last || (width > MANY_SMALL_LEAST && 2 * remain <= width);
    if (threadIdx.x == 0) tell<width>(records, width, 0, ends, control.round);
    if (ends) break;
  }
  if (c < work.v.count) store_vectors<width>(own, work.v.Slot(c), first, count);
  if (c < work.v.count && blockIdx.x == 0 && threadIdx.x < width) control.state[c] = state;
}

namespace
{
/// The kernel of `width`, a power of two from MANY_SMALL_LEAST to MANY.
const void *KernelOf(int width)
{
  switch (width) {
  case 2: return reinterpret_cast<const void *>(many_small_kernel<2>);
  case 4: return reinterpret_cast<const void *>(many_small_kernel<4>);
  case 8: return reinterpret_cast<const void *>(many_small_kernel<8>);
  case 16: return reinterpret_cast<const void *>(many_small_kernel<16>);
  default: return reinterpret_cast<const void *>(many_small_kernel<32>);
  }
}
} // namespace

PetscErrorCode PlanManySmall(int width, PetscInt rows, PetscReal mean, SmallShape *shape, bool *fits)
{
  PetscFunctionBegin;
  PetscCall(PlanSmall(KernelOf(width), many_vectors(width), rows, mean, shape, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LaunchManySmall(int width, const SmallShape &shape, const ManySmallWork &work,
                               const ManyControl &control, Stream stream, bool *launched)
{
  void *arguments[] = {const_cast<SmallShape *>(&shape), const_cast<ManySmallWork *>(&work),
                       const_cast<ManyControl *>(&control)};

  PetscFunctionBegin;
  PetscCall(LaunchCooperative(KernelOf(width), shape.blocks, SMALL_THREADS, arguments, shape.bytes, stream, launched));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
