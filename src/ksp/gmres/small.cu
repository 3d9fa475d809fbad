/// One cooperative kernel runs whole GMRES cycles; see small.hpp for the division of the work.
#include <algorithm>
#include "device/limits.hpp"
#include "ksp/common/small_groups.cuh"
#include "ksp/gmres/small.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

/// Thread 0 of the scalar block writes a record for the host; `number` counts the records of this launch.
__device__ __forceinline__ void small_record(const SmallWork &work, int *number, PetscReal norm, int outcome, int round)
{
  volatile Record *record = work.records + (*number)++;
  record->norm            = norm;
  record->outcome         = outcome;
  __threadfence_system(); // the host reads these once it sees the next
  record->ready = round;
}

/// Thread 0 of the scalar block: step k ends. s.h, and s.again where there was a second pass, hold its inner products;
/// `whole` is the norm of the direction.
__device__ __forceinline__ void small_close(const SmallWork &work, const SmallControl &control,
                                            const SmallSolveOf &solve, const SmallScalars &s, PetscInt k,
                                            PetscInt iteration, bool second, PetscReal whole,
                                            const Projection &projection, PetscReal first, int *number)
{
  const Hessenberg H{work.H.stride, work.H.r, s.cosine, s.sine, s.rhs};
  PetscReal        residual;

  if (second)
    for (PetscInt j = 0; j <= k; j++) s.h[j] += s.again[j];
  int outcome = STEP_RESTART;
  if (projection.lost)
    residual = Magnitude(s.rhs[k]);
  else
    outcome = AddColumn(H, k, s.h, s.cosine, s.sine, projection.norm, whole, &residual);
  const bool tested = iteration >= solve.tested_from && (residual <= solve.converged || residual >= solve.diverged);
  if (outcome == STEP_GOES_ON && (tested || !(residual - residual == 0))) outcome = STEP_STOPS; // Inf and NaN, too
  work.state->ends = outcome == STEP_STOPS || outcome == STEP_BREAKDOWN || (outcome == STEP_RESTART && tested) ||
                     (outcome == STEP_HAPPY && control.happy_ends);
  work.state->taken = static_cast<int>(k) + 1;
  for (PetscInt j = 0; j <= k; j++) H.r[static_cast<size_t>(k) * H.stride + j] = s.h[j];
  work.state->fallen     = residual / first;
  work.state->recurrence = residual;
  work.state->outcome    = outcome;
  work.state->columns    = !(residual - residual == 0) ? 0 : static_cast<int>(AddsColumn(outcome) ? k + 1 : k);
  small_record(work, number, residual, outcome, control.round);
}

