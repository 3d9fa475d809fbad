#include <algorithm>
#include "device/backend_call.hpp"
#include "mat/formats/ell/ell.hpp"
#include "mat/rows/sizes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

std::unique_ptr<Format> MakeFormat_ell()
{
  return std::make_unique<Ell>();
}

static PetscInt LongestRow(const CsrView &A)
{
  PetscInt longest = 0;
  for (PetscInt r = 0; r < A.rows; r++) longest = std::max(longest, A.i[r + 1] - A.i[r]);
  return longest;
}

bool TooMuchPadding(PetscInt rows, PetscLogDouble width, PetscInt nonzeros, PetscReal max_padding)
{
  constexpr PetscLogDouble slack  = 1024; // entries: nobody is harmed by so little
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

PetscErrorCode Ell::Check(const CsrView &A, const Parameters &parameters, bool *ok, std::string *why) const
{
  const PetscInt width = LongestRow(A);
  char           what[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "its longest row has %" PetscInt_FMT " entries", width));
  PetscCall(CheckPadding(A, static_cast<PetscLogDouble>(width), what, parameters.max_padding, ok, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllColumns(const CsrView &A, PetscInt width, std::vector<PetscInt> *j)
{
  const PetscInt pitch = EllPitch(A.rows);

  PetscFunctionBegin;
  PetscCallCXX(j->assign(static_cast<size_t>(width) * pitch, -1));
  for (PetscInt r = 0; r < A.rows; r++) {
    const PetscInt length = std::min(width, A.i[r + 1] - A.i[r]);
    for (PetscInt k = 0; k < length; k++) (*j)[static_cast<size_t>(k) * pitch + r] = A.j[A.i[r] + k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ell::BuildPattern(const CsrView &A, const Parameters &parameters)
{
  std::vector<PetscInt> j;

  PetscFunctionBegin;
  layout_.rows  = A.rows;
  layout_.width = LongestRow(A);
  layout_.pitch = EllPitch(A.rows);
  stored_       = layout_.width * layout_.pitch;
  PetscCall(EllColumns(A, layout_.width, &j));
  PetscCall(j_.Take(std::move(j), space_));
  layout_.j      = j_.data();
  pattern_bytes_ = static_cast<PetscLogDouble>(j_.bytes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Ell::Slots(const CsrView &A, PetscInt *slot) const
{
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) slot[e] = (e - A.i[r]) * layout_.pitch + r;
}

PetscErrorCode Ell::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  layout_.a = values();
  PetscCall(SPARSEGPU_LAUNCH(space_, EllMult_CUDA(layout_, x, y, z, stream), EllMult_Kokkos(layout_, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
