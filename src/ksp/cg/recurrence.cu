/// The passes on the device. Each thread block of pass 2 adds up the sums of the product's groups for itself, in their
/// order: all blocks have the bits of the same alpha and beta. The last block to arrive adds up the blocks' sums,
/// decides whether the solve goes on, and writes the record.
#include "ksp/cg/recurrence.hpp"
#include <climits>
#include "device/cuda_check.hpp"
#include "mat/formats/dots.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::cg
{

static constexpr int THREADS = 256;

__device__ __forceinline__ PetscReal root(PetscReal v)
{
  return sizeof(PetscReal) == sizeof(float) ? static_cast<PetscReal>(sqrtf(static_cast<float>(v)))
                                            : static_cast<PetscReal>(sqrt(static_cast<double>(v)));
}

__device__ __forceinline__ void write_record(const Control &c, PetscReal norm, Outcome outcome, const Step &step,
                                             PetscReal rho)
{
  volatile CgRecord *record = c.record;

  record->told.norm    = norm;
  record->told.outcome = outcome;
  record->alpha        = step.alpha;
  record->rho          = rho;
  __threadfence_system(); // the host reads these once it sees the next
  record->told.ready = c.round;
}

/// Adds up `sums` of all rows. The last block of the grid calls done(rho, square of the norm) by one thread. All
/// threads must call.
template <class Done> __device__ __forceinline__ void close_pass(const Control &c, const Sums &sums, Done done)
{
  __shared__ bool last;
  PetscReal       v[2] = {sums.rho, sums.square};

  block_sums(v);
  if (threadIdx.x == 0) {
    c.partial[2 * blockIdx.x]     = v[0];
    c.partial[2 * blockIdx.x + 1] = v[1];
    __threadfence();
    last = atomicAdd(&c.state->arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  v[0] = v[1] = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) {
    v[0] += load_shared(c.partial + 2 * b);
    v[1] += load_shared(c.partial + 2 * b + 1);
  }
  block_sums(v);
  if (threadIdx.x > 0) return;
  c.state->arrived = 0;
  done(v[0], c.norm == Norm::Natural ? (v[0] < 0 ? -v[0] : v[0]) : v[1]);
}

static __global__ void clear_kernel(State *state, PetscReal *sums, unsigned *arrived)
{
  for (int g = static_cast<int>(threadIdx.x); g < DOT_GROUPS; g += THREADS) {
    for (int k = 0; k < DOTS; k++) sums[DOTS * g + k] = 0;
    arrived[g] = 0;
  }
  if (threadIdx.x == 0) *state = State{0, 0, 0, 0, INT_MAX, 0, 0};
}

/// One thread a row in turn; neighbouring threads read neighbouring entries, here and below.
static __global__ void __launch_bounds__(THREADS) start_kernel(Arrays v, const Scalar *b, bool has_product, Control c)
{
  Sums sums{0, 0};
  bool varies = false;

  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x; r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * THREADS) {
    const Scalar d = v.inverse ? v.inverse[r] : Scalar(1), residual = has_product ? b[r] - v.w[r] : b[r];
    const Scalar z = d * residual;
    if (v.inverse && !(Magnitude(d - v.inverse[0]) == 0)) varies = true;
    v.r[r] = residual;
    v.p[r] = z;
    AddShares(c.norm, residual, z, &sums);
  }
  if (__any_sync(0xffffffffu, varies) && threadIdx.x % 32 == 0) atomicOr(&c.state->varies, 1);
  close_pass(c, sums, [&](PetscReal rho, PetscReal square) {
    c.state->rho = rho;
    write_record(c, root(square), GOES_ON, Step{}, rho);
  });
}

/// What is added to the rows of pass 2. x and r are not read again before the next pass 2: they leave p and w the L2
/// cache.
template <bool diagonal>
__device__ __forceinline__ Sums update_rows(const Arrays &v, const Step &step, Norm norm, bool varies)
{
  const Scalar alpha(step.alpha), beta(step.beta), first = diagonal ? v.inverse[0] : Scalar(1);
  Sums         sums{0, 0};

#pragma unroll 2
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x; r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * THREADS) {
    const Scalar p = v.p[r], x = load_stream(v.x + r) + alpha * p, residual = load_stream(v.r + r) - alpha * v.w[r];
    const Scalar z = !diagonal ? residual : (varies ? v.inverse[r] : first) * residual;
    store_stream(v.x + r, x);
    store_stream(v.r + r, residual);
    v.p[r] = z + beta * p;
    AddShares(norm, residual, z, &sums);
  }
  return sums;
}

/// One thread of the grid: the iteration ends before it has changed anything.
__device__ __forceinline__ void stop_before_update(const Control &c, const Step &step, PetscReal rho)
{
  c.state->stopped_at = c.number;
  write_record(c, 0, step.outcome, step, rho);
}

/// The sums of the product's groups, in their order, to all threads of the block, which must all call.
__device__ __forceinline__ void product_sums(const Control &c, PetscReal (&whole)[DOTS])
{
  PetscReal dots[DOTS] = {};

  for (int g = static_cast<int>(threadIdx.x); g < DOT_GROUPS; g += THREADS)
#pragma unroll
    for (int k = 0; k < DOTS; k++) dots[k] += c.sums[DOTS * g + k];
  block_sums(dots);
#pragma unroll
  for (int k = 0; k < DOTS; k++)
    if (threadIdx.x == 0) whole[k] = dots[k];
  __syncthreads();
}