/// See the top of small.hpp. Between two barriers `state` is either written, by the scalar block, or read; the same
/// holds for everything that blocks exchange.
static __global__ void __launch_bounds__(SMALL_THREADS, 1)
    small_kernel(SmallSystem system, SmallShape shape, SmallWork all, const __grid_constant__ SmallControl control)
{
  extern __shared__ __align__(16) unsigned char shared[];
  BlockGroup                                    group(shape.blocks + 1, all.arrived);
  const SmallWork                               work   = all.Of(group.group());
  const SmallSolveOf                           &solve  = control.solve[group.group()];
  const PetscInt                                block  = group.block();
  const Scalar *const                           b      = system.b + static_cast<size_t>(solve.column) * system.ldb;
  Scalar *const                                 x      = system.x + static_cast<size_t>(solve.column) * system.ldx;
  const SmallScalars                            s      = carve_scalars(shared, control.steps);
  const SmallRows                               rows   = take_rows(system.A, shape, work, block, control.steps, shared);
  const bool                                    scalar = block == shape.blocks;
  const bool                                    teller = scalar && threadIdx.x == 0;
  const Scalar                                 *left   = system.right ? nullptr : system.inverse;
  const Scalar                                 *right  = system.right ? system.inverse : nullptr;
  const volatile SmallState                    *state  = work.state;
  PetscInt                                      iteration = solve.iteration, used = 0; // records
  PetscReal                                     first  = solve.residual;
  int                                           number = 0;

  Scalar *const begin = rows.Vector(0);
  for (PetscInt r = threadIdx.x; r < rows.count; r += SMALL_THREADS) {
    const Scalar v              = work.V.v[rows.first + r];
    begin[r]                    = v;
    work.gather[rows.first + r] = right ? right[rows.first + r] * v : v;
  }
  for (;;) {
    const PetscInt limit = solve.last - iteration < control.steps ? solve.last - iteration : control.steps;
    PetscInt       k     = 0;
    if (teller) {
      work.state->fallen  = 1;
      work.state->outcome = STEP_GOES_ON;
      work.state->columns = 0;
      s.rhs[0]            = Scalar(first);
    }
    group.sync();
    for (; k < limit; k++) {
      const PetscInt columns = k + 2;
      Scalar        *w       = rows.Vector(k + 1);
      small_product(rows.A, rows.count, shape.lanes, work.gather,
                    [&](PetscInt r, const Scalar &sum) { w[r] = left ? left[rows.first + r] * sum : sum; });
      small_dots(rows, columns, block, shape.blocks, work.partial[0]);
      group.sync();
      if (state->outcome != STEP_GOES_ON) break; // the step before was the last
      const Scalar   *h      = s.h;
      PetscReal       inside = small_sums(columns, shape.blocks, work.partial[0], s.h);
      const PetscReal square = RealPart(s.h[k + 1]), fallen = state->fallen;
      Projection      projection = JudgeProjection(square, inside, control.criterion, fallen, false, square);
      const bool      second     = projection.again;
      if (second) {
        for (PetscInt r = threadIdx.x; r < rows.count; r += SMALL_THREADS)
          w[r] = w[r] - small_combined(rows, columns - 1, s.h, r);
        small_dots(rows, columns, block, shape.blocks, work.partial[1]);
        group.sync();
        inside     = small_sums(columns, shape.blocks, work.partial[1], s.again);
        projection = JudgeProjection(RealPart(s.again[k + 1]), inside, control.criterion, fallen, true, square);
        h          = s.again;
      }
      const Scalar scale(ScaleOf(projection));
      for (PetscInt r = threadIdx.x; r < rows.count; r += SMALL_THREADS) {
        const Scalar v              = scale * (w[r] - small_combined(rows, columns - 1, h, r));
        w[r]                        = v;
        work.gather[rows.first + r] = right ? right[rows.first + r] * v : v;
      }
      group.sync();
      if (teller)
        small_close(work, control, solve, s, k, iteration + k + 1, second, SquareRoot(square), projection, first,
                    &number);
    }
    group.sync(); // the last step has been closed
    const bool      ends  = state->ends;
    const PetscInt  taken = state->taken, columns = state->columns;
    const PetscReal recurrence = state->recurrence;
    if (scalar) small_solve(work.H, columns, s.rhs, work.y);
    group.sync();
    for (PetscInt c = threadIdx.x; c < columns; c += SMALL_THREADS) s.h[c] = load_shared(work.y + c);
    __syncthreads();
    for (PetscInt r = threadIdx.x; columns > 0 && r < rows.count; r += SMALL_THREADS) {
      const Scalar v    = small_combined(rows, columns, s.h, r);
      x[rows.first + r] = x[rows.first + r] + (right ? right[rows.first + r] * v : v);
    }
    iteration += taken;
    used += taken + 1;
    if (ends || iteration >= solve.last || used + control.steps + 1 > work.recorded) return;

    group.sync(); // x is there
    small_product(rows.A, rows.count, shape.lanes, x, [&](PetscInt r, const Scalar &sum) {
      const Scalar v = b[rows.first + r] - sum;
      begin[r]       = left ? left[rows.first + r] * v : v;
    });
    small_dots(rows, 1, block, shape.blocks, work.partial[0]);
    group.sync();
    small_sums(1, shape.blocks, work.partial[0], s.h);
    const PetscReal norm = SquareRoot(RealPart(s.h[0])),
                    off  = norm > recurrence ? norm - recurrence : recurrence - norm;
    const bool finite    = norm - norm == 0;
    const bool tested    = iteration >= solve.tested_from && (norm <= solve.converged || norm >= solve.diverged);
    const bool stops     = !finite || norm == 0 || tested || (recurrence > 0 && off > control.breakdown * first);
    if (teller) small_record(work, &number, norm, stops ? STEP_STOPS : STEP_GOES_ON, control.round);
    if (stops) return;
    first = norm;
    for (PetscInt r = threadIdx.x; r < rows.count; r += SMALL_THREADS) {
      const Scalar v              = Scalar(1 / norm) * begin[r];
      begin[r]                    = v;
      work.gather[rows.first + r] = right ? right[rows.first + r] * v : v;
    }
  }
}

