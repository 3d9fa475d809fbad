/// A column is a vector of PETSc's, made once over the column's memory, where PETSc has a constructor for that; else
/// two vectors are copied to and from.
#include "ksp/common/columns.hpp"
#include <algorithm>
#include "device/local_array.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

Columns::~Columns()
{
  PetscCallAbort(PETSC_COMM_SELF, Free());
}

PetscErrorCode Columns::Free()
{
  PetscFunctionBegin;
  for (Vec &v : vectors_) PetscCall(VecDestroy(&v));
  vectors_.clear();
  PetscCall(entries_.Allocate(0, Space::Host));
  entries_ = Array<Scalar>();
  count_   = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Columns::Wrap(Vec like, PetscInt c)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)like);
  PetscInt       global, block;
  PetscMPIInt    size;
  PetscScalar   *entries = reinterpret_cast<PetscScalar *>(Column(c));
  Vec            v;

  PetscFunctionBegin;
  PetscCall(VecGetSize(like, &global));
  PetscCall(VecGetBlockSize(like, &block));
  PetscCallMPI(MPI_Comm_size(comm, &size));
#if defined(PETSC_HAVE_CUDA)
  if (space_ == Space::Device && size == 1)
    PetscCall(VecCreateSeqCUDAWithArray(comm, block, rows_, entries, &v));
  else if (space_ == Space::Device)
    PetscCall(VecCreateMPICUDAWithArray(comm, block, rows_, global, entries, &v));
  else
#endif
      if (size == 1)
    PetscCall(VecCreateSeqWithArray(comm, block, rows_, entries, &v));
  else
    PetscCall(VecCreateMPIWithArray(comm, block, rows_, global, entries, &v));
  PetscCallCXX(vectors_.push_back(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Columns::Allocate(Vec like, PetscInt count, bool device_only)
{
  constexpr PetscInt LINE = 32; // entries: 128 bytes or more

  PetscFunctionBegin;
  if (count <= count_ && device_only == device_only_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Free());
  device_only_ = device_only;
  PetscCall(SpaceOf(like, &space_, &wraps_));
  if (device_only) space_ = Space::Device;
  PetscCall(VecGetLocalSize(like, &rows_));
  stride_ = std::max(LINE, (rows_ + LINE - 1) / LINE * LINE);
  PetscCall(entries_.Allocate(static_cast<size_t>(stride_) * count, space_));
  count_ = count;
  if (device_only) PetscFunctionReturn(PETSC_SUCCESS);
  if (wraps_) {
    for (PetscInt c = 0; c < count; c++) PetscCall(Wrap(like, c));
  } else {
    for (int k = 0; k < 2; k++) {
      Vec v;
      PetscCall(VecDuplicate(like, &v));
      PetscCallCXX(vectors_.push_back(v));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Columns::Read(PetscInt c, Vec *v)
{
  LocalArray array;

  PetscFunctionBegin;
  *v = vectors_[wraps_ ? c : 0];
  if (wraps_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(array.Get(*v, Space::Host, Access::Write));
  std::copy_n(Column(c), rows_, array.write());
  PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Columns::Write(PetscInt c, Vec *v)
{
  PetscFunctionBegin;
  *v = vectors_[wraps_ ? c : 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Columns::WriteEnd(PetscInt c)
{
  LocalArray array;

  PetscFunctionBegin;
  if (wraps_ && space_ == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  if (wraps_) { // an operator may have left its result in the vector's copy on the host
    PetscCall(array.Get(vectors_[c], Space::Device, Access::Read));
  } else {
    PetscCall(array.Get(vectors_[1], Space::Host, Access::Read));
    std::copy_n(array.read(), rows_, Column(c));
  }
  PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Columns::Changed(PetscInt c)
{
  LocalArray array;

  PetscFunctionBegin;
  if (!wraps_ || device_only_) PetscFunctionReturn(PETSC_SUCCESS);
  // drops what the vector knows of its entries: norms, and on a device its copy on the host
  PetscCall(array.Get(vectors_[c], Space::Device, Access::Write));
  PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
