/// The parts of the kernel of small.cu. All threads of a block call them.
#pragma once

#include "ksp/common/small_rows.cuh"
#include "ksp/gmres/small.hpp"

namespace sparsegpu::gmres
{

/// A block's own rows and where their data is.
struct SmallRows {
  PetscInt    first, count; ///< of the whole matrix; none in the scalar block
  PetscInt    kept;         ///< vectors of the basis in shared memory, the first ones
  Scalar     *v, *rest;     ///< entry r of vector c is at v[c * stride + r] if c < kept, else at rest[c * far + r]
  size_t      stride, far;
  SmallMatrix A;

  __device__ __forceinline__ Scalar *Vector(PetscInt c) const
  {
    return c < kept ? v + static_cast<size_t>(c) * stride : rest + static_cast<size_t>(c) * far;
  }
};

/// The beginning of the shared memory, for `steps` steps; the basis follows.
struct SmallScalars {
  Scalar *h, *again, *cosine, *rhs; ///< [steps + 2] each: the sums of the first and of the second pass, see Hessenberg
  PetscReal *sine;                  ///< [steps + 2]
};
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
                                               PetscInt block, PetscInt steps, unsigned char *shared)
{
  const PetscInt first = block * shape.rows; // of the scalar block: past the last
  const PetscInt left  = A.rows > first ? A.rows - first : 0;
  SmallRows      rows;

  rows.first  = first;
  rows.count  = left < shape.rows ? left : shape.rows;
  rows.kept   = shape.kept;
  rows.v      = reinterpret_cast<Scalar *>(shared) + small_scalars(steps);
  rows.stride = static_cast<size_t>(shape.rows);
  rows.rest   = work.V.v + first;
  rows.far    = static_cast<size_t>(work.V.stride);
  rows.A      = take_matrix(A, first, rows.count, shape.rows, shared + shape.for_basis, shape.bytes - shape.for_basis);
  return rows;
}

/// partial[c * blocks + block] = V_c^H V_last over the block's rows, a warp a column in turn.
__device__ __forceinline__ void small_dots(const SmallRows &rows, PetscInt columns, PetscInt block, PetscInt blocks,
                                           Scalar *partial)
{
  const int     lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Scalar *w = rows.Vector(columns - 1);

  __syncthreads(); // all rows of w are there
  if (block >= blocks) return;
  for (PetscInt c = warp; c < columns; c += SMALL_WARPS) {
    const Scalar *v = rows.Vector(c);
    Scalar        sum(0);
#pragma unroll 4
    for (PetscInt r = lane; r < rows.count; r += 32) sum += Conj(v[r]) * w[r];
    sum = group_sum<32>(sum);
    if (lane == 0) partial[static_cast<size_t>(c) * blocks + block] = sum;
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
  const PetscInt kept = columns < rows.kept ? columns : rows.kept;
  Scalar         sum(0);
#pragma unroll 8
  for (PetscInt c = 0; c < kept; c++) sum += h[c] * rows.v[static_cast<size_t>(c) * rows.stride + r];
#pragma unroll 8
  for (PetscInt c = kept; c < columns; c++) sum += h[c] * rows.rest[static_cast<size_t>(c) * rows.far + r];
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
