#include "device/backend_call.hpp"
#include "mat/formats/dia/dia.hpp"
#include "mat/formats/ell/ell.hpp"
#include "mat/rows/inspect.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

std::unique_ptr<Format> MakeFormat_dia()
{
  return std::make_unique<Dia>();
}

PetscErrorCode Dia::Check(const CsrView &A, const Parameters &parameters, bool *ok, std::string *why) const
{
  std::vector<PetscInt> offsets;
  char                  what[64];

  PetscFunctionBegin;
  PetscCall(FindDiagonals(A, &offsets));
  PetscCall(PetscSNPrintf(what, sizeof(what), "it has entries on %zu diagonals", offsets.size()));
  PetscCall(CheckPadding(A, static_cast<PetscLogDouble>(offsets.size()), what, parameters.max_padding, ok, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::BuildPattern(const CsrView &A, const Parameters &parameters)
{
  PetscFunctionBegin;
  PetscCall(FindDiagonals(A, &offsets_));
  layout_.rows      = A.rows;
  layout_.cols      = A.cols;
  layout_.diagonals = static_cast<PetscInt>(offsets_.size());
  layout_.pitch     = EllPitch(A.rows);
  stored_           = layout_.diagonals * layout_.pitch;
  PetscCall(offset_.Take(std::vector<PetscInt>(offsets_), space_));
  layout_.offset = offset_.data();
  pattern_bytes_ = static_cast<PetscLogDouble>(offset_.bytes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// place(e, slot) for each entry e of A.
template <class Place> void Dia::EachSlot(const CsrView &A, Place place) const
{
  std::vector<PetscInt> first(static_cast<size_t>(A.rows) + A.cols); // of the diagonal j - r, at j - r + rows
  for (size_t d = 0; d < offsets_.size(); d++)
    first[static_cast<size_t>(offsets_[d] + A.rows)] = static_cast<PetscInt>(d) * layout_.pitch;
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) place(e, first[static_cast<size_t>(A.j[e]) + (A.rows - r)] + r);
}

void Dia::Slots(const CsrView &A, PetscInt *slot) const
{
  EachSlot(A, [&](PetscInt e, PetscInt s) { slot[e] = s; });
}

bool Dia::PlaceValues(const CsrView &A, Scalar *values) const
{
  EachSlot(A, [&](PetscInt e, PetscInt s) { values[s] = StoredValue(A.a[e]); });
  return true;
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode Dia::SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(DiaSlots_CUDA(layout_, A.device, slot, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dia::PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(DiaPlace_CUDA(layout_, A.device, values, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode Dia::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  layout_.a = values();
  PetscCall(SPARSEGPU_LAUNCH(space_, DiaMult_CUDA(layout_, x, y, z, stream), DiaMult_Kokkos(layout_, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
