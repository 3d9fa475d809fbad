/// Before a factorization: scaling, norms, thresholds, and the entries' places in the fronts.
#include "pc/lu/system.cuh"

namespace sparsegpu::lu
{

static __device__ __forceinline__ PetscReal RealOfReport(const RealBits *bits)
{
  return RealOf(*bits);
}

static __global__ void scale_kernel(SystemView A, PetscReal *row_scale, PetscReal *column_scale)
{
  const PetscCount r        = RowOf();
  const int        lane     = threadIdx.x % LANES;
  PetscReal        diagonal = 0, most = 0;
  if (r < A.rows)
    for (PetscInt e = A.i[r] + lane; e < A.i[r + 1]; e += LANES) {
      const PetscReal magnitude = Finite(Magnitude(A.a[e]));
      if (magnitude > most) most = magnitude;
      if (A.j[e] == r) diagonal = magnitude;
    }
  diagonal = LanesMaximum(diagonal);
  most     = LanesMaximum(most);
  if (r < A.rows && lane == 0) row_scale[r] = column_scale[r] = DiagonalScale(diagonal, most);
}

/// Scales of rows; what they leave of the columns as bits, which compare as the magnitudes do.
static __global__ void scale_rows_kernel(SystemView A, PetscReal *row_scale, RealBits *column_most)
{
  const PetscCount r    = RowOf();
  const int        lane = threadIdx.x % LANES;
  PetscReal        most = 0;
  if (r < A.rows)
#pragma unroll 4
    for (PetscInt e = A.i[r] + lane; e < A.i[r + 1]; e += LANES) {
      const PetscReal magnitude = Finite(Magnitude(A.a[e]));
      if (magnitude > most) most = magnitude;
    }
  const PetscReal scale = InverseScale(LanesMaximum(most));
  if (r >= A.rows) return;
  if (lane == 0) row_scale[r] = scale;
#pragma unroll 4
  for (PetscInt e = A.i[r] + lane; e < A.i[r + 1]; e += LANES) {
    const PetscReal scaled = Finite(scale * Finite(Magnitude(A.a[e])));
    if (scaled > 0) atomicMax(column_most + A.j[e], BitsOf(scaled));
  }
}
static __global__ void scale_columns_kernel(PetscInt columns, PetscReal *column_scale)
{
  const PetscCount c = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (c < columns) column_scale[c] = InverseScale(column_scale[c]);
}

/// Warps stride over the entries, neighbouring threads over neighbouring ones.
template <class Number> static __global__ void growth_kernel(FactorPart<Number> part, DeviceReport *report)
{
  const PetscCount threads = static_cast<PetscCount>(gridDim.x) * THREADS;
  PetscCount       k       = part.begin + static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  PetscReal        most    = 0;
  for (; k < part.end; k += threads) {
    const PetscReal size = LargestPart(part.values[k]); // an overflow is growth, too
    if (size > most) most = size;
  }
  Raise(&report->growth, most);
}

/// The front of a column of pivots, which is looked up in V.first.
static __device__ __forceinline__ PetscInt FrontOf(const FrontsView &V, PetscInt count, PetscCount column)
{
  PetscInt f = 0;
  for (PetscInt end = count; end - f > 1;) { // V.first[f] <= column < V.first[end]
    const PetscInt middle                 = f + (end - f) / 2;
    (V.first[middle] <= column ? f : end) = middle;
  }
  return f;
}

/// A thread a pivot.
template <class Number> static __global__ void pivots_kernel(FrontsView V, PetscInt count, PetscInt count_of_pivots,
                                                             Number *values, Number *pivots)
{
  const PetscCount column = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (column >= count_of_pivots) return;
  const DeviceFront<Number> F(V, FrontOf(V, count, column), values, nullptr);
  pivots[column] = F.Pivot(column - F.first);
}

/// A warp per column of L: neighbouring lanes read neighbouring rows.
template <class Number> static __global__ void half_growth_kernel(FrontsView V, PetscInt count, PetscInt pivots,
                                                                  FactorPart<Number> part, DeviceReport *report)
{
  const PetscCount column = (static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x) / 32;
  const int        lane   = threadIdx.x % 32;
  const PetscInt   front  = column < pivots ? FrontOf(V, count, column) : -1;
  PetscReal        most   = 0;
  if (front >= 0 && V.lower[front] >= part.begin && V.lower[front] < part.end) {
    const DeviceFront<Number> F(V, front, part.values, nullptr);
    const PetscCount          k = column - F.first;
    const Number pivot = F.Pivot(k), *const own = F.template Column<true>(k), *const rest = F.template Rest<true>(k);
    const auto raise = [&](const Number &v) {
      const PetscReal l = LargestPart(v), u = LargestPart(pivot * v); // an overflow is growth, too
      most = l > most ? l : most;
      most = u > most ? u : most;
    };
    if (LargestPart(pivot) > most) most = LargestPart(pivot);
    for (PetscCount i = k + 1 + lane; i < F.pivots; i += 32) raise(own[i]);
    for (PetscCount i = lane; i < F.others; i += 32) raise(rest[i]);
  }
  Raise(&report->growth, most);
}

static __global__ void measure_kernel(SystemView A, const PetscReal *row_scale, const PetscReal *column_scale,
                                      DeviceReport *report)
{
  const PetscCount r   = RowOf();
  PetscReal        sum = 0, largest = 0;
  if (r < A.rows)
#pragma unroll 4
    for (PetscInt e = A.i[r] + threadIdx.x % LANES; e < A.i[r + 1]; e += LANES) {
      const PetscReal magnitude = Magnitude(A.a[e]), scaled = row_scale[r] * column_scale[A.j[e]] * magnitude;
      sum += magnitude;
      if (Finite(scaled) > largest) largest = scaled;
    }
  Raise(&report->row_norm, Finite(LanesSum(sum)));
  Raise(&report->largest, largest);
}
static __global__ void thresholds_kernel(LuPolicy policy, DeviceReport *report)
{
  if (threadIdx.x > 0) return;
  report->pivoting = policy.For(RealOfReport(&report->largest));
}
static __global__ void measure_columns_kernel(SystemView A, DeviceReport *report)
{
  const PetscCount c   = RowOf();
  PetscReal        sum = 0;
  if (c < A.rows)
    for (PetscInt e = A.i[c] + threadIdx.x % LANES; e < A.i[c + 1]; e += LANES) sum += Magnitude(A.a[A.source[e]]);
  Raise(&report->column_norm, Finite(LanesSum(sum)));
}

template <class Number> static __global__ void place_kernel(SystemView A, const PetscReal *row_scale,
                                                            const PetscReal *column_scale, const PetscCount *place,
                                                            bool hermitian, FactorPart<Number> part)
{
  const PetscCount r = RowOf();
  if (r >= A.rows) return;
#pragma unroll 4
  for (PetscInt e = A.i[r] + threadIdx.x % LANES; e < A.i[r + 1]; e += LANES) {
    const Scalar     value = Scalar(row_scale[r] * column_scale[A.j[e]]) * A.a[e];
    const PetscCount k     = place[e];
    if (k >= part.begin && k < part.end)
      part.values[k] = Rounded<Number>(hermitian && A.j[e] != r ? Conj(value) : value);
  }
}

static __global__ void clear_report_kernel(DeviceReport *report)
{
  if (threadIdx.x > 0) return;
  for (unsigned long long &ticket : report->ticket) ticket = 0;
  report->first     = ~0ull;
  report->perturbed = report->negative = report->not_finite = report->stuck = 0;
  report->smallest                                                          = BitsOf(PETSC_MAX_REAL);
  report->largest = report->row_norm = report->column_norm = report->growth = 0;
  for (ColumnReport &column : report->column) column = ColumnReport{};
}
PetscErrorCode ScaleByDiagonal_CUDA(const SystemView &A, PetscReal *row_scale, PetscReal *column_scale, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<scale_kernel>(PetscCount(LANES) * A.rows, stream, A, row_scale, column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Equilibrate_CUDA(const SystemView &A, PetscReal *row_scale, PetscReal *column_scale, Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  SparseGPUCallCUDA(cudaMemsetAsync(column_scale, 0, static_cast<size_t>(A.rows) * sizeof(PetscReal),
                                    static_cast<cudaStream_t>(stream)));
  PetscCall(LaunchOver<scale_rows_kernel>(PetscCount(LANES) * A.rows, stream, A, row_scale,
                                          reinterpret_cast<RealBits *>(column_scale)));
  PetscCall(LaunchOver<scale_columns_kernel>(A.rows, stream, A.rows, column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode MeasureGrowth_CUDA(const FactorPart<Number> &part, DeviceReport *report, Stream stream)
{
  constexpr PetscCount MOST = PetscCount(1) << 19; // threads: more than any device runs at a time
  PetscFunctionBegin;
  PetscCall(LaunchOver<growth_kernel<Number>>(PetscMin(part.end - part.begin, MOST), stream, part, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode MeasureHalfGrowth_CUDA(const FrontsView &fronts, PetscInt count, PetscInt pivots,
                                                              const FactorPart<Number> &part, DeviceReport *report,
                                                              Stream stream)
{
  const PetscCount columns = part.end > part.begin ? pivots : 0;

  PetscFunctionBegin;
  PetscCall(LaunchOver<half_growth_kernel<Number>>(32 * columns, stream, fronts, count, pivots, part, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode TakePivots_CUDA(const FrontsView &fronts, PetscInt count,
                                                       PetscInt count_of_pivots, Number *values, Number *pivots,
                                                       Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<pivots_kernel<Number>>(count_of_pivots, stream, fronts, count, count_of_pivots, values, pivots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeasureSystem_CUDA(const SystemView &A, const PetscReal *row_scale, const PetscReal *column_scale,
                                  const LuPolicy &policy, DeviceReport *report, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<measure_kernel>(PetscCount(LANES) * A.rows, stream, A, row_scale, column_scale, report));
  PetscCall(LaunchOver<thresholds_kernel>(1, stream, policy, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeasureColumns_CUDA(const SystemView &transposed, DeviceReport *report, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<measure_columns_kernel>(PetscCount(LANES) * transposed.rows, stream, transposed, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode PlaceValues_CUDA(const SystemView &A, const PetscReal *row_scale,
                                                        const PetscReal *column_scale, const PetscCount *place,
                                                        bool hermitian, const FactorPart<Number> &part, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<place_kernel<Number>>(PetscCount(LANES) * A.rows, stream, A, row_scale, column_scale, place,
                                             hermitian, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ClearReport_CUDA(DeviceReport *report, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<clear_report_kernel>(1, stream, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode TakePivots_CUDA(const FrontsView &, PetscInt, PetscInt, Scalar *, Scalar *, Stream);
template PetscErrorCode MeasureGrowth_CUDA(const FactorPart<Scalar> &, DeviceReport *, Stream);
template PetscErrorCode MeasureHalfGrowth_CUDA(const FrontsView &, PetscInt, PetscInt, const FactorPart<Scalar> &,
                                               DeviceReport *, Stream);
template PetscErrorCode PlaceValues_CUDA(const SystemView &, const PetscReal *, const PetscReal *, const PetscCount *,
                                         bool, const FactorPart<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode TakePivots_CUDA(const FrontsView &, PetscInt, PetscInt, Single *, Single *, Stream);
template PetscErrorCode MeasureGrowth_CUDA(const FactorPart<Single> &, DeviceReport *, Stream);
template PetscErrorCode MeasureHalfGrowth_CUDA(const FrontsView &, PetscInt, PetscInt, const FactorPart<Single> &,
                                               DeviceReport *, Stream);
template PetscErrorCode PlaceValues_CUDA(const SystemView &, const PetscReal *, const PetscReal *, const PetscCount *,
                                         bool, const FactorPart<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
