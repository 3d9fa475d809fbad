/// The matrix and the vectors of a direct factorization on the device: scaling, places in the fronts, residuals.
#pragma once

#include "pc/lu/device.hpp"
#include "pc/lu/engine.hpp"

namespace sparsegpu::lu
{

/// The matrix as it was factored; its rows, or the columns of a transposed one.
struct SystemView {
  PetscInt        rows;
  const PetscInt *i, *j;  ///< [rows + 1], [nonzeros]
  const PetscInt *source; ///< [nonzeros] entries of `a`; null: in their order
  const Scalar   *a;      ///< [nonzeros]
};

/// row_scale, column_scale [rows]: the inverse roots of the diagonal's magnitudes, as powers of two.
PetscErrorCode ScaleByDiagonal_CUDA(const SystemView &A, PetscReal *row_scale, PetscReal *column_scale, Stream stream);
/// Scales of rows, then of columns, that bring their largest entries into [1/2, 1).
PetscErrorCode Equilibrate_CUDA(const SystemView &A, PetscReal *row_scale, PetscReal *column_scale, Stream stream);
/// The largest part of the factors' entries to the report; one read of them.
template <class Number>
PetscErrorCode MeasureGrowth_CUDA(const FactorPart<Number> &part, DeviceReport *report, Stream stream);
/// The same of D, L and U = D L^T of a symmetric factorization with these pivots in all, of the fronts that are there.
template <class Number> PetscErrorCode MeasureHalfGrowth_CUDA(const FrontsView &fronts, PetscInt count, PetscInt pivots,
                                                              const FactorPart<Number> &part, DeviceReport *report,
                                                              Stream stream);
/// pivots [count_of_pivots]: D of a symmetric factorization, in the order of elimination.
template <class Number> PetscErrorCode TakePivots_CUDA(const FrontsView &fronts, PetscInt count,
                                                       PetscInt count_of_pivots, Number *values, Number *pivots,
                                                       Stream stream);
/// Norms and the largest scaled entry to the report, then the thresholds of pivots.
PetscErrorCode MeasureSystem_CUDA(const SystemView &A, const PetscReal *row_scale, const PetscReal *column_scale,
                                  const LuPolicy &policy, DeviceReport *report, Stream stream);
/// The column norm, of a transposed view.
PetscErrorCode MeasureColumns_CUDA(const SystemView &transposed, DeviceReport *report, Stream stream);
/// Entry place[e] of the part is a[e], scaled, and, off the diagonal, conjugated if `hermitian`; others, such as -1,
/// are not there.
template <class Number> PetscErrorCode PlaceValues_CUDA(const SystemView &A, const PetscReal *row_scale,
                                                        const PetscReal *column_scale, const PetscCount *place,
                                                        bool hermitian, const FactorPart<Number> &part, Stream stream);
/// Between the columns of a block, as the matrix orders them, and those of the sweeps. An entry k is at place[k].
struct SweepOrder {
  PetscInt         rows;
  const PetscInt  *place; ///< [rows]; null: k
  const PetscReal *scale; ///< [rows] by place; null: none
  bool             conjugate;
  RealBits        *largest; ///< [columns of a block] MeasureRightSides_CUDA(); null: columns are taken as they are
};
/// order.largest: the largest entry of scale * b of each column, for factors whose range is less than Scalar's.
PetscErrorCode MeasureRightSides_CUDA(const SweepOrder &order, const LuColumns &columns, const Scalar *b, PetscInt ldb,
                                      Stream stream);
/// Of each of the columns, the k-th of which becomes the sweeps' k-th, `stride` entries on: w = scale * b, conjugated
/// if wanted, and with order.largest by a power of two that brings its largest entry to about 1; those of `swept` that
/// are left over are zero. flag [flags] of each, what a solve will publish, is marked as unknown. Resets the tickets
/// and the mark of stuck solves.
template <class Number> PetscErrorCode BeginSolve_CUDA(const SweepOrder &order, const LuColumns &columns,
                                                       const Scalar *b, PetscInt ldb, PetscInt swept, Number *w,
                                                       PetscCount stride, PetscCount flags, Number *flag,
                                                       DeviceReport *report, Stream stream);
/// Back: x = scale * w, or conj(w), by the inverse of that power. Unless `kept` [rows x columns of a block] is null,
/// what x was goes there and is added. *stuck, in pinned memory: set if the report says so.
template <class Number> PetscErrorCode GiveOut_CUDA(const SweepOrder &order, const LuColumns &columns, const Number *w,
                                                    PetscCount stride, Scalar *kept, Scalar *x, PetscInt ldx,
                                                    const DeviceReport *report, int *stuck, Stream stream);
/// r [A.rows x columns of a block] = b - A x of these columns; the maximum norms of column columns.at[k], those of x
/// and b, and what is not finite, to report->column[k]. Every entry of the matrix is read once.
PetscErrorCode Residual_CUDA(const SystemView &A, const LuColumns &columns, const Scalar *b, PetscInt ldb,
                             const Scalar *x, PetscInt ldx, Scalar *r, DeviceReport *report, Stream stream);
/// b[r] = SampleEntry(r).
PetscErrorCode Sample_CUDA(PetscInt rows, Scalar *b, Stream stream);
/// The empty report that a factorization begins with.
PetscErrorCode ClearReport_CUDA(DeviceReport *report, Stream stream);

} // namespace sparsegpu::lu
