/// Products with several columns on the host: every row is read once for COLUMNS of them.
#include <cstddef>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr PetscInt COLUMNS = 8; ///< at a time: what the registers hold

/// Row r times n columns, each sum in the order of the entries, so that its bits are those of a product with one.
template <int n> static inline void MultRow(const CsrLayout &A, PetscInt r, const DenseColumns &d)
{
  const std::ptrdiff_t ldx = d.ldx, ldz = d.ldz, last = A.i[r + 1];
  Scalar               sum[n];

#pragma GCC unroll 8
  for (int c = 0; c < n; c++) sum[c] = Scalar(0);
  for (std::ptrdiff_t e = A.i[r]; e < last; e++) {
    const Scalar  a = A.a[e];
    const Scalar *u = d.x + A.j[e];
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) sum[c] += a * u[c * ldx];
  }
#pragma GCC unroll 8
  for (int c = 0; c < n; c++) d.z[r + c * ldz] = sum[c];
}

template <int n> static inline void MultRows(const CsrLayout &A, PetscInt first, PetscInt end, const DenseColumns &d)
{
  for (PetscInt r = first; r < end; r++) MultRow<n>(A, r, d);
}

/// A run of rows per work item, short enough to stay in the second-level cache from one group of columns to the next.
/// Bitwise reproducible.
PetscErrorCode CsrMultDense_Kokkos(const CsrLayout &layout, const DenseColumns &all)
{
  using Range             = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const CsrLayout    A    = layout;
  const DenseColumns d    = all;
  constexpr PetscInt ROWS = 64;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("CsrMultDense", Range(0, (A.rows + ROWS - 1) / ROWS), [=](const PetscInt item) {
    const PetscInt first = item * ROWS, end = A.rows - first < ROWS ? A.rows : first + ROWS;
    for (PetscInt c = 0; c < d.count;) {
      const PetscInt     left = d.count - c, taken = left >= COLUMNS ? COLUMNS : left >= 4 ? 4 : left >= 2 ? 2 : 1;
      const DenseColumns part = d.Part(c, taken);
      switch (taken) {
      case COLUMNS: MultRows<COLUMNS>(A, first, end, part); break;
      case 4: MultRows<4>(A, first, end, part); break;
      case 2: MultRows<2>(A, first, end, part); break;
      default: MultRows<1>(A, first, end, part);
      }
      c += taken;
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
