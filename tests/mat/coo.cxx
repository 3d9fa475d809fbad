static const char help[] = "Products after MatSetValuesCOO().\n\
  -device : the values are in device memory\n\n";

#include "coo.hpp"

using namespace testing;

/// Products right after each MatSetValuesCOO(), in every format.
static PetscErrorCode Products()
{
  std::vector<std::string> formats, backends;
  Mat                      A;
  Problem                  p;
  bool                     none = false;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Formats(&formats));
  PetscCall(Backends(&backends));
  for (const std::string &format : formats)
    for (const std::string &backend : backends) {
      const std::string what = "COO, " + format + " on " + backend;
      PetscCall(CreatePattern(MATSPARSEGPU, format.c_str(), &A));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      for (PetscInt round = 0; round < 3; ++round) {
        PetscCall(SetValues(A, round, INSERT_VALUES, OnDevice(), &p));
        PetscCall(CheckProducts(A, p, what + ", INSERT_VALUES"));
      }
      PetscCall(SetValues(A, 2, ADD_VALUES, OnDevice(), &p)); // what is there again: exactly twice, whatever the order
      for (conformance::Entry &e : p.entries) e.v *= 2;
      PetscCall(CheckProducts(A, p, what + ", ADD_VALUES"));
      PetscCall(
          SetValues(A, 1, INSERT_VALUES, !OnDevice() && backend == "cuda", &p)); // the other memory, if there is one
      PetscCall(CheckProducts(A, p, what + ", from the other memory"));
      PetscCall(CheckIsOurs(A, what));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"products", Products}});
}
