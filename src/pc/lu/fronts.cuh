/// What the kernels of the direct factorization share.
#pragma once

#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "device/warp.cuh"
#include "pc/lu/device.hpp"
#include "pc/lu/flags.cuh"

namespace sparsegpu::lu
{

constexpr unsigned ALL_LANES = 0xffffffffu;

/// Of a lane, to all lanes.
template <class Number> __device__ __forceinline__ Number shuffle(const Number &v, int lane)
{
#if defined(PETSC_USE_COMPLEX)
  return Number(__shfl_sync(ALL_LANES, v.re, lane), __shfl_sync(ALL_LANES, v.im, lane));
#else
  return __shfl_sync(ALL_LANES, v, lane);
#endif
}

/// v, hiding its origin from the compiler, which would turn a choice between registers into a choice
/// between addresses, and then keep them in memory.
__device__ __forceinline__ float held(float v)
{
  asm("" : "+f"(v));
  return v;
}
__device__ __forceinline__ double held(double v)
{
  asm("" : "+d"(v));
  return v;
}
#if defined(PETSC_USE_COMPLEX)
template <class Number> __device__ __forceinline__ Number held(const Number &v)
{
  return Number(held(v.re), held(v.im));
}
#endif

constexpr PetscInt LISTED_FRONTS = 65535; ///< of a launch: the grid's second extent

SPARSEGPU_HD PetscInt Parts(PetscInt length, PetscInt part)
{
  return (length + part - 1) / part;
}
inline dim3 Grid(PetscCount x, PetscInt y)
{
  return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y));
}

/// One front in its place, see FrontPlan. `half`: of a symmetric factorization.
template <class Number> struct DeviceFront {
  Shape      shape;
  PetscInt   pivots, others, rows, first;
  PetscCount row_begin;
  Number    *lower, *upper, *update;

  __device__ DeviceFront(const FrontsView &V, PetscInt f, Number *values, Number *work)
  {
    shape     = V.shape;
    first     = V.first[f];
    row_begin = V.row_begin[f];
    pivots    = V.first[f + 1] - first;
    others    = static_cast<PetscInt>(V.row_begin[f + 1] - row_begin);
    rows      = pivots + others;
    lower     = values + V.lower[f];
    upper     = values + V.upper[f];
    update    = work + V.update[f];
  }
  /// Column k of the pivots' square: where its row 0 is, or would be.
  template <bool half> __device__ Number *Column(PetscCount k) const
  {
    return lower + (half ? TileColumn(pivots, k) : k * rows);
  }
  /// Column k of L: where the first row below the pivots is.
  template <bool half> __device__ Number *Rest(PetscCount k) const
  {
    return half ? upper + k * others : lower + k * rows + pivots;
  }
  /// Column j of the update: where its row 0 is, or would be.
  template <bool half> __device__ Number *Update(PetscCount j) const
  {
    return update + (half ? UpdateColumn(others, j) : j * others);
  }
  __device__ Number Pivot(PetscCount k) const
  {
    return lower[(shape == Shape::General ? k * rows : TileColumn(pivots, k)) + k];
  }
  /// An entry of U, or of L^T or L^H.
  __device__ Number Mirrored(const Number &v) const { return shape == Shape::Hermitian ? Conj(v) : v; }
  /// Of a Hermitian matrix pivots are real but for rounding.
  __device__ Number PivotMet(const Number &v) const { return shape == Shape::Hermitian ? Number(RealPart(v)) : v; }
};

__device__ __forceinline__ bool is_finite(PetscReal v)
{
  return v - v == 0;
}

/// A pivot as it is used: see LuPivoting.
template <class Number> __device__ __forceinline__ Number UsedPivot(const Number &pivot, const LuPivoting &P)
{
  const PetscReal magnitude = Magnitude(pivot);
  if (!(magnitude <= P.tiny)) return pivot;
  return magnitude > 0 ? FromReal<Number>(P.replace / magnitude) * pivot : FromReal<Number>(P.replace);
}

