/// The width that the fraction of the rows gives, and the arrays of both parts, by hand.
#include "mat/formats/hyb/hyb.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

static PetscErrorCode Test()
{
  FormatOptions options;
  Hyb           hyb;
  PetscInt      width;

  PetscFunctionBeginUser;
  // one row of three reaches 3 entries: exactly a third
  PetscCall(HybWidth(example::Matrix(), options.Get<HybOptions>().fraction, &width));
  PetscCheck(width == 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Width %" PetscInt_FMT " for a third of the rows, not 3",
             width);
  options.Set<HybOptions>().fraction = 0.5; // two rows of three reach 2 entries
  PetscCall(example::BuildAndMultiply(hyb, options));
  PetscCheck(hyb.Ell().width == 2 && hyb.Coo().nonzeros == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Width %" PetscInt_FMT ", %" PetscInt_FMT " left over", hyb.Ell().width, hyb.Coo().nonzeros);
  PetscCall(example::CheckInts("ell j of entry 0", hyb.Ell().j, {0, 1, 0, -1}));
  PetscCall(example::CheckInts("ell j of entry 1", hyb.Ell().j + 32, {2, -1, 1, -1}));
  PetscCall(example::CheckInts("coo row", hyb.Coo().row, {2}));
  PetscCall(example::CheckInts("coo j", hyb.Coo().j, {2}));
  PetscCall(example::CheckValues("coo a", hyb.Ell().a + 64, {6}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
