/// The arrays of the worked example, by hand: rows of 2, 1 and 3 entries.
#include "mat/formats/jds/jds.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  FormatOptions options;
  Jds           jds;
  bool          fits;
  std::string   why;

  PetscFunctionBeginUser;
  PetscCall(example::BuildAndMultiply(jds, options));
  PetscCall(example::CheckInts("row", jds.Layout().row, {2, 0, 1}));
  PetscCall(example::CheckInts("start", jds.Layout().start, {0, 3, 5, 6}));
  PetscCall(example::CheckInts("j", jds.Layout().j, {0, 0, 1, 1, 2, 2}));
  PetscCall(example::CheckValues("a", jds.Layout().a, {4, 1, 3, 5, 2, 6}));

  options.Set<JdsOptions>().longest = 2;
  PetscCall(Plans(example::Matrix(), options, Space::Host).Check("jds", &fits, &why));
  PetscCheck(!fits && why.find("3 entries, more than 2") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A row of 3 entries: %s", fits ? "fits" : why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
