/// A difference of vectors in the place of the vector that a product kernel reads: it is formed as it is read.
#pragma once

#include <type_traits>
#include "mat/formats/dots.cuh"

namespace sparsegpu::formats
{

/// As a pointer to the entries of x - factor minus. Bits are those of a difference that a kernel has stored.
struct Difference {
  const Scalar *x, *minus;
  Scalar        factor;

  template <class Index> __device__ __forceinline__ Scalar operator[](Index k) const
  {
    return x[k] - factor * minus[k];
  }
  template <class Index> __device__ __forceinline__ Difference operator+(Index k) const
  {
    return Difference{x + k, minus + k, factor};
  }
};

/// What a kernel takes for it; the factor is read once the kernel before has ended.
struct DifferenceArgument {
  const Scalar *x, *minus, *factor;
};

/// What the kernel then reads; of a vector that is one, the pointer.
__device__ __forceinline__ const Scalar *begin_reading(const Scalar *x)
{
  return x;
}
__device__ __forceinline__ Difference begin_reading(const DifferenceArgument &d)
{
  return Difference{d.x, d.minus, *d.factor};
}

/// Whether the epilogue ends with sums over the thread block. These cost more than a few rows of at most SHORT_ROW
/// entries: of such a matrix blocks take rows in turn. Of longer rows that loses. Measured: docs/performance.md.
template <class Epilogue> constexpr bool ADDS_UP   = std::is_base_of_v<StoreAndDot, Epilogue> || SCALES<Epilogue>;
constexpr PetscInt                       SHORT_ROW = 7;

/// multiply(what a product with this epilogue reads).
template <class Epilogue, class Multiply>
PetscErrorCode WithFactorOf(const ProductDots &dots, const Epilogue &, Multiply multiply)
{
  PetscFunctionBegin;
  if constexpr (std::is_same_v<Epilogue, ScaleAndDot>) { // whose Skip() waits for the kernel before
    if (dots.minus) {
      PetscCall(multiply(DifferenceArgument{dots.x, dots.minus, dots.factor}));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(multiply(dots.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
