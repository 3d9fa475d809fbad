/// The passes for several right-hand sides: block row y of a grid has slot y.
#include "ksp/cg/many.hpp"
#include <climits>
#include "ksp/cg/many.cuh"
#include "ksp/common/passes.cuh"

namespace sparsegpu::cg
{

__device__ __forceinline__ void write_record(const ManyControl &c, PetscReal norm, Outcome outcome)
{
  Record *const record = c.records + blockIdx.y;

  begin_record(record, Record{norm, outcome, c.round});
  end_record(record, c.round);
}

/// Scratch of a slot's part of a pass.
__device__ __forceinline__ PetscReal *slot_partial(const ManyControl &c)
{
  return c.partial + static_cast<size_t>(DOTS) * gridDim.x * blockIdx.y;
}

/// The inner products of a slot's product.
__device__ __forceinline__ PetscReal *slot_dots(const ManyControl &c)
{
  return c.dots + DOTS * blockIdx.y;
}

static __global__ void clear_kernel(ManyControl c)
{
  if (threadIdx.x < MANY) {
    c.state[threadIdx.x]            = State{};
    c.state[threadIdx.x].stopped_at = INT_MAX;
  }
  for (int g = threadIdx.x; g <= DOT_GROUPS; g += PASS_THREADS) c.arrived[g] = 0;
  if (threadIdx.x == 0) *c.varies = 0;
}

static __global__ void __launch_bounds__(PASS_THREADS)
    start_kernel(ManyArrays many, const Scalar *b, PetscInt ldb, bool has_product, ManyControl c)
{
  const Arrays v       = many.Slot(static_cast<int>(blockIdx.y));
  State       *state   = c.state + blockIdx.y;
  PetscReal    sums[2] = {};
  bool         varies  = false;

  begin_in_turn();
  b += static_cast<size_t>(blockIdx.y) * ldb;
  for_rows(v.rows, [&](PetscInt r) {
    const Scalar d = v.inverse ? v.inverse[r] : Scalar(1), residual = has_product ? b[r] - v.w[r] : b[r];
    const Scalar z = d * residual;
    Sums         part{0, 0};
    if (v.inverse && !(Magnitude(d - v.inverse[0]) == 0)) varies = true;
    v.r[r] = residual;
    v.p[r] = z;
    AddShares(c.norm, residual, z, &part);
    sums[0] += part.rho;
    sums[1] += part.square;
  });
  if (__any_sync(0xffffffffu, varies) && threadIdx.x % 32 == 0) atomicOr(c.varies, 1);
  close_pass(sums, slot_partial(c), &state->arrived, [&] {
    state->rho = sums[0];
    if (!c.later) write_record(c, norm_of(c, sums[0], sums[1]), GOES_ON);
  });
}

/// All sums, or (p, w) alone.
template <bool all> static __global__ void __launch_bounds__(PASS_THREADS) dots_kernel(ManyArrays many, ManyControl c)
{
  const Arrays v                    = many.Slot(static_cast<int>(blockIdx.y));
  State       *state                = c.state + blockIdx.y;
  PetscReal    dots[all ? DOTS : 1] = {};

  begin_in_turn();
  if (state->stopped_at < c.number) return;
  const bool      varies = v.inverse && *c.varies != 0;
  const PetscReal first  = v.inverse ? RealPart(v.inverse[0]) : 1;
  for_rows(v.rows, [&](PetscInt r) {
    const Scalar w = v.w[r];
    dots[0] += RealPart(Conj(v.p[r]) * w);
    if constexpr (all) {
      const PetscReal weight = varies ? RealPart(v.inverse[r]) : first;
      dots[1] += weight * RealPart(Conj(v.r[r]) * w);
      dots[2] += weight * RealPart(Conj(w) * w);
    }
  });
  close_pass(dots, slot_partial(c), &state->arrived, [&] {
#pragma unroll
    for (int k = 0; k < DOTS; k++) slot_dots(c)[k] = all || k == 0 ? dots[all ? k : 0] : 0;
  });
}

/// The step of the slot's iteration to all threads; false if there is none, which one thread of the slot tells.
__device__ __forceinline__ bool begins(const State &before, const ManyControl &c, Step *step)
{
  PetscReal dots[DOTS];

  if (before.stopped_at < c.number) return false;
#pragma unroll
  for (int k = 0; k < DOTS; k++) dots[k] = slot_dots(c)[k];
  *step = TakeStep(before, c.number, dots); // all blocks find the same
  if (step->outcome == GOES_ON) return true;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    c.state[blockIdx.y].stopped_at = c.number;
    write_record(c, 0, step->outcome);
  }
  return false;
}

static __global__ void __launch_bounds__(PASS_THREADS) update_kernel(ManyArrays many, ManyControl c)
{
  const Arrays v       = many.Slot(static_cast<int>(blockIdx.y));
  State       *state   = c.state + blockIdx.y;
  PetscReal    sums[2] = {};

  begin_in_turn();
  const State before = *state; // changed by the last block alone, when all others have read it
  Step        step;
  if (!begins(before, c, &step)) return;
  const bool   varies = v.inverse && *c.varies != 0;
  const Scalar alpha(step.alpha), beta(step.beta), first = v.inverse ? v.inverse[0] : Scalar(1);
  for_rows_back(v.rows, [&](PetscInt r) {
    const Scalar p = v.p[r], x = load_stream(v.x + r) + alpha * p, residual = v.r[r] - alpha * load_stream(v.w + r);
    const Scalar z = (varies ? v.inverse[r] : first) * residual;
    Sums         part{0, 0};
    store_stream(v.x + r, x);
    v.r[r] = residual;
    v.p[r] = z + beta * p;
    AddShares(c.norm, residual, z, &part);
    sums[0] += part.rho;
    sums[1] += part.square;
  });
  close_pass(sums, slot_partial(c), &state->arrived, [&] {
    const PetscReal norm  = norm_of(c, sums[0], sums[1]);
    const bool      stops = stops_by(c, static_cast<int>(blockIdx.y), c.number, norm);
    state->rho            = sums[0];
    state->before         = before.rho;
    state->curvature      = slot_dots(c)[0];
    if (stops) state->stopped_at = c.number;
    write_record(c, norm, stops ? STOPS : GOES_ON);
  });
}

