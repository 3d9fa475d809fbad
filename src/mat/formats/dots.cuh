/// A product with inner products as an epilogue of the formats' kernels; see dots.hpp.
#pragma once

#include "device/launch.cuh"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/formats/dots.hpp"
#include "mat/formats/epilogue.cuh"
#include "mat/formats/sending.cuh"
#include "mat/formats/step_length.hpp"

namespace sparsegpu::formats
{

/// Sums over the block, in a fixed order, to all threads of its first warp. blockDim.x is a multiple of 32. All threads
/// must call.
template <int count> __device__ __forceinline__ void block_sums(PetscReal (&v)[count])
{
  __shared__ PetscReal warps[32][count];
  const int            lane = threadIdx.x % 32;

#pragma unroll
  for (int k = 0; k < count; k++)
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) v[k] += shuffle_xor(v[k], mask, 32);
  __syncthreads(); // the scratch may still be read
#pragma unroll
  for (int k = 0; k < count; k++)
    if (lane == 0) warps[threadIdx.x / 32][k] = v[k];
  __syncthreads();
  if (threadIdx.x >= 32) return;
#pragma unroll
  for (int k = 0; k < count; k++) {
    v[k] = lane < blockDim.x / 32 ? warps[lane][k] : 0;
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) v[k] += shuffle_xor(v[k], mask, 32);
  }
}

/// By the first warp of the block that has the last sum of a group: the last group to arrive finds the length of the
/// step, from the sums of all groups, which it adds in a fixed order.
__device__ __forceinline__ void close_step(const ProductDots &d, unsigned groups)
{
  const int lane               = threadIdx.x % 32;
  PetscReal total[SHADOW_DOTS] = {};
  unsigned  before             = 0;

  if (lane == 0) {
    __threadfence();
    before = atomicAdd(&d.length->arrived, 1u);
  }
  if (__shfl_sync(0xffffffffu, before, 0) != groups - 1) return;
  __threadfence();
#pragma unroll 4
  for (unsigned g = lane; g < groups; g += 32)
#pragma unroll
    for (int k = 0; k < SHADOW_DOTS; k++) total[k] += load_shared(d.sums + SHADOW_DOTS * g + k);
#pragma unroll
  for (int k = 0; k < SHADOW_DOTS; k++)
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) total[k] += shuffle_xor(total[k], mask, 32);
  if (lane > 0) return;
  FindLength(d.length, total);
  d.length->arrived = 0;
}

/// Ends a product: the sums `part` of this thread's rows become those of its group. A grid of few blocks has a group a
/// block, whose sum is a plain store: no fence, no counter. In a larger one the last block of a group to arrive sums
/// the group, in the order of its blocks. All threads must call.
/// The first `without` blocks have no rows, and do not call.
template <int count>
__device__ __forceinline__ void close_product(const ProductDots &d, PetscReal (&part)[count], unsigned without = 0)
{
  const unsigned blocks = gridDim.x - without, block = blockIdx.x - without;
  const unsigned size = (blocks + DOT_GROUPS - 1) / DOT_GROUPS, group = block / size, begin = group * size;
  const unsigned members = blocks - begin < size ? blocks - begin : size;
  const int      lane    = threadIdx.x % 32;
  PetscReal     *sum     = d.sums + count * group;

  block_sums(part);
  if (threadIdx.x >= 32) return;
  if (size > 1) {
    unsigned before = 0;
    if (lane == 0) {
#pragma unroll
      for (int k = 0; k < count; k++) d.partial[count * static_cast<size_t>(block) + k] = part[k];
      __threadfence();
      before = atomicAdd(d.arrived + group, 1u);
    }
    if (__shfl_sync(0xffffffffu, before, 0) != members - 1) return;
    __threadfence();
#pragma unroll
    for (int k = 0; k < count; k++) {
      part[k] = 0;
      for (unsigned b = begin + lane; b < begin + members; b += 32)
        part[k] += load_shared(d.partial + count * static_cast<size_t>(b) + k);
#pragma unroll
      for (int mask = 16; mask > 0; mask /= 2) part[k] += shuffle_xor(part[k], mask, 32);
    }
    if (lane == 0) d.arrived[group] = 0;
  }
#pragma unroll
  for (int k = 0; k < count; k++)
    if (lane == 0) sum[k] = part[k];
  if constexpr (count == SHADOW_DOTS)
    if (d.length) close_step(d, (blocks + size - 1) / size);
}

