/// Shares and carries of the worked example for three workers by hand, and products for any number of them.
#include "mat/formats/merge/merge.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  FormatOptions options;
  Merge         merge;

  PetscFunctionBeginUser;
  for (PetscInt workers : {1, 2, 7, 9, 20}) { // 9 merge steps: also more workers than steps
    options.Set<MergeOptions>().workers = workers;
    PetscCall(example::BuildAndMultiply(merge, options));
  }
  // Three workers of three steps: row 0 and its end; entry 2 with the end of row 1 and entry 3; the rest.
  options.Set<MergeOptions>().workers = 3;
  PetscCall(example::BuildAndMultiply(merge, options));
  PetscCall(example::CheckInts("start_row", merge.Layout().start_row, {0, 1, 2, 3}));
  PetscCall(example::CheckInts("carry_row", merge.Layout().carry_row, {1, 2, -1}));
  PetscCall(example::CheckValues("carry_value", merge.Layout().carry_value, {0, 4, 0}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
