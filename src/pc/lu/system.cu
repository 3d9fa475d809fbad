#include "pc/lu/system.hpp"
#include "pc/lu/fronts.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256, LANES = 8; ///< lanes of a row

static unsigned Blocks(PetscCount threads)
{
  return static_cast<unsigned>((threads + THREADS - 1) / THREADS);
}

/// Of the row's lanes, to all of them.
static __device__ __forceinline__ PetscReal LanesMaximum(PetscReal v)
{
  for (int step = LANES / 2; step > 0; step /= 2) {
    const PetscReal other = __shfl_xor_sync(ALL_LANES, v, step, LANES);
    if (other > v) v = other;
  }
  return v;
}
static __device__ __forceinline__ PetscReal LanesSum(PetscReal v)
{
  for (int step = LANES / 2; step > 0; step /= 2) v += __shfl_xor_sync(ALL_LANES, v, step, LANES);
  return v;
}
/// The maximum over the warp to *to; no value is negative or NaN. All lanes must call.
static __device__ __forceinline__ void Raise(RealBits *to, PetscReal v)
{
  for (int step = 16; step > 0; step /= 2) {
    const PetscReal other = __shfl_xor_sync(ALL_LANES, v, step);
    if (other > v) v = other;
  }
  if (threadIdx.x % 32 == 0 && v > 0) atomicMax(to, BitsOf(v));
}
/// What a norm must not be raised to.
static __device__ __forceinline__ PetscReal Finite(PetscReal magnitude)
{
  return is_finite(magnitude) ? magnitude : PetscReal(0);
}
/// The row of these lanes; beyond the last one for lanes without a row.
static __device__ __forceinline__ PetscCount RowOf()
{
  return (static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x) / LANES;
}
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
    for (PetscInt e = A.i[r] + lane; e < A.i[r + 1]; e += LANES) {
      const PetscReal magnitude = Finite(Magnitude(A.a[e]));
      if (magnitude > most) most = magnitude;
    }
  const PetscReal scale = InverseScale(LanesMaximum(most));
  if (r >= A.rows) return;
  if (lane == 0) row_scale[r] = scale;
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
static __global__ void growth_kernel(PetscCount count, const Scalar *values, DeviceReport *report)
{
  const PetscCount threads = static_cast<PetscCount>(gridDim.x) * THREADS;
  PetscReal        most    = 0;
  for (PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x; k < count; k += threads) {
    const PetscReal part = LargestPart(values[k]); // an overflow is growth, too
    if (part > most) most = part;
  }
  Raise(&report->growth, most);
}

static __global__ void measure_kernel(SystemView A, const PetscReal *row_scale, const PetscReal *column_scale,
                                      DeviceReport *report)
{
  const PetscCount r   = RowOf();
  PetscReal        sum = 0, largest = 0;
  if (r < A.rows)
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

static __global__ void place_kernel(SystemView A, const PetscReal *row_scale, const PetscReal *column_scale,
                                    const PetscCount *place, const PetscCount *mirror, bool hermitian, Scalar *values)
{
  const PetscCount r = RowOf();
  if (r >= A.rows) return;
  for (PetscInt e = A.i[r] + threadIdx.x % LANES; e < A.i[r + 1]; e += LANES) {
    const Scalar value = Scalar(row_scale[r] * column_scale[A.j[e]]) * A.a[e];
    if (place[e] >= 0) values[place[e]] = value;
    if (mirror && mirror[e] >= 0) values[mirror[e]] = hermitian ? Conj(value) : value;
  }
}

static __global__ void begin_solve_kernel(PetscInt rows, const PetscInt *from, const PetscReal *scale, const Scalar *b,
                                          Scalar *w, PetscCount flags, Scalar *flag, DeviceReport *report)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k < rows) w[k] = scale ? Scalar(scale[from[k]]) * b[from[k]] : b[from[k]];
  if (k < flags) flag[k] = NotYet();
  if (k > 0) return;
  for (unsigned long long &ticket : report->ticket) ticket = 0;
  report->stuck = 0;
}
static __global__ void give_out_kernel(PetscInt rows, const PetscInt *to, const PetscReal *scale, const Scalar *w,
                                       const Scalar *before, Scalar *x, const DeviceReport *report, int *stuck)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k >= rows) return;
  if (k == 0 && report->stuck) *static_cast<volatile int *>(stuck) = 1;
  const Scalar v = Scalar(scale[to[k]]) * w[k];
  x[to[k]]       = before ? before[to[k]] + v : v;
}

