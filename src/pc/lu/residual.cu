/// Around a solve: right-hand sides in the order of elimination, solutions in the matrix's, residuals.
#include "pc/lu/system.cuh"

namespace sparsegpu::lu
{

static constexpr PetscCount GRID = 2048; ///< blocks at most of a residual, so that each raises the norms once

/// A column of the grid is one of the block, and largest[] has the places of the sweeps' columns.
static __global__ void right_sides_kernel(SweepOrder order, const __grid_constant__ LuColumns columns, const Scalar *b,
                                          PetscInt ldb)
{
  const PetscCount k    = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  PetscReal        size = 0;
  if (k < order.rows) {
    size = Finite(Magnitude(b[static_cast<PetscCount>(columns.at[blockIdx.y]) * ldb + k]));
    if (order.scale) size = Finite(order.scale[k] * size);
  }
  Raise(order.largest + blockIdx.y, size);
}
/// Of a sweep's column, as SweepOrder says.
static __device__ __forceinline__ PetscReal ColumnScale(const SweepOrder &order, unsigned column)
{
  return order.largest ? RangeScale(RealOf(order.largest[column])) : PetscReal(1);
}

/// A column of the grid is one of the block.
template <class Number>
static __global__ void begin_solve_kernel(SweepOrder order, const __grid_constant__ LuColumns columns, const Scalar *b,
                                          PetscInt ldb, Number *w, PetscCount stride, PetscCount flags, Number *flag,
                                          DeviceReport *report)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x, to = blockIdx.y * stride;
  if (k < order.rows) {
    Scalar v(0);
    if (static_cast<PetscInt>(blockIdx.y) < columns.count) {
      const PetscCount from = order.place ? order.place[k] : k;
      v                     = b[static_cast<PetscCount>(columns.at[blockIdx.y]) * ldb + from];
      if (order.scale) v = Scalar(order.scale[from]) * v;
      if (order.largest) v = Scalar(ColumnScale(order, blockIdx.y)) * v;
    }
    w[to + k] = Rounded<Number>(order.conjugate ? Conj(v) : v);
  }
  if (k < flags) flag[to + k] = Missing<Number>();
  if (k > 0 || blockIdx.y > 0) return;
  for (unsigned long long &ticket : report->ticket) ticket = 0;
  report->stuck = 0;
}
template <class Number>
static __global__ void give_out_kernel(SweepOrder order, const __grid_constant__ LuColumns columns, const Number *w,
                                       PetscCount stride, Scalar *kept, Scalar *x, PetscInt ldx,
                                       const DeviceReport *report, int *stuck)
{
  const PetscCount k      = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  const PetscCount column = columns.at[blockIdx.y];
  if (k >= order.rows) return;
  if (k == 0 && blockIdx.y == 0 && report->stuck) *static_cast<volatile int *>(stuck) = 1;
  const PetscCount to   = order.place ? order.place[k] : k;
  const Scalar     from = Widened(w[blockIdx.y * stride + k]);
  Scalar           v    = order.conjugate ? Conj(from) : from;
  Scalar          &at   = x[column * ldx + to];
  if (order.scale) v = Scalar(order.scale[to]) * v;
  if (order.largest) v = Scalar(1 / ColumnScale(order, blockIdx.y)) * v; // a power of two: exact
  if (kept) {
    const Scalar before            = at;
    kept[column * order.rows + to] = before;
    v                              = before + v;
  }
  at = v;
}

static __device__ __forceinline__ Scalar From(const Scalar &v, int step)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(__shfl_xor_sync(ALL_LANES, v.re, step, LANES), __shfl_xor_sync(ALL_LANES, v.im, step, LANES));
#else
  return __shfl_xor_sync(ALL_LANES, v, step, LANES);
