/// The product of diagonal storage on the host, through Kokkos: a run of rows per work item, diagonal after diagonal.
#include <algorithm>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/dia/dia.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

// The comparison of bit patterns needs more than the SSE2 that every x86-64 has to be vectorised.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  #define SPARSEGPU_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
  #define SPARSEGPU_VECTOR_CLONES
#endif

/// sum[r] += a[r] * x[r] where a[r] is an entry, 0 <= r < count.
#if defined(PETSC_USE_COMPLEX)
static void AddDiagonal(PetscInt count, const Scalar *__restrict a, const Scalar *__restrict x, Scalar *__restrict sum)
{
  for (PetscInt r = 0; r < count; r++)
    if (!IsPad(a[r])) sum[r] += a[r] * x[r];
}
static void AddDiagonal(PetscInt count, const SingleScalar *__restrict a, const Scalar *__restrict x,
                        Scalar *__restrict sum)
{
  for (PetscInt r = 0; r < count; r++)
    if (!IsSinglePad(a[r])) sum[r] += Widen(a[r]) * x[r];
}
#else
typedef RealBits __attribute__((may_alias)) AliasedBits;
typedef unsigned __attribute__((may_alias)) AliasedSingleBits;

SPARSEGPU_VECTOR_CLONES static void AddDiagonal(PetscInt count, const Scalar *__restrict a, const Scalar *__restrict x,
                                                Scalar *__restrict sum)
{
  const AliasedBits *bits = reinterpret_cast<const AliasedBits *>(a);
  for (PetscInt r = 0; r < count; r++) {
    const Scalar product = a[r] * x[r];
    sum[r] += bits[r] == PAD_BITS ? Scalar(0) : product;
  }
}
  #if !defined(PETSC_USE_REAL_SINGLE)
SPARSEGPU_VECTOR_CLONES static void AddDiagonal(PetscInt count, const SingleScalar *__restrict a,
                                                const Scalar *__restrict x, Scalar *__restrict sum)
{
  const AliasedSingleBits *bits = reinterpret_cast<const AliasedSingleBits *>(a);
  for (PetscInt r = 0; r < count; r++) {
    const Scalar product = Widen(a[r]) * x[r];
    sum[r] += bits[r] == SINGLE_PAD_BITS ? Scalar(0) : product;
  }
}
  #endif
#endif

static constexpr PetscInt ROWS = 512; ///< of a work item

/// Rows first .. end, at most ROWS. a: the values, of Scalar or SingleScalar.
template <class Value> static inline void MultRows(const DiaLayout &A, const Value *a, PetscInt first, PetscInt end,
                                                   const Scalar *x, const Scalar *y, Scalar *z)
{
  Scalar sum[ROWS];
  std::fill(sum, sum + ROWS, Scalar(0));
  for (PetscInt d = 0; d < A.diagonals; d++) {
    const Diagonal mine = A.diagonal[d];
    const PetscInt from = std::max(first, -mine.offset), to = std::min(end, A.cols - mine.offset);
    if (from < to) AddDiagonal(to - from, a + mine.place + from, x + from + mine.offset, sum + (from - first));
  }
  for (PetscInt r = first; r < end; r++) z[r] = y ? y[r] + sum[r - first] : sum[r - first];
}

/// A run of rows per work item, short enough that its part of z stays in the first-level cache while all diagonals
/// pass, and its part of the matrix in the second-level one from one column to the next. y: of the first column, or
/// null. Bitwise reproducible.
template <class Value>
static PetscErrorCode MultColumns(const DiaLayout &layout, const Value *a, const DenseColumns &columns, const Scalar *y)
{
  using Range            = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  const DiaLayout    A   = layout;
  const DenseColumns all = columns;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("DiaMult", Range(0, (A.rows + ROWS - 1) / ROWS), [=](const PetscInt block) {
    const PetscInt first = block * ROWS, end = std::min(first + ROWS, A.rows);
    for (PetscInt c = 0; c < all.count; c++) MultRows(A, a, first, end, all.X(c), y, all.Z(c));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(const DiaLayout &A, const DenseColumns &columns, const Scalar *y)
{
  PetscFunctionBegin;
  if (A.a.codec == ValueCodec::Single)
    PetscCall(MultColumns(A, static_cast<const SingleScalar *>(A.a.a), columns, y));
  else
    PetscCall(MultColumns(A, static_cast<const Scalar *>(A.a.a), columns, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaMult_Kokkos(const DiaLayout &A, const Scalar *x, const Scalar *y, Scalar *z)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, DenseColumns{1, x, 0, z, 0}, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaMultDense_Kokkos(const DiaLayout &A, const DenseColumns &d)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, d, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
