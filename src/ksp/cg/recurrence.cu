/// The passes on the device. Each thread block of pass 2 adds up the sums of the product's groups for itself, in their
/// order: all blocks have the bits of the same alpha and beta. The last block to arrive adds up the blocks' sums,
/// decides whether the solve goes on, and writes the record, or leaves it to the first block of the next pass 2: a
/// store to the host takes a microsecond, for which the next kernel would wait.
#include "ksp/cg/recurrence.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::cg
{

static __global__ void clear_kernel(State *state, PetscReal *sums, unsigned *arrived)
{
  for (int g = static_cast<int>(threadIdx.x); g < DOT_GROUPS; g += PASS_THREADS) {
    for (int k = 0; k < DOTS; k++) sums[DOTS * g + k] = 0;
    arrived[g] = 0;
  }
  if (threadIdx.x == 0) {
    *state            = State{};
    state->stopped_at = INT_MAX;
  }
}

template <bool ranks> static __global__ void __launch_bounds__(PASS_THREADS)
    start_kernel(Arrays v, const Scalar *b, bool has_product, Control c, comm::DeviceExchange exchange)
{
  Sums sums{0, 0};
  bool varies = false;

  begin_in_turn();
  for_rows(v.rows, [&](PetscInt r) {
    const Scalar d = v.inverse ? v.inverse[r] : Scalar(1), residual = has_product ? b[r] - v.w[r] : b[r];
    const Scalar z = d * residual;
    if (v.inverse && !(Magnitude(d - v.inverse[0]) == 0)) varies = true;
    v.r[r] = residual;
    v.p[r] = z;
    AddShares(c.norm, residual, z, &sums);
  });
  if (__any_sync(0xffffffffu, varies) && threadIdx.x % 32 == 0) atomicOr(&c.state->varies, 1);
  if (ranks && exchange.state && blockIdx.x == 0 && threadIdx.x == 0) lose_with(c.reduce, exchange);
  if (c.failed && blockIdx.x == 0 && threadIdx.x == 0) sums.rho = sums.square = PETSC_INFINITY;
  close_sums<ranks>(c, sums, [&](PetscReal rho, PetscReal square) {
    c.state->rho = rho;
    write_record(c, record_of(c, norm_of(c, rho, square), GOES_ON, 0, rho));
  });
}

/// What is added to the rows of pass 2, from the last to the first: what the product has read or written last is still
/// in the L2 cache. x and r are not read again before the next pass 2: they leave p and w that cache.
template <bool diagonal>
__device__ __forceinline__ Sums update_rows(const Arrays &v, const Step &step, Norm norm, bool varies)
{
  const Scalar alpha(step.alpha), beta(step.beta), first = diagonal ? v.inverse[0] : Scalar(1);
  Sums         sums{0, 0};

  for_rows_back(v.rows, [&](PetscInt r) {
    const Scalar p = v.p[r], x = load_stream(v.x + r) + alpha * p, residual = load_stream(v.r + r) - alpha * v.w[r];
    const Scalar z = !diagonal ? residual : (varies ? v.inverse[r] : first) * residual;
    store_stream(v.x + r, x);
    store_stream(v.r + r, residual);
    v.p[r] = z + beta * p;
    AddShares(norm, residual, z, &sums);
  });
  return sums;
}

/// One thread of the grid: the iteration ends before it has changed anything.
__device__ __forceinline__ void stop_before_update(const Control &c, const Step &step, PetscReal rho)
{
  c.state->stopped_at = c.number;
  write_record(c, record_of(c, 0, step.outcome, 0, rho));
}

/// Pass 2 from the sums of its product, and its decision.
template <bool ranks> __device__ __forceinline__ void update_body(const Arrays &v, const Control &c,
                                                                  const State &before, const PetscReal (&whole)[DOTS])
{
  const Step step = TakeStep(before, c.number, whole);
  if (step.outcome != GOES_ON) { // all blocks find the same
    if (blockIdx.x == 0 && threadIdx.x == 0) stop_before_update(c, step, before.rho);
    return;
  }
  const Sums sums =
      v.inverse ? update_rows<true>(v, step, c.norm, before.varies != 0) : update_rows<false>(v, step, c.norm, false);
  close_sums<ranks>(c, sums, [&](PetscReal rho, PetscReal square) {
    c.state->before    = before.rho;
    c.state->curvature = whole[0];
    if (ranks && c.later) {
      c.state->alpha   = step.alpha;
      c.state->sums[0] = rho;
      c.state->sums[1] = square;
    } else {
      close_iteration(c, rho, square, step.alpha, before.rho);
    }
  });
}

template <bool ranks> static __global__ void __launch_bounds__(PASS_THREADS) update_kernel(Arrays v, Control c)
{
  __shared__ PetscReal whole[DOTS];

  fetch_rows_back(v.rows, v.x, v.r, v.p);
  begin_in_turn();
  fetch_rows_back(v.rows, v.w);
  const State before = *c.state; // changed by the last block alone, when all others have read it
  product_sums(c.sums, whole, c.groups);
  const bool tells = blockIdx.x == 0 && threadIdx.x == 0 && before.untold.told.ready == c.round - 1;
  if (tells) begin_record(c.earlier, before.untold);
  if (before.stopped_at >= c.number) update_body<ranks>(v, c, before, whole);
  if (tells) end_record(&c.earlier->told, c.round - 1);
}

/// Pass 2 before a preconditioner that is applied from outside.
template <bool ranks> static __global__ void __launch_bounds__(PASS_THREADS) residual_kernel(Arrays v, Control c)
{
  __shared__ PetscReal whole[DOTS];
  Sums                 sums{0, 0};

  begin_in_turn();
  const State before = *c.state;
  if (before.stopped_at < c.number) return;
  product_sums(c.sums, whole, c.groups);
  const Step step = TakeStep(before, c.number, whole);
  if (step.outcome != GOES_ON) {
    if (blockIdx.x == 0 && threadIdx.x == 0) stop_before_update(c, step, before.rho);
    return;
  }
  const Scalar alpha(step.alpha);
  for_rows(v.rows, [&](PetscInt r) {
    const Scalar residual = v.r[r] - alpha * v.w[r];
    store_stream(v.x + r, load_stream(v.x + r) + alpha * v.p[r]);
    v.r[r] = residual;
    AddShares(c.norm, residual, residual, &sums);
  });
  close_sums<ranks>(c, sums, [&](PetscReal, PetscReal square) {
    c.state->curvature = whole[0];
    write_record(c, record_of(c, SquareRoot(square), GOES_ON, step.alpha, before.rho));
  });
}

/// Pass 3.
template <bool ranks> static __global__ void __launch_bounds__(PASS_THREADS) preconditioned_kernel(Arrays v, Control c)
{
  Sums sums{0, 0};

  begin_in_turn();
  const State before = *c.state;
  for_rows(v.rows, [&](PetscInt r) { AddShares(c.norm, v.r[r], v.z[r], &sums); });
  close_sums<ranks>(c, sums, [&](PetscReal rho, PetscReal square) {
    c.state->beta   = c.number < 0 ? 0 : rho / before.rho;
    c.state->before = before.rho;
    c.state->rho    = rho;
    write_record(c, record_of(c, norm_of(c, rho, square), GOES_ON, 0, rho));
  });
}

/// Pass 4. Where beta is zero, as at the beginning, p is not read.
static __global__ void __launch_bounds__(PASS_THREADS) direction_kernel(Arrays v, Control c)
{
  begin_in_turn();
  const Scalar beta(c.state->beta);
  const bool   keeps = c.state->beta != 0;
  for_rows(v.rows, [&](PetscInt r) { v.p[r] = keeps ? v.z[r] + beta * v.p[r] : v.z[r]; });
}

PetscErrorCode Start_CUDA(const Arrays &v, const Scalar *b, bool has_product, const comm::DeviceExchange &exchange,
                          const Control &control, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  clear_kernel<<<1, PASS_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(control.state, dots.sums, dots.arrived);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(control.reduce.ranks > 1
                ? LaunchPass<start_kernel<true>>(v.rows, stream, v, b, has_product, control, exchange)
                : LaunchPass<start_kernel<false>>(v.rows, stream, v, b, has_product, control, exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Update_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(control.reduce.ranks > 1 ? LaunchPass<update_kernel<true>>(v.rows, stream, v, control)
                                     : LaunchPass<update_kernel<false>>(v.rows, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateResidual_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(control.reduce.ranks > 1 ? LaunchPass<residual_kernel<true>>(v.rows, stream, v, control)
                                     : LaunchPass<residual_kernel<false>>(v.rows, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreconditionedDots_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(control.reduce.ranks > 1 ? LaunchPass<preconditioned_kernel<true>>(v.rows, stream, v, control)
                                     : LaunchPass<preconditioned_kernel<false>>(v.rows, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateDirection_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass<direction_kernel>(v.rows, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
