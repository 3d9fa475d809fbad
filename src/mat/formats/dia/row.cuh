/// The row sum of diagonal storage, for every kernel that walks its rows.
#pragma once

#include "device/load.cuh"
#include "mat/formats/dia/dia.hpp"

namespace sparsegpu::formats
{

/// `sum` plus the part of diagonals first .. first + count - 1 in row `row` of A x, by one thread. offset [count]: the
/// offsets of these diagonals, in shared memory. Neighbouring threads with neighbouring rows read neighbouring a and x.
/// `sum` is passed by value: with a reference the compiler loads x only after a is known. x: a pointer or a Difference.
template <class Vector> __device__ __forceinline__ Scalar dia_row_sum(const DiaLayout &A, PetscInt first,
                                                                      PetscInt count, const PetscInt *offset,
                                                                      PetscInt row, const Vector &x, Scalar sum)
{
#pragma unroll 8
  for (PetscInt d = 0; d < count; d++) {
    const PetscInt column = row + offset[d];
    if (column >= 0 && column < A.cols) {
      const Scalar a = load_stream(A.a + (first + d) * A.pitch + row), v = x[column];
      if (!IsPad(a)) sum += a * v;
    }
  }
  return sum;
}

} // namespace sparsegpu::formats
