/// Near null spaces of finest levels: attached vectors, rigid body modes, constants.
#include "pc/amg/near_null_space.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

namespace
{
/// All processes return the error if one has it.
PetscErrorCode CheckOnAll(MPI_Comm comm, const char what[], PetscInt met, PetscInt wanted)
{
  PetscInt bad[3] = {met != wanted, met != wanted ? met : 0, met != wanted ? wanted : 0}, all[3];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(bad, all, 3, MPIU_INT, MPI_MAX, comm));
  PetscCheck(!all[0], comm, PETSC_ERR_ARG_SIZ, "%s %" PetscInt_FMT " on a process, %" PetscInt_FMT " wanted", what,
             all[1], all[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckAttached(MatNullSpace attached, PetscInt rows, PetscInt *columns)
{
  PetscBool  constant;
  PetscInt   count, length;
  const Vec *vectors;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceGetVecs(attached, &constant, &count, &vectors));
  for (PetscInt v = 0; v < count; v++) {
    PetscCall(VecGetLocalSize(vectors[v], &length));
    PetscCall(CheckOnAll(PetscObjectComm((PetscObject)attached), "A vector of MatSetNearNullSpace() has local size",
                         length, rows));
  }
  *columns = count + (constant ? 1 : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// About the centre of the points: rotations about a far origin are nearly translations.
PetscErrorCode RigidBodyModes(MPI_Comm comm, const Coordinates &x, PetscInt d, NearNullSpace *space)
{
  PetscReal sum[4] = {0, 0, 0, (PetscReal)x.points}, centre[4];

  PetscFunctionBegin;
  for (PetscInt p = 0; p < x.points; p++)
    for (PetscInt c = 0; c < d; c++) sum[c] += x.values[p * d + c];
  PetscCallMPI(MPI_Allreduce(sum, centre, 4, MPIU_REAL, MPIU_SUM, comm));
  for (PetscInt c = 0; c < d; c++) centre[c] /= PetscMax(centre[3], 1);
  PetscCall(FindRigidBodyModes(x.values, d, centre, space->space, &space->columns, &space->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode GetNearNullSpace(Mat A, const Coordinates &coordinates, NearNullSpace *space)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  MatNullSpace   attached;
  Mat            D;
  PetscInt       block, dimension, given = 0;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &block));
  PetscCall(MatGetLocalSize(A, &space->rows, nullptr));
  PetscCall(CheckOnAll(comm, "Rows left over of whole blocks:", space->rows % block, 0));
  PetscCall(DiagonalBlock(A, &D));
  PetscCall(WorkSpace(D, &space->space));
  PetscCall(MatGetNearNullSpace(A, &attached));
  if (attached) PetscCall(CheckAttached(attached, space->rows, &given));
  // A process without rows may have been given no coordinates.
  PetscCallMPI(MPI_Allreduce(&coordinates.dimension, &dimension, 1, MPIU_INT, MPI_MAX, comm));
  if (!given && dimension >= 2 && dimension <= 3 && block == dimension) {
    PetscCall(CheckOnAll(comm, "PCSetCoordinates() was given points:", coordinates.points, space->rows / block));
    PetscCall(RigidBodyModes(comm, coordinates, dimension, space));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindNearNullSpace(A, block, space->space, &space->columns, &space->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NullSpaceCombinations(Mat A, PetscInt columns, std::vector<PetscScalar> *combinations)
{
  MatNullSpace null, near;
  PetscBool    constant;
  PetscInt     count, block;
  const Vec   *vectors;

  PetscFunctionBegin;
  combinations->clear();
  PetscCall(MatGetNullSpace(A, &null));
  if (!null) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNearNullSpace(A, &near));
  PetscCall(MatNullSpaceGetVecs(null, &constant, &count, &vectors));
  PetscCall(MatGetBlockSize(A, &block));
  if (near == null) { // each column is one
    PetscCallCXX(combinations->assign((size_t)columns * columns, 0));
    for (PetscInt c = 0; c < columns; c++) (*combinations)[c * columns + c] = 1;
  } else if (constant && count == 0 && !near) { // the first columns are constants in one direction each
    PetscCallCXX(combinations->assign(columns, 0));
    for (PetscInt c = 0; c < PetscMin(block, columns); c++) (*combinations)[c] = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
