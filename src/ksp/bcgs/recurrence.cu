/// The passes on the device; see ksp/common/passes.cuh. Products go from the first rows to the last, updates back: of
/// the vectors that both use, what fits the L2 cache is there.
#include "ksp/bcgs/recurrence.hpp"
#include <climits>
#include "ksp/common/passes.cuh"
#include "ksp/common/ranks.cuh"

namespace sparsegpu::bcgs
{

__device__ __forceinline__ void write_record(const Control &c, PetscReal norm, Outcome outcome)
{
  begin_record(c.record, Record{norm, outcome, c.round});
  end_record(c.record, c.round);
}

/// close_pass(), with `ranks` of the sums over all ranks.
template <bool ranks, int count, class Done>
__device__ __forceinline__ void close_sums(const Control &c, PetscReal (&v)[count], Done done)
{
  if (!grid_sums(v, c.partial, &c.state->waiting)) return;
  if constexpr (ranks) sum_over_ranks(c.reduce, v);
  if (threadIdx.x == 0) done();
}

static __global__ void clear_kernel(State *state, PetscReal *shadow, PetscReal *minimise, unsigned *arrived)
{
  for (int g = static_cast<int>(threadIdx.x); g < DOT_GROUPS; g += PASS_THREADS) {
    for (int k = 0; k < SHADOW_DOTS; k++) shadow[SHADOW_DOTS * g + k] = 0;
    for (int k = 0; k < MINIMISE_DOTS; k++) minimise[MINIMISE_DOTS * g + k] = 0;
    arrived[g] = 0;
  }
  // no length has been found yet, nor is one of no rows
  if (threadIdx.x == 0) *state = State{{Scalar(0), 0, 0, Scalar(0), Scalar(0), 0, 1, 0}, 0, 0, 0, 1, INT_MAX, 0, 0, {}};
}

template <bool ranks> static __global__ void __launch_bounds__(PASS_THREADS)
    start_kernel(Arrays v, const Scalar *b, bool has_product, Control c, comm::DeviceExchange exchange)
{
  PetscReal square[1] = {0};
  bool      varies    = false;

  begin_in_turn();
  for_rows(v.rows, [&](PetscInt r) {
    const Scalar d = v.inverse ? v.inverse[r] : Scalar(1), difference = has_product ? b[r] - v.t[r] : b[r];
    const Scalar residual = v.right ? difference : d * difference;
    if (v.inverse && !(Magnitude(d - v.inverse[0]) == 0)) varies = true;
    v.r[r]      = residual;
    v.shadow[r] = residual;
    v.p[r]      = v.right ? d * residual : residual;
    square[0] += RealPart(Conj(residual) * residual);
  });
  if (__any_sync(0xffffffffu, varies) && threadIdx.x % 32 == 0) atomicOr(&c.state->varies, 1);
  if (ranks && exchange.state && blockIdx.x == 0 && threadIdx.x == 0) lose_with(c.reduce, exchange);
  if (c.failed && blockIdx.x == 0 && threadIdx.x == 0) square[0] = PETSC_INFINITY;
  close_sums<ranks>(c, square, [&] {
    c.state->rho    = Scalar(square[0]);
    c.state->shadow = c.state->square = c.state->low = square[0];
    write_record(c, SquareRoot(square[0]), GOES_ON);
  });
}

/// The first half of an iteration from the sums of its product, to all threads; one thread of the grid leaves it for
/// the passes to come, or the end. All threads must call, and go on where the outcome is GOES_ON.
__device__ __forceinline__ HalfStep take_half(const Control &c)
{
  __shared__ PetscReal whole[SHADOW_DOTS];

  product_sums(c.sums[0], whole, c.groups);
  const HalfStep step = TakeHalf(*c.state, whole); // reads nothing that is written below
  if (blockIdx.x > 0 || threadIdx.x > 0) return step;
  if (step.outcome != GOES_ON) { // all blocks find the same
    c.state->stopped_at = 2 * c.number;
    write_record(c, 0, step.outcome);
    return step;
  }
  c.state->alpha  = step.alpha;
  c.state->along  = step.along;
  c.state->broken = step.broken;
  return step;
}

/// v is not read again before pass 4, r is by the next product.
static __global__ void __launch_bounds__(PASS_THREADS) half_kernel(Arrays v, Control c)
{
  begin_in_turn();
  if (c.state->stopped_at < 2 * c.number) return;
  const HalfStep      step   = take_half(c);
  const Scalar *const right  = v.right_scale();
  const bool          varies = right && c.state->varies != 0;
  if (step.outcome != GOES_ON) return;
  const Scalar first = right ? right[0] : Scalar(1);
  for_rows_back(v.rows, [&](PetscInt r) {
    const Scalar s = v.r[r] - step.alpha * v.v[r];
    v.r[r]         = s;
    if (right) v.s_hat[r] = (varies ? right[r] : first) * s;
  });
}

/// Pass 4 of a row; adds the shares of its sums. x, v and t are not read again soon: they leave others the L2
/// cache.
__device__ __forceinline__ void update_row(const Arrays &v, const WholeStep &step, const Scalar &scale, PetscInt r,
                                           PetscReal (&sums)[SHADOW_DOTS])
{
  const Scalar along = v.late ? load_stream(v.v + r) : Scalar(0);
  const Scalar s = v.late ? v.r[r] - step.alpha * along : v.r[r], p = v.p[r], p_hat = v.p_hat == v.p ? p : v.p_hat[r];
  const Scalar s_hat    = v.s_hat == v.r ? s : v.right ? scale * s : v.s_hat[r];
  const Scalar residual = s - step.omega * load_stream(v.t + r);
  Scalar       shadow   = residual, direction(0);

  store_stream(v.x + r, load_stream(v.x + r) + step.alpha * p_hat + step.omega * s_hat);
  if (step.restarts) {
    if (step.random) shadow = RandomSign(v.first_row + r, step.seed);
    direction   = scale * residual;
    v.shadow[r] = shadow;
  } else {
    shadow    = v.shadow[r];
    direction = scale * (residual - step.beta * step.omega * (v.late ? along : load_stream(v.v + r))) + step.beta * p;
  }
  v.r[r] = residual;
  v.p[r] = direction;
  add_parts(Conj(shadow) * residual, sums);
  sums[PARTS] += RealPart(Conj(residual) * residual);
}

/// Pass 4, and its decision.
template <bool ranks> __device__ __forceinline__ void whole_body(const Arrays &v, const Control &c)
{
  __shared__ PetscReal whole[MINIMISE_DOTS];
  PetscReal            sums[SHADOW_DOTS] = {};

  if (c.state->stopped_at < 2 * c.number + 1) return;
  if (v.late) { // the first product has found alpha: is that the end?
    const Outcome half = OutcomeOfHalf(*c.state);
    if (half != GOES_ON) {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        c.state->stopped_at = 2 * c.number;
        write_record(c, 0, half);
      }
      return;
    }
  }
  product_sums(c.sums[1], whole, c.groups);
  const WholeStep     step   = TakeWhole(*c.state, whole); // the last block changes the state, when all have read it
  const Scalar *const right  = v.right_scale();
  const bool          varies = right && c.state->varies != 0;
  const Scalar        first  = right ? right[0] : Scalar(1);
  if (step.outcome == NOT_FINITE || step.outcome == BREAKS_DOWN) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      c.state->stopped_at = 2 * c.number + 1;
      write_record(c, 0, step.outcome);
    }
    return;
  }
  for_rows_back(v.rows, [&](PetscInt r) { update_row(v, step, varies ? right[r] : first, r, sums); });
  close_sums<ranks>(c, sums, [&] {
    const PetscReal norm    = c.with_norm ? SquareRoot(sums[PARTS]) : 0;
    Outcome         outcome = EndIteration(c.state, step, FromParts(sums), sums[PARTS], c.all_rows);
    const bool      goes_on = outcome == GOES_ON || outcome == RESTARTED;
    if (goes_on && (!Finite(norm) || (c.tested && (norm <= c.converged || norm >= c.diverged)))) outcome = STOPS;
    if (outcome != GOES_ON && outcome != RESTARTED) c.state->stopped_at = 2 * c.number + 1;
    if (c.later)
      c.state->untold = Record{norm, outcome, c.round};
    else
      write_record(c, norm, outcome);
  });
}

