/// Solves with the factors without any barrier between fronts: every unknown, and every part that a front leaves to its
/// parent, is its own flag (see poll.cuh). Warps take small fronts by ticket, blocks take tiles of large ones, in an
/// order in which the oldest can always go on. Bitwise reproducible.
#pragma once

#include "device/cuda_check.hpp"
#include "device/limits.hpp"
#include "pc/lu/fronts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int WARPS = 4, THREADS = 32 * WARPS; ///< of a block

namespace
{
/// Which factors a solve takes.
enum class Way {
  Plain,      ///< L, then U
  Transposed, ///< U^T, then L^T
  Half        ///< L, then L^T or L^H with what D leaves: a symmetric factorization
};

/// What the two sweeps multiply with. Forward: x_k is taken from row i > k; backward: from row i < k. Backward, the
/// triangle of a half has a unit diagonal.
template <Way way> struct Factors {
  static constexpr bool half = way == Way::Half;
  const Scalar         *lower, *upper;
  PetscCount            p, m;
  bool                  conjugate; ///< L^H

  __device__ const Scalar *U(PetscCount i, PetscCount k) const
  {
    return k < p ? lower + i + k * m : upper + i + (k - p) * p;
  }
  /// Of a half; `tile`: the first column of column k's tile.
  __device__ const Scalar *L(PetscCount i, PetscCount k, PetscCount tile) const
  {
    return i < p ? lower + TileBegin(p, tile) + (k - tile) * (p - tile) + i - tile : upper + (i - p) + k * (m - p);
  }
  /// `tile`: the tile of column k.
  __device__ Scalar Forward(PetscCount i, PetscCount k, PetscCount tile) const
  {
    return half ? *L(i, k, tile) : way == Way::Transposed ? *U(k, i) : lower[i + k * m];
  }
  /// `tile`: the tile of column i.
  __device__ Scalar Backward(PetscCount i, PetscCount k, PetscCount tile) const
  {
    if (half) return conjugate ? Conj(*L(k, i, tile)) : *L(k, i, tile);
    return way == Way::Transposed ? lower[k + i * m] : *U(i, k);
  }
  __device__ Scalar Pivot(PetscCount k) const { return lower[half ? TileColumn(p, k) + k : k + k * m]; }
};
template <Way way> __device__ Factors<way> FactorsOf(const FrontsView &V, PetscInt f, const LuSolution &W)
{
  const PetscInt p = V.first[f + 1] - V.first[f], r = static_cast<PetscInt>(V.row_begin[f + 1] - V.row_begin[f]);
  return Factors<way>{W.values + V.lower[f], W.values + V.upper[f], p, p + r, V.shape == Shape::Hermitian};
}
} // namespace

/// The next ticket, the same in all lanes.
static __device__ __forceinline__ unsigned long long TakeTicket(unsigned long long *ticket)
{
  unsigned long long t = 0;
  if (threadIdx.x % 32 == 0) t = atomicAdd(ticket, 1ull);
  return __shfl_sync(ALL_LANES, t, 0);
}

/// Row a of a front before its own elimination: its right-hand side, if it is a pivot's, and what the children leave.
/// In the plain way rows have changed places within their tiles.
template <Way way> static __device__ Scalar Gather(const FrontsView &V, PetscInt first, PetscCount row_begin,
                                                   PetscInt p, PetscInt a, int launch, const LuSolution &W)
{
  const PetscInt   from   = a < p && way == Way::Plain ? W.local_row[first + a] : a;
  const PetscCount number = first + row_begin + from;
  Scalar           v      = a < p ? W.b[first + from] : Scalar(0);
  for (PetscInt s = V.source_begin[number]; s < V.source_begin[number + 1]; s++)
    v += Await(W.parts + V.source[s], W.spins, W.report->ticket + launch, W.report);
  return v;
}

/// As many blocks as run at a time, or as there is work for.
template <class Kernel> static PetscErrorCode Blocks(Kernel *kernel, PetscInt wanted, unsigned *blocks)
{
  PetscInt resident;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks(reinterpret_cast<const void *>(kernel), THREADS, 0, &resident));
  *blocks = static_cast<unsigned>(PetscMax(1, PetscMin(wanted, resident)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
