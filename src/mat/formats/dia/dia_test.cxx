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
  const DiaLayout    layout    = dia.Layout();
  const Scalar      *a         = static_cast<const Scalar *>(layout.a.a);
  constexpr PetscInt OFFSETS[] = {-2, -1, 0, 2};
  for (PetscInt d = 0; d < 4; d++)
    PetscCheck(layout.diagonal[d].offset == OFFSETS[d] && layout.diagonal[d].place == 32 * d, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "diagonal %" PetscInt_FMT ": offset %" PetscInt_FMT ", place %" PetscInt_FMT, d,
               layout.diagonal[d].offset, layout.diagonal[d].place);
  PetscCall(example::CheckValues("diagonal -2", a, {-1, -1, 4, -1}));
  PetscCall(example::CheckValues("diagonal -1", a + 32, {-1, -1, 5, -1}));
  PetscCall(example::CheckValues("diagonal 0", a + 64, {1, 3, 6, -1}));
  PetscCall(example::CheckValues("diagonal 2", a + 96, {2, -1, -1, -1}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
