/// The product of ELLPACK on the host, through Kokkos: 32 neighbouring rows per work item.
#include <algorithm>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/ell/ell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// 32 neighbouring rows per work item, summed side by side. Bitwise reproducible.
PetscErrorCode EllMult_Kokkos(const EllLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range             = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  constexpr PetscInt ROWS = 32;
  const EllLayout    A    = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("EllMult", Range(0, A.pitch / ROWS), [=](const PetscInt block) {
    const PetscInt first = block * ROWS, count = std::min(ROWS, A.rows - first);
    Scalar         sum[ROWS];
    for (PetscInt r = 0; r < ROWS; r++) sum[r] = Scalar(0);
    for (PetscInt k = 0; k < A.width; k++) {
      const PetscInt *j = A.j + k * A.pitch + first;
      const Scalar   *a = A.a + k * A.pitch + first;
      for (PetscInt r = 0; r < ROWS; r++)
        if (j[r] >= 0) sum[r] += a[r] * x[j[r]];
    }
    for (PetscInt r = 0; r < count; r++) z[first + r] = y ? y[first + r] + sum[r] : sum[r];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
