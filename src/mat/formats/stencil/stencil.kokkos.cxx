/// The product of classes of rows on the host, through Kokkos: runs of rows of one class are walked together.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/stencil/stencil.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr PetscInt ROWS = 16; ///< summed side by side: as many as registers hold

/// The sums of rows r .. r + ROWS of class c, of which the last `store` are wanted.
static inline void MultRows(const StencilLayout &A, PetscInt c, PetscInt r, PetscInt store, const Scalar *x,
                            const Scalar *y, Scalar *z)
{
  Scalar sum[ROWS];

  for (PetscInt k = 0; k < ROWS; k++) sum[k] = Scalar(0);
  for (PetscInt e = A.begin[c]; e < A.begin[c + 1]; e++) {
    const Scalar  a = A.value[e];
    const Scalar *u = x + r + A.offset[e];
    for (PetscInt k = 0; k < ROWS; k++) sum[k] += a * u[k];
  }
  for (PetscInt k = ROWS - store; k < ROWS; k++) z[r + k] = y ? y[r + k] + sum[k] : sum[k];
}

/// Rows first .. end. Those of one class that follow each other are walked together, ROWS at a time: each table entry
/// is then read once for all of them, and neighbouring x. What remains of a run goes with rows before it, whose sums
/// are dropped.
static inline void MultRuns(const StencilLayout &A, PetscInt first, PetscInt end, const Scalar *x, const Scalar *y,
                            Scalar *z)
{
  for (PetscInt r = first; r < end;) {
    const unsigned char c    = A.row_class[r];
    PetscInt            stop = r + 1;
    while (stop < end && A.row_class[stop] == c) stop++;
    if (stop - r >= ROWS) {
      for (; r + ROWS <= stop; r += ROWS) MultRows(A, c, r, ROWS, x, y, z);
      if (r < stop) MultRows(A, c, stop - ROWS, stop - r, x, y, z);
    } else {
      for (; r < stop; r++) {
        Scalar sum(0);
        for (PetscInt e = A.begin[c]; e < A.begin[c + 1]; e++) sum += A.value[e] * x[r + A.offset[e]];
        z[r] = y ? y[r] + sum : sum;
      }
    }
    r = stop;
  }
}

/// A run of rows per work item, column by column. y: of the first column, or null. Bitwise reproducible.
static PetscErrorCode MultColumns(const StencilLayout &layout, const DenseColumns &columns, const Scalar *y)
{
  using Range               = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  constexpr PetscInt  BLOCK = 512;
  const StencilLayout A     = layout;
  const DenseColumns  d     = columns;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("StencilMult", Range(0, (A.rows + BLOCK - 1) / BLOCK), [=](const PetscInt block) {
    const PetscInt end = A.rows - block * BLOCK < BLOCK ? A.rows : (block + 1) * BLOCK;
    for (PetscInt c = 0; c < d.count; c++) MultRuns(A, block * BLOCK, end, d.X(c), y, d.Z(c));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMult_Kokkos(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z)
{
  PetscFunctionBegin;
  PetscCall(MultColumns(A, DenseColumns{1, x, 0, z, 0}, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMultDense_Kokkos(const StencilLayout &A, const DenseColumns &d)
{
  PetscFunctionBegin;
  PetscCall(MultColumns(A, d, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
