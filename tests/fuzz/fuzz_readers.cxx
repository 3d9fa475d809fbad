/// An input is the content of a matrix file: MatrixMarket or PETSc binary, plain, gzip or xz. It is refused, or becomes
/// a matrix whose rows have ascending columns within its size.
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.hpp"
#include "load.hpp"

namespace
{
int memory_file = -1; // readers take the name of a file: this one is in memory

PetscErrorCode CheckMatrix(Mat A)
{
  const PetscInt *i, *j;
  PetscInt        rows, cols;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, nullptr, &cols));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &i, &j, &done));
  fuzz::Require(done, "no rows");
  for (PetscInt r = 0; r < rows; r++) {
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      fuzz::Require(j[e] >= 0 && j[e] < cols, "a column outside the matrix");
      fuzz::Require(e == i[r] || j[e] > j[e - 1], "columns that do not ascend");
    }
  }
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
  fuzz::Require(fuzz::Initialize() == PETSC_SUCCESS, "PETSc does not start");
  memory_file = memfd_create("matrix", 0);
  fuzz::Require(memory_file >= 0, "no file in memory");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const std::string name = "/proc/self/fd/" + std::to_string(memory_file);
  Mat               A    = nullptr;

  fuzz::Require(ftruncate(memory_file, 0) == 0, "the file in memory cannot be emptied");
  fuzz::Require(pwrite(memory_file, data, size, 0) == static_cast<ssize_t>(size), "the file in memory has no room");
  fuzz::Accepted() = LoadMatrix(PETSC_COMM_SELF, name.c_str(), &A) == PETSC_SUCCESS;
  if (fuzz::Accepted()) fuzz::Require(CheckMatrix(A) == PETSC_SUCCESS, "the rows cannot be read");
  fuzz::Require(MatDestroy(&A) == PETSC_SUCCESS, "the matrix cannot be destroyed");
  return 0;
}
