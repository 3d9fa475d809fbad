/// The product of compressed sparse rows on the host, through Kokkos: runs of rows of one pattern are walked together.
#include <cstddef>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Fetches what comes AHEAD entries after begin .. end: the hardware's own prefetching ends with every page. A fetch
/// beyond the end of an array does no harm.
static inline void FetchAhead(const CsrLayout &A, std::ptrdiff_t begin, std::ptrdiff_t end)
{
  constexpr std::ptrdiff_t AHEAD = 192, LINE = 64 / sizeof(Scalar); // entries; measured: docs/performance.md
  for (std::ptrdiff_t e = begin + AHEAD; e < end + AHEAD; e += LINE) {
    __builtin_prefetch(A.a + e);
    __builtin_prefetch(A.j + e);
  }
}

/// sum + the products of entries begin .. end, one after the other.
static inline Scalar AddEntries(const CsrLayout &A, std::ptrdiff_t begin, std::ptrdiff_t end, const Scalar *x,
                                Scalar sum)
{
  for (std::ptrdiff_t e = begin; e < end; e++) sum += A.a[e] * x[A.j[e]];
  return sum;
}

/// Rows first .. end, each in the order of its entries, as dia, ell, sell, stencil and bsr add them: a choice between
/// them never shows in the bits.
static inline void MultRows(const CsrLayout &A, PetscInt first, PetscInt end, const Scalar *x, const Scalar *y,
                            Scalar *z)
{
  constexpr std::ptrdiff_t TURN = 128; // entries: no more are fetched at a time
  const bool               few  = A.i[end] - A.i[first] <= TURN;

  if (few) FetchAhead(A, A.i[first], A.i[end]);
  for (PetscInt r = first; r < end; r++) {
    std::ptrdiff_t       e    = A.i[r];
    const std::ptrdiff_t last = A.i[r + 1];
    Scalar               sum(0);
    while (!few && e < last) {
      const std::ptrdiff_t stop = last - e < TURN ? last : e + TURN;
      FetchAhead(A, e, stop);
      sum = AddEntries(A, e, stop, x, sum);
      e   = stop;
    }
    sum  = AddEntries(A, e, last, x, sum);
    z[r] = y ? y[r] + sum : sum;
  }
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

/// A few rows, or one run of rows of one pattern, per work item. Bitwise reproducible.
PetscErrorCode CsrMult_Kokkos(const CsrLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range             = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const CsrLayout    A    = layout;
  constexpr PetscInt ROWS = 4, CACHED = 1048576; // entries below which fetching ahead costs more than it saves

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  if (!A.nodes && A.nonzeros < CACHED) {
    PetscCallCXX(Kokkos::parallel_for("CsrMult", Range(0, A.rows), [=](const PetscInt r) {
      const Scalar sum = AddEntries(A, A.i[r], A.i[r + 1], x, Scalar(0));
      z[r]             = y ? y[r] + sum : sum;
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!A.nodes) {
    PetscCallCXX(Kokkos::parallel_for("CsrMultRows", Range(0, (A.rows + ROWS - 1) / ROWS), [=](const PetscInt item) {
      const PetscInt first = item * ROWS;
      MultRows(A, first, A.rows - first < ROWS ? A.rows : first + ROWS, x, y, z);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(Kokkos::parallel_for("CsrMultNodes", Range(0, A.nodes), [=](const PetscInt n) {
    const PetscInt r = A.node[n];
    switch (A.node[n + 1] - r) {
    case 1: MultRows(A, r, r + 1, x, y, z); break;
    case 2: MultNode<2>(A, r, x, y, z); break;
    case 3: MultNode<3>(A, r, x, y, z); break;
    case 4: MultNode<4>(A, r, x, y, z); break;
    case 5: MultNode<5>(A, r, x, y, z); break;
    default: MultNode<6>(A, r, x, y, z);
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