/// The product of Conjugate.
struct StoreAndDot {
  ProductDots d;
  PetscReal   part[DOTS] = {};
  bool        uniform    = false;

  __device__ __forceinline__ bool Skip()
  {
    wait_for_previous_kernel();
    const int stopped_at = *d.stopped_at, varies = d.varies ? *d.varies : 1; // on their way together
    uniform = varies == 0;
    return stopped_at < d.number;
  }
  template <class Index> __device__ __forceinline__ void Prepare(Index row) const { fetch_ahead(d.y + row); }
  struct Ahead {
    Scalar    x, y;
    PetscReal weight;
  };
  template <class Index> __device__ __forceinline__ Ahead Load(Index row, const Scalar &x) const
  {
    return Ahead{x, d.y[row], d.weight ? RealPart(d.weight[uniform ? Index(0) : row]) : 1};
  }
  __device__ __forceinline__ void Add(const Scalar &sum, const Ahead &a)
  {
    part[0] += RealPart(Conj(a.x) * sum);
    part[1] += a.weight * RealPart(Conj(a.y) * sum);
    part[2] += a.weight * RealPart(Conj(sum) * sum);
  }
  template <class Index> __device__ __forceinline__ void Take(Index row, const Scalar &sum, const Ahead &a)
  {
    d.z[row] = sum;
    Add(sum, a);
  }
  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum)
  {
    Take(row, sum, Load(row, d.x[row]));
  }
  __device__ __forceinline__ void Finish(unsigned without = 0) { close_product(d, part, without); }
};

__device__ __forceinline__ void add_parts(const Scalar &v, PetscReal *part)
{
  part[0] += RealPart(v);
#if defined(PETSC_USE_COMPLEX)
  part[1] += v.im;
#endif
}

/// Whether row r is in no sum; d.left_out is not null.
template <class Index> __device__ __forceinline__ bool is_left_out(const ProductDots &d, Index row)
{
  return d.left_out[row / 32] >> (row % 32) & 1;
}

/// The products of Shadow and Minimise, whose first sums are alike. `inside`: rows of d.left_out, which are not
/// complete, are stored as they are, without W.
template <bool inside> struct ScaledDots {
  ProductDots d;
  PetscReal   part[SHADOW_DOTS] = {}, more[MINIMISE_DOTS - SHADOW_DOTS] = {};
  bool        uniform = false;
  Scalar      factor  = Scalar(0);

  __device__ __forceinline__ bool Skip()
  {
    wait_for_previous_kernel();
    const int stopped_at = *d.stopped_at, varies = d.varies ? *d.varies : 1; // on their way together
    factor  = d.minus ? *d.factor : Scalar(0);
    uniform = varies == 0;
    return stopped_at < d.number;
  }
  template <class Index> __device__ __forceinline__ void Prepare(Index row) const { fetch_ahead(d.y + row); }
  /// The sums of Shadow.
  __device__ __forceinline__ void AddShadow(const Scalar &y, const Scalar &z)
  {
    add_parts(Conj(y) * z, part);
    part[PARTS] += RealPart(Conj(z) * z);
  }
  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum)
  {
    const Scalar z = d.weight ? d.weight[uniform ? Index(0) : row] * sum : sum;

    if constexpr (inside)
      if (is_left_out(d, row)) {
        d.z[row] = sum;
        return;
      }
    d.z[row] = z;
    AddShadow(d.y[row], z);
    if (d.kind != ProductSums::Minimise) return;
    const Scalar s = d.minus ? d.s[row] - factor * d.minus[row] : d.s[row];
    add_parts(Conj(s) * z, more);
    more[PARTS] += RealPart(Conj(s) * s);
  }
  __device__ __forceinline__ void Finish()
  {
    PetscReal all[MINIMISE_DOTS];

    if (d.kind != ProductSums::Minimise) {
      close_product(d, part);
      return;
    }
#pragma unroll
    for (int k = 0; k < MINIMISE_DOTS; k++) all[k] = k < SHADOW_DOTS ? part[k] : more[k - SHADOW_DOTS];
    close_product(d, all);
  }
};

