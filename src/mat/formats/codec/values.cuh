/// Reads stored values in a kernel, by streaming loads that leave the caches to x. Two neighbouring values at an even
/// place are one load.
#pragma once

#include "device/load.cuh"
#include "mat/formats/codec/values.hpp"

namespace sparsegpu::formats
{

/// Once at the beginning of a kernel, by all threads: the dictionary goes to shared memory.
__device__ __forceinline__ FullValues stage(const FullValues &a)
{
  return a;
}
__device__ __forceinline__ SingleValues stage(const SingleValues &a)
{
  return a;
}
__device__ __forceinline__ DictionaryValues stage(const DictionaryValues &a)
{
  __shared__ Scalar value[DictionaryValues::SIZE];
  for (int k = threadIdx.x; k < DictionaryValues::SIZE; k += blockDim.x) value[k] = a.value[k];
  __syncthreads();
  return DictionaryValues{a.code, value};
}

__device__ __forceinline__ Scalar load_one(const FullValues &a, PetscInt e)
{
  return load_stream(a.a + e);
}
__device__ __forceinline__ Scalar load_one(const DictionaryValues &a, PetscInt e)
{
  return a.value[load_stream(a.code + e)];
}
__device__ __forceinline__ void load_pair(const DictionaryValues &a, PetscInt e, Scalar *v)
{
  const uchar2 code = load_stream(reinterpret_cast<const uchar2 *>(a.code + e));
  v[0]              = a.value[code.x];
  v[1]              = a.value[code.y];
}

#if defined(PETSC_USE_COMPLEX)
__device__ __forceinline__ Scalar load_one(const SingleValues &a, PetscInt e)
{
  return Scalar(load_stream(&a.a[e].re), load_stream(&a.a[e].im));
}
__device__ __forceinline__ void load_pair(const FullValues &a, PetscInt e, Scalar *v)
{
  v[0] = load_one(a, e);
  v[1] = load_one(a, e + 1);
}
__device__ __forceinline__ void load_pair(const SingleValues &a, PetscInt e, Scalar *v)
{
  v[0] = load_one(a, e);
  v[1] = load_one(a, e + 1);
}
#else
  #if defined(PETSC_USE_REAL_SINGLE)
using RealPair = float2;
  #else
using RealPair = double2;
  #endif
__device__ __forceinline__ Scalar load_one(const SingleValues &a, PetscInt e)
{
  return load_stream(a.a + e);
}
__device__ __forceinline__ void load_pair(const FullValues &a, PetscInt e, Scalar *v)
{
  const RealPair pair = load_stream(reinterpret_cast<const RealPair *>(a.a + e));
  v[0]                = pair.x;
  v[1]                = pair.y;
}
__device__ __forceinline__ void load_pair(const SingleValues &a, PetscInt e, Scalar *v)
{
  const float2 pair = load_stream(reinterpret_cast<const float2 *>(a.a + e));
  v[0]              = pair.x;
  v[1]              = pair.y;
}
#endif

} // namespace sparsegpu::formats
