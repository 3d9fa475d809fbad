/// Solves of a Factor with vectors and dense matrices that lie on the host or on the device.
#include "pc/ilu/factor.hpp"
#include "pc/factor/matsolver.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

PetscErrorCode Factor::SolveOnHost(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   bool transpose)
{
  PetscFunctionBegin;
  Array<Scalar> widened;
  const Scalar *values;
  if (!solver_) {
    for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx)
      PetscCall(Solve_Host(pattern_, stored_, b, x, unknowns_.data(), transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (transpose && !transposed_solver_) {
    std::unique_ptr<Trisolve> solver;
    PetscCall(host_transposed_.Build(pattern_.View()));
    PetscCall(NewSolver(&solver));
    PetscCall(solver->Analyse(host_transposed_.view, Stream()));
    transposed_solver_  = std::move(solver);
    transposed_current_ = false;
  }
  if (transpose && !transposed_current_) {
    PetscCall(ValuesOf(&widened, &values));
    PetscCall(host_transposed_.SetValues(values));
    PetscCall(transposed_solver_->SetValues(host_transposed_.values(), Stream()));
    if (options.single) host_transposed_.DropValues();
    transposed_current_ = true;
  }
  PetscCall((transpose ? transposed_solver_ : solver_)->Solve(count, b, ldb, x, ldx, Stream()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveOnDevice(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                     bool transpose, Stream stream)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Array<Scalar> widened;
  const Scalar *values;
  if (transpose && !transposed_solver_) {
    PetscCall(transposed_.Build(device_pattern_.View(), stream));
    std::unique_ptr<Trisolve> solver;
    PetscCall(NewSolver(&solver));
    PetscCall(solver->Analyse(transposed_.view, stream));
    transposed_solver_  = std::move(solver);
    transposed_current_ = false;
  }
  if (transpose && !transposed_current_) {
    PetscCall(ValuesOf(&widened, &values));
    PetscCall(transposed_.SetValues(values, stream));
    PetscCall(transposed_solver_->SetValues(transposed_.values(), stream));
    if (options.single) transposed_.DropValues();
    transposed_current_ = true;
  }
  Trisolve *solver = transpose ? transposed_solver_.get() : solver_.get();
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(solver->Solve(count, b, ldb, x, ldx, stream));
  PetscCall(PetscLogGpuTimeEnd());
  if (check) {
    PetscCall(DeviceSynchronize(stream));
    PetscCall(solver->CheckStuck());
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveThere(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                  bool transpose)
{
  const double flops = (2.0 * nonzeros_ - rows_) * count;
  Stream       stream;

  PetscFunctionBegin;
  if (space_ == Space::Host) {
    PetscCall(SolveOnHost(count, b, ldb, x, ldx, transpose));
    PetscCall(PetscLogFlops(flops));
  } else {
    PetscCall(DeviceStream(&stream));
    PetscCall(SolveOnDevice(count, b, ldb, x, ldx, transpose, stream));
    PetscCall(PetscLogGpuFlops(flops));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::Solve(Vec b, Vec x, bool transpose)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscCall(SolveVector(b, x, space_, &staging_,
                        [&](PetscInt count, const Scalar *from, PetscInt ldb, Scalar *to, PetscInt ldx) {
                          return SolveThere(count, from, ldb, to, ldx, transpose);
                        }));
  PetscCall(PetscLogEventEnd(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveHalfThere(const Scalar *b, Scalar *x, bool upper)
{
  Half         *half  = &halves_[upper];
  const double  flops = static_cast<double>(nonzeros_);
  Array<Scalar> widened;
  const Scalar *values;

  PetscFunctionBegin;
  if (space_ == Space::Host) {
    if (!half->built) {
      PetscCall(half->host.Build(pattern_, upper));
      PetscCall(NewSolver(&half->solver));
      if (half->solver) PetscCall(half->solver->Analyse(half->host.pattern.View(), Stream()));
      half->built = true;
    }
    if (!half->current) {
      PetscCall(ValuesOf(&widened, &values));
      PetscCall(half->host.SetValues(values));
      if (half->solver)
        PetscCall(half->solver->SetValues(half->host.values(), Stream()));
      else
        PetscCall(half->kept.Set(half->host.values(), half->host.pattern.View().nonzeros, options.single, Space::Host,
                                 Stream()));
      half->current = true;
    }
    if (half->solver)
      PetscCall(half->solver->Solve(1, b, rows_, x, rows_, Stream()));
    else
      PetscCall(Solve_Host(half->host.pattern, half->kept, b, x, unknowns_.data(), false));
    PetscCall(PetscLogFlops(flops));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  if (!half->built) {
    PetscCall(half->device.Build(device_pattern_.View(), upper, stream));
    PetscCall(NewSolver(&half->solver));
    PetscCall(half->solver->Analyse(half->device.view, stream));
    half->built = true;
  }
  if (!half->current) {
    PetscCall(ValuesOf(&widened, &values));
    PetscCall(half->device.SetValues(values, stream));
    PetscCall(half->solver->SetValues(half->device.values(), stream));
    half->current = true;
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(half->solver->Solve(1, b, rows_, x, rows_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(flops));
  if (check) {
    PetscCall(DeviceSynchronize(stream));
    PetscCall(half->solver->CheckStuck());
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveHalf(Vec b, Vec x, bool upper)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscCall(SolveVector(b, x, space_, &staging_, [&](PetscInt, const Scalar *from, PetscInt, Scalar *to, PetscInt) {
    return SolveHalfThere(from, to, upper);
  }));
  PetscCall(PetscLogEventEnd(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveArrays(const Scalar *b, Scalar *x)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscCall(SolveThere(1, b, rows_, x, rows_, false));
  PetscCall(PetscLogEventEnd(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveMany(Mat B, Mat X, bool transpose)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscCall(SolveColumns(B, X, space_, &staging_,
                         [&](PetscInt count, const Scalar *from, PetscInt ldb, Scalar *to, PetscInt ldx) {
                           return SolveThere(count, from, ldb, to, ldx, transpose);
                         }));
  PetscCall(PetscLogEventEnd(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
