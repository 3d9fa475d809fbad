/// Where the arrays of a sweep are (work vectors, or arrays of the device), and which kernel runs it.
#include "ksp/jacobi/sweeper.hpp"
#include <climits>
#include <cstring>
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "ksp/sweep/closing.hpp"
#include "ksp/sweep/fused.hpp"
#include "mat/face/solver_access.hpp"

namespace sparsegpu::jacobi
{

PetscErrorCode Sweeper::Begin()
{
  Jacobi *jacobi = JacobiOf(ksp);

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(SpaceOf(ksp->work[JACOBI_X], &space));
  if (space == Space::Host && size == 1) PetscCall(jacobi->system.Begin(ksp, Preconditioners::Ignored));
  jacobi->ranks.Leave();
  if (size > 1 && !ksp->transpose_solve) PetscCall(jacobi->ranks.Begin(A, space));
  if (jacobi->ranks.active() && jacobi->ranks.blocks().space != space) jacobi->ranks.Leave();
  if (jacobi->system.active())
    PetscCall(BeginOnArrays());
  else
    PetscCall(BeginOnVectors());
  if (ksp->normtype != KSP_NORM_NONE)
    norm = jacobi->test == JacobiTest::Difference     ? JacobiNorm::Difference
           : ksp->normtype == KSP_NORM_PRECONDITIONED ? JacobiNorm::Preconditioned
                                                      : JacobiNorm::Unpreconditioned;
  if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  struct {
    unsigned arrived    = 0;
    int      stopped_at = INT_MAX;
  } const start;
  static_assert(sizeof(start) <= sizeof(double) * 2, "The two counters come before the norms");
  Stream stream;
  PetscCall(jacobi->scratch.Reserve(sizeof(double) * 2 + (2 * JACOBI_BLOCKS + 1) * sizeof(PetscReal)));
  if (!jacobi->records.data()) {
    PetscCall(jacobi->records.Reserve(RECORDS * sizeof(Record)));
    memset(jacobi->records.data(), 0, RECORDS * sizeof(Record)); // rounds begin at 1
  }
  records            = static_cast<Record *>(jacobi->records.data());
  control.arrived    = static_cast<unsigned *>(jacobi->scratch.data());
  control.stopped_at = reinterpret_cast<int *>(control.arrived + 1);
  control.partial    = reinterpret_cast<PetscReal *>(static_cast<char *>(jacobi->scratch.data()) + sizeof(double) * 2);
  control.root       = (size == 1 || Together()) && norm != JacobiNorm::Difference;
  control.local      = Together() ? control.partial + 2 * JACOBI_BLOCKS : nullptr;
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyIn(jacobi->scratch.data(), &start, sizeof(start), stream));
  PetscCall(DeviceSynchronize(stream)); // `start` ends here
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Right-hand side and first iterate in the work vectors.
PetscErrorCode Sweeper::BeginOnVectors()
{
  PetscFunctionBegin;
  PetscCall(VecCopy(ksp->vec_rhs, ksp->work[JACOBI_RHS]));
  if (ksp->guess_zero)
    PetscCall(VecSet(ksp->work[JACOBI_X], 0));
  else
    PetscCall(VecCopy(ksp->vec_sol, ksp->work[JACOBI_X]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same between arrays of the device, from vectors on the host.
PetscErrorCode Sweeper::BeginOnArrays()
{
  Jacobi      *jacobi = JacobiOf(ksp);
  const size_t rows   = static_cast<size_t>(jacobi->system.rows());
  LocalArray   entries;
  Stream       stream;

  PetscFunctionBegin;
  space = Space::Device;
  PetscCall(jacobi->arrays.Reserve(3 * rows * sizeof(Scalar)));
  PetscCall(jacobi->system.Solution(&x[0]));
  x[1]    = static_cast<Scalar *>(jacobi->arrays.data());
  product = x[1] + rows;
  inverse = product + rows;
  PetscCall(DeviceStream(&stream));
  PetscCall(entries.Get(ksp->work[JACOBI_INVERSE], Space::Host, Access::Read));
  PetscCall(entries.StageIn(inverse, stream));
  PetscCall(DeviceSynchronize(stream));
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The iterate of number ksp->its is what a monitor may ask for.
void Sweeper::SetCurrent()
{
  Jacobi *jacobi  = JacobiOf(ksp);
  jacobi->current = ksp->work[JACOBI_X + ksp->its % 2];
  jacobi->iterate = x[ksp->its % 2];
}

/// The solution is the iterate of number ksp->its.
PetscErrorCode Sweeper::End()
{
  Jacobi *jacobi = JacobiOf(ksp);

  PetscFunctionBegin;
  if (jacobi->system.active()) {
#if defined(SPARSEGPU_HAVE_CUDA)
    Stream stream;
    PetscCall(DeviceStream(&stream));
    if (ksp->its % 2) PetscCall(ScaleSystem_CUDA(jacobi->system.rows(), nullptr, x[1], nullptr, x[0], stream));
#endif
    PetscCall(jacobi->system.End());
  } else {
    PetscCall(VecCopy(ksp->work[JACOBI_X + ksp->its % 2], ksp->vec_sol));
  }
  jacobi->current = nullptr;
  jacobi->iterate = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The format, if it has a fused sweep; null if the product must be a pass of its own.
PetscErrorCode Sweeper::FindFused(Format **format)
{
  Format *products;

  PetscFunctionBegin;
  *format = nullptr;
  if (space == Space::Host || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  const Ranks &ranks = JacobiOf(ksp)->ranks;
  if (Together())
    products = ranks.off() ? ranks.blocks().diagonal : nullptr;
  else
    PetscCall(FormatForSolve(A, space, &products));
  if (products && sweep::SweepsFused(*products)) *format = products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Launches sweep k on the arrays of `sweep`; with `fused` the sweep computes the product itself.
PetscErrorCode Sweeper::LaunchSweep(PetscInt k, const JacobiSweep &sweep, Format *fused)
{
  PetscFunctionBegin;
  if (space == Space::Host)
    PetscCall(sweep::JacobiSweep_Host(sweep, &value));
  else {
#if defined(SPARSEGPU_HAVE_CUDA)
    Stream stream;
    control.number    = static_cast<int>(k);
    control.round     = ++JacobiOf(ksp)->round;
    control.record    = norm == JacobiNorm::None ? nullptr : records + k % RECORDS;
    control.tested    = Counted(k) >= test.from;
    control.converged = test.converged;
    control.diverged  = test.diverged;
    PetscCall(DeviceStream(&stream));
    PetscCall(PetscLogGpuTimeBegin());
    if (fused && Together()) PetscCall(comm::BeginExchange_CUDA(JacobiOf(ksp)->ranks.exchange(), sweep.x, stream));
    PetscCall(fused ? sweep::FusedSweep(*fused, sweep, control, stream)
                    : sweep::JacobiSweep_CUDA(sweep, control, stream));
    if (Together()) PetscCall(CloseSweep(sweep));
    PetscCall(PetscLogGpuTimeEnd());
#endif
  }
  const PetscLogDouble flops = 6.0 * sweep.rows;
  PetscCall(space == Space::Host ? PetscLogFlops(flops) : PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweeper::LaunchOnArrays(PetscInt k)
{
  DeviceSystem *system = &JacobiOf(ksp)->system;
  const bool    fused  = sweep::SweepsFused(*system->format());
  JacobiSweep   sweep  = {};

  PetscFunctionBegin;
  sweep.rows    = system->rows();
  sweep.damping = JacobiOf(ksp)->damping;
  sweep.norm    = norm;
  PetscCall(system->Rhs(&sweep.b));
  sweep.product = product;
  sweep.inverse = inverse;
  sweep.x       = x[k % 2];
  sweep.next    = x[(k + 1) % 2];
  if (!fused) PetscCall(system->Product(sweep.x, product));
  PetscCall(LaunchSweep(k, sweep, fused ? system->format() : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sweep k, from one buffer to the other.
PetscErrorCode Sweeper::Launch(PetscInt k)
{
  const Vec   from = ksp->work[JACOBI_X + k % 2], next = ksp->work[JACOBI_X + (k + 1) % 2];
  const Vec   inputs[] = {ksp->work[JACOBI_RHS], ksp->work[JACOBI_PRODUCT], ksp->work[JACOBI_INVERSE], from};
  JacobiSweep sweep    = {};
  LocalArray  in[4], out;
  Format     *fused = nullptr;

  PetscFunctionBegin;
  if (JacobiOf(ksp)->system.active()) {
    PetscCall(LaunchOnArrays(k));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindFused(&fused));
  if (!fused) PetscCall(KSP_MatMult(ksp, A, from, ksp->work[JACOBI_PRODUCT]));
  if (Together()) {
    Ranks *ranks = &JacobiOf(ksp)->ranks;
    ranks->Gate(control.stopped_at, static_cast<int>(k));
    if (!fused)
      ranks->Last();
    else
      PetscCall(ranks->Next());
    if (fused) sweep.left_out = ranks->with_ghosts();
  }
  PetscCall(VecGetLocalSize(from, &sweep.rows));
  sweep.damping = JacobiOf(ksp)->damping;
  sweep.norm    = norm;
  for (int v = 0; v < 4; v++) PetscCall(in[v].Get(inputs[v], space, Access::Read));
  PetscCall(out.Get(next, space, Access::Write));
  sweep.b       = in[0].read();
  sweep.product = in[1].read();
  sweep.inverse = in[2].read();
  sweep.x       = in[3].read();
  sweep.next    = out.write();
  PetscCall(LaunchSweep(k, sweep, fused));
  PetscCall(out.Restore());
  for (LocalArray &array : in) PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *total of this rank becomes that of all ranks.
PetscErrorCode Sweeper::JoinOnHost(PetscReal *total)
{
  comm::Reducer &reducer                        = JacobiOf(ksp)->ranks.reducer();
  Scalar         norms[comm::ReduceSide::RANKS] = {};

  PetscFunctionBegin;
  norms[reducer.side().rank] = Scalar(*total);
  PetscCall(reducer.Sum(reducer.side().ranks, norms, nullptr));
  *total = sweep::JoinNorms(norm, reducer.side().ranks, norms);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rest of a sweep of several ranks.
PetscErrorCode Sweeper::CloseSweep(const JacobiSweep &sweep)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Ranks              *ranks = &JacobiOf(ksp)->ranks;
  sweep::SweepClosing closing;
  Stream              stream;
  closing.off      = sweep.left_out && ranks->has_ghosts() ? ranks->off() : nullptr;
  closing.exchange = ranks->exchange();
  closing.sweep    = sweep;
  closing.control  = control;
  closing.reduce   = ranks->reducer().side();
  closing.partial  = control.partial;
  PetscCall(DeviceStream(&stream));
  PetscCall(sweep::CloseSweep_CUDA(closing, stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Waits for the norm of sweep k.
PetscErrorCode Sweeper::AwaitNorm(PetscInt k, PetscReal *result)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp);

  PetscFunctionBegin;
  *result = 0;
  if (norm == JacobiNorm::None) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    Record    record;
    Stream    stream;
    const int ahead = control.number - static_cast<int>(k);
    PetscCall(DeviceStream(&stream));
    PetscCall(AwaitRecord(records + k % RECORDS, control.round - ahead, stream, &record));
    if (Together()) PetscCall(JacobiOf(ksp)->ranks.Check());
    value = record.norm;
  }
#endif
  PetscReal total = value;
  if (size > 1 && JacobiOf(ksp)->ranks.active()) {
    if (space == Space::Host) PetscCall(JoinOnHost(&total));
  } else if (size > 1) {
    if (norm == JacobiNorm::Difference && total != total) total = PETSC_INFINITY; // MPI's maximum may lose a NaN
    PetscCallMPI(
        MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_REAL, norm == JacobiNorm::Difference ? MPIU_MAX : MPIU_SUM, comm));
  }
  *result = norm == JacobiNorm::Difference || control.root ? total : PetscSqrtReal(total);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::jacobi
