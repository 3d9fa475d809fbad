static const char help[] =
    "What a user of plain AIJ sees of a factorization is the same with the library as without.\n\n";

#include "host_factors.hpp"

using namespace testing;

/// What a user of plain AIJ sees of a factorization.
struct Seen {
  std::string   package; ///< that PETSc takes where none is named; empty: there is none
  PetscObjectId objects = 0;
  std::string   view;
};

static PetscErrorCode See(Kind kind, Seen *seen)
{
  Mat           A, F;
  Vec           before, after;
  PetscObjectId first, last;
  PetscBool     available;
  MatSolverType package;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(conformance::Grid("grid_6x5", 6, 5, true), MATSEQAIJ, nullptr, &A));
  PetscCall(MatGetFactorAvailable(A, nullptr, kind.factor, &available));
  if (available) {
    PetscCall(VecCreate(PETSC_COMM_SELF, &before));
    PetscCall(MatGetFactor(A, nullptr, kind.factor, &F));
    PetscCall(Symbolic(F, A, kind));
    PetscCall(Numeric(F, A, kind));
    PetscCall(VecCreate(PETSC_COMM_SELF, &after));
    PetscCall(PetscObjectGetId((PetscObject)before, &first));
    PetscCall(PetscObjectGetId((PetscObject)after, &last));
    PetscCall(MatFactorGetSolverType(F, &package));
    PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "host_factors", &seen->view));
    seen->package = package;
    seen->objects = last - first;
    PetscCall(VecDestroy(&before));
    PetscCall(VecDestroy(&after));
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Seen without[std::size(KINDS)]; ///< [kind] before the library has registered anything

static PetscErrorCode Unseen()
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < std::size(KINDS); k++) {
    Seen        with;
    const Seen &was = without[k];
    PetscCall(See(KINDS[k], &with));
    PetscCheck(with.package == was.package, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: by %s, not %s", KINDS[k].pc,
               with.package.c_str(), was.package.c_str());
    PetscCheck(with.objects == was.objects && with.view == was.view, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %d objects, not %d, or viewed as\n%snot\n%s", KINDS[k].pc, (int)with.objects, (int)was.objects,
               with.view.c_str(), was.view.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int status = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  for (size_t k = 0; k < std::size(KINDS); k++) PetscCall(See(KINDS[k], &without[k]));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(RunTests({{"unseen", Unseen}}, &status));
  PetscCall(PetscFinalize());
  return status;
}
