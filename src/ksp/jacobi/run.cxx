/// Which solves launch runs (many sweeps in one kernel), how long runs are, and when the next one is launched.
#include <algorithm>
#include "device/local_array.hpp"
#include "ksp/jacobi/sweeper.hpp"
#include "ksp/sweep/fused.hpp"
#include "mat/face/solver_access.hpp"

namespace sparsegpu::jacobi
{

/// Whether multi-sweep launches are supported and enabled. The host must be allowed to read norms late.
PetscErrorCode Sweeper::PlanRuns()
{
  PetscFunctionBegin;
  runs = false;
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr PetscInt ENTRIES = 1 << 30; // of a run: at 30 bytes each some 15 ms, in which nobody else gets the device
  constexpr PetscInt MOST    = 524288;  // nonzeros: with more, sweeps with all of the GPU at work are faster, measured
  Jacobi            *jacobi  = JacobiOf(ksp);
  Format            *format  = nullptr;
  if (jacobi->small_mode == SmallMode::Off || size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (jacobi->system.active())
    format = jacobi->system.format();
  else
    PetscCall(FindFused(&format));
  if (!format || !sweep::SweepsFused(*format) || !AsCsr(format)) PetscFunctionReturn(PETSC_SUCCESS);
  const CsrLayout layout = AsCsr(format)->Layout();
  if (layout.rows == 0 || !IsSmall(jacobi->small_mode, layout.rows, layout.nonzeros, MOST))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanJacobiRun_CUDA(layout, &run, &runs));
  longest = std::max<PetscInt>(1, std::min(RUN_MOST, ENTRIES / std::max(layout.rows, layout.nonzeros)));
  coming  = std::min(RUN_FIRST, longest);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Launches the next run once the norms of half of the last one have been read, so that the device never waits for the
/// host; not if the solve is expected to end within the launched sweeps, `left` sweeps from now. Sweeps 0 .. *launched
/// - 1 have been launched.
PetscErrorCode Sweeper::LaunchRuns(PetscInt finished, PetscInt last, PetscInt left, PetscInt *launched)
{
  PetscFunctionBegin;
  while (runs && *launched < last) {
    const PetscInt ahead = *launched - finished, count = std::min(coming, last - *launched);
    if (ahead > 0 && (2 * ahead > run.sweeps || left <= ahead)) break;
    PetscCall(LaunchRun(*launched, count));
    if (!runs) break;
    *launched += count;
    coming = std::min(2 * coming, longest);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sweeps k .. k + count - 1, from one buffer to the other and back.
PetscErrorCode Sweeper::LaunchRun(PetscInt k, PetscInt count)
{
  Jacobi     *jacobi = JacobiOf(ksp);
  const Vec   from = ksp->work[JACOBI_X + k % 2], next = ksp->work[JACOBI_X + (k + 1) % 2];
  Format     *format;
  JacobiSweep sweep = {};
  LocalArray  b, d, p, q;

  PetscFunctionBegin;
  sweep.damping = jacobi->damping;
  sweep.norm    = norm;
  if (jacobi->system.active()) {
    sweep.rows = jacobi->system.rows();
    PetscCall(jacobi->system.Rhs(&sweep.b));
    sweep.inverse = inverse;
    sweep.x       = x[k % 2];
    sweep.next    = x[(k + 1) % 2];
    PetscCall(StartRun(k, count, jacobi->system.format(), sweep));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindFused(&format));
  PetscCall(VecGetLocalSize(from, &sweep.rows));
  PetscCall(b.Get(ksp->work[JACOBI_RHS], Space::Device, Access::Read));
  PetscCall(d.Get(ksp->work[JACOBI_INVERSE], Space::Device, Access::Read));
  PetscCall(p.Get(from, Space::Device, Access::ReadWrite));
  PetscCall(q.Get(next, Space::Device, Access::ReadWrite));
  sweep.b       = b.read();
  sweep.inverse = d.read();
  sweep.x       = p.read();
  sweep.next    = q.write();
  PetscCall(StartRun(k, count, format, sweep));
  PetscCall(q.Restore());
  PetscCall(p.Restore());
  PetscCall(d.Restore());
  PetscCall(b.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same on arrays of the device, with the format that PlanRuns() found. Disables runs if the launch is refused.
PetscErrorCode Sweeper::StartRun(PetscInt k, PetscInt count, Format *format, const JacobiSweep &sweep)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Jacobi *jacobi = JacobiOf(ksp);
  Stream  stream;
  control.number    = static_cast<int>(k);
  control.round     = jacobi->round + 1;
  control.converged = test.converged;
  control.diverged  = test.diverged;
  run.sweeps        = static_cast<int>(count);
  run.tested_from   = test.from - Counted(0); // Counted(k) >= test.from
  run.records       = norm == JacobiNorm::None ? nullptr : records;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(CsrRunJacobi_CUDA(AsCsr(format)->Layout(), sweep, control, run, stream, &runs));
  PetscCall(PetscLogGpuTimeEnd());
  const int swept = static_cast<int>(runs ? count : 0); // the last one is what AwaitNorm() counts from
  control.number += swept - 1;
  control.round += swept - 1;
  jacobi->round += swept;
  jacobi->runs = runs;
  PetscCall(PetscLogGpuFlops(6.0 * sweep.rows * swept));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::jacobi
