/// The parts of the kernel of small.cu. All threads of a block call them.
#pragma once

#include "device/batched.cuh"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "ksp/gmres/small.hpp"

namespace sparsegpu::gmres
{

constexpr int SMALL_THREADS = 512;
constexpr int SMALL_WARPS   = SMALL_THREADS / 32;

/// A block's own rows and where their data is.
struct SmallRows {
  PetscInt        first, count; ///< of the whole matrix; none in the scalar block
  Scalar         *v;            ///< entry r of column c of the basis is at v[c * stride + r]
  size_t          stride;
  const PetscInt *i; ///< [count + 1] from 0
  const PetscInt *j; ///< [i[count]]
  const Scalar   *a; ///< [i[count]]
};

/// The beginning of the shared memory, for `steps` steps; the basis follows.
struct SmallScalars {
  Scalar *h, *again, *cosine, *rhs; ///< [steps + 2] each: the sums of the first and of the second pass, see Hessenberg
  PetscReal *sine;                  ///< [steps + 2]
};
/// Rounds up to the alignment of every part of the shared memory.
inline __host__ __device__ size_t small_aligned(size_t bytes)
{
  return (bytes + 15) / 16 * 16;
}
/// In units of Scalar.
inline __host__ __device__ size_t small_scalars(PetscInt steps)
{
  return 5 * (static_cast<size_t>(steps) + 2);
}
__device__ __forceinline__ SmallScalars carve_scalars(unsigned char *shared, PetscInt steps)
{
  const size_t  length = static_cast<size_t>(steps) + 2;
  Scalar *const s      = reinterpret_cast<Scalar *>(shared);
  return SmallScalars{s, s + length, s + 2 * length, s + 3 * length, reinterpret_cast<PetscReal *>(s + 4 * length)};
}

/// Takes the block's rows, and copies to shared memory what fits.
__device__ __forceinline__ SmallRows take_rows(const CsrLayout &A, const SmallShape &shape, const SmallWork &work,
                                               PetscInt steps, unsigned char *shared)
{
  const PetscInt first = static_cast<PetscInt>(blockIdx.x) * shape.rows; // of the scalar block: past the last
  const PetscInt left  = A.rows > first ? A.rows - first : 0;
  SmallRows      rows;

  rows.first  = first;
  rows.count  = left < shape.rows ? left : shape.rows;
  rows.v      = work.V.v + first;
  rows.stride = static_cast<size_t>(work.V.stride);
  if (shape.shared) {
    rows.v      = reinterpret_cast<Scalar *>(shared) + small_scalars(steps);
    rows.stride = static_cast<size_t>(shape.rows);
  }
  const PetscInt  begin   = rows.count ? A.i[first] : 0;
  const PetscInt  entries = rows.count ? A.i[first + rows.count] - begin : 0;
  PetscInt *const i = reinterpret_cast<PetscInt *>(shared + shape.for_basis), *const j = i + shape.rows + 1;
  const size_t for_pattern =
      small_aligned((static_cast<size_t>(shape.rows) + 1 + static_cast<size_t>(entries)) * sizeof(PetscInt));

  rows.j = A.j + begin;
  rows.a = A.a + begin;
  if (shape.for_basis + for_pattern + static_cast<size_t>(entries) * sizeof(Scalar) <= shape.bytes) {
    Scalar *const a = reinterpret_cast<Scalar *>(shared + shape.for_basis + for_pattern);
    for (PetscInt e = threadIdx.x; e < entries; e += SMALL_THREADS) {
      a[e] = A.a[begin + e];
      j[e] = A.j[begin + e];
    }
    rows.j = j;
    rows.a = a;
  }
  for (PetscInt r = threadIdx.x; r <= rows.count; r += SMALL_THREADS) i[r] = rows.count ? A.i[first + r] - begin : 0;
  rows.i = i;
  __syncthreads();
  return rows;
}

/// done(r, the product of row r with x) for all rows of the block; `lanes` neighbouring threads share a row. x has been
/// written by other blocks.
template <class Done>
__device__ __forceinline__ void small_product(const SmallRows &rows, int lanes, const Scalar *x, Done done)
{
  const PetscInt at_once = SMALL_THREADS / lanes;
  const int      lane    = static_cast<int>(threadIdx.x) % lanes;

  for (PetscInt begin = 0; begin < rows.count; begin += at_once) { // together, as lanes exchange sums
    const PetscInt r = begin + static_cast<PetscInt>(threadIdx.x) / lanes;
    Scalar         sum(0);
    if (r < rows.count)
      sum = batched_sum<4>(
          rows.i[r] + lane, rows.i[r + 1], lanes, [&](PetscInt e) { return rows.a[e]; },
          [&](PetscInt e) { return rows.j[e]; }, [&](PetscInt j) { return load_shared(x + j); });
    for (int mask = lanes / 2; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask, 32);
    if (r < rows.count && lane == 0) done(r, sum);
  }
}

/// partial[c * blocks + this block] = V_c^H V_last over the block's rows, a warp a column in turn.
__device__ __forceinline__ void small_dots(const SmallRows &rows, PetscInt columns, PetscInt blocks, Scalar *partial)
{
  const int     lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Scalar *w = rows.v + static_cast<size_t>(columns - 1) * rows.stride;

  __syncthreads(); // all rows of w are there
  if (blockIdx.x >= blocks) return;
  for (PetscInt c = warp; c < columns; c += SMALL_WARPS) {
    const Scalar *v = rows.v + static_cast<size_t>(c) * rows.stride;
    Scalar        sum(0);
#pragma unroll 4
    for (PetscInt r = lane; r < rows.count; r += 32) sum += Conj(v[r]) * w[r];
    sum = group_sum<32>(sum);
    if (lane == 0) partial[static_cast<size_t>(c) * blocks + blockIdx.x] = sum;
  }
}

/// h[c] = the sum over all blocks, in their order, after a barrier. Returns the sum of |h[c]|^2 over
/// all columns but the last; every block and every thread has the same bits.
__device__ __forceinline__ PetscReal small_sums(PetscInt columns, PetscInt blocks, const Scalar *partial, Scalar *h)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Scalar    part(0);

