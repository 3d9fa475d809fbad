/// The passes for several right-hand sides: block row y of a grid has slot y.
#include "ksp/cg/many.hpp"
#include <climits>
#include "ksp/common/passes.cuh"

namespace sparsegpu::cg
{

__device__ __forceinline__ void write_record(const ManyControl &c, PetscReal norm, Outcome outcome)
{
  volatile Record *record = c.records + blockIdx.y;

  record->norm    = norm;
  record->outcome = outcome;
  __threadfence_system(); // the host reads these once it sees the next
  record->ready = c.round;
}

/// Scratch of a slot's part of a pass.
__device__ __forceinline__ PetscReal *slot_partial(const ManyControl &c)
{
  return c.partial + static_cast<size_t>(DOTS) * gridDim.x * blockIdx.y;
}

static __global__ void clear_kernel(ManyControl c)
{
  if (threadIdx.x < MANY) {
    c.state[threadIdx.x]                  = ManyState{};
    c.state[threadIdx.x].state.stopped_at = INT_MAX;
  }
  if (threadIdx.x == 0) *c.varies = 0;
}

static __global__ void __launch_bounds__(PASS_THREADS)
    start_kernel(ManyArrays many, const Scalar *b, PetscInt ldb, bool has_product, ManyControl c)
{
  const Arrays v       = many.Slot(static_cast<int>(blockIdx.y));
  State       *state   = &c.state[blockIdx.y].state;
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
    const PetscReal square = c.norm != Norm::Natural ? sums[1] : sums[0] < 0 ? -sums[0] : sums[0];
    state->rho             = sums[0];
    write_record(c, SquareRoot(square), GOES_ON);
  });
}

static __global__ void __launch_bounds__(PASS_THREADS) dots_kernel(ManyArrays many, ManyControl c)
{
  const Arrays v          = many.Slot(static_cast<int>(blockIdx.y));
  ManyState   *slot       = c.state + blockIdx.y;
  PetscReal    dots[DOTS] = {};

  begin_in_turn();
  if (slot->state.stopped_at < c.number) return;
  const bool      varies = v.inverse && *c.varies != 0;
  const PetscReal first  = v.inverse ? RealPart(v.inverse[0]) : 1;
  for_rows(v.rows, [&](PetscInt r) {
    const PetscReal weight = varies ? RealPart(v.inverse[r]) : first;
    const Scalar    w      = v.w[r];
    dots[0] += RealPart(Conj(v.p[r]) * w);
    dots[1] += weight * RealPart(Conj(v.r[r]) * w);
    dots[2] += weight * RealPart(Conj(w) * w);
  });
  close_pass(dots, slot_partial(c), &slot->state.arrived, [&] {
#pragma unroll
    for (int k = 0; k < DOTS; k++) slot->dots[k] = dots[k];
  });
}

static __global__ void __launch_bounds__(PASS_THREADS) update_kernel(ManyArrays many, ManyControl c)
{
  const Arrays v       = many.Slot(static_cast<int>(blockIdx.y));
  State       *state   = &c.state[blockIdx.y].state;
  PetscReal    sums[2] = {}, dots[DOTS];

  begin_in_turn();
  const State before = *state; // changed by the last block alone, when all others have read it
  if (before.stopped_at < c.number) return;
#pragma unroll
  for (int k = 0; k < DOTS; k++) dots[k] = c.state[blockIdx.y].dots[k];
  const Step step = TakeStep(before, c.number, dots);
  if (step.outcome != GOES_ON) { // all blocks find the same
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      state->stopped_at = c.number;
      write_record(c, 0, step.outcome);
    }
    return;
  }
  const bool   varies = v.inverse && *c.varies != 0;
  const Scalar alpha(step.alpha), beta(step.beta), first = v.inverse ? v.inverse[0] : Scalar(1);
  for_rows(v.rows, [&](PetscInt r) {
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
    const PetscReal square = c.norm != Norm::Natural ? sums[1] : sums[0] < 0 ? -sums[0] : sums[0];
    const PetscReal norm   = SquareRoot(square);
    const bool      tested = c.number + 1 >= c.tested_from;
    const bool stops = !Finite(norm) || (tested && (norm <= c.converged[blockIdx.y] || norm >= c.diverged[blockIdx.y]));
    state->rho       = sums[0];
    state->before    = before.rho;
    state->curvature = dots[0];
    if (stops) state->stopped_at = c.number;
    write_record(c, norm, stops ? STOPS : GOES_ON);
  });
}

static __global__ void __launch_bounds__(PASS_THREADS)
    move_kernel(Arrays from, Arrays to, ManyState *states, int source, int target)
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
  PetscCall(LaunchMany<dots_kernel>(v, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateMany_CUDA(const ManyArrays &v, const ManyControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchMany<update_kernel>(v, stream, v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MoveSlot_CUDA(const ManyArrays &v, const ManyControl &control, int from, int to, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass<move_kernel>(v.rows, stream, v.Slot(from), v.Slot(to), control.state, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
