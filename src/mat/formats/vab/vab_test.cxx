/// The blocks of the worked example, by hand.
#include "mat/formats/vab/vab.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  FormatOptions options;
  Vab           vab;

  PetscFunctionBeginUser;
  options.Set<VabOptions>().block = 64;
  PetscCall(example::BuildAndMultiply(vab, options));
  PetscCall(example::CheckInts("row_start", vab.Layout().row_start, {0, 1, 2, 3}));
  PetscCall(example::CheckInts("first entries", vab.Layout().j, {0, 1, 0, -1}));
  PetscCall(example::CheckInts("second entries", vab.Layout().j + 64, {2, -1, 1, -1}));
  PetscCall(example::CheckInts("third entries", vab.Layout().j + 128, {-1, -1, 2, -1}));
  PetscCall(example::CheckInts("fourth entries", vab.Layout().j + 192, {-1, -1, -1, -1}));
  PetscCall(example::CheckValues("second values", vab.Layout().a + 64, {2, 0, 5, 0}));
  PetscCall(example::CheckValues("intermediates", vab.Layout().intermediate, {7, 6, 32}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
