/// The columns and values of the worked example, padding included, by hand.
#include "mat/formats/ell/ell.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  Ell ell;

  PetscFunctionBeginUser;
  PetscCall(example::BuildAndMultiply(ell, FormatOptions()));
  PetscCheck(ell.Layout().width == 3 && ell.Layout().pitch == 32, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Width %" PetscInt_FMT ", pitch %" PetscInt_FMT, ell.Layout().width, ell.Layout().pitch);
  PetscCall(example::CheckInts("j of entry 0", ell.Layout().j, {0, 1, 0, -1}));
  PetscCall(example::CheckInts("j of entry 1", ell.Layout().j + 32, {2, -1, 1, -1}));
  PetscCall(example::CheckInts("j of entry 2", ell.Layout().j + 64, {-1, -1, 2, -1}));
  PetscCall(example::CheckValues("a of entry 0", ell.Layout().a, {1, 3, 4}));
  PetscCall(example::CheckValues("a of entry 1", ell.Layout().a + 32, {2, 0, 5}));
  PetscCall(example::CheckValues("a of entry 2", ell.Layout().a + 64, {0, 0, 6}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
