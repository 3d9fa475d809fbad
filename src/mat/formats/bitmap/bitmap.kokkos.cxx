/// The product of rows of bits and values on the host, through Kokkos: one row per work item.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/bitmap/bitmap.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// One row per work item, word after word. Bitwise reproducible.
template <class Word> static PetscErrorCode Mult(const BitmapView<Word> &A, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("BitmapMult", Range(0, A.rows), [=](const PetscInt row) {
    const Scalar *a = A.values + A.start[row];
    Scalar        sum(0);
    for (PetscInt w = 0; w < A.words; w++)
      for (Word bits = A.Line(row)[w]; bits; bits &= bits - 1) sum += *a++ * x[w * A.BITS + LowestBit(bits)];
    z[row] = y ? y[row] + sum : sum;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BitmapMult_Kokkos(const BitmapLayout &A, const Scalar *x, const Scalar *y, Scalar *z)
{
  PetscFunctionBegin;
  PetscCall(A.bits == 32 ? Mult(A.View<Word32>(), x, y, z) : Mult(A.View<Word64>(), x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
