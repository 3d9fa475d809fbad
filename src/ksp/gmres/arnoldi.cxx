/// Steps of which the host knows the outcome when they end, wherever the basis is: inner products, the decision on the
/// host, the update. The pipeline is in arnoldi_pipeline.cxx.
#include "ksp/gmres/arnoldi.hpp"
#include <algorithm>
#include <cstring>
#include "device/local_array.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode Arnoldi::Free()
{
  PetscFunctionBegin;
  steps_  = 0;
  narrow_ = false;
  host_.clear();
  sines_.clear();
  PetscCall(entries_.Allocate(0, Space::Host));
  entries_ = Array<Narrow>();
  PetscCall(device_.Free());
  PetscCall(pinned_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Allocate(MPI_Comm comm, Columns *V, PetscInt steps, bool narrow)
{
  PetscFunctionBegin;
  const size_t entries = narrow ? static_cast<size_t>(V->view().stride) * (static_cast<size_t>(steps) + 1) : 0;
  if (entries != entries_.size() || V->space() != space_) {
    PetscCall(entries_.Allocate(0, Space::Host)); // frees what is on the device
    entries_ = Array<Narrow>();
    if (entries) PetscCall(entries_.Allocate(entries, V->space()));
  }
  narrow_ = narrow;
  if (steps <= steps_ && V == V_ && V->space() == space_) PetscFunctionReturn(PETSC_SUCCESS);
  comm_  = comm;
  V_     = V;
  steps_ = steps;
  space_ = V->space();
  PetscCallMPI(MPI_Comm_size(comm, &size_));
  const PetscInt stride   = steps + 1;
  const size_t   triangle = static_cast<size_t>(stride) * steps;
  PetscCallCXX(host_.assign(triangle + 4 * static_cast<size_t>(stride) + 2, Scalar(0)));
  PetscCallCXX(sines_.assign(stride, 0));
  H_    = Hessenberg{stride, host_.data(), host_.data() + triangle, sines_.data(), host_.data() + triangle + stride};
  dots_ = H_.rhs + stride;
  coefficients_ = dots_ + stride + 1;
  if (space_ == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AllocateOnDevice());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By memory that the ranks reach.
PetscErrorCode Arnoldi::SumOverRanks(PetscInt columns, Scalar *dots, Stream stream)
{
  constexpr PetscInt MOST = comm::ReduceSide::VALUES;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < columns; c += MOST)
    PetscCall(ranks_->reducer().Sum(static_cast<int>(std::min(MOST, columns - c)), dots + c, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Dots(PetscInt columns, Scalar *dots)
{
  PetscFunctionBegin;
  if (space_ == Space::Host)
    PetscCall(WithBasis(columns, [&](const auto &V) { return ColumnDots_Host(V, columns, dots); }));
  else {
#if defined(SPARSEGPU_HAVE_CUDA)
    const size_t bytes = static_cast<size_t>(columns) * sizeof(Scalar);
    Stream       stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(WithBasis(columns, [&](const auto &V) {
      return ColumnDots_CUDA(V, columns, pipeline_.scratch, pipeline_.dots[0], stream);
    }));
    PetscCall(PetscLogGpuTimeEnd());
    if (ranks_) PetscCall(SumOverRanks(columns, pipeline_.dots[0], stream));
    PetscCall(DeviceCopyOut(dots, pipeline_.dots[0], bytes, stream));
    if (ranks_) PetscCall(ranks_->Check());
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
#endif
  }
  const PetscLogDouble flops = 2.0 * V_->view().rows * columns;
  PetscCall(space_ == Space::Host ? PetscLogFlops(flops) : PetscLogGpuFlops(flops));
  if (ranks_ && space_ == Space::Host) PetscCall(SumOverRanks(columns, dots, nullptr));
  if (size_ > 1 && !ranks_)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, dots, static_cast<PetscMPIInt>(columns), MPIU_SCALAR, MPIU_SUM, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Update(PetscInt columns, const Scalar *h, PetscReal scale, bool ends)
{
  PetscFunctionBegin;
  if (space_ == Space::Host)
    PetscCall(WithBasis(columns, [&](const auto &V) { return ColumnUpdate_Host(V, columns, h, scale, ends); }));
  else {
#if defined(SPARSEGPU_HAVE_CUDA)
    const size_t bytes = static_cast<size_t>(columns - 1) * sizeof(Scalar);
    Stream       stream;
    PetscCall(DeviceStream(&stream));
    if (bytes) memcpy(coefficients_, h, bytes); // the copy before this one has ended: Dots() has waited
    PetscCall(DeviceCopyIn(pipeline_.dots[1], coefficients_, bytes, stream));
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(WithBasis(
        columns, [&](const auto &V) { return ColumnUpdate_CUDA(V, columns, pipeline_.dots[1], scale, ends, stream); }));
    PetscCall(PetscLogGpuTimeEnd());
#endif
  }
  const PetscLogDouble flops = 2.0 * V_->view().rows * columns;
  PetscCall(space_ == Space::Host ? PetscLogFlops(flops) : PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Begin(PetscReal residual)
{
  PetscFunctionBegin;
  pipelined_ = false;
  if (kept_ == 0) own_ = residual;
  for (PetscInt c = 0; c < kept_; c++) { // Normalize() has left the right-hand side
    Scalar *const r = H_.r + static_cast<size_t>(c) * H_.stride;
    std::fill_n(r, c, Scalar(0));
    r[c]         = Scalar(1);
    H_.cosine[c] = Scalar(1);
    H_.sine[c]   = 0;
  }
  H_.rhs[kept_] = Scalar(own_);
  first_        = residual;
  fallen_       = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Step(PetscInt k, Outcome *outcome, PetscReal *residual)
{
  const PetscInt columns = k + 2;
  HostStep       step(H_, k);

  PetscFunctionBegin;
  for (int pass = 0; pass < 2 && step.again(); pass++) {
    PetscCall(Dots(columns, dots_));
    step.Take(dots_, criterion, fallen_);
    PetscCall(Update(columns, dots_, step.scale(), !step.again()));
  }
  if (keeps_operator && !step.lost()) {
    PetscCallCXX(operator_.resize(static_cast<size_t>(H_.stride) * (H_.stride - 1)));
    std::copy_n(step.Column(), k + 1, operator_.data() + static_cast<size_t>(k) * H_.stride);
    operator_[static_cast<size_t>(k) * H_.stride + k + 1] = Scalar(step.norm());
  }
  *outcome = step.End(residual);
  if (!step.lost()) fallen_ = *residual / first_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Normalize(PetscReal *norm, bool *inside)
{
  // Of the square: a residual is orthogonal to what is kept but for errors, which grow as residuals fall; to forget
  // then costs more iterations than to go on.
  constexpr PetscReal MOST = 0.5;
  PetscReal           kept = 0;

  PetscFunctionBegin;
  PetscCall(Dots(kept_ + 1, dots_));
  for (PetscInt c = 0; c < kept_; c++) kept += SquareOf(H_.rhs[c] = dots_[c]);
  const PetscReal square = RealPart(dots_[kept_]);
  *norm                  = SquareRoot(square);
  *inside                = kept > 0 && !(kept <= MOST * square);
  if (*inside) PetscFunctionReturn(PETSC_SUCCESS);
  own_ = SquareRoot(square - kept);
  PetscCall(Update(kept_ + 1, dots_, own_ > 0 ? 1 / own_ : 1, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::TakeFirst()
{
  PetscFunctionBegin;
  PetscCall(Update(1, nullptr, 1, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// out = base + scale .* what pipeline_.dots[1] combines.
PetscErrorCode Arnoldi::CombineOnDevice(PetscInt steps, Columns *B, const Scalar *scale, const Scalar *base,
                                        Scalar *out)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  const Scalar *const y = pipeline_.dots[1];
  Stream              stream;
  PetscCall(DeviceStream(&stream));
  if (kept_ == 0 || !kept_operands_) {
    PetscCall(WithColumnsOf(B, steps,
                            [&](const auto &V) { return ColumnCombine_CUDA(V, steps, y, scale, base, out, stream); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ColumnCombine_CUDA(FullBasis(kept_operands_->view(), kept_), kept_, y, scale, base, out, stream));
  if (steps == kept_) PetscFunctionReturn(PETSC_SUCCESS);
  const Dense own = B->view().From(kept_);
  PetscCall(ColumnCombine_CUDA(FullBasis(own, steps - kept_), steps - kept_, y + kept_, scale, out, out, stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Combine(PetscInt steps, Columns *B, const Scalar *scale, const Scalar *base, Scalar *out)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  if (pipelined_)
    PetscCall(PipelineSolve_CUDA(pipeline_, steps, pipeline_.dots[1], stream));
  else {
    SolveTriangle(H_, steps, coefficients_);
    PetscCall(DeviceCopyIn(pipeline_.dots[1], coefficients_, static_cast<size_t>(steps) * sizeof(Scalar), stream));
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(CombineOnDevice(steps, B, scale, base, out));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * B->view().rows * steps));
  // the next use of the coefficients must not overtake the copy
  if (!pipelined_) PetscCall(DeviceSynchronize(stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::CombineOnHost(PetscInt steps, Columns *B, Scalar *out)
{
  const Scalar *const y = coefficients_;

  PetscFunctionBegin;
  SolveTriangle(H_, steps, coefficients_);
  if (kept_ == 0 || !kept_operands_) {
    PetscCall(WithColumnsOf(B, steps, [&](const auto &V) { return ColumnCombine_Host(V, steps, y, false, out); }));
  } else {
    const Dense own = B->view().From(kept_);
    PetscCall(ColumnCombine_Host(FullBasis(kept_operands_->view(), kept_), kept_, y, false, out));
    PetscCall(ColumnCombine_Host(FullBasis(own, steps - kept_), steps - kept_, y + kept_, true, out));
  }
  PetscCall(PetscLogFlops(2.0 * B->view().rows * steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arnoldi::Combine(PetscInt steps, Columns *B, Vec out)
{
  LocalArray array;

  PetscFunctionBegin;
  PetscCall(array.Get(out, space_, Access::Write));
  if (space_ == Space::Host) {
    PetscCall(CombineOnHost(steps, B, array.write()));
  } else {
    PetscCheck(array.on_device() || B->view().rows == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The basis lies on the GPU, the work vector does not");
    PetscCall(Combine(steps, B, nullptr, nullptr, array.write()));
  }
  PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
