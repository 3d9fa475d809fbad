#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// One row; four partial sums, so that additions do not wait for each other.
static inline void MultRow(const CsrLayout &A, PetscInt r, const Scalar *x, const Scalar *y, Scalar *z)
{
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
}

/// `n` neighbouring rows of one pattern, from row r on; two partial sums a row.
template <int n> static inline void MultNode(const CsrLayout &A, PetscInt r, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt  length = A.i[r + 1] - A.i[r];
  const PetscInt *j      = A.j + A.i[r];
  const Scalar   *a      = A.a + A.i[r]; // of row r + k: a + k * length
  Scalar          even[n], odd[n];
  PetscInt        e = 0;

#pragma GCC unroll 6
  for (int k = 0; k < n; k++) even[k] = odd[k] = Scalar(0);
  for (; e + 2 <= length; e += 2) {
    const Scalar x0 = x[j[e]], x1 = x[j[e + 1]];
#pragma GCC unroll 6
    for (int k = 0; k < n; k++) {
      even[k] += a[k * length + e] * x0;
      odd[k] += a[k * length + e + 1] * x1;
    }
  }
  if (e < length) {
    const Scalar x0 = x[j[e]];
#pragma GCC unroll 6
    for (int k = 0; k < n; k++) even[k] += a[k * length + e] * x0;
  }
#pragma GCC unroll 6
  for (int k = 0; k < n; k++) {
    const Scalar sum = even[k] + odd[k];
    z[r + k]         = y ? y[r + k] + sum : sum;
  }
}

/// One row, or one run of rows of one pattern, per work item. Bitwise reproducible.
PetscErrorCode CsrMult_Kokkos(const CsrLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range       = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const CsrLayout A = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  if (!A.nodes) {
    PetscCallCXX(
        Kokkos::parallel_for("CsrMult", Range(0, A.rows), [=](const PetscInt r) { MultRow(A, r, x, y, z); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(Kokkos::parallel_for("CsrMultNodes", Range(0, A.nodes), [=](const PetscInt n) {
    const PetscInt r = A.node[n];
    switch (A.node[n + 1] - r) {
    case 1: MultRow(A, r, x, y, z); break;
    case 2: MultNode<2>(A, r, x, y, z); break;
    case 3: MultNode<3>(A, r, x, y, z); break;
    case 4: MultNode<4>(A, r, x, y, z); break;
    case 5: MultNode<5>(A, r, x, y, z); break;
    default: MultNode<6>(A, r, x, y, z);
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
