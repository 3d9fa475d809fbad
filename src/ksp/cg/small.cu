/// One cooperative kernel runs many iterations; see small.hpp for the division of the work.
#include "device/limits.hpp"
#include "ksp/cg/small.hpp"
#include "ksp/common/small_groups.cuh"
#include "ksp/common/small_rows.cuh"
#include "ksp/common/small_sums.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::cg
{

/// The vectors of a block's rows, in shared memory.
struct SmallVectors {
  Scalar *x, *r, *p, *w, *d; ///< [rows of a block] each; d: of the diagonal
};
constexpr int SMALL_VECTORS = 5;

__device__ __forceinline__ SmallVectors take_vectors(const Arrays &v, PetscInt first, PetscInt count, PetscInt most,
                                                     unsigned char *shared)
{
  Scalar *const s = reinterpret_cast<Scalar *>(shared);
  SmallVectors  own{s, s + most, s + 2 * most, s + 3 * most, s + 4 * most};

  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) {
    own.x[r] = v.x[first + r];
    own.r[r] = v.r[first + r];
    own.p[r] = v.p[first + r];
    own.d[r] = v.inverse ? v.inverse[first + r] : Scalar(1);
  }
  __syncthreads();
  return own;
}

__device__ __forceinline__ void small_record(CgRecord *record, PetscReal norm, Outcome outcome, const Step &step,
                                             PetscReal rho, int round)
{
  volatile CgRecord *to = record;

  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  to->told.norm    = norm;
  to->told.outcome = outcome;
  to->alpha        = step.alpha;
  to->rho          = rho;
  __threadfence_system(); // the host reads these once it sees the next
  to->told.ready = round;
}

/// Pass 2 of the block's rows, and this thread's share of its sums; p goes to `gather`, too, for the other blocks.
__device__ __forceinline__ void small_update(const SmallVectors &own, const Step &step, Norm norm, PetscInt first,
                                             PetscInt count, Scalar *gather, PetscReal (&sums)[2])
{
  const Scalar alpha(step.alpha), beta(step.beta);

  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) {
    const Scalar p = own.p[r], residual = own.r[r] - alpha * own.w[r], z = own.d[r] * residual;
    Sums         part{0, 0};
    own.x[r]          = own.x[r] + alpha * p;
    own.r[r]          = residual;
    own.p[r]          = z + beta * p;
    gather[first + r] = own.p[r];
    AddShares(norm, residual, z, &part);
    sums[0] += part.rho;
    sums[1] += part.square;
  }
}

/// Whether the solve ends with this norm.
__device__ __forceinline__ bool small_stops(const SmallControl &control, PetscInt k, PetscReal norm)
{
  const bool tested = k + 1 >= control.test.from;

  return !Finite(norm) || (tested && (norm <= control.test.converged || norm >= control.test.diverged));
}

/// What all blocks exchange is written before one barrier and read before the next.
static __global__ void __launch_bounds__(SMALL_THREADS, 1)
    small_kernel(SmallShape shape, SmallWork work, SmallControl control)
{
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ PetscReal                          whole_dots[DOTS], whole_sums[2];
  BlockGroup                                    grid(static_cast<PetscInt>(gridDim.x), work.arrived);
  const PetscInt                                first = static_cast<PetscInt>(blockIdx.x) * shape.rows;
  const PetscInt     left = work.A.rows - first, count = left < shape.rows ? left : shape.rows;
  const size_t       vectors = small_aligned(SMALL_VECTORS * static_cast<size_t>(shape.rows) * sizeof(Scalar));
  const SmallVectors own     = take_vectors(work.v, first, count, shape.rows, shared);
  const SmallMatrix  A       = take_matrix(work.A, first, count, shape.rows, shared + vectors, shape.bytes - vectors);
  State              state   = *work.state;

  grid.sync(); // all have read the state
  for (PetscInt k = control.iteration; k < control.last; k++) {
    PetscReal dots[DOTS] = {}, sums[2] = {};
    CgRecord *record = work.records + (k - control.iteration);
    small_product(A, count, shape.lanes, work.v.p, [&](PetscInt r, const Scalar &sum) {
      const PetscReal weight = RealPart(own.d[r]);
      own.w[r]               = sum;
      dots[0] += RealPart(Conj(own.p[r]) * sum);
      dots[1] += weight * RealPart(Conj(own.r[r]) * sum);
      dots[2] += weight * RealPart(Conj(sum) * sum);
    });
    leave_sums(dots, work.dots);
    grid.sync();
    grid_sums(work.dots, whole_dots, dots);
    const Step step = TakeStep(state, k > 0, dots);
    if (step.outcome != GOES_ON) { // all blocks find the same
      small_record(record, 0, step.outcome, step, state.rho, control.round);
      break;
    }
    small_update(own, step, control.norm, first, count, work.v.p, sums);
    leave_sums(sums, work.sums);
    grid.sync();
    grid_sums(work.sums, whole_sums, sums);
    const PetscReal square = control.norm != Norm::Natural ? sums[1] : sums[0] < 0 ? -sums[0] : sums[0];
    const PetscReal norm   = SquareRoot(square);
    const bool      stops  = small_stops(control, k, norm);
    small_record(record, norm, stops ? STOPS : GOES_ON, step, state.rho, control.round);
    state.before    = state.rho;
    state.curvature = dots[0];
    state.rho       = sums[0];
    if (stops) break;
  }
  for (PetscInt r = threadIdx.x; r < count; r += SMALL_THREADS) {
    work.v.x[first + r] = own.x[r];
    work.v.r[first + r] = own.r[r];
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
  PetscCall(ClearGroups(1, work.arrived, stream));
  PetscCall(LaunchCooperative(reinterpret_cast<const void *>(small_kernel), shape.blocks, SMALL_THREADS, arguments,
                              shape.bytes, stream, launched));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
