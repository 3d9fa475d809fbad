/// The product of blocks of equally many entries on the host, through Kokkos: blocks first, then rows.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/vab/vab.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// The two steps: blocks to intermediates, intermediates to rows. Bitwise reproducible.
PetscErrorCode VabMult_Kokkos(const VabLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range       = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const VabLayout A = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("VabBlocks", Range(0, A.blocks), [=](const PetscInt b) {
    Scalar sum(0);
    for (PetscInt e = 0; e < VabLayout::ENTRIES; e++) {
      const PetscInt slot = VabSlot(b, e, A.size);
      if (A.j[slot] >= 0) sum += A.a[slot] * x[A.j[slot]];
    }
    A.intermediate[b] = sum;
  }));
  PetscCallCXX(Kokkos::parallel_for("VabRows", Range(0, A.rows), [=](const PetscInt r) {
    Scalar sum(0);
    for (PetscInt b = A.row_start[r]; b < A.row_start[r + 1]; b++) sum += A.intermediate[b];
    z[r] = y ? y[r] + sum : sum;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
