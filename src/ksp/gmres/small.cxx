/// Which solves run in small.cu, and what they need there.
#include <cstring>
#include "ksp/common/converged.hpp"
#include "ksp/gmres/gmres.hpp"
#include "mat/face/context.hpp"

namespace sparsegpu
{

PetscErrorCode SmallCycles::Free()
{
  PetscFunctionBegin;
  PetscCall(device_.Free());
  PetscCall(pinned_.Free());
  own_.reset();
  version_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matrix in csr: as its products have it, or a copy of our own, refreshed when its values change.
PetscErrorCode SmallCycles::TakeMatrix(const DeviceSystem &system, CsrLayout *layout)
{
  const Mat A = system.matrix();
  Version   version;

  PetscFunctionBegin;
  if (!strcmp(system.format()->Name(), "csr")) {
    *layout = static_cast<Csr *>(system.format())->OnDevice();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVersion(A, &version));
  if (!own_ || version != version_) {
    CsrView view;
    PetscCall(GetCsr(A, &view, nullptr));
    std::unique_ptr<Format> format = MakeFormat("csr");
    PetscCall(format->Build(view, FormatOptions(), Space::Device));
    own_     = std::move(format);
    version_ = version;
  }
  *layout = static_cast<Csr *>(own_.get())->OnDevice();
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
  if (!system.active() || system.factored() || !MayHearLate(ksp) || steps + 1 >= SMALL_RECORDS)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (rows == 0 || !IsSmall(mode, rows, system.nonzeros(), MOST)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TakeMatrix(system, &system_.A));
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
  heard_         = 0;
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

PetscErrorCode SmallCycles::Hear(Outcome *outcome, PetscReal *norm)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Record record;
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(work_.records + heard_++, control_.round, stream, &record));
  *outcome = static_cast<Outcome>(record.outcome);
  *norm    = record.norm;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
