/// The product of SC-CSR on the host, through Kokkos: one group of rows per work item.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/sccsr/sccsr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// One group per work item, its rows summed side by side. Bitwise reproducible.
PetscErrorCode SccsrMult_Kokkos(const SccsrLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range         = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const SccsrLayout A = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  for (int s = 0; s < SccsrLayout::SEGMENTS; s++) {
    const int c = SccsrLayout::ROWS[s];
    PetscCallCXX(
        Kokkos::parallel_for("SccsrMult", Range(A.first_group[s], A.first_group[s + 1]), [=](const PetscInt g) {
          const PetscInt *row = A.row_index + A.first_row[s] + (g - A.first_group[s]) * c;
          Scalar          sum[32];
          for (int r = 0; r < c; r++) sum[r] = Scalar(0);
          for (PetscInt e = A.start[g]; e < A.start[g + 1]; e += c)
            for (int r = 0; r < c; r++)
              if (A.j[e + r] >= 0) sum[r] += A.a[e + r] * x[A.j[e + r]];
          for (int r = 0; r < c; r++)
            if (row[r] >= 0) z[row[r]] = y ? y[row[r]] + sum[r] : sum[r];
        }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
