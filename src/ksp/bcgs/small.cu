/// One cooperative kernel runs many iterations; see small.hpp for the division of the work.
#include <cooperative_groups.h>
#include "ksp/bcgs/small.hpp"
#include "ksp/common/small_sums.cuh"

namespace sparsegpu::bcgs
{

/// The vectors of a block's rows, in shared memory. r is s between passes 2 and 4.
struct SmallVectors {
  Scalar *x, *r, *p, *v, *t, *shadow, *d; ///< [rows of a block] each; d: of the diagonal
};
constexpr int SMALL_VECTORS = 7;

__device__ __forceinline__ SmallVectors take_vectors(const Arrays &v, PetscInt first, PetscInt count, PetscInt most,
                                                     unsigned char *shared)
{
  Scalar *const s = reinterpret_cast<Scalar *>(shared);
  SmallVectors  own{s, s + most, s + 2 * most, s + 3 * most, s + 4 * most, s + 5 * most, s + 6 * most};

  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) {
    own.x[r]      = v.x[first + r];
    own.r[r]      = v.r[first + r];
    own.p[r]      = v.p[first + r];
    own.shadow[r] = v.shadow[first + r];
    own.d[r]      = v.inverse ? v.inverse[first + r] : Scalar(1);
  }
  __syncthreads();
  return own;
}

__device__ __forceinline__ void small_record(Record *record, PetscReal norm, Outcome outcome, int round)
{
  volatile Record *to = record;

  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  to->norm    = norm;
  to->outcome = outcome;
  __threadfence_system(); // the host reads these once it sees the next
  to->ready = round;
}

/// Pass 1 of the block's rows, and this thread's share of its sums; v goes to v.v, too, for the other blocks.
__device__ __forceinline__ void small_half(const SmallMatrix &A, int lanes, const SmallVectors &own, const Arrays &v,
                                           PetscInt first, PetscInt count, PetscReal (&sums)[SHADOW_DOTS])
{
  small_product(A, count, lanes, v.p, [&](PetscInt r, const Scalar &sum) {
    const Scalar z = v.right ? sum : own.d[r] * sum;
    own.v[r]       = z;
    v.v[first + r] = z;
    add_parts(Conj(own.shadow[r]) * z, sums);
    sums[PARTS] += RealPart(Conj(z) * z);
  });
}

/// Passes 2 and 3. s of other blocks' rows is made of their r and v.
__device__ __forceinline__ void small_whole(const SmallMatrix &A, int lanes, const SmallVectors &own, const Arrays &v,
                                            PetscInt count, const Scalar &alpha, PetscReal (&sums)[MINIMISE_DOTS])
{
  PetscReal half[SHADOW_DOTS] = {}, more[MINIMISE_DOTS - SHADOW_DOTS] = {};

  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) own.r[r] = own.r[r] - alpha * own.v[r];
  __syncthreads(); // a row's product is not its own thread's
  const auto load = [&](PetscInt j) {
    const Scalar s = load_shared(v.r + j) - alpha * load_shared(v.v + j);
    return v.right && v.inverse ? v.inverse[j] * s : s;
  };
  small_product_with(A, count, lanes, load, [&](PetscInt r, const Scalar &sum) {
    const Scalar z = v.right ? sum : own.d[r] * sum, s = own.r[r];
    own.t[r] = z;
    add_parts(Conj(own.shadow[r]) * z, half);
    half[PARTS] += RealPart(Conj(z) * z);
    add_parts(Conj(s) * z, more);
    more[PARTS] += RealPart(Conj(s) * s);
  });
#pragma unroll
  for (int k = 0; k < MINIMISE_DOTS; k++) sums[k] = k < SHADOW_DOTS ? half[k] : more[k - SHADOW_DOTS];
}

/// Pass 4; p and r go to v.p and v.r, too.
__device__ __forceinline__ void small_update(const SmallVectors &own, const Arrays &v, const WholeStep &step,
                                             PetscInt first, PetscInt count, PetscReal (&sums)[SHADOW_DOTS])
{
  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) {
    const Scalar s = own.r[r], p = own.p[r], scale = v.right ? own.d[r] : Scalar(1);
    const Scalar residual = s - step.omega * own.t[r];
    Scalar       direction;
    own.x[r] = own.x[r] + step.alpha * p + step.omega * (scale * s);
    if (step.restarts) {
      own.shadow[r] = step.random ? RandomSign(v.first_row + first + r, step.seed) : residual;
      direction     = scale * residual;
    } else {
      direction = scale * (residual - step.beta * step.omega * own.v[r]) + step.beta * p;
    }
    own.r[r] = v.r[first + r] = residual;
    own.p[r] = v.p[first + r] = direction;
    add_parts(Conj(own.shadow[r]) * residual, sums);
    sums[PARTS] += RealPart(Conj(residual) * residual);
  }
}

