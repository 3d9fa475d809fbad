/// The tentative prolongator and the near null spaces that it carries from matrix to matrix.
#include "pc/aggregate/tentative.hpp"
#include <petsc/private/matimpl.h>
#include "device/backend_call.hpp"
#include "device/local_array.hpp"
#include "mat/rows/value_operations.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
struct Alone {
  PetscInt             lane = 0, width = 1;
  template <class T> T Sum(T v) const { return v; }
  void                 Wait() const {}
};

PetscErrorCode Orthonormalize_Host(PetscInt aggregates, const Basis &basis)
{
  PetscFunctionBegin;
  for (PetscInt a = 0; a < aggregates; a++) Orthonormalize(basis, a, Alone());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `count` entries from one array to another, both in `space`.
PetscErrorCode CopyIn(Space space, const Scalar *from, size_t count, Scalar *to)
{
  PetscFunctionBegin;
  PetscCall(values::ForEach(space, static_cast<PetscCount>(count), values::Copy{from, to}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyVector(Vec v, Space space, PetscInt rows, Scalar *to)
{
  LocalArray   array;
  DeviceMemory room;
  PetscInt     size;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &size));
  PetscCheck(size == rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A vector of the near null space has %" PetscInt_FMT " local entries, the matrix %" PetscInt_FMT " rows",
             size, rows);
  PetscCall(array.Get(v, space, Access::Read));
  if (space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(array.Stage(&room, stream));
    PetscCall(CopyIn(space, array.read(), static_cast<size_t>(rows), to));
    if (!array.on_device()) PetscCall(DeviceSynchronize(stream)); // of pinned memory that may be written to again
  } else {
    PetscCall(CopyIn(space, array.read(), static_cast<size_t>(rows), to));
  }
  PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindNearNullSpace(Mat A, PetscInt block_size, Space space, PetscInt *vectors, Array<Scalar> *B)
{
  const PetscInt rows     = A->rmap->n;
  MatNullSpace   known    = nullptr;
  PetscBool      constant = PETSC_FALSE;
  PetscInt       count    = 0;
  const Vec     *vecs;

  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(A, &known));
  if (known) PetscCall(MatNullSpaceGetVecs(known, &constant, &count, &vecs));
  const PetscInt ones  = known && constant ? 1 : 0;
  const bool     units = ones + count == 0;
  *vectors             = units ? block_size : ones + count;
  PetscCall(B->Allocate(static_cast<size_t>(*vectors) * static_cast<size_t>(rows), space));
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (units) PetscCall(ForEach(space, rows, FillUnits{block_size, rows, B->data()}));
  if (ones) PetscCall(ForEach(space, rows, FillOnes{B->data()}));
  for (PetscInt c = 0; c < count; c++)
    PetscCall(CopyVector(vecs[c], space, rows, B->data() + (c + ones) * static_cast<PetscCount>(rows)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindRigidBodyModes(const std::vector<PetscReal> &points, PetscInt dimension, const PetscReal centre[],
                                  Space space, PetscInt *vectors, Array<Scalar> *B)
{
  const PetscInt   rows = static_cast<PetscInt>(points.size());
  FillRigidModes   fill{dimension, rows, nullptr, {0, 0, 0}, nullptr};
  Array<PetscReal> there;

  PetscFunctionBegin;
  *vectors = dimension == 2 ? 3 : 6;
  PetscCall(B->Allocate(static_cast<size_t>(*vectors) * points.size(), space));
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Device) PetscCall(there.Copy(points.data(), points.size(), space));
  fill.points = space == Space::Device ? there.data() : points.data();
  fill.to     = B->data();
  for (PetscInt c = 0; c < dimension; c++) fill.centre[c] = centre[c];
  PetscCall(ForEach(space, rows / dimension, fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindTentative(const Aggregates &all, PetscInt vectors, const Array<Scalar> &B, Tentative *tentative)
{
  const PetscInt  rows     = all.nodes * all.block_size;
  const PetscReal columns  = static_cast<PetscReal>(all.count) * static_cast<PetscReal>(vectors);
  PetscReal       inactive = 0;

  PetscFunctionBegin;
  PetscCheck(vectors > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " vectors of a near null space: must be positive", vectors);
  PetscCheck(columns < static_cast<PetscReal>(PETSC_MAX_INT), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " aggregates with %" PetscInt_FMT " columns each are more columns than PetscInt counts",
             all.count, vectors);
  PetscCheck(B.size() == static_cast<size_t>(rows) * static_cast<size_t>(vectors), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "%zu entries of %" PetscInt_FMT " vectors of %" PetscInt_FMT " rows", B.size(), vectors, rows);
  tentative->space   = all.space;
  tentative->vectors = vectors;
  const size_t count = static_cast<size_t>(all.count) * static_cast<size_t>(vectors);
  PetscCall(tentative->values.Allocate(static_cast<size_t>(rows) * static_cast<size_t>(vectors), all.space));
  PetscCall(tentative->coarse.Allocate(count * static_cast<size_t>(vectors), all.space));
  PetscCall(tentative->inactive.Allocate(count, all.space));
  if (rows)
    PetscCall(
        values::ForEach(all.space, static_cast<PetscCount>(rows) * vectors, values::Zero{tentative->values.data()}));
  tentative->inactive_count = 0;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const Basis basis{all.begin.data(),
                    all.members.data(),
                    all.block_size,
                    vectors,
                    rows,
                    static_cast<PetscInt>(count),
                    static_cast<PetscReal>(std::pow(static_cast<double>(PETSC_MACHINE_EPSILON), 2.0 / 3.0)),
                    B.data(),
                    tentative->values.data(),
                    tentative->coarse.data(),
                    tentative->inactive.data()};
  PetscCall(SPARSEGPU_LAUNCH(all.space, Orthonormalize_CUDA(all.count, basis), Orthonormalize_Host(all.count, basis)));
  PetscCall(values::SumOfSquares(all.space, static_cast<PetscCount>(count), tentative->inactive.data(), &inactive));
  tentative->inactive_count = static_cast<PetscInt>(inactive);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ActivateCoarse(const Tentative &tentative, Mat coarse)
{
  Vec          v;
  LocalArray   array;
  DeviceMemory room;
  PetscInt     size;

  PetscFunctionBegin;
  if (tentative.inactive_count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(coarse, nullptr, &v));
  PetscCall(VecGetLocalSize(v, &size));
  PetscCheck(static_cast<size_t>(size) == tentative.inactive.size(), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A coarse matrix of %" PetscInt_FMT " rows for %zu columns", size, tentative.inactive.size());
  PetscCall(array.Get(v, tentative.space, Access::Write));
  if (tentative.space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(array.Stage(&room, stream));
  }
  PetscCall(CopyIn(tentative.space, tentative.inactive.data(), tentative.inactive.size(), array.write()));
  PetscCall(array.Restore());
  PetscCall(MatDiagonalSet(coarse, v, ADD_VALUES));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
