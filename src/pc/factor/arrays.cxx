/// Borrows the arrays of vectors and dense matrices, and copies those of the other space through staging memory.
#include "pc/factor/arrays.hpp"
#include "device/local_array.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::factor
{

namespace
{
/// Right-hand sides or solutions in the caller's memory.
struct Columns {
  Scalar  *array;
  PetscInt ld;
  bool     on_device;
};

PetscErrorCode SolveOnDevice(PetscInt rows, PetscInt count, const Columns &b, const Columns &x, Staging *staging,
                             const SolveFunction &solve)
{
  const size_t  b_bytes = count ? (static_cast<size_t>(b.ld) * (count - 1) + rows) * sizeof(Scalar) : 0;
  const Scalar *from    = b.array;
  Scalar       *to      = x.array;
  Stream        stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (!b.on_device) {
    PetscCall(staging->b.Reserve(b_bytes));
    PetscCall(DeviceCopyIn(staging->b.data(), b.array, b_bytes, stream));
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(b_bytes)));
    from = static_cast<const Scalar *>(staging->b.data());
  }
  if (!x.on_device) {
    PetscCall(staging->x.Reserve(static_cast<size_t>(rows) * count * sizeof(Scalar)));
    to = static_cast<Scalar *>(staging->x.data());
  }
  PetscCall(solve(count, from, b.ld, to, x.on_device ? x.ld : rows));
  for (PetscInt c = 0; c < count && !x.on_device; c++)
    PetscCall(DeviceCopyOut(x.array + static_cast<size_t>(c) * x.ld, to + static_cast<size_t>(c) * rows,
                            static_cast<size_t>(rows) * sizeof(Scalar), stream));
  if (!b.on_device && x.on_device)
    PetscCall(DeviceSynchronize(stream)); // b may be pinned memory that the caller reuses
  if (!x.on_device) PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(sizeof(Scalar)) * rows * count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveArrays(PetscInt rows, PetscInt count, Space space, const Columns &b, const Columns &x,
                           Staging *staging, const SolveFunction &solve)
{
  PetscFunctionBegin;
  if (space == Space::Device)
    PetscCall(SolveOnDevice(rows, count, b, x, staging, solve));
  else
    PetscCall(solve(count, b.array, b.ld, x.array, x.ld));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SolveVector(Vec b, Vec x, Space space, Staging *staging, const SolveFunction &solve)
{
  LocalArray bb, bx;
  PetscInt   rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(b, &rows));
  PetscCall(bb.Get(b, space, Access::Read));
  PetscCall(bx.Get(x, space, Access::Write));
  PetscCall(SolveArrays(rows, 1, space, Columns{const_cast<Scalar *>(bb.read()), rows, bb.on_device()},
                        Columns{bx.write(), rows, bx.on_device()}, staging, solve));
  PetscCall(bb.Restore());
  PetscCall(bx.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveColumns(Mat B, Mat X, Space space, Staging *staging, const SolveFunction &solve)
{
  const PetscScalar *pb;
  PetscScalar       *px;
  PetscMemType       where_b = PETSC_MEMTYPE_HOST, where_x = PETSC_MEMTYPE_HOST;
  PetscInt           rows, count, ldb, ldx;

  PetscFunctionBegin;
  PetscCheck(B != X, PetscObjectComm((PetscObject)B), PETSC_ERR_ARG_IDN, "B and X must be different matrices");
  PetscCall(MatGetLocalSize(B, &rows, nullptr));
  PetscCall(MatGetSize(B, nullptr, &count));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
  if (space == Space::Host) {
    PetscCall(MatDenseGetArrayRead(B, &pb));
    PetscCall(MatDenseGetArrayWrite(X, &px));
  } else {
    PetscCall(MatDenseGetArrayReadAndMemType(B, &pb, &where_b));
    PetscCall(MatDenseGetArrayWriteAndMemType(X, &px, &where_x));
  }
  PetscCall(
      SolveArrays(rows, count, space,
                  Columns{reinterpret_cast<Scalar *>(const_cast<PetscScalar *>(pb)), ldb, PetscMemTypeDevice(where_b)},
                  Columns{reinterpret_cast<Scalar *>(px), ldx, PetscMemTypeDevice(where_x)}, staging, solve));
  if (space == Space::Host) {
    PetscCall(MatDenseRestoreArrayRead(B, &pb));
    PetscCall(MatDenseRestoreArrayWrite(X, &px));
  } else {
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &pb));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &px));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::factor
