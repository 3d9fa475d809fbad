/// The arrays of the worked example, which are the matrix's own, and the threads of a row by its mean length.
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  Csr csr;

  PetscFunctionBeginUser;
  PetscCall(example::BuildAndMultiply(csr, FormatOptions()));
  PetscCall(example::CheckInts("i", csr.Layout().i, {0, 2, 3, 6}));
  PetscCall(example::CheckInts("j", csr.Layout().j, {0, 2, 1, 0, 1, 2}));
  PetscCall(example::CheckValues("a", csr.Layout().a, {1, 2, 3, 4, 5, 6}));
  for (PetscInt mean : {1, 5, 7, 27, 78, 500}) {
    const PetscInt width = CsrWidth(mean), expected = mean == 1    ? 1
                                                      : mean == 5  ? 2
                                                      : mean == 7  ? 4
                                                      : mean == 27 ? 16
                                                      : mean == 78 ? 16
                                                                   : 32;
    PetscCheck(width == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Rows of %" PetscInt_FMT " get %" PetscInt_FMT " threads, not %" PetscInt_FMT, mean, width, expected);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
