#include "load.hpp"

#include <algorithm>
#include <cctype>

#include "compressed.hpp"
#include "matrix_market.hpp"
#include "petsc_binary.hpp"
#include "rows.hpp"

namespace
{
PetscErrorCode ReadRows(const char file[], Rows *rows)
{
  std::string bytes;

  PetscFunctionBeginUser;
  PetscCall(ReadWhole(file, &bytes));
  if (IsPetscBinary(bytes)) {
    PetscCall(ReadPetscBinary(file, bytes, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // What looks like text goes to the reader of text, whose message shows the first line.
  const auto   bad = std::find_if(bytes.begin(), bytes.begin() + std::min<size_t>(bytes.size(), 16),
                                  [](unsigned char c) { return !isprint(c) && !isspace(c); });
  const size_t at  = bad - bytes.begin();
  PetscCheck(at == std::min<size_t>(bytes.size(), 16), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, byte %zu (line 1): 0x%02x begins neither a MatrixMarket text nor a PETSc binary matrix", file, at,
             static_cast<unsigned char>(*bad));
  PetscCall(ReadMatrixMarket(file, bytes, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode LoadMatrix(MPI_Comm comm, const char file[], Mat *A)
{
  PetscMPIInt rank;
  Rows        all, mine;
  int         code = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) code = static_cast<int>(ReadRows(file, &all));
  PetscCallMPI(MPI_Bcast(&code, 1, MPI_INT, 0, comm));
  if (rank == 0) PetscCall(static_cast<PetscErrorCode>(code)); // it told its reason already
  PetscCheck(!code, PETSC_COMM_SELF, static_cast<PetscErrorCode>(code), "%s: rank 0 could not read it", file);
  PetscCall(ScatterRows(comm, &all, &mine));
  PetscCall(MatFromRows(comm, mine, 1, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
