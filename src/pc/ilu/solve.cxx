/// Solves of a Factor with vectors and dense matrices that lie on the host or on the device.
#include "pc/ilu/factor.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

PetscErrorCode Factor::SolveOnHost(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   bool transpose)
{
  PetscFunctionBegin;
  if (!solver_) {
    for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx)
      PetscCall(Solve_Host(pattern_, values_.data(), b, x, unknowns_.data(), transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (transpose && !transposed_solver_) {
    std::unique_ptr<Trisolve> solver;
    PetscCall(host_transposed_.Build(pattern_.View()));
    PetscCallCXX(solver = MakeTrisolve_Host(options.engine));
    solver->options = options;
    PetscCall(solver->Analyse(host_transposed_.view, Stream()));
    transposed_solver_  = std::move(solver);
    transposed_current_ = false;
  }
  if (transpose && !transposed_current_) {
    PetscCall(host_transposed_.SetValues(values_.data()));
    PetscCall(transposed_solver_->SetValues(host_transposed_.values(), Stream()));
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
  if (transpose && !transposed_solver_) {
    PetscCall(transposed_.Build(device_pattern_.View(), stream));
    std::unique_ptr<Trisolve> solver;
    PetscCallCXX(solver = MakeTrisolve(options.engine));
    solver->options = options;
    PetscCall(solver->Analyse(transposed_.view, stream));
    transposed_solver_  = std::move(solver);
    transposed_current_ = false;
  }
  if (transpose && !transposed_current_) {
    PetscCall(transposed_.SetValues(device_values_.data(), stream));
    PetscCall(transposed_solver_->SetValues(transposed_.values(), stream));
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

PetscErrorCode Factor::SolveArrays(PetscInt count, const PetscScalar *b, PetscInt ldb, bool b_on_device, PetscScalar *x,
                                   PetscInt ldx, bool x_on_device, bool transpose)
{
  const double flops   = (2.0 * nonzeros_ - rows_) * count;
  const size_t b_bytes = count ? (static_cast<size_t>(ldb) * (count - 1) + rows_) * sizeof(Scalar) : 0;
  const auto  *from    = reinterpret_cast<const Scalar *>(b);
  auto        *to      = reinterpret_cast<Scalar *>(x);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  if (space_ == Space::Host) {
    PetscCall(SolveOnHost(count, from, ldb, to, ldx, transpose));
    PetscCall(PetscLogFlops(flops));
  } else {
    PetscCall(DeviceStream(&stream));
    if (!b_on_device) {
      PetscCall(b_.Reserve(b_bytes));
      PetscCall(DeviceCopyIn(b_.data(), b, b_bytes, stream));
      PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(b_bytes)));
      from = static_cast<const Scalar *>(b_.data());
    }
    if (!x_on_device) {
      PetscCall(x_.Reserve(static_cast<size_t>(rows_) * count * sizeof(Scalar)));
      to = static_cast<Scalar *>(x_.data());
    }
    PetscCall(SolveOnDevice(count, from, ldb, to, x_on_device ? ldx : rows_, transpose, stream));
    for (PetscInt c = 0; c < count && !x_on_device; c++)
      PetscCall(DeviceCopyOut(x + static_cast<size_t>(c) * ldx, to + static_cast<size_t>(c) * rows_,
                              static_cast<size_t>(rows_) * sizeof(Scalar), stream));
    if (!b_on_device && x_on_device) PetscCall(DeviceSynchronize(stream)); // b may be pinned, and the caller's again
    if (!x_on_device) PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(sizeof(Scalar)) * rows_ * count));
    PetscCall(PetscLogGpuFlops(flops));
  }
  PetscCall(PetscLogEventEnd(TrisolveEvent, nullptr, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::Solve(Vec b, Vec x, bool transpose)
{
  const PetscScalar *pb;
  PetscScalar       *px;
  PetscMemType       where_b = PETSC_MEMTYPE_HOST, where_x = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (space_ == Space::Host) {
    PetscCall(VecGetArrayRead(b, &pb));
    PetscCall(VecGetArrayWrite(x, &px));
  } else {
    PetscCall(VecGetArrayReadAndMemType(b, &pb, &where_b));
    PetscCall(VecGetArrayWriteAndMemType(x, &px, &where_x));
  }
  PetscCall(SolveArrays(1, pb, rows_, PetscMemTypeDevice(where_b), px, rows_, PetscMemTypeDevice(where_x), transpose));
  if (space_ == Space::Host) {
    PetscCall(VecRestoreArrayRead(b, &pb));
    PetscCall(VecRestoreArrayWrite(x, &px));
  } else {
    PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
    PetscCall(VecRestoreArrayWriteAndMemType(x, &px));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::SolveMany(Mat B, Mat X, bool transpose)
{
  const PetscScalar *pb;
  PetscScalar       *px;
  PetscMemType       where_b = PETSC_MEMTYPE_HOST, where_x = PETSC_MEMTYPE_HOST;
  PetscInt           count, ldb, ldx;

  PetscFunctionBegin;
  PetscCheck(B != X, PetscObjectComm((PetscObject)B), PETSC_ERR_ARG_IDN, "B and X must be different matrices");
  PetscCall(MatGetSize(B, nullptr, &count));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
  if (space_ == Space::Host) {
    PetscCall(MatDenseGetArrayRead(B, &pb));
    PetscCall(MatDenseGetArrayWrite(X, &px));
  } else {
    PetscCall(MatDenseGetArrayReadAndMemType(B, &pb, &where_b));
    PetscCall(MatDenseGetArrayWriteAndMemType(X, &px, &where_x));
  }
  PetscCall(SolveArrays(count, pb, ldb, PetscMemTypeDevice(where_b), px, ldx, PetscMemTypeDevice(where_x), transpose));
  if (space_ == Space::Host) {
    PetscCall(MatDenseRestoreArrayRead(B, &pb));
    PetscCall(MatDenseRestoreArrayWrite(X, &px));
  } else {
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &pb));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &px));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
