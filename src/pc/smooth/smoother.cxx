/// Each process's rows in place where it is alone; of several: a sweep from zero for the residual, which is the same.
#include "pc/smooth/smoother.hpp"
#include <petsc/private/petscimpl.h>
#include "device/local_array.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/smooth/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::smooth
{

namespace
{
/// Threads that share a row with `mean` entries.
int LanesFor(PetscReal mean)
{
  int lanes = 1;

  while (lanes < 32 && 6 * lanes <= mean) lanes *= 2;
  return lanes;
}
} // namespace

PetscErrorCode Smoother::Clear()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&A_));
  PetscCall(VecDestroy(&product_));
  PetscCall(VecDestroy(&step_));
  colors_ = Colors();
  state_  = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Smoother::SetUp(Mat A, Kind kind, bool same_pattern)
{
  PetscObjectState state;
  PetscMPIInt      size;
  Mat              D;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (A == A_ && kind == kind_ && state == state_) PetscFunctionReturn(PETSC_SUCCESS);
  if (!same_pattern || kind != kind_ || A != A_) {
    PetscCall(PetscObjectReference((PetscObject)A));
    PetscCall(Clear());
    A_ = A;
  }
  kind_  = kind;
  state_ = -1; // until all is done
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  alone_ = size == 1;
  PetscCall(DiagonalBlock(A, &D));
  PetscCall(WorkSpace(D, &space_));
  PetscCall(Invert());
  if (!product_ && (kind == Kind::L1Jacobi || !alone_)) PetscCall(MatCreateVecs(A, nullptr, &product_));
  if (!step_ && kind == Kind::GaussSeidel && !alone_) PetscCall(MatCreateVecs(A, &step_, nullptr));
  state_ = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What rows are divided by; colours where there are none yet.
PetscErrorCode Smoother::Invert()
{
  Mat       D, O = nullptr;
  Source    own, others;
  PetscBool mpi = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(A_, &D));
  PetscCall(own.Take(D, space_));
  rows_  = own.rows.rows;
  lanes_ = LanesFor(rows_ ? (PetscReal)own.rows.nonzeros / (PetscReal)rows_ : 0);
  PetscCall(inverse_.Allocate(static_cast<size_t>(rows_), space_));
  if (!alone_) PetscCall(PetscObjectBaseTypeCompare((PetscObject)A_, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(A_, nullptr, &O, nullptr));
    PetscCall(others.Take(O, space_));
    PetscCall(outside_.Allocate(static_cast<size_t>(rows_), space_));
    PetscCall(ForEach(space_, rows_, SumMagnitudes{others.rows.arrays, outside_.data()}));
  }
  PetscCall(
      ForEach(space_, rows_,
              InvertRow{own.rows.arrays, mpi ? outside_.data() : nullptr, kind_ == Kind::L1Jacobi, inverse_.data()}));
  if (kind_ == Kind::GaussSeidel && colors_.begin.empty())
    PetscCall(FindColors(rows_, own.rows.nonzeros, own.rows.arrays, space_, &colors_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Smoother::SweepArrays(const Scalar *b, Scalar *x, Direction direction, bool zero)
{
  const PetscInt colors = colors_.count();
  Mat            D;
  Source         own;

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(A_, &D));
  PetscCall(own.Take(D, space_)); // a program may have changed it since
  PetscCheck(own.rows.rows == rows_, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A smoother of %" PetscInt_FMT " rows for a matrix that has %" PetscInt_FMT " now", rows_, own.rows.rows);
  const auto relax = [&](PetscInt c, bool first) {
    const PetscInt begin = colors_.begin[(size_t)c], end = colors_.begin[(size_t)c + 1];
    return Relax(space_, end - begin, lanes_,
                 RelaxRows{colors_.list.data() + begin, own.rows.arrays, inverse_.data(), b, x, first});
  };
  if (zero) PetscCall(ForEach(space_, rows_, ZeroRows{x}));
  if (direction != Direction::Backward)
    for (PetscInt c = 0; c < colors; c++) PetscCall(relax(c, zero && c == 0));
  // a symmetric sweep turns round at the last colour, which would be relaxed twice without a change of others
  if (direction != Direction::Forward)
    for (PetscInt c = colors - (direction == Direction::Symmetric ? 2 : 1); c >= 0; c--)
      PetscCall(relax(c, zero && direction == Direction::Backward && c == colors - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What this process does by itself: a sweep, or from zero a step of l1-Jacobi.
PetscErrorCode Smoother::Local(Vec b, Vec x, Direction direction, bool zero)
{
  LocalArray from, to;
  Stream     stream;

  PetscFunctionBegin;
  PetscCall(from.Get(b, space_, Access::Read));
  PetscCall(to.Get(x, space_, zero ? Access::Write : Access::ReadWrite));
  if (space_ == Space::Device) {
    PetscCall(DeviceStream(&stream));
    PetscCall(from.Stage(&room_[0], stream));
    PetscCall(to.Stage(&room_[1], stream));
  }
  if (kind_ == Kind::L1Jacobi)
    PetscCall(ForEach(space_, rows_, ScaleRows{inverse_.data(), from.read(), to.write()}));
  else
    PetscCall(SweepArrays(from.read(), to.write(), direction, zero));
  PetscCall(from.Restore());
  PetscCall(to.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of l1-Jacobi.
PetscErrorCode Smoother::Step(Vec b, Vec x)
{
  const Vec  vectors[3] = {b, product_, x};
  LocalArray arrays[3];
  Stream     stream;

  PetscFunctionBegin;
  PetscCall(MatMult(A_, x, product_));
  for (int v = 0; v < 3; v++) {
    PetscCall(arrays[v].Get(vectors[v], space_, v < 2 ? Access::Read : Access::ReadWrite));
    if (space_ != Space::Device) continue;
    PetscCall(DeviceStream(&stream));
    PetscCall(arrays[v].Stage(&room_[v], stream));
  }
  PetscCall(ForEach(space_, rows_, StepRows{inverse_.data(), arrays[0].read(), arrays[1].read(), arrays[2].write()}));
  for (LocalArray &array : arrays) PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Smoother::Smooth(Vec b, Vec x, Direction direction, bool zero)
{
  PetscFunctionBegin;
  if (zero || (alone_ && kind_ == Kind::GaussSeidel)) {
    PetscCall(Local(b, x, direction, zero));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kind_ == Kind::L1Jacobi) {
    PetscCall(Step(b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatMult(A_, x, product_));
  PetscCall(VecAYPX(product_, -1, b));
  PetscCall(Local(product_, step_, direction, true));
  PetscCall(VecAXPY(x, 1, step_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::smooth