/// Takes the sums of pass 4 into the state; what the iteration ends with.
__device__ __forceinline__ Outcome small_end(const SmallControl &control, PetscInt k, const WholeStep &step,
                                             const PetscReal (&sums)[SHADOW_DOTS], PetscReal norm, State *state)
{
  const Outcome outcome = EndIteration(state, step, FromParts(sums), sums[PARTS], control.rows);
  const bool    tested  = k + 1 >= control.test.from;
  const bool    stops = !Finite(norm) || (tested && (norm <= control.test.converged || norm >= control.test.diverged));

  return (outcome == GOES_ON || outcome == RESTARTED) && stops ? STOPS : outcome;
}

/// What all blocks exchange is written before one barrier and read before the next but one.
static __global__ void __launch_bounds__(SMALL_THREADS, 1)
    small_kernel(SmallShape shape, SmallWork work, SmallControl control)
{
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ PetscReal                 whole_half[SHADOW_DOTS], whole_dots[MINIMISE_DOTS], whole_sums[SHADOW_DOTS];
  const cooperative_groups::grid_group grid  = cooperative_groups::this_grid();
  const PetscInt                       first = static_cast<PetscInt>(blockIdx.x) * shape.rows;
  const PetscInt                       left = work.A.rows - first, count = left < shape.rows ? left : shape.rows;
  const size_t       vectors = small_aligned(SMALL_VECTORS * static_cast<size_t>(shape.rows) * sizeof(Scalar));
  const SmallVectors own     = take_vectors(work.v, first, count, shape.rows, shared);
  const SmallMatrix  A       = take_matrix(work.A, first, count, shape.rows, shared + vectors, shape.bytes - vectors);
  State              state   = *work.state;

  grid.sync(); // all have read the state
  for (PetscInt k = control.iteration; k < control.last; k++) {
    PetscReal     half[SHADOW_DOTS] = {}, dots[MINIMISE_DOTS], sums[SHADOW_DOTS] = {};
    Record *const record = work.records + (k - control.iteration);
    small_half(A, shape.lanes, own, work.v, first, count, half);
    leave_sums(half, work.half);
    grid.sync();
    grid_sums(work.half, whole_half, half);
    const HalfStep first_half = TakeHalf(state, half);
    if (first_half.outcome != GOES_ON) { // all blocks find the same
      small_record(record, 0, first_half.outcome, control.round);
      break;
    }
    state.alpha  = first_half.alpha;
    state.along  = first_half.along;
    state.broken = first_half.broken;
    small_whole(A, shape.lanes, own, work.v, count, first_half.alpha, dots);
    leave_sums(dots, work.whole);
    grid.sync();
    grid_sums(work.whole, whole_dots, dots);
    const WholeStep step = TakeWhole(state, dots);
    if (step.outcome == NOT_FINITE || step.outcome == BREAKS_DOWN) {
      small_record(record, 0, step.outcome, control.round);
      break;
    }
    small_update(own, work.v, step, first, count, sums);
    leave_sums(sums, work.sums);
    grid.sync();
    grid_sums(work.sums, whole_sums, sums);
    const PetscReal norm    = control.with_norm ? SquareRoot(sums[PARTS]) : 0;
    const Outcome   outcome = small_end(control, k, step, sums, norm, &state);
    small_record(record, norm, outcome, control.round);
    if (outcome != GOES_ON && outcome != RESTARTED) break;
  }
  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) {
    work.v.x[first + r]      = own.x[r];
    work.v.shadow[first + r] = own.shadow[r];
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *work.state = state;
}

PetscErrorCode SmallMethod::Plan(PetscInt rows, PetscReal mean, SmallShape *shape, bool *fits)
{
  PetscFunctionBegin;
  PetscCall(PlanSmall(reinterpret_cast<const void *>(small_kernel), SMALL_VECTORS, rows, mean, shape, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallMethod::Launch(const SmallShape &shape, const SmallWork &work, const SmallControl &control,
                                   Stream stream, bool *launched)
{
  void *arguments[] = {const_cast<SmallShape *>(&shape), const_cast<SmallWork *>(&work),
                       const_cast<SmallControl *>(&control)};

  PetscFunctionBegin;
  PetscCall(LaunchCooperative(reinterpret_cast<const void *>(small_kernel), shape.blocks, SMALL_THREADS, arguments,
                              shape.bytes, stream, launched));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
