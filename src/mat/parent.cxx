/// The plain AIJ types that ours derive from, reached through public means only: their operations and composed
/// functions are read off a fresh matrix, so nothing depends on PETSc's private headers of AIJ.
#include "mat/context.hpp"

namespace sparsegpu
{

static Mat parents[2] = {nullptr, nullptr};

static PetscErrorCode GetParent(bool parallel, Mat *parent)
{
  PetscFunctionBegin;
  if (!parents[parallel]) {
    PetscOptions none; // not the program's: -mat_seqaij_type would turn the parent into one of ours
    Mat          A;
    PetscCall(PetscOptionsCreate(&none));
    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(PetscObjectSetOptions((PetscObject)A, none));
    PetscCall(MatSetSizes(A, 0, 0, 0, 0));
    PetscCall(MatSetType(A, parallel ? MATMPIAIJ : MATSEQAIJ));
    PetscCall(PetscObjectSetOptions((PetscObject)A, nullptr));
    PetscCall(PetscOptionsDestroy(&none));
    parents[parallel] = A;
  }
  *parent = parents[parallel];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetParentOps(bool parallel, const struct _MatOps **ops)
{
  Mat parent = nullptr;

  PetscFunctionBegin;
  PetscCall(GetParent(parallel, &parent));
  *ops = parent->ops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetParentFunction(bool parallel, const char *name, AnyFunction *function)
{
  Mat parent = nullptr;

  PetscFunctionBegin;
  PetscCall(GetParent(parallel, &parent));
  PetscCall(PetscObjectQueryFunction((PetscObject)parent, name, function));
  PetscCheck(*function, PETSC_COMM_SELF, PETSC_ERR_PLIB, "This PETSc's %s has no function %s",
             parallel ? MATMPIAIJ : MATSEQAIJ, name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ForgetParents()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&parents[0]));
  PetscCall(MatDestroy(&parents[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
