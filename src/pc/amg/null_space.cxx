/// Null spaces of coarsest operators, whose factorizations would let them into solutions.
#include "pc/amg/hierarchy.hpp"

namespace sparsegpu::amg
{

namespace
{
/// v = sum of columns c of `basis` [rows * columns, by columns] times weights[c].
PetscErrorCode Combine(const std::vector<PetscScalar> &basis, const PetscScalar *weights, PetscInt rows,
                       PetscInt columns, Vec v)
{
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(v, &x));
  for (PetscInt r = 0; r < rows; r++) {
    x[r] = 0;
    for (PetscInt c = 0; c < columns; c++) x[r] += weights[c] * basis[(size_t)c * rows + r];
  }
  PetscCall(VecRestoreArrayWrite(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds v to `vectors`, orthogonal to those there and normalised, unless it depends on them.
PetscErrorCode Orthonormalize(Vec v, std::vector<Vec> *vectors)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecNormalize(v, &norm));
  for (int twice = 0; twice < 2; twice++)
    for (Vec before : *vectors) {
      PetscScalar dot;
      PetscCall(VecDot(v, before, &dot));
      PetscCall(VecAXPY(v, -dot, before));
    }
  PetscCall(VecNormalize(v, &norm));
  if (!(norm > PETSC_SQRT_MACHINE_EPSILON)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(vectors->push_back(v));
  PetscCall(PetscObjectReference((PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// The coarsest operator of a singular one is singular, too: solutions on it are kept free of its null space, which
/// an LU factorization with shifted pivots would let in.
PetscErrorCode Hierarchy::KeepNullSpace(Mat A, PetscInt columns, const NearNullSpace &coarsest)
{
  std::vector<PetscScalar> combinations, basis;
  std::vector<Vec>         vectors;

  PetscFunctionBegin;
  if (levels_.size() == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NullSpaceCombinations(A, columns, &combinations));
  if (combinations.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(coarsest.ToHost(&basis));
  for (size_t first = 0; first < combinations.size(); first += columns) {
    Vec v;

    PetscCall(MatCreateVecs(levels_.back().A, &v, nullptr));
    PetscCall(Combine(basis, &combinations[first], coarsest.rows, columns, v));
    PetscCallCXX(vectors.push_back(v));
  }
  PetscCall(SetCoarsestNullSpace(&vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// That of these vectors, which are destroyed.
PetscErrorCode Hierarchy::SetCoarsestNullSpace(std::vector<Vec> *vectors)
{
  std::vector<Vec> basis;
  MatNullSpace     space;
  Mat              coarse = levels_.back().A;

  PetscFunctionBegin;
  for (Vec v : *vectors) PetscCall(Orthonormalize(v, &basis));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)coarse), PETSC_FALSE, (PetscInt)basis.size(), basis.data(),
                               &space));
  PetscCall(MatSetNullSpace(coarse, space));
  PetscCall(MatNullSpaceDestroy(&space));
  for (std::vector<Vec> *all : {&basis, vectors})
    for (Vec &v : *all) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