using ScaleAndDot       = ScaledDots<false>;
using ScaleAndDotInside = ScaledDots<true>;

/// Of Shadow alone, in two parts.
template <bool inside> struct ShadowDots : ScaledDots<inside> {
  using ScaledDots<inside>::d;
  using ScaledDots<inside>::part;
  using ScaledDots<inside>::uniform;

  struct Ahead {
    Scalar y, weight;
    bool   out;
  };
  template <class Index> __device__ __forceinline__ Ahead Load(Index row, const Scalar &) const
  {
    return Ahead{d.y[row], d.weight ? d.weight[uniform ? Index(0) : row] : Scalar(1), inside && is_left_out(d, row)};
  }
  template <class Index> __device__ __forceinline__ void Take(Index row, const Scalar &sum, const Ahead &a)
  {
    const Scalar z = d.weight && !a.out ? a.weight * sum : sum;

    d.z[row] = z;
    if (!a.out) this->AddShadow(a.y, z);
  }
  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum)
  {
    Take(row, sum, Load(row, sum));
  }
  __device__ __forceinline__ void Finish(unsigned without = 0) { close_product(d, part, without); }
};

/// StoreAndDot with d.left_out: such rows, which are not complete and may be larger than they will be, add zero.
struct StoreAndDotInside : StoreAndDot {
  struct Ahead : StoreAndDot::Ahead {
    bool out;
  };
  template <class Index> __device__ __forceinline__ Ahead Load(Index row, const Scalar &x) const
  {
    return Ahead{StoreAndDot::Load(row, x), is_left_out(d, row)};
  }
  template <class Index> __device__ __forceinline__ void Take(Index row, const Scalar &sum, const Ahead &a)
  {
    d.z[row] = sum;
    Add(a.out ? Scalar(0) : sum, a);
  }
  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum)
  {
    Take(row, sum, Load(row, d.x[row]));
  }
};

/// Whether the epilogue is that of Shadow and Minimise, sending or not.
template <class Epilogue> constexpr bool SCALES =
    std::is_same_v<Epilogue, ScaleAndDot> || std::is_same_v<Epilogue, Sending<ScaleAndDotInside>>;
inline ShadowDots<false> ShadowAlone(const ScaleAndDot &epilogue)
{
  return ShadowDots<false>{epilogue};
}
inline Sending<ShadowDots<true>> ShadowAlone(const Sending<ScaleAndDotInside> &epilogue)
{
  return Sending<ShadowDots<true>>{{epilogue}, epilogue.exchange, epilogue.x};
}

/// launch(epilogue) with the one that `dots` asks for; a product that begins an exchange has rows that are left out.
template <class Launch>
PetscErrorCode MultiplyAndDot(PetscInt rows, const ProductDots &dots, Stream stream, Launch launch)
{
  PetscFunctionBegin;
  if (dots.kind != ProductSums::Conjugate && dots.exchange)
    PetscCall(SendWith(rows, *dots.exchange, dots.x, ScaleAndDotInside{dots}, stream, launch));
  else if (dots.kind != ProductSums::Conjugate)
    PetscCall(launch(ScaleAndDot{dots}));
  else if (dots.exchange)
    PetscCall(SendWith(rows, *dots.exchange, dots.x, StoreAndDotInside{{dots}}, stream, launch));
  else
    PetscCall(launch(StoreAndDot{dots}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