PetscErrorCode SmallPlan_CUDA(PetscInt rows, PetscReal mean, PetscInt steps, PetscInt groups, PetscInt least,
                              SmallShape *shape, bool *fits)
{
  constexpr PetscInt LEAST  = 128; // rows of a block: fewer, and more blocks wait for each other longer
  const void *const  kernel = reinterpret_cast<const void *>(small_kernel);
  PetscInt           multiprocessors, together;
  size_t             most;

  PetscFunctionBegin;
  *fits = false;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  PetscCall(SharedMemoryFor(kernel, &most));
  if (rows < 1 || multiprocessors / groups < 2) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt blocks = std::min(multiprocessors / groups - 1, (rows + LEAST - 1) / LEAST);
  shape->groups         = groups;
  shape->rows           = (rows + blocks - 1) / blocks;
  shape->blocks         = (rows + shape->rows - 1) / shape->rows;
  shape->lanes          = SmallLanes(shape->rows, mean);
  const size_t scalars = small_scalars(steps) * sizeof(Scalar), offsets = (shape->rows + 1) * sizeof(PetscInt);
  const size_t vector = static_cast<size_t>(shape->rows) * sizeof(Scalar), ends = small_aligned(1);
  const size_t room = most > scalars + offsets + ends ? (most - scalars - offsets - ends) / vector : 0;
  shape->kept       = static_cast<PetscInt>(std::min(room, static_cast<size_t>(steps) + 1));
  if (shape->kept < least) PetscFunctionReturn(PETSC_SUCCESS);
  if (groups == 1 && shape->kept <= steps) shape->kept = 0; // all or none: A has the room
  shape->for_basis = small_aligned(scalars + shape->kept * vector);
  if (shape->for_basis + offsets > most) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t matrix = static_cast<size_t>(2 * mean * shape->rows) * (sizeof(Scalar) + sizeof(PetscInt));
  shape->bytes        = std::min(most, shape->for_basis + offsets + matrix);
  PetscCall(CooperativeBlocks(kernel, SMALL_THREADS, shape->bytes, &together));
  *fits = together >= groups * (shape->blocks + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallCycles_CUDA(const SmallSystem &system, const SmallShape &shape, const SmallWork &work,
                                const SmallControl &control, Stream stream, bool *launched)
{
  void *arguments[] = {const_cast<SmallSystem *>(&system), const_cast<SmallShape *>(&shape),
                       const_cast<SmallWork *>(&work), const_cast<SmallControl *>(&control)};

  PetscFunctionBegin;
  PetscCall(ClearGroups(control.count, work.arrived, stream));
  PetscCall(LaunchCooperative(reinterpret_cast<const void *>(small_kernel), control.count * (shape.blocks + 1),
                              SMALL_THREADS, arguments, shape.bytes, stream, launched));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
