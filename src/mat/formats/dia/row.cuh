/// The row sum of diagonal storage, for every kernel that walks its rows.
#pragma once

#include <type_traits>
#include "device/load.cuh"
#include "mat/formats/codec/values.hpp"
#include "mat/formats/dia/dia.hpp"

namespace sparsegpu::formats
{

/// By a streaming load; of half of the diagonals one that stays in the caches, as it is read twice.
template <bool halved, class T> __device__ __forceinline__ T dia_load(const T *p)
{
  return halved ? load_often(p) : load_stream(p);
}
#if defined(PETSC_USE_COMPLEX)
template <bool halved> __device__ __forceinline__ SingleScalar dia_load(const SingleScalar *p)
{
  return SingleScalar{dia_load<halved>(&p->re), dia_load<halved>(&p->im)};
}
#endif

/// The value at `place`. *pad: there is none.
template <bool halved> __device__ __forceinline__ Scalar dia_value(const FullValues &a, PetscInt place, bool *pad)
{
  const Scalar v = dia_load<halved>(a.a + place);
  *pad           = IsPad(v);
  return v;
}
template <bool halved> __device__ __forceinline__ Scalar dia_value(const SingleValues &a, PetscInt place, bool *pad)
{
  const SingleScalar v = dia_load<halved>(a.a + place);
  *pad                 = IsSinglePad(v);
  return Widen(v);
}

/// function(halved, FullValues | SingleValues), `halved` as a type's ::value.
template <class Function> SPARSEGPU_HD auto WithDiaValues(const DiaLayout &A, Function &&function)
{
  const FullValues   full{static_cast<const Scalar *>(A.a.a)};
  const SingleValues single{static_cast<const SingleScalar *>(A.a.a)};
  if (A.a.codec == ValueCodec::Single)
    return A.halved ? function(std::true_type(), single) : function(std::false_type(), single);
  return A.halved ? function(std::true_type(), full) : function(std::false_type(), full);
}

/// `sum` plus the part of `count` diagonals, in shared memory, in row `row` of A x, by one thread. Neighbouring threads
/// with neighbouring rows read neighbouring a and x. `sum` is passed by value: with a reference the compiler loads x
/// only after a is known. x: a pointer or a Difference.
template <class Vector> __device__ __forceinline__ Scalar dia_row_sum(const DiaLayout &A, PetscInt count,
                                                                      const Diagonal *diagonal, PetscInt row,
                                                                      const Vector &x, Scalar sum)
{
  return WithDiaValues(A, [&](auto halved, const auto &a) {
    Scalar s = sum;
#pragma unroll 8
    for (PetscInt d = 0; d < count; d++) {
      const Diagonal mine   = diagonal[d];
      const PetscInt column = row + mine.offset;
      if (column >= 0 && column < A.cols) {
        bool         pad;
        const Scalar v = dia_value<decltype(halved)::value>(a, mine.place + row, &pad), u = x[column];
        if (!pad) s += v * u;
      }
    }
    return s;
  });
}

} // namespace sparsegpu::formats
