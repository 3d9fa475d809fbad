#include <cstddef>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// One row; four partial sums where it is long enough, so that additions do not wait for each other.
static inline void MultRow(const CsrLayout &A, PetscInt r, const Scalar *x, const Scalar *y, Scalar *z)
{
  std::ptrdiff_t       e   = A.i[r];
  const std::ptrdiff_t end = A.i[r + 1];
  Scalar               s0(0);

  if (end - e >= 8) {
    Scalar s1(0), s2(0), s3(0);
    for (; e + 4 <= end; e += 4) {
      s0 += A.a[e] * x[A.j[e]];
      s1 += A.a[e + 1] * x[A.j[e + 1]];
      s2 += A.a[e + 2] * x[A.j[e + 2]];
      s3 += A.a[e + 3] * x[A.j[e + 3]];
    }
    s0 = (s0 + s1) + (s2 + s3);
  }
  for (; e < end; e++) s0 += A.a[e] * x[A.j[e]];
  z[r] = y ? y[r] + s0 : s0;
}

/// `n` neighbouring rows of one pattern, from row r on. n streams a row's length apart are beyond the hardware's
/// prefetching (measured: half the speed), so the next rows are fetched here, as if they were as many and as long; a
/// fetch beyond the end of an array does no harm.
template <int n>
static inline void MultNode(const CsrLayout &A, PetscInt r, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Index            = std::ptrdiff_t; // 32-bit ones cost a quarter of the speed in sign extensions
  constexpr Index LINE   = 64 / sizeof(Scalar);
  const Index     length = A.i[r + 1] - A.i[r];
  const PetscInt *j      = A.j + A.i[r];
  const Scalar   *a      = A.a + A.i[r]; // of row r + k: a + k * length
  Scalar          sum[n];

#pragma GCC unroll 6
  for (int k = 0; k < n; k++) sum[k] = Scalar(0);
  for (Index e = 0; e < length; e++) {
    if (e % LINE == 0) {
#pragma GCC unroll 6
      for (int k = 0; k < n; k++) __builtin_prefetch(a + n * length + n * e + k * LINE);
      __builtin_prefetch(j + n * length + e);
    }
    const Scalar v = x[j[e]];
#pragma GCC unroll 6
    for (int k = 0; k < n; k++) sum[k] += a[k * length + e] * v;
  }
#pragma GCC unroll 6
  for (int k = 0; k < n; k++) z[r + k] = y ? y[r + k] + sum[k] : sum[k];
}

/// One row, or one run of rows of one pattern, per work item. Bitwise reproducible.
PetscErrorCode CsrMult_Kokkos(const CsrLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range       = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const CsrLayout A = layout;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  if (!A.nodes) {
    PetscCallCXX(Kokkos::parallel_for("CsrMult", Range(0, A.rows), [=](const PetscInt r) { MultRow(A, r, x, y, z); }));
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
