/// The product of sliced ELLPACK on the host, through Kokkos: one slice or one long row per work item.
#include <cstdint>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Entry k of every lane that has one: sum[lane] += a * x. `base` is null where columns are not differences.
template <class Column, class Values>
static inline void AddEntry(const SellSlice &slice, PetscInt k, const Column *j, PetscInt stride, PetscInt base,
                            const unsigned char *length, const Values &a, const Scalar *x, Scalar *sum)
{
  const PetscInt step  = k == slice.width - 1 && slice.width % 2 ? 1 : 2;
  const PetscInt first = slice.begin + SellSlot(slice.width, k, 0);
  for (PetscInt lane = 0; lane < SellLayout::HEIGHT; lane++)
    if (k < length[lane]) sum[lane] += a[first + step * lane] * x[base + static_cast<PetscInt>(j[stride * lane])];
}

template <class Column, class Values> static inline void AddSlice(const SellSlice &slice, const unsigned char *length,
                                                                  const Values &a, const Scalar *x, Scalar *sum)
{
  const unsigned char *at = slice.columns;
  for (PetscInt group = 0; group < slice.width; group += 4) {
    const PetscInt      count = slice.width - group < 4 ? slice.width - group : 4;
    const std::int32_t *bases = nullptr;
    if (sizeof(Column) < 4) {
      bases = reinterpret_cast<const std::int32_t *>(at);
      at += SellLayout::UNIT;
    }
    const Column *j = reinterpret_cast<const Column *>(at);
    for (PetscInt k = 0; k < count; k++)
      AddEntry(slice, group + k, count == 4 ? j + k : j + 32 * k, count == 4 ? 4 : 1,
               bases ? static_cast<PetscInt>(static_cast<std::uint32_t>(bases[k])) : 0, length, a, x, sum);
    at += static_cast<size_t>(count) * SellLayout::HEIGHT * sizeof(Column);
  }
}

/// Slice s, the rows of its 32 places summed side by side.
template <class Values> static inline void MultSlice(const SellLayout &A, PetscInt s, const Values &a, const Scalar *x,
                                                     const Scalar *y, Scalar *z)
{
  const SellSlice slice = SellSliceOf(A, s);
  const PetscInt  first = s * SellLayout::HEIGHT;
  const PetscInt  count = A.rows - first < SellLayout::HEIGHT ? A.rows - first : SellLayout::HEIGHT;
  unsigned char   length[SellLayout::HEIGHT];
  Scalar          sum[SellLayout::HEIGHT];
  for (int lane = 0; lane < SellLayout::HEIGHT; lane++) {
    const unsigned char l = A.length ? A.length[first + lane] : static_cast<unsigned char>(A.width);
    length[lane]          = lane < count && l != SellLayout::NOT_HERE ? l : 0;
    sum[lane]             = Scalar(0);
  }
  if (slice.bytes == 1)
    AddSlice<std::uint8_t>(slice, length, a, x, sum);
  else if (slice.bytes == 2)
    AddSlice<std::uint16_t>(slice, length, a, x, sum);
  else
    AddSlice<std::uint32_t>(slice, length, a, x, sum);
  for (int lane = 0; lane < count; lane++) {
    if (A.length && A.length[first + lane] == SellLayout::NOT_HERE) continue;
    const PetscInt row = A.local ? (first + lane) / A.window * A.window + A.local[first + lane] : first + lane;
    z[row]             = y ? y[row] + sum[lane] : sum[lane];
  }
}

/// A slice or a long row per work item: it stays in the first-level cache from one column to the next. y: of the first
/// column, or null.
template <class Values>
static PetscErrorCode MultSlices(const SellLayout &A, const Values &a, const DenseColumns &d, const Scalar *y)
{
  using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;

  PetscFunctionBegin;
  PetscCallCXX(Kokkos::parallel_for("SellMult", Range(0, A.slices), [=](const PetscInt s) {
    for (PetscInt c = 0; c < d.count; c++) MultSlice(A, s, a, d.X(c), y, d.Z(c));
  }));
  PetscCallCXX(Kokkos::parallel_for("SellMultLong", Range(0, A.long_rows), [=](const PetscInt l) {
    const PetscInt row = A.long_row[l];
    for (PetscInt c = 0; c < d.count; c++) {
      const Scalar *x = d.X(c);
      Scalar        sum(0);
      for (PetscInt e = A.long_begin[l]; e < A.long_begin[l + 1]; e++) sum += a[A.long_values + e] * x[A.long_j[e]];
      d.Z(c)[row] = y ? y[row] + sum : sum;
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bitwise reproducible, whatever the codecs.
PetscErrorCode SellMult_Kokkos(const SellLayout &A, const ValueLayout &a, const Scalar *x, const Scalar *y, Scalar *z)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCall(WithValues(a, [&](const auto &values) { return MultSlices(A, values, DenseColumns{1, x, 0, z, 0}, y); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellMultDense_Kokkos(const SellLayout &A, const ValueLayout &a, const DenseColumns &d)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCall(WithValues(a, [&](const auto &values) { return MultSlices(A, values, d, nullptr); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
