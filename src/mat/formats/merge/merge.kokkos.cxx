/// The product by merge path on the host, through Kokkos: one share of rows and entries per work item.
#include <algorithm>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/merge/merge.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// One share of the merge path per work item, then the carries in order. Reproducible for a given number of workers.
PetscErrorCode MergeMult_Kokkos(const MergeLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range         = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const MergeLayout A = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("MergeMult", Range(0, A.workers), [=](const PetscInt w) {
    const PetscCount steps = static_cast<PetscCount>(A.rows) + A.nonzeros;
    const PetscInt   last  = A.start_row[w + 1];
    PetscInt         row   = A.start_row[w];
    PetscInt         e     = static_cast<PetscInt>(std::min(w * A.share, steps) - row);
    const PetscInt   end   = static_cast<PetscInt>(std::min((w + 1) * A.share, steps) - last);
    for (; row < last; row++) {
      Scalar sum(0);
      for (; e < A.i[row + 1]; e++) sum += A.a[e] * x[A.j[e]];
      z[row] = y ? y[row] + sum : sum;
    }
    Scalar sum(0);
    for (; e < end; e++) sum += A.a[e] * x[A.j[e]];
    A.carry_row[w]   = last < A.rows ? last : -1;
    A.carry_value[w] = sum;
  }));
  for (PetscInt w = 0; w < A.workers; w++)
    if (A.carry_row[w] >= 0) z[A.carry_row[w]] += A.carry_value[w];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
