static const char help[] =
    "Changes of values and pattern between products: the next product must be right, in every format.\n\n";

#include "changes.hpp"

using namespace testing;

/// Products, the change, products, the change again, products; and once the change before any product.
static PetscErrorCode CheckChange(const Change &change, const std::string &format, const std::string &backend)
{
  Mat               A;
  const std::string what = std::string(change.name) + " in " + format + " on " + backend;

  PetscFunctionBeginUser;
  for (bool product_before : {true, false}) {
    Problem p = Start();
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
    PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
    if (product_before) PetscCall(CheckProducts(A, p, what + ": before"));
    for (int times = 0; times < 2; ++times) {
      PetscCall(change.mat(&A));
      change.model(p);
      PetscCall(CheckProducts(A, p, what));
    }
    PetscCall(CheckIsOurs(A, what));
    PetscCall(CheckRanOn(A, format, what));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All changes one after the other on one matrix.
static PetscErrorCode CheckAll(const std::string &format, const std::string &backend)
{
  Mat     A;
  Problem p = Start();

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  for (const char *name : {"scale", "array", "shift", "transpose_in_place", "axpy_different", "conjugate",
                           "new_nonzeros", "add_values", "zero_rows", "diagonal_set", "zero_entries", "set_values"})
    for (const Change &change : CHANGES)
      if (!strcmp(change.name, name)) {
        PetscCall(change.mat(&A));
        change.model(p);
        PetscCall(CheckProducts(A, p, std::string("all in a row, after ") + name + " in " + format));
      }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The change that -change names, else all of them and all in a row.
static PetscErrorCode Changes()
{
  char                     name[64] = "all";
  std::vector<std::string> formats, backends;
  bool                     found = false;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-change", name, sizeof(name), nullptr));
  PetscCall(Formats(&formats));
  PetscCall(Backends(&backends));
  for (const std::string &format : formats)
    for (const std::string &backend : backends) {
      for (const Change &change : CHANGES)
        if (!strcmp(name, "all") || !strcmp(name, change.name)) {
          PetscCall(CheckChange(change, format, backend));
          found = true;
        }
      if (!strcmp(name, "all")) PetscCall(CheckAll(format, backend));
    }
  PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "There is no change %s", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"changes", Changes}});
}
