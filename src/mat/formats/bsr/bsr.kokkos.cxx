/// The product of blocks of rows on the host, through Kokkos: one block row per work item, values fetched ahead.
#include <cstddef>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Fetches the values `AHEAD` bytes after value e, of one block: the hardware's own prefetching ends with every page. A
/// fetch beyond the end of an array does no harm.
template <int entries, class Value> static inline void Fetch(const Value *a, std::ptrdiff_t e)
{
  constexpr int LINE = 64, AHEAD = 1536; // bytes; measured: docs/performance.md
  const char   *at = reinterpret_cast<const char *>(a + e) + AHEAD;
#pragma GCC unroll 5
  for (int byte = 0; byte < entries * static_cast<int>(sizeof(Value)); byte += LINE) __builtin_prefetch(at + byte);
}
/// The values from e on, prefetching those after them. Codes are too small to need it.
template <int entries> static inline FullValues From(const FullValues &a, std::ptrdiff_t e)
{
  Fetch<entries>(a.a, e);
  return FullValues{a.a + e};
}
template <int entries> static inline SingleValues From(const SingleValues &a, std::ptrdiff_t e)
{
  Fetch<entries>(a.a, e);
  return SingleValues{a.a + e};
}
template <int entries> static inline DictionaryValues From(const DictionaryValues &a, std::ptrdiff_t e)
{
  return DictionaryValues{a.code + e, a.value};
}

/// The rows of one block row side by side, block after block, for n columns. A slice is one block row: height
/// is 1. y: of the first column, or null.
template <int size, int n, class Values>
static inline void MultBlockRow(const BsrLayout &A, PetscInt I, const Values &a, const DenseColumns &d, const Scalar *y)
{
  const PetscInt       rows = A.rows - I * size < size ? A.rows - I * size : size;
  const std::ptrdiff_t ldx  = d.ldx;
  Scalar               sum[n][size];

#pragma GCC unroll 6
  for (int p = 0; p < size; p++)
#pragma GCC unroll 4
    for (int c = 0; c < n; c++) sum[c][p] = Scalar(0);
  for (PetscInt k = A.begin[I]; k < A.begin[I + 1]; k++) {
    const PetscInt j = A.j[k];
    const Values   v = From<size * size>(a, static_cast<std::ptrdiff_t>(k) * size * size);
    if (j >= 0) {
      const Scalar *u = d.x + static_cast<std::ptrdiff_t>(j) * size;
#pragma GCC unroll 6
      for (int q = 0; q < size; q++)
#pragma GCC unroll 4
        for (int c = 0; c < n; c++)
#pragma GCC unroll 6
          for (int p = 0; p < size; p++) sum[c][p] += v[q * size + p] * u[c * ldx + q];
    } else {
      const unsigned long long mask = A.partial_mask[-2 - j];
      const Scalar            *u    = d.x + static_cast<std::ptrdiff_t>(A.partial_column[-2 - j]) * size;
      for (int q = 0; q < size; q++)
        for (int p = 0; p < size; p++)
          if (mask >> (p * size + q) & 1)
            for (int c = 0; c < n; c++) sum[c][p] += v[q * size + p] * u[c * ldx + q];
    }
  }
  for (int c = 0; c < n; c++)
    for (PetscInt p = 0; p < rows; p++) d.Z(c)[I * size + p] = y ? y[I * size + p] + sum[c][p] : sum[c][p];
}

/// One block row per work item: it stays in the first-level cache from one group of columns to the next. y: of the
/// first column, or null. Bitwise reproducible, whatever the codec.
template <int size, class Values>
static PetscErrorCode MultBlockRows(const BsrLayout &A, const Values &a, const DenseColumns &d, const Scalar *y)
{
  using Range           = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  constexpr int COLUMNS = size <= 3 ? 4 : 2; // whose sums the registers hold

  PetscFunctionBegin;
  PetscCallCXX(Kokkos::parallel_for("BsrMult", Range(0, A.slices), [=](const PetscInt I) {
    PetscInt c = 0;
    for (; d.count - c >= COLUMNS; c += COLUMNS) MultBlockRow<size, COLUMNS>(A, I, a, d.Part(c, COLUMNS), nullptr);
    for (; c < d.count; c++) MultBlockRow<size, 1>(A, I, a, d.Part(c, 1), y);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultColumns(const BsrLayout &A, const ValueLayout &a, const DenseColumns &d, const Scalar *y)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCall(WithValues(a, [&](const auto &values) {
    return WithBsrSize(A.size, [&](auto size) { return MultBlockRows<decltype(size)::value>(A, values, d, y); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrMult_Kokkos(const BsrLayout &A, const ValueLayout &a, const Scalar *x, const Scalar *y, Scalar *z)
{
  PetscFunctionBegin;
  PetscCall(MultColumns(A, a, DenseColumns{1, x, 0, z, 0}, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrMultDense_Kokkos(const BsrLayout &A, const ValueLayout &a, const DenseColumns &d)
{
  PetscFunctionBegin;
  PetscCall(MultColumns(A, a, d, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
