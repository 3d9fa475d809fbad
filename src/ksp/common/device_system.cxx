/// Begin() decides whether a solve can run on arrays of the device. If vectors are on the host, b and x are uploaded
/// once and x is copied back once; else the arrays are those of the vectors.
#include "ksp/common/device_system.hpp"
#include <algorithm>
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "ksp/common/versions.hpp"
#include "mat/face/solver_access.hpp"
#include "pc/pcsparsegpu.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ksp
{

namespace
{
/// Tells -info once a process that vectors are copied: what users look for when a solve is slow.
PetscErrorCode InformOfCopies(KSP ksp)
{
  static bool informed = false;

  PetscFunctionBegin;
  if (informed) PetscFunctionReturn(PETSC_SUCCESS);
  informed = true;
  PetscCall(PetscInfo(ksp,
                      "Vectors lie on the host%s: solves run on the GPU, copying b and x once each "
                      "(-sparsegpu_backend kokkos: on the CPU)\n",
                      PetscDefined(HAVE_CUDA) ? "" : ", as this PETSc has no CUDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Sets A_, format_, factor_, right_ and copies_ if the answer is yes.
PetscErrorCode DeviceSystem::Admit(KSP ksp, Preconditioners taken, bool *admitted)
{
  PetscBool    plain, scales;
  Space        space;
  MatNullSpace null;
  PetscBool    ours, parallel;
  bool         wraps;

  PetscFunctionBegin;
  *admitted = false;
  PetscCall(KSPGetOperators(ksp, &A_, nullptr));
  PetscCall(PetscObjectTypeCompare((PetscObject)A_, MATMPIAIJSPARSEGPU, &parallel));
  PetscCall(PetscObjectTypeCompare((PetscObject)A_, MATSEQAIJSPARSEGPU, &ours));
  parallel_ = parallel;
  ranks_.Leave();
  if (!(ours || parallel) || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->pc_side != PC_LEFT && ksp->pc_side != PC_RIGHT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, &plain, PCNONE, PCJACOBI, ""));
  PetscCall(ScalesDiagonal(ksp, &scales));
  PetscCall(MatGetNullSpace(A_, &null));
  PetscCall(SpaceOf(ksp->vec_sol, &space, &wraps));
  factor_ = nullptr; // PETSc's vectors on the device serve as well
  if (!plain && !parallel && taken == Preconditioners::OnArrays && ksp->pc_side == PC_LEFT && space == Space::Host)
    PetscCall(DeviceFactorOf(ksp->pc, &factor_));
  outside_         = !plain && !factor_;
  const bool takes = !scales && !null && !(outside_ && (taken != Preconditioners::Any || space == Space::Host));
  if (!wraps || !(takes || (parallel && taken == Preconditioners::OnArrays))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TakeMatrix(space, !takes, admitted));
  *admitted = *admitted && takes;
  if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  right_  = ksp->pc_side == PC_RIGHT;
  copies_ = space == Space::Host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets format_, nonzeros_ and ranks_.
PetscErrorCode DeviceSystem::TakeMatrix(Space vectors, bool there, bool *taken)
{
  PetscFunctionBegin;
  if (!parallel_) {
    PetscCall(FormatForSolve(A_, vectors, &format_, &nonzeros_));
    *taken = format_ != nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ranks_.Begin(A_, vectors, there));
  *taken    = ranks_.active() && ranks_.blocks().space == Space::Device;
  format_   = ranks_.blocks().diagonal;
  nonzeros_ = static_cast<PetscInt>(std::min<PetscLogDouble>(ranks_.blocks().nonzeros, PETSC_MAX_INT)); // for flops
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal that PCJACOBI of any kind multiplies with: the preconditioner applied to ones.
PetscErrorCode DeviceSystem::TakeDiagonal(KSP ksp)
{
  const size_t bytes = static_cast<size_t>(rows_) * sizeof(Scalar);
  const Vec    ones = ksp->work[0], d = ksp->work[1];
  PetscBool    none;
  LocalArray   entries;
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(ksp->pc, ones, d));
  PetscCall(diagonal_.Reserve(bytes));
  inverse_ = static_cast<const Scalar *>(diagonal_.data());
  PetscCall(DeviceStream(&stream));
  PetscCall(entries.Get(d, Space::Device, Access::Read));
  if (entries.on_device()) {
#if defined(SPARSEGPU_HAVE_CUDA)
    PetscCall(
        ScaleSystem_CUDA(rows_, nullptr, entries.read(), nullptr, static_cast<Scalar *>(diagonal_.data()), stream));
#endif
  } else {
    PetscCall(entries.StageIn(static_cast<Scalar *>(diagonal_.data()), stream));
    PetscCall(DeviceSynchronize(stream)); // d may be written next
  }
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::Begin(KSP ksp, Preconditioners taken)
{
  LocalArray b, x;
  Stream     stream;

  PetscFunctionBegin;
  ksp_       = ksp;
  published_ = false;
  PetscCall(Admit(ksp, taken, &active_));
  if (!active_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(ksp->vec_sol, &rows_));
  inverse_ = nullptr;
  if (factor_) PetscCall(between_.Reserve(static_cast<size_t>(rows_) * sizeof(Scalar)));
  if (taken != Preconditioners::Ignored && !factor_ && !outside_) PetscCall(TakeDiagonal(ksp));
  if (!copies_) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t bytes = static_cast<size_t>(rows_) * sizeof(Scalar);
  PetscCall(InformOfCopies(ksp));
  PetscCall(DeviceStream(&stream));
  PetscCall(b_.Reserve(bytes));
  PetscCall(x_.Reserve(bytes));
  PetscCall(PetscLogEventBegin(CopyEvent, ksp, nullptr, nullptr, nullptr));
  PetscCall(b.Get(ksp->vec_rhs, Space::Host, Access::Read));
  PetscCall(DeviceCopyIn(b_.data(), b.read(), bytes, stream));
  PetscCall(b.Restore());
  PetscCall(x.Get(ksp->vec_sol, Space::Host, Access::Read));
  PetscCall(DeviceCopyIn(x_.data(), x.read(), bytes, stream));
  PetscCall(x.Restore());
  PetscCall(PetscLogCpuToGpu(2 * static_cast<PetscLogDouble>(bytes))); // one transfer of -log_view
  PetscCall(PetscLogEventEnd(CopyEvent, ksp, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::Store(const Scalar *from, Vec v)
{
  const size_t bytes = static_cast<size_t>(rows_) * sizeof(Scalar);
  LocalArray   entries;
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(entries.Get(v, Space::Device, Access::Write));
  if (entries.on_device()) {
#if defined(SPARSEGPU_HAVE_CUDA)
    PetscCall(ScaleSystem_CUDA(rows_, nullptr, from, nullptr, entries.write(), stream));
#endif
  } else {
    PetscCall(DeviceCopyOut(entries.write(), from, bytes, stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  }
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::Publish()
{
  PetscFunctionBegin;
  if (!active_ || !copies_ || published_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(CopyEvent, ksp_, nullptr, nullptr, nullptr));
  PetscCall(Store(static_cast<const Scalar *>(x_.data()), ksp_->vec_sol));
  PetscCall(PetscLogEventEnd(CopyEvent, ksp_, nullptr, nullptr, nullptr));
  published_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::End()
{
  PetscFunctionBegin;
  if (active_ && !copies_) PetscCall(DeviceBeforeVectors()); // Rhs() and Solution() have been in use since Begin()
  PetscCall(Publish());
  active_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::Free()
{
  PetscFunctionBegin;
  active_ = false;
  PetscCall(diagonal_.Free());
  PetscCall(between_.Free());
  PetscCall(b_.Free());
  PetscCall(x_.Free());
  PetscCall(ranks_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::Rhs(const Scalar **b)
{
  LocalArray entries;

  PetscFunctionBegin;
  *b = static_cast<const Scalar *>(b_.data());
  if (copies_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(entries.Get(ksp_->vec_rhs, Space::Device, Access::Read));
  *b = entries.read();
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSystem::Solution(Scalar **x)
{
  LocalArray entries;

  PetscFunctionBegin;
  *x = static_cast<Scalar *>(x_.data());
  if (copies_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(entries.Get(ksp_->vec_sol, Space::Device, Access::ReadWrite));
  *x = entries.write();
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
