/// Steps whose decisions are made on the device: the host launches them ahead and reads their records later.
#include <algorithm>
#include <cstring>
#include "ksp/gmres/arnoldi.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

/// Memory of the pipeline on the device, and what the host and the device exchange.
PetscErrorCode Arnoldi::AllocateOnDevice()
{
  const PetscInt stride = steps_ + 1;
  const unsigned none   = 0;
  PetscInt       multiprocessors;
  char          *base = nullptr;
  Stream         stream;

  PetscFunctionBegin;
  PetscCheck(steps_ + 1 < COLUMNS_ON_DEVICE, comm_, PETSC_ERR_ARG_OUTOFRANGE,
             "A restart of %" PetscInt_FMT " is more than the %" PetscInt_FMT " that fit on a GPU", steps_,
             COLUMNS_ON_DEVICE - 2);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used        = 0;
    pipeline_.H.stride = stride;
    pipeline_.H.r      = Take<Scalar>(base, &used, stride * steps_);
    pipeline_.H.cosine = Take<Scalar>(base, &used, stride);
    pipeline_.H.sine   = Take<PetscReal>(base, &used, stride);
    pipeline_.H.rhs    = Take<Scalar>(base, &used, stride);
    pipeline_.dots[0]  = Take<Scalar>(base, &used, stride + 1);
    pipeline_.dots[1]  = Take<Scalar>(base, &used, stride + 1);
    pipeline_.progress = Take<Progress>(base, &used, 1);
    pipeline_.scratch  = DotScratch{Take<Scalar>(base, &used, DotScratchEntries(stride + 1, multiprocessors)),
                                   Take<unsigned>(base, &used, 1), multiprocessors};
    if (pass == 0) PetscCall(device_.Reserve(used));
    base = static_cast<char *>(device_.data());
  }
  base = nullptr;
  for (int pass = 0; pass < 2; pass++) {
    size_t used       = 0;
    pipeline_.records = Take<Record>(base, &used, 2 * stride);
    dots_             = Take<Scalar>(base, &used, stride + 1);
    coefficients_     = Take<Scalar>(base, &used, stride + 1);
    if (pass == 0) PetscCall(pinned_.Reserve(used));
    base = static_cast<char *>(pinned_.data());
    if (pass == 0) memset(base, 0, used); // rounds begin at 1
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyIn(pipeline_.scratch.arrived, &none, sizeof(none), stream));
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::BeginPipeline(PetscReal residual, PetscReal converged, PetscReal diverged, PetscInt tested_from)
{
  PetscFunctionBegin;
  pipelined_            = true;
  pipeline_.criterion   = criterion;
  pipeline_.converged   = converged;
  pipeline_.diverged    = diverged;
  pipeline_.tested_from = tested_from;
  pipeline_.reduce      = ranks_ ? ranks_->reducer().side() : comm::ReduceSide{};
  pipeline_.twice       = criterion.kept > KEPT_PART * KEPT_PART; // else it is the exception
  pipeline_.round++;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PipelineBegin_CUDA(pipeline_, residual, stream));
  if (kept_ > 0) { // Normalize() may still be copying from there, but the very same values
    std::copy_n(H_.rhs, kept_, coefficients_);
    PetscCall(DeviceCopyIn(pipeline_.dots[1], coefficients_, static_cast<size_t>(kept_) * sizeof(Scalar), stream));
    PetscCall(PipelineKept_CUDA(pipeline_, kept_, own_, stream));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::ReadTriangle(PetscInt steps)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (pipelined_) {
    const size_t count = static_cast<size_t>(steps);
    Stream       stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(H_.r, pipeline_.H.r, count * static_cast<size_t>(H_.stride) * sizeof(Scalar), stream));
    PetscCall(DeviceCopyOut(H_.cosine, pipeline_.H.cosine, count * sizeof(Scalar), stream));
    PetscCall(DeviceCopyOut(H_.sine, pipeline_.H.sine, count * sizeof(PetscReal), stream));
    PetscCall(DeviceCopyOut(H_.rhs, pipeline_.H.rhs, (count + 1) * sizeof(Scalar), stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(count * static_cast<size_t>(H_.stride) * sizeof(Scalar))));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::LaunchStep(PetscInt k)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(WithBasis(k + 2, [&](const auto &V) { return PipelineStep_CUDA(pipeline_, V, k, stream); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(4.0 * V_->view().rows * (k + 2)));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::AwaitRecordOf(PetscInt number, Outcome *outcome, PetscReal *residual)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Record record;
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(pipeline_.records + number, pipeline_.round, stream, &record));
  if (ranks_) PetscCall(ranks_->Check());
  *outcome  = static_cast<Outcome>(record.outcome);
  *residual = record.norm;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::AwaitStep(PetscInt k, Outcome *outcome, PetscReal *residual)
{
  PetscFunctionBegin;
  PetscCall(AwaitRecordOf(k, outcome, residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::StepAgain(PetscInt k, Outcome *outcome, PetscReal *residual)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PipelineAgain_CUDA(pipeline_, FullBasis(V_->view(), k + 2), k, stream));
  PetscCall(PetscLogGpuFlops(4.0 * V_->view().rows * (k + 2)));
#endif
  PetscCall(AwaitRecordOf(pipeline_.H.stride + k, outcome, residual));
  pipeline_.twice = true; // what made it necessary, a residual that has fallen far, stays until the end of the cycle
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Rewind(PetscInt k)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  const Dense V = V_->view();
  Stream      stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(ColumnWiden_CUDA(Basis<Narrow>{V.rows, V.stride, entries_.data(), V.Column(Slot(k))}, k, stream));
#endif
  pipeline_.twice            = true;
  pipeline_.records[k].ready = 0; // the host has read it, and no kernel under way writes it
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