template <bool ranks> static __global__ void __launch_bounds__(PASS_THREADS) whole_kernel(Arrays v, Control c)
{
  fetch_rows_back(v.rows, v.x, v.r, v.p, v.v, v.shadow);
  begin_in_turn();
  fetch_rows_back(v.rows, v.t);
  const bool tells = blockIdx.x == 0 && threadIdx.x == 0 && c.state->untold.ready == c.round - 1;
  if (tells) begin_record(c.earlier, c.state->untold);
  whole_body<ranks>(v, c);
  if (tells) end_record(c.earlier, c.round - 1);
}

PetscErrorCode Start_CUDA(const Arrays &v, const Scalar *b, bool has_product, const comm::DeviceExchange &exchange,
                          const Control &control, const ProductDots (&dots)[2], Stream stream)
{
  PetscFunctionBegin;
  clear_kernel<<<1, PASS_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(control.state, dots[0].sums, dots[1].sums,
                                                                          dots[0].arrived);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(control.reduce.ranks > 1
                ? LaunchPass<start_kernel<true>>(v.rows, stream, v, b, has_product, control, exchange)
                : LaunchPass<start_kernel<false>>(v.rows, stream, v, b, has_product, control, exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateHalf_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  if (!v.late) PetscCall(LaunchPass<half_kernel>(v.rows, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateWhole_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(control.reduce.ranks > 1 ? LaunchPass<whole_kernel<true>>(v.rows, stream, v, control)
                                     : LaunchPass<whole_kernel<false>>(v.rows, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
