/// Around a solve: right-hand sides in the order of elimination, solutions in the matrix's, residuals.
#include "pc/lu/system.cuh"

namespace sparsegpu::lu
{

static __global__ void begin_solve_kernel(PetscInt rows, const PetscInt *from, const PetscReal *scale, bool conjugate,
                                          const Scalar *b, Scalar *w, PetscCount flags, Scalar *flag,
                                          DeviceReport *report)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k < rows) {
    const Scalar v = scale ? Scalar(scale[from[k]]) * b[from[k]] : b[from[k]];
    w[k]           = conjugate ? Conj(v) : v;
  }
  if (k < flags) flag[k] = NotYet();
  if (k > 0) return;
  for (unsigned long long &ticket : report->ticket) ticket = 0;
  report->stuck = 0;
}
static __global__ void give_out_kernel(PetscInt rows, const PetscInt *to, const PetscReal *scale, bool conjugate,
                                       const Scalar *w, const Scalar *before, Scalar *x, const DeviceReport *report,
                                       int *stuck)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k >= rows) return;
  if (k == 0 && report->stuck) *static_cast<volatile int *>(stuck) = 1;
  const Scalar v = Scalar(scale[to[k]]) * (conjugate ? Conj(w[k]) : w[k]);
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

PetscErrorCode BeginSolve_CUDA(PetscInt rows, const PetscInt *from, const PetscReal *scale, bool conjugate,
                               const Scalar *b, Scalar *w, PetscCount flags, Scalar *flag, DeviceReport *report,
                               Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<begin_solve_kernel>(PetscMax(PetscCount(rows), flags), stream, rows, from, scale, conjugate, b,
                                           w, flags, flag, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GiveOut_CUDA(PetscInt rows, const PetscInt *to, const PetscReal *scale, bool conjugate, const Scalar *w,
                            const Scalar *before, Scalar *x, const DeviceReport *report, int *stuck, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchOver<give_out_kernel>(rows, stream, rows, to, scale, conjugate, w, before, x, report, stuck));
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

} // namespace sparsegpu::lu
