/// Sums of a row's products whose loads are on their way together.
#pragma once

#include <type_traits>
#include "device/scalar.hpp"

namespace sparsegpu
{

/// Entry j of x. Row sums take such an object, or another with entries that have an add_product()
/// (mat/formats/many.cuh).
struct Gather {
  const Scalar *x;

  __device__ __forceinline__ Scalar operator()(PetscInt j) const { return x[j]; }
};
/// sum += a * u, where u is an entry of x.
__device__ __forceinline__ void add_product(Scalar &sum, const Scalar &a, const Scalar &u)
{
  sum += a * u;
}

/// The sum of value(e) * x(column(e)) for e = begin, begin + step, ... < end, one after the other. The loads of `batch`
/// entries are all on their way before the first product, also where fewer are left, and so are the columns of the next
/// ones: a compiler that unrolls the plain loop takes those that fill no batch one by one, two memory latencies each,
/// and short rows have no others. ready() is called between the first columns and all else.
template <int batch, class Value, class Column, class X, class Ready>
__device__ __forceinline__ auto batched_sum(PetscInt begin, PetscInt end, PetscInt step, Value value, Column column,
                                            X x, Ready ready)
{
  using Sum = std::decay_t<decltype(x(PetscInt(0)))>; // a number, or a piece of a row of X
  PetscInt j[batch], left = end - begin;
  Sum      sum = {};

#pragma unroll
  for (int q = 0; q < batch; q++) j[q] = q * step < left ? column(begin + q * step) : 0;
  ready();
  while (left > 0) {
    const PetscInt next = begin + batch * step, rest = left - batch * step;
    Scalar         a[batch];
    Sum            u[batch];
#pragma unroll
    for (int q = 0; q < batch; q++) a[q] = q * step < left ? value(begin + q * step) : Scalar(0);
#pragma unroll // not Sum(), with which csr takes 54 registers instead of 48 for complex numbers
    for (int q = 0; q < batch; q++) u[q] = q * step < left ? x(j[q]) : Sum{Scalar(0)};
#pragma unroll
    for (int q = 0; q < batch; q++) j[q] = q * step < rest ? column(next + q * step) : 0;
#pragma unroll
    for (int q = 0; q < batch; q++)
      if (q * step < left) add_product(sum, a[q], u[q]);
    begin = next;
    left  = rest;
  }
  return sum;
}
template <int batch, class Value, class Column, class X>
__device__ __forceinline__ auto batched_sum(PetscInt begin, PetscInt end, PetscInt step, Value value, Column column,
                                            X x)
{
  return batched_sum<batch>(begin, end, step, value, column, x, [] {});
}

} // namespace sparsegpu