  for (PetscInt c = warp; c < columns; c += SMALL_WARPS) {
    Scalar sum(0);
    for (PetscInt b = lane; b < blocks; b += 32) sum += load_shared(partial + static_cast<size_t>(c) * blocks + b);
    sum = group_sum<32>(sum);
    if (lane == 0) h[c] = sum;
  }
  __syncthreads();
  for (PetscInt c = lane; c < columns - 1; c += 32) part += Scalar(SquareOf(h[c]));
  return RealPart(group_sum<32>(part));
}

/// The sum of h[c] V_c[r] over `columns` columns, in their order.
__device__ __forceinline__ Scalar small_combined(const SmallRows &rows, PetscInt columns, const Scalar *h, PetscInt r)
{
  Scalar sum(0);
#pragma unroll 8
  for (PetscInt c = 0; c < columns; c++) sum += h[c] * rows.v[static_cast<size_t>(c) * rows.stride + r];
  return sum;
}

/// R y = rhs by columns, last first, by the scalar block.
__device__ __forceinline__ void small_solve(const Hessenberg &H, PetscInt columns, const Scalar *rhs, Scalar *y)
{
  for (PetscInt c = threadIdx.x; c < columns; c += SMALL_THREADS) y[c] = rhs[c];
  __syncthreads();
  for (PetscInt c = columns - 1; c >= 0; c--) {
    const Scalar *r  = H.r + static_cast<size_t>(c) * H.stride;
    const Scalar  yc = Quotient(y[c], RealPart(r[c])); // AddColumn() leaves a positive diagonal
    __syncthreads();                                   // all have read y[c]
    for (PetscInt k = threadIdx.x; k <= c; k += SMALL_THREADS) y[k] = k < c ? y[k] - r[k] * yc : yc;
    __syncthreads();
  }
}

} // namespace sparsegpu::gmres
