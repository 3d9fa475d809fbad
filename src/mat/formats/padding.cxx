/// Refuses excessive padding: more than the option allows, or more entries than PetscInt counts.
#include "mat/formats/padding.hpp"
#include "mat/rows/sizes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

bool TooMuchPadding(PetscInt rows, PetscLogDouble width, PetscInt nonzeros, PetscReal max_padding)
{
  constexpr PetscLogDouble slack  = 1024; // entries: less padding than this is always allowed
  const PetscLogDouble     stored = width * static_cast<PetscLogDouble>(rows);
  return (stored > max_padding * nonzeros && stored > nonzeros + slack) || !FitsPetscInt(PaddedEntries(rows, width));
}

PetscErrorCode CheckPadding(const CsrView &A, PetscLogDouble width, const char what[], PetscReal max_padding, bool *ok,
                            std::string *why)
{
  const PetscLogDouble stored = width * static_cast<PetscLogDouble>(A.rows), padded = PaddedEntries(A.rows, width);
  char                 text[256];

  PetscFunctionBegin;
  *ok = !TooMuchPadding(A.rows, width, A.nonzeros, max_padding);
  if (*ok) PetscFunctionReturn(PETSC_SUCCESS);
  if (!FitsPetscInt(padded))
    PetscCall(PetscSNPrintf(text, sizeof(text),
                            "%s, so %" PetscInt_FMT " rows would store %.0f for %" PetscInt_FMT
                            " nonzeros, more than the %" PetscInt_FMT " that PetscInt counts",
                            what, A.rows, padded, A.nonzeros, PETSC_MAX_INT));
  else
    PetscCall(PetscSNPrintf(text, sizeof(text),
                            "%s, so %" PetscInt_FMT " rows would store %.0f for %" PetscInt_FMT
                            " nonzeros, more than %.1f times (-mat_sparsegpu_max_padding)",
                            what, A.rows, stored, A.nonzeros, (double)max_padding));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