/// What one thread has seen of pivots, added to the report at the end.
struct PivotTally {
  int                perturbed = 0, negative = 0, not_finite = 0;
  unsigned long long first    = ~0ull;
  PetscReal          smallest = PETSC_MAX_REAL;

  template <class Number>
  __device__ void Count(const Number &met, const Number &used, const LuPivoting &P, PetscInt row)
  {
    const PetscReal magnitude = Magnitude(met);
    if (!is_finite(magnitude)) not_finite = 1;
    if (magnitude < smallest) smallest = magnitude;
    if (magnitude <= P.tiny) {
      perturbed++;
      if (static_cast<unsigned long long>(row) < first) first = static_cast<unsigned long long>(row);
    }
    if (RealPart(used) < 0) negative++;
  }
  /// What all lanes of the warp have seen; each must call.
  __device__ void OfWarp()
  {
    perturbed  = __reduce_add_sync(ALL_LANES, perturbed);
    negative   = __reduce_add_sync(ALL_LANES, negative);
    not_finite = __reduce_or_sync(ALL_LANES, static_cast<unsigned>(not_finite)) != 0;
    for (int step = 16; step > 0; step /= 2) {
      const unsigned long long other = __shfl_xor_sync(ALL_LANES, first, step);
      const PetscReal          size  = __shfl_xor_sync(ALL_LANES, smallest, step);
      first                          = other < first ? other : first;
      smallest                       = size < smallest ? size : smallest;
    }
  }
  __device__ void Tell(DeviceReport *report) const
  {
    if (perturbed) atomicAdd(&report->perturbed, perturbed);
    if (negative) atomicAdd(&report->negative, negative);
    if (not_finite) atomicOr(&report->not_finite, 1);
    if (perturbed) atomicMin(&report->first, first);
    atomicMin(&report->smallest, BitsOf(smallest));
  }
};

/// Which of the rows k .. end - 1, of which lanes have an entry of column k each, becomes row k: the first of several
/// of the largest, if row k's own is too small against it. The same in all lanes.
__device__ __forceinline__ int ChoosePivot(PetscReal magnitude, int lane, int k, int end, PetscReal exchange)
{
  const PetscReal own    = __shfl_sync(ALL_LANES, magnitude, k);
  const bool      counts = lane >= k && lane < end && magnitude >= 0; // what is not a number never wins
  // most rows stay, and a vote says so before the largest is known
  if (exchange <= 0 || !__any_sync(ALL_LANES, counts && !(own >= exchange * magnitude))) return k;
  const RealBits bits = counts && magnitude > 0 ? BitsOf(magnitude) : 0, most = LargestOfWarp(bits); // of -0: none
  return __ffs(static_cast<int>(__ballot_sync(ALL_LANES, counts && bits == most))) - 1;
}

/// A pivot: the row that it is found in, and what becomes of it.
template <class Number> struct TakenPivot {
  int    row;
  Number met, used, inverse;
};
/// Pivot k from the lanes' entries v of column k, rows k .. end - 1. Every lane treats its entry as if it were the
/// pivot while the choice is made: a division takes as long as that.
template <bool half, class Number>
static __device__ __forceinline__ TakenPivot<Number> TakePivot(const DeviceFront<Number> &F, const Number &v, int lane,
                                                               int k, int end, const LuPivoting &P)
{
  const Number met = half ? F.PivotMet(v) : v, used = UsedPivot(met, P), inverse = Inverse(used);
  const int    row = half ? k : ChoosePivot(Magnitude(v), lane, k, end, P.exchange);
  return TakenPivot<Number>{row, shuffle(met, row), shuffle(used, row), shuffle(inverse, row)};
}

/// Polls until the value is there; see Patience.
template <class Number> __device__ __forceinline__ Number Await(const Number *p, unsigned spins,
                                                                const unsigned long long *ticket, DeviceReport *report)
{
  Number   v = poll(p);
  Patience patience;
  for (; IsMissing(v); v = poll(p)) {
    if (patience.Ends(spins, ticket, &report->stuck)) {
      report->stuck = 1;
      return Abandoned<Number>();
    }
  }
  return v;
}

} // namespace sparsegpu::lu
