/// bitmap's plan, from its bits alone, and its arrays.
#include "mat/formats/bitmap/bitmap.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_bitmap()
{
  return EntryOf<Bitmap>();
}

/// Refuses a bitmap of more bytes than CSR has in all, unless the excess is below 8 KB.
PetscErrorCode BitmapPlan::Fits(bool *fits, std::string *why)
{
  const CsrView           &A     = rows();
  constexpr PetscLogDouble slack = 8 * 8192; // bits
  const int                bits  = BitmapBits(A.cols);
  const PetscLogDouble     map   = static_cast<PetscLogDouble>(A.rows) * BitmapWords(A.cols, bits) * bits;
  const PetscLogDouble     csr   = static_cast<PetscLogDouble>(A.nonzeros) * (sizeof(Scalar) + sizeof(PetscInt)) +
                             (static_cast<PetscLogDouble>(A.rows) + 1) * sizeof(PetscInt);
  char text[256];

  PetscFunctionBegin;
  *fits = map <= 8 * csr || map <= slack;
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "its %" PetscInt_FMT " rows and %" PetscInt_FMT
                          " columns make a bitmap of %.0f bits, more than 8 for each of the %.0f bytes that its "
                          "%" PetscInt_FMT " nonzeros take in CSR",
                          A.rows, A.cols, map, csr, A.nonzeros));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Word> PetscErrorCode Bitmap::Fill(const CsrView &A, Array<Word> *flags)
{
  BitmapArrays<Word> arrays;

  PetscFunctionBegin;
  PetscCall(arrays.Fill(A, false));
  PetscCall(start_.Take(std::move(arrays.start), space_));
  PetscCall(flags->Take(std::move(arrays.flags), space_));
  slot_of_       = sorted_ ? std::vector<PetscInt>() : std::move(arrays.slot);
  layout_        = BitmapLayout{A.rows,
                         A.cols,
                         8 * static_cast<int>(sizeof(Word)),
                         BitmapWords(A.cols, BitmapView<Word>::BITS),
                         start_.data(),
                         flags->data(),
                         nullptr};
  pattern_bytes_ = static_cast<PetscLogDouble>(start_.bytes()) + flags->bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bitmap::BuildPattern(Plan *plan)
{
  const CsrView &A = plan->rows();

  PetscFunctionBegin;
  stored_ = A.nonzeros;
  sorted_ = true;
  for (PetscInt r = 0; r < A.rows && sorted_; r++) sorted_ = std::is_sorted(A.j + A.i[r], A.j + A.i[r + 1]);
  if (BitmapBits(A.cols) == 32)
    PetscCall(Fill(A, &flags32_));
  else
    PetscCall(Fill(A, &flags64_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Bitmap::Slots(const CsrView &, PetscInt *slot) const
{
  std::copy(slot_of_.begin(), slot_of_.end(), slot);
}

void Bitmap::Borrow(const CsrView &A)
{
  if (space_ == Space::Host) borrowed_ = sorted_ ? A.a : nullptr;
}

PetscErrorCode Bitmap::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  layout_.values = values();
  PetscCall(SPARSEGPU_LAUNCH(space_, BitmapMult_CUDA(layout_, x, y, z, stream), BitmapMult_Kokkos(layout_, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Bitmap::Details() const
{
  return "words of " + std::to_string(layout_.bits) + " bits, " + std::to_string(layout_.words) + " a row";
}

} // namespace sparsegpu::formats
