/// The groups of the worked example, joined into the last segment and not, by hand.
#include "mat/formats/sccsr/sccsr.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  FormatOptions options;
  Sccsr         sccsr;

  PetscFunctionBeginUser;
  PetscCall(example::BuildAndMultiply(
      sccsr, options)); // one group does not fill the device: joined up to the last segment, c = 4
  PetscCall(example::CheckInts("first_group", sccsr.Layout().first_group, {0, 0, 0, 0, 1}));
  PetscCall(example::CheckInts("start, joined", sccsr.Layout().start, {0, 12}));
  PetscCall(example::CheckInts("row_index, joined", sccsr.Layout().row_index, {1, 0, 2, -1}));
  PetscCall(example::CheckInts("j, joined", sccsr.Layout().j, {1, 0, 0, -1, -1, 2, 1, -1, -1, -1, 2, -1}));

  options.Set<SccsrOptions>().blocks = 0; // never joined: rows of less than 8 entries, c = 32
  PetscCall(example::BuildAndMultiply(sccsr, options));
  PetscCall(example::CheckInts("first_group", sccsr.Layout().first_group, {0, 1, 1, 1, 1}));
  PetscCall(example::CheckInts("start", sccsr.Layout().start, {0, 96}));
  PetscCall(example::CheckInts("row_index", sccsr.Layout().row_index, {1, 0, 2, -1}));
  PetscCall(example::CheckInts("first entries", sccsr.Layout().j, {1, 0, 0, -1}));
  PetscCall(example::CheckInts("second entries", sccsr.Layout().j + 32, {-1, 2, 1, -1}));
  PetscCall(example::CheckInts("third entries", sccsr.Layout().j + 64, {-1, -1, 2, -1}));
  PetscCall(example::CheckValues("first values", sccsr.Layout().a, {3, 1, 4, 0}));
  PetscCall(example::CheckValues("second values", sccsr.Layout().a + 32, {0, 2, 5, 0}));
  PetscCall(example::CheckValues("third values", sccsr.Layout().a + 64, {0, 0, 6, 0}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