static __global__ void __launch_bounds__(THREADS) update_kernel(Arrays v, Control c)
{
  __shared__ PetscReal whole[DOTS];

  begin_in_turn();
  const State before = *c.state; // changed by the last block alone, when all others have read it
  if (before.stopped_at < c.number) return;
  product_sums(c, whole);
  const Step step = TakeStep(before, c.number, whole);
  if (step.outcome != GOES_ON) { // all blocks find the same
    if (blockIdx.x == 0 && threadIdx.x == 0) stop_before_update(c, step, before.rho);
    return;
  }
  const Sums sums =
      v.inverse ? update_rows<true>(v, step, c.norm, before.varies != 0) : update_rows<false>(v, step, c.norm, false);
  close_pass(c, sums, [&](PetscReal rho, PetscReal square) {
    const PetscReal norm  = root(square);
    const bool      stops = !Finite(norm) || (c.tested && (norm <= c.converged || norm >= c.diverged));
    c.state->rho          = rho;
    c.state->before       = before.rho;
    c.state->curvature    = whole[0];
    if (stops) c.state->stopped_at = c.number;
    write_record(c, norm, stops ? STOPS : GOES_ON, step, before.rho);
  });
}

/// Pass 2 before a preconditioner that is applied from outside.
static __global__ void __launch_bounds__(THREADS) residual_kernel(Arrays v, Control c)
{
  __shared__ PetscReal whole[DOTS];
  Sums                 sums{0, 0};

  begin_in_turn();
  const State before = *c.state;
  if (before.stopped_at < c.number) return;
  product_sums(c, whole);
  const Step step = TakeStep(before, c.number, whole);
  if (step.outcome != GOES_ON) {
    if (blockIdx.x == 0 && threadIdx.x == 0) stop_before_update(c, step, before.rho);
    return;
  }
  const Scalar alpha(step.alpha);
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x; r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * THREADS) {
    const Scalar residual = v.r[r] - alpha * v.w[r];
    store_stream(v.x + r, load_stream(v.x + r) + alpha * v.p[r]);
    v.r[r] = residual;
    AddShares(c.norm, residual, residual, &sums);
  }
  close_pass(c, sums, [&](PetscReal, PetscReal square) {
    c.state->curvature = whole[0];
    write_record(c, root(square), GOES_ON, step, before.rho);
  });
}

/// Pass 3.
static __global__ void __launch_bounds__(THREADS) preconditioned_kernel(Arrays v, Control c)
{
  Sums sums{0, 0};

  begin_in_turn();
  const State before = *c.state;
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x; r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * THREADS)
    AddShares(c.norm, v.r[r], v.z[r], &sums);
  close_pass(c, sums, [&](PetscReal rho, PetscReal square) {
    c.state->beta   = c.number < 0 ? 0 : rho / before.rho;
    c.state->before = before.rho;
    c.state->rho    = rho;
    write_record(c, root(square), GOES_ON, Step{}, rho);
  });
}

/// Pass 4. Where beta is zero, as at the beginning, p is not read.
static __global__ void __launch_bounds__(THREADS) direction_kernel(Arrays v, Control c)
{
  begin_in_turn();
  const Scalar beta(c.state->beta);
  const bool   keeps = c.state->beta != 0;
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x; r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * THREADS)
    v.p[r] = keeps ? v.z[r] + beta * v.p[r] : v.z[r];
}

/// Blocks for all rows, and one for none: the record is written in any case.
static PetscErrorCode BlocksFor(PetscInt rows, PetscInt *blocks)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt useful = rows > 0 ? (rows - 1) / THREADS + 1 : 1, full = 8 * multiprocessors;
  const PetscInt most = full < UPDATE_BLOCKS ? full : UPDATE_BLOCKS;
  *blocks             = useful < most ? useful : most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Start_CUDA(const Arrays &v, const Scalar *b, bool has_product, const Control &control,
                          const ProductDots &dots, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscInt           blocks;

  PetscFunctionBegin;
  PetscCall(BlocksFor(v.rows, &blocks));
  clear_kernel<<<1, THREADS, 0, s>>>(control.state, dots.sums, dots.arrived);
  start_kernel<<<static_cast<unsigned>(blocks), THREADS, 0, s>>>(v, b, has_product, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A pass over the rows.
template <void (*kernel)(Arrays, Control)>
static PetscErrorCode LaunchPass(const Arrays &v, const Control &control, Stream stream)
{
  PetscInt blocks;

  PetscFunctionBegin;
  PetscCall(BlocksFor(v.rows, &blocks));
  PetscCall(LaunchEarly<kernel>(blocks, THREADS, static_cast<cudaStream_t>(stream), v, control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Update_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass<update_kernel>(v, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateResidual_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass<residual_kernel>(v, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreconditionedDots_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass<preconditioned_kernel>(v, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateDirection_CUDA(const Arrays &v, const Control &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchPass<direction_kernel>(v, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
