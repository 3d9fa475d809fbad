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

/// The null space of A on each level, for the coarsest solve: vectors that are constant where interpolation reaches, in
/// each field, are found as they are by weighted means.
PetscErrorCode Hierarchy::RestrictNullSpace(Mat A)
{
  MatNullSpace     null;
  PetscBool        constant;
  PetscInt         count;
  const Vec       *given;
  std::vector<Vec> vectors;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &null));
  if (!null || levels_.size() == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(null, &constant, &count, &given));
  for (PetscInt k = constant ? -1 : 0; k < count; k++) {
    Vec v;
    PetscCall(MatCreateVecs(A, &v, nullptr));
    PetscCall(k < 0 ? VecSet(v, 1) : VecCopy(given[k], v));
    PetscCallCXX(vectors.push_back(v));
  }
  for (const Level &l : levels_) {
    Vec ones, weights, v;

    if (!l.P) break;
    PetscCall(MatCreateVecs(l.P, &weights, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMultTranspose(l.P, ones, weights));
    for (Vec &fine : vectors) {
      PetscCall(VecDuplicate(weights, &v));
      PetscCall(MatMultTranspose(l.P, fine, v));
      PetscCall(VecPointwiseDivide(v, v, weights));
      PetscCall(VecDestroy(&fine));
      fine = v;
    }
    PetscCall(VecDestroy(&ones));
    PetscCall(VecDestroy(&weights));
  }
  PetscCall(SetCoarsestNullSpace(&vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