static __global__ void residual_kernel(SystemView A, const Scalar *b, const Scalar *x, Scalar *r, DeviceReport *report)
{
  const PetscCount row  = RowOf();
  const int        lane = threadIdx.x % LANES;
  const bool       mine = row < A.rows;
  Scalar           sum(0);
  if (mine)
    for (PetscInt e = A.i[row] + lane; e < A.i[row + 1]; e += LANES)
      sum = sum + A.a[A.source ? A.source[e] : e] * x[A.j[e]];
#if defined(PETSC_USE_COMPLEX)
  sum = Scalar(LanesSum(sum.re), LanesSum(sum.im));
#else
  sum = LanesSum(sum);
#endif
  PetscReal size = 0, size_x = 0, size_b = 0;
  if (mine && lane == 0) {
    const Scalar v = b[row] - sum;
    r[row]         = v;
    size           = Magnitude(v);
    size_x         = Magnitude(x[row]);
    size_b         = Magnitude(b[row]);
    if (!is_finite(size)) report->residual_not_finite = 1;
    if (!is_finite(size_b)) report->b_not_finite = 1;
  }
  Raise(&report->residual, Finite(size));
  Raise(&report->x, Finite(size_x));
  Raise(&report->b, Finite(size_b));
}

static __global__ void clear_norms_kernel(DeviceReport *report)
{
  if (threadIdx.x > 0) return;
  report->residual = report->x = report->b = 0;
  report->residual_not_finite = report->b_not_finite = 0;
}

static __global__ void sample_kernel(PetscInt rows, Scalar *b)
{
  const PetscCount r = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (r < rows) b[r] = Scalar(SampleEntry(static_cast<PetscInt>(r)));
}

static __global__ void clear_report_kernel(DeviceReport *report)
{
  if (threadIdx.x > 0) return;
  for (unsigned long long &ticket : report->ticket) ticket = 0;
  report->first     = ~0ull;
  report->perturbed = report->negative = report->not_finite = report->stuck = 0;
  report->smallest                                                          = BitsOf(PETSC_MAX_REAL);
  report->largest = report->row_norm = report->column_norm = report->growth = 0;
  report->residual = report->x = report->b = 0;
  report->residual_not_finite = report->b_not_finite = 0;
}
/// With `threads` threads at least, not at all for none.
template <auto kernel, class... Arguments>
static PetscErrorCode LaunchOver(PetscCount threads, Stream stream, Arguments... arguments)
{
  PetscFunctionBegin;
  if (threads == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  kernel<<<Blocks(threads), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
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

PetscErrorCode MeasureGrowth_CUDA(PetscCount count, const Scalar *values, DeviceReport *report, Stream stream)
{
  constexpr PetscCount MOST = PetscCount(1) << 19; // threads: more than any device runs at a time
  PetscFunctionBegin;
  PetscCall(LaunchOver<growth_kernel>(PetscMin(count, MOST), stream, count, values, report));
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

PetscErrorCode PlaceValues_CUDA(const SystemView &A, const PetscReal *row_scale, const PetscReal *column_scale,
                                const PetscCount *place, const PetscCount *mirror, bool hermitian, Scalar *values,
                                Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<place_kernel>(PetscCount(LANES) * A.rows, stream, A, row_scale, column_scale, place, mirror,
                                     hermitian, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BeginSolve_CUDA(PetscInt rows, const PetscInt *from, const PetscReal *scale, const Scalar *b, Scalar *w,
                               PetscCount flags, Scalar *flag, DeviceReport *report, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<begin_solve_kernel>(PetscMax(PetscCount(rows), flags), stream, rows, from, scale, b, w, flags,
                                           flag, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GiveOut_CUDA(PetscInt rows, const PetscInt *to, const PetscReal *scale, const Scalar *w,
                            const Scalar *before, Scalar *x, const DeviceReport *report, int *stuck, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<give_out_kernel>(rows, stream, rows, to, scale, w, before, x, report, stuck));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Residual_CUDA(const SystemView &A, const Scalar *b, const Scalar *x, Scalar *r, DeviceReport *report,
                             Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<clear_norms_kernel>(1, stream, report));
  PetscCall(LaunchOver<residual_kernel>(PetscCount(LANES) * A.rows, stream, A, b, x, r, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sample_CUDA(PetscInt rows, Scalar *b, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<sample_kernel>(rows, stream, rows, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ClearReport_CUDA(DeviceReport *report, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<clear_report_kernel>(1, stream, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
