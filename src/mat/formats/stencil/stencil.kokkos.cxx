#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/stencil/stencil.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// Rows of one class that follow each other are walked together, ROWS at a time: each table entry is then read once for
/// all of them, and neighbouring x. Bitwise reproducible.
PetscErrorCode StencilMult_Kokkos(const StencilLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range              = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  constexpr PetscInt ROWS  = 16, BLOCK = 512;
  const StencilLayout A    = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("StencilMult", Range(0, (A.rows + BLOCK - 1) / BLOCK), [=](const PetscInt block) {
    const PetscInt end = A.rows - block * BLOCK < BLOCK ? A.rows : (block + 1) * BLOCK;
    for (PetscInt r = block * BLOCK; r < end;) {
      const unsigned char c = A.row_class[r];
      PetscInt            n = 1;
      while (n < ROWS && r + n < end && A.row_class[r + n] == c) n++;
      const PetscInt first = A.begin[c], last = A.begin[c + 1];
      Scalar         sum[ROWS];
      for (PetscInt k = 0; k < ROWS; k++) sum[k] = Scalar(0);
      if (n == ROWS) { // a constant trip count
        for (PetscInt e = first; e < last; e++) {
          const Scalar  a = A.value[e];
          const Scalar *u = x + r + A.offset[e];
          for (PetscInt k = 0; k < ROWS; k++) sum[k] += a * u[k];
        }
      } else {
        for (PetscInt e = first; e < last; e++)
          for (PetscInt k = 0; k < n; k++) sum[k] += A.value[e] * x[r + k + A.offset[e]];
      }
      for (PetscInt k = 0; k < n; k++) z[r + k] = y ? y[r + k] + sum[k] : sum[k];
      r += n;
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
