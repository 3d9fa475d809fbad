#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// One row per work item; four partial sums, so that additions do not wait for each other. Bitwise reproducible.
PetscErrorCode CsrMult_Kokkos(const CsrLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range       = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const CsrLayout A = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("CsrMult", Range(0, A.rows), [=](const PetscInt r) {
    const PetscInt end = A.i[r + 1];
    PetscInt       e   = A.i[r];
    Scalar         s0(0), s1(0), s2(0), s3(0);
    for (; e + 8 <= end; e += 4) { // a short row has no time for four sums
      s0 += A.a[e] * x[A.j[e]];
      s1 += A.a[e + 1] * x[A.j[e + 1]];
      s2 += A.a[e + 2] * x[A.j[e + 2]];
      s3 += A.a[e + 3] * x[A.j[e + 3]];
    }
    for (; e < end; e++) s0 += A.a[e] * x[A.j[e]];
    const Scalar sum = (s0 + s1) + (s2 + s3);
    z[r]             = y ? y[r] + sum : sum;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
