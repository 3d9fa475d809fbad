/// The plain AIJ types that ours derive from, reached through public means only: their operations and composed
/// functions are copied from a fresh matrix that is destroyed at once, so nothing depends on PETSc's private headers of
/// AIJ, and no hidden object is left for -objects_dump and -log_view to show.
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

namespace
{
constexpr const char *FUNCTIONS[] = {"MatSetPreallocationCOO_C",
                                     "MatSetValuesCOO_C",
                                     "MatRetrieveValues_C",
                                     "MatSeqAIJKron_C",
#if PETSC_VERSION_GE(3, 23, 0)
                                     "MatResetHash_C",
#endif
                                     "MatSeqAIJSetPreallocation_C",
                                     "MatSeqAIJSetPreallocationCSR_C",
                                     "MatResetPreallocation_C",
                                     "MatSeqAIJSetColumnIndices_C",
                                     "MatStoreValues_C",
                                     "MatIsTranspose_C",
                                     "MatIsHermitianTranspose_C",
                                     "MatReorderForNonzeroDiagonal_C"}; // the last of the sequential type alone

struct Parent {
  bool           known = false;
  struct _MatOps ops;
  AnyFunction    functions[std::size(FUNCTIONS)];
};
Parent parents[2];

PetscErrorCode GetParent(bool parallel, const Parent **parent)
{
  Parent      *p    = &parents[parallel];
  PetscOptions none = nullptr; // not the program's: -mat_seqaij_type would turn the matrix into one of ours
  Mat          A;

  PetscFunctionBegin;
  *parent = p;
  if (p->known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsCreate(&none));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(PetscObjectSetOptions((PetscObject)A, none));
  PetscCall(MatSetSizes(A, 0, 0, 0, 0));
  PetscCall(MatSetType(A, parallel ? MATMPIAIJ : MATSEQAIJ));
  p->ops = *A->ops;
  for (size_t f = 0; f < std::size(FUNCTIONS); f++)
    PetscCall(PetscObjectQueryFunction((PetscObject)A, FUNCTIONS[f], &p->functions[f]));
  PetscCall(PetscObjectSetOptions((PetscObject)A, nullptr));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsDestroy(&none));
  p->known = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode GetParentOps(bool parallel, const struct _MatOps **ops)
{
  const Parent *parent = nullptr;

  PetscFunctionBegin;
  PetscCall(GetParent(parallel, &parent));
  *ops = &parent->ops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetParentFunction(bool parallel, const char *name, AnyFunction *function)
{
  const Parent *parent = nullptr;

  PetscFunctionBegin;
  PetscCall(GetParent(parallel, &parent));
  *function = nullptr;
  for (size_t f = 0; f < std::size(FUNCTIONS); f++) {
    PetscBool same;
    PetscCall(PetscStrcmp(name, FUNCTIONS[f], &same));
    if (same) *function = parent->functions[f];
  }
  PetscCheck(*function, PETSC_COMM_SELF, PETSC_ERR_PLIB, "This PETSc's %s has no function %s",
             parallel ? MATMPIAIJ : MATSEQAIJ, name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ForgetParents()
{
  PetscFunctionBegin;
  for (Parent &parent : parents) parent.known = false; // the next PetscInitialize() may register other types
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