#endif
}
/// The sums over the row's lanes, each lane's own columns to it: with each step a lane gives away half of its columns
/// and gets the other half of another lane. With one column all lanes have it. Both sum in one order.
template <int columns> static __device__ __forceinline__ void SumLanes(Scalar (&sum)[columns], int lane)
{
#pragma unroll
  for (int step = LANES / 2, half = columns / 2; step > 0; step /= 2, half /= 2) {
    if (columns == 1) sum[0] = sum[0] + From(sum[0], step);
#pragma unroll
    for (int u = 0; u < columns / 2; u++) {
      if (u >= half) continue;
      const bool   upper = (lane & step) != 0;
      const Scalar given = upper ? sum[u] : sum[u + half], own = upper ? sum[u + half] : sum[u];
      sum[u] = own + From(given, step);
    }
  }
}

/// Maximum norms that a thread has seen of a column.
struct ColumnNorms {
  PetscReal residual = 0, x = 0, b = 0;

  __device__ void See(const Scalar &r, const Scalar &x_entry, const Scalar &b_entry, ColumnReport *report)
  {
    const PetscReal size = Magnitude(r), size_x = Magnitude(x_entry), size_b = Magnitude(b_entry);
    if (!is_finite(size)) report->residual_not_finite = 1;
    if (!is_finite(size_b)) report->b_not_finite = 1;
    if (is_finite(size) && size > residual) residual = size;
    if (is_finite(size_x) && size_x > x) x = size_x;
    if (is_finite(size_b) && size_b > b) b = size_b;
  }
};

/// Of the block's threads with this lane of their rows. All threads must call.
static __device__ void RaiseFromBlock(PetscReal v, bool wanted, RealBits *to)
{
  __shared__ RealBits most[LANES];
  if (threadIdx.x < LANES) most[threadIdx.x] = 0;
  __syncthreads();
  for (int step = LANES; step < 32; step *= 2) {
    const PetscReal other = __shfl_xor_sync(ALL_LANES, v, step);
    if (other > v) v = other;
  }
  if (wanted && threadIdx.x % 32 < LANES && v > 0) atomicMax(most + threadIdx.x % 32, BitsOf(v));
  __syncthreads();
  if (wanted && threadIdx.x < LANES && most[threadIdx.x] > 0) atomicMax(to, most[threadIdx.x]);
  __syncthreads();
}

/// LANES lanes take a row with all columns, blocks stride over the rows. A lane finishes columns / LANES of them, or
/// the first lane the only one. Columns from which.count on repeat one: without branches all loads are on their way.
template <int columns> static __global__ void __launch_bounds__(THREADS)
    residual_kernel(SystemView A, const __grid_constant__ LuColumns which, const Scalar *b, PetscInt ldb,
                    const Scalar *x, PetscInt ldx, Scalar *r, DeviceReport *report)
{
  constexpr int    OWN  = columns < LANES ? 1 : columns / LANES;
  const int        lane = threadIdx.x % LANES;
  const PetscCount step = static_cast<PetscCount>(gridDim.x) * (THREADS / LANES);
  ColumnNorms      norms[OWN];

  for (PetscCount begin = static_cast<PetscCount>(blockIdx.x) * (THREADS / LANES); begin < A.rows; begin += step) {
    const PetscCount row = begin + threadIdx.x / LANES;
    Scalar           sum[columns];
#pragma unroll
    for (int c = 0; c < columns; c++) sum[c] = Scalar(0);
    if (row < A.rows)
#pragma unroll(columns == 1 ? 4 : 1)
      for (PetscInt e = A.i[row] + lane; e < A.i[row + 1]; e += LANES) {
        const Scalar   a = A.a[A.source ? A.source[e] : e];
        const PetscInt j = A.j[e];
#pragma unroll
        for (int c = 0; c < columns; c++) sum[c] = sum[c] + a * x[static_cast<PetscCount>(which.at[c]) * ldx + j];
      }
    SumLanes(sum, lane);
#pragma unroll
    for (int u = 0; u < OWN; u++) {
      const int k = OWN * lane + u;
      if (row >= A.rows || k >= which.count) continue;
      const PetscCount c     = which.at[k];
      const Scalar     known = b[c * ldb + row], v = known - sum[u];
      r[c * A.rows + row] = v;
      norms[u].See(v, x[c * ldx + row], known, report->column + k);
    }
  }
#pragma unroll
  for (int u = 0; u < OWN; u++) {
    const int           k      = OWN * lane + u;
    const bool          wanted = k < which.count;
    ColumnReport *const to     = report->column + (wanted ? k : 0);
    RaiseFromBlock(norms[u].residual, wanted, &to->residual);
    RaiseFromBlock(norms[u].x, wanted, &to->x);
    RaiseFromBlock(norms[u].b, wanted, &to->b);
  }
}

