/// Which solves run in small.cu, their memory, and the host's side of a launch.
#include <cstring>
#include "ksp/common/converged.hpp"
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode SmallCycles::Free()
{
  PetscFunctionBegin;
  PetscCall(device_.Free());
  PetscCall(pinned_.Free());
  matrix_.Free();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallCycles::Begin(KSP ksp, const DeviceSystem &system, PetscInt steps, SmallMode mode)
{
  PetscFunctionBegin;
  active_ = false;
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr PetscInt MOST = 2000000; // nonzeros
  const PetscInt     rows = system.rows();
  bool               fits;
  if (!system.active() || system.parallel() || system.factored() || !MayReadNormsLate(ksp) ||
      steps + 1 >= SMALL_RECORDS)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (rows == 0 || !IsSmall(mode, rows, system.nonzeros(), MOST)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(matrix_.Take(system, &system_.A));
  if (system_.A.chunks > 0) PetscFunctionReturn(PETSC_SUCCESS); // a row that is too long for the threads of one
  PetscCall(SmallPlan_CUDA(rows, static_cast<PetscReal>(system.nonzeros()) / rows, steps, &shape_, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  system_.inverse = system.inverse();
  system_.right   = system.right();
  char *base      = nullptr;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used      = 0;
    work_.H          = Hessenberg{};
    work_.H.stride   = steps + 1;
    work_.H.r        = Take<Scalar>(base, &used, (steps + 1) * steps);
    work_.gather     = Take<Scalar>(base, &used, rows);
    work_.partial[0] = Take<Scalar>(base, &used, (steps + 1) * shape_.blocks);
    work_.partial[1] = Take<Scalar>(base, &used, (steps + 1) * shape_.blocks);
    work_.y          = Take<Scalar>(base, &used, steps);
    work_.state      = Take<SmallState>(base, &used, 1);
    if (pass == 0) PetscCall(device_.Reserve(used));
    base = static_cast<char *>(device_.data());
  }
  if (!pinned_.data()) {
    PetscCall(pinned_.Reserve(SMALL_RECORDS * sizeof(Record)));
    memset(pinned_.data(), 0, SMALL_RECORDS * sizeof(Record)); // rounds begin at 1
  }
  work_.records = static_cast<Record *>(pinned_.data());
  active_       = true;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallCycles::Launch(DeviceSystem *system, Columns *basis, const SmallControl &control)
{
  PetscFunctionBegin;
  control_       = control;
  control_.round = ++round_;
  records_read_  = 0;
  work_.V        = basis->view();
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(system->Rhs(&system_.b));
  PetscCall(system->Solution(&system_.x));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(SmallCycles_CUDA(system_, shape_, work_, control_, stream, &active_));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmallCycles::NextRecord(Outcome *outcome, PetscReal *norm)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Record record;
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(work_.records + records_read_++, control_.round, stream, &record));
  *outcome = static_cast<Outcome>(record.outcome);
  *norm    = record.norm;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