/// Pass 2 before a preconditioner that is applied from outside.
static __global__ void __launch_bounds__(PASS_THREADS) residual_kernel(ManyArrays many, ManyControl c)
{
  const Arrays v         = many.Slot(static_cast<int>(blockIdx.y));
  State       *state     = c.state + blockIdx.y;
  PetscReal    square[1] = {};

  begin_in_turn();
  const State before = *state;
  Step        step;
  if (!begins(before, c, &step)) return;
  const Scalar alpha(step.alpha);
  for_rows_back(v.rows, [&](PetscInt r) {
    const Scalar residual = v.r[r] - alpha * load_stream(v.w + r);
    Sums         part{0, 0};
    store_stream(v.x + r, load_stream(v.x + r) + alpha * v.p[r]);
    v.r[r] = residual;
    AddShares(c.norm, residual, residual, &part);
    square[0] += part.square;
  });
  close_pass(square, slot_partial(c), &state->arrived, [&] {
    state->curvature = slot_dots(c)[0];
    if (!c.later) write_record(c, SquareRoot(square[0]), GOES_ON);
  });
}

/// Pass 3. A slot that iteration c.number has stopped has told so.
static __global__ void __launch_bounds__(PASS_THREADS) preconditioned_kernel(ManyArrays many, ManyControl c)
{
  const Arrays v       = many.Slot(static_cast<int>(blockIdx.y));
  State       *state   = c.state + blockIdx.y;
  PetscReal    sums[2] = {};

  begin_in_turn();
  const State before = *state;
  if (before.stopped_at <= c.number) return;
  for_rows(v.rows, [&](PetscInt r) {
    Sums part{0, 0};
    AddShares(c.norm, v.r[r], v.z[r], &part);
    sums[0] += part.rho;
    sums[1] += part.square;
  });
  close_pass(sums, slot_partial(c), &state->arrived, [&] {
    state->beta   = c.number < 0 ? 0 : sums[0] / before.rho;
    state->before = before.rho;
    state->rho    = sums[0];
    if (!c.later) write_record(c, norm_of(c, sums[0], sums[1]), GOES_ON);
  });
}

/// Pass 4. Where beta is zero, as at the beginning, p is not read.
static __global__ void __launch_bounds__(PASS_THREADS) direction_kernel(ManyArrays many, ManyControl c)
{
  const Arrays v = many.Slot(static_cast<int>(blockIdx.y));

  begin_in_turn();
  const State state = c.state[blockIdx.y];
  if (state.stopped_at <= c.number) return;
  const Scalar beta(state.beta);
  const bool   keeps = state.beta != 0;
  for_rows(v.rows, [&](PetscInt r) { v.p[r] = keeps ? v.z[r] + beta * v.p[r] : v.z[r]; });
}

static __global__ void __launch_bounds__(PASS_THREADS)
    move_kernel(Arrays from, Arrays to, State *states, int source, int target)
{
  begin_in_turn();
  for_rows(from.rows, [&](PetscInt r) {
    to.r[r] = from.r[r];
    to.p[r] = from.p[r];
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) states[target] = states[source];
}

/// A pass over all slots; all blocks are on the device at a time if the slots are few.
template <auto kernel, class... Arguments>
static PetscErrorCode LaunchMany(const ManyArrays &v, Stream stream, const Arguments &...arguments)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt useful = (v.rows - 1) / PASS_THREADS + 1, full = 8 * multiprocessors;
  const PetscInt all = full < PASS_BLOCKS ? full : PASS_BLOCKS, each = all / v.count > 1 ? all / v.count : 1;
  PetscCall(
      LaunchEarly<kernel>(dim3(static_cast<unsigned>(useful < each ? useful : each), static_cast<unsigned>(v.count)),
                          PASS_THREADS, size_t(0), static_cast<cudaStream_t>(stream), arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StartMany_CUDA(const ManyArrays &v, const Scalar *b, PetscInt ldb, bool has_product,
                              const ManyControl &control, Stream stream)
{
  PetscFunctionBegin;
  clear_kernel<<<1, PASS_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(LaunchMany<start_kernel>(v, stream, v, b, ldb, has_product, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DotsMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream)
{
  PetscFunctionBegin;
  if (v.z)
    PetscCall(LaunchMany<dots_kernel<false>>(v, stream, v, control));
  else
    PetscCall(LaunchMany<dots_kernel<true>>(v, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchMany<update_kernel>(v, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateResidualMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchMany<residual_kernel>(v, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateDirectionMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchMany<preconditioned_kernel>(v, stream, v, control));
  PetscCall(LaunchMany<direction_kernel>(v, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MoveSlot_CUDA(const ManyArrays &v, const ManyControl &control, int from, int to, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass<move_kernel>(v.rows, stream, v.Slot(from), v.Slot(to), control.state, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
