/// The arrays of the worked example, by hand.
#include "mat/formats/coo/coo.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  Coo coo;

  PetscFunctionBeginUser;
  PetscCall(example::BuildAndMultiply(coo, FormatOptions()));
  PetscCall(example::CheckInts("row", coo.Layout().row, {0, 0, 1, 2, 2, 2}));
  PetscCall(example::CheckInts("j", coo.Layout().j, {0, 2, 1, 0, 1, 2}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
