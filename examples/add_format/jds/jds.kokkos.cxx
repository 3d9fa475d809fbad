/// The product on the CPU.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/jds/jds.hpp"

namespace sparsegpu::formats
{

/// A row per work item, its entries one after the other. Bitwise reproducible.
PetscErrorCode JdsMult_Kokkos(const JdsLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range       = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const JdsLayout A = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("JdsMult", Range(0, A.rows), [=](const PetscInt p) {
    const PetscInt r = A.row[p];
    Scalar         sum(0);
    for (PetscInt k = 0; k < A.diagonals && p < A.start[k + 1] - A.start[k]; k++)
      sum += A.a[A.start[k] + p] * x[A.j[A.start[k] + p]];
    z[r] = y ? y[r] + sum : sum;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
