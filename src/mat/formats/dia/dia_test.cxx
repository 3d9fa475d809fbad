/// The diagonals of the worked example, by hand.
#include "mat/formats/dia/dia.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  Dia dia;

  PetscFunctionBeginUser;
  PetscCall(example::BuildAndMultiply(dia, FormatOptions()));
  PetscCheck(dia.Layout().diagonals == 4 && dia.Layout().pitch == 32, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " diagonals, pitch %" PetscInt_FMT, dia.Layout().diagonals, dia.Layout().pitch);
  PetscCall(example::CheckInts("offset", dia.Layout().offset, {-2, -1, 0, 2}));
  PetscCall(example::CheckValues("diagonal -2", dia.Layout().a, {-1, -1, 4, -1}));
  PetscCall(example::CheckValues("diagonal -1", dia.Layout().a + 32, {-1, -1, 5, -1}));
  PetscCall(example::CheckValues("diagonal 0", dia.Layout().a + 64, {1, 3, 6, -1}));
  PetscCall(example::CheckValues("diagonal 2", dia.Layout().a + 96, {2, -1, -1, -1}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