static __global__ void clear_norms_kernel(DeviceReport *report)
{
  if (threadIdx.x < LU_COLUMNS) report->column[threadIdx.x] = ColumnReport{};
}

static __global__ void sample_kernel(PetscInt rows, Scalar *b)
{
  const PetscCount r = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (r < rows) b[r] = Scalar(SampleEntry(static_cast<PetscInt>(r)));
}

PetscErrorCode MeasureRightSides_CUDA(const SweepOrder &order, const LuColumns &columns, const Scalar *b, PetscInt ldb,
                                      Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (order.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  SparseGPUCallCUDA(cudaMemsetAsync(order.largest, 0, LU_COLUMNS * sizeof(RealBits), s));
  right_sides_kernel<<<Grid(Blocks(order.rows), columns.count), THREADS, 0, s>>>(order, columns, b, ldb);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode BeginSolve_CUDA(const SweepOrder &order, const LuColumns &columns,
                                                       const Scalar *b, PetscInt ldb, PetscInt swept, Number *w,
                                                       PetscCount stride, PetscCount flags, Number *flag,
                                                       DeviceReport *report, Stream stream)
{
  const PetscCount threads = PetscMax(PetscCount(order.rows), flags);

  PetscFunctionBegin;
  if (threads == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  begin_solve_kernel<<<Grid(Blocks(threads), swept), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      order, columns, b, ldb, w, stride, flags, flag, report);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode GiveOut_CUDA(const SweepOrder &order, const LuColumns &columns, const Number *w,
                                                    PetscCount stride, Scalar *kept, Scalar *x, PetscInt ldx,
                                                    const DeviceReport *report, int *stuck, Stream stream)
{
  PetscFunctionBegin;
  if (order.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  give_out_kernel<<<Grid(Blocks(order.rows), columns.count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      order, columns, w, stride, kept, x, ldx, report, stuck);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Residual_CUDA(const SystemView &A, const LuColumns &columns, const Scalar *b, PetscInt ldb,
                             const Scalar *x, PetscInt ldx, Scalar *r, DeviceReport *report, Stream stream)
{
  const unsigned blocks = static_cast<unsigned>(PetscMin(PetscCount(Blocks(PetscCount(LANES) * A.rows)), GRID));
  LuColumns      which  = columns;

  PetscFunctionBegin;
  for (PetscInt k = columns.count; k < LU_COLUMNS; k++) which.at[k] = which.at[0];
  PetscCall(LaunchOver<clear_norms_kernel>(1, stream, report));
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (columns.count == 1)
    residual_kernel<1><<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, which, b, ldb, x, ldx, r, report);
  else
    residual_kernel<LU_COLUMNS>
        <<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, which, b, ldb, x, ldx, r, report);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sample_CUDA(PetscInt rows, Scalar *b, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<sample_kernel>(rows, stream, rows, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode BeginSolve_CUDA(const SweepOrder &, const LuColumns &, const Scalar *, PetscInt, PetscInt,
                                        Scalar *, PetscCount, PetscCount, Scalar *, DeviceReport *, Stream);
template PetscErrorCode GiveOut_CUDA(const SweepOrder &, const LuColumns &, const Scalar *, PetscCount, Scalar *,
                                     Scalar *, PetscInt, const DeviceReport *, int *, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode BeginSolve_CUDA(const SweepOrder &, const LuColumns &, const Scalar *, PetscInt, PetscInt,
                                        Single *, PetscCount, PetscCount, Single *, DeviceReport *, Stream);
template PetscErrorCode GiveOut_CUDA(const SweepOrder &, const LuColumns &, const Single *, PetscCount, Scalar *,
                                     Scalar *, PetscInt, const DeviceReport *, int *, Stream);
#endif

} // namespace sparsegpu::lu
