/// ELLPACK: `width` entries per row in columns of `pitch` rows; entry k of row r is at k * pitch + r, so neighbouring
/// threads read neighbouring entries. Shorter rows end in padding with column -1, which is never multiplied.
/// Bell & Garland, NVR-2008-004, sections 2.2 and 3.2.
#pragma once

#include "mat/formats/format.hpp"

namespace sparsegpu
{

struct EllLayout {
  PetscInt        rows, width;
  PetscInt        pitch; ///< rows, rounded up to a multiple of 32
  const PetscInt *j;     ///< [width * pitch] column, -1 for padding
  const Scalar   *a;     ///< [width * pitch] value
};

/// z = A x + y; y null or z allowed.
PetscErrorCode EllMult_Kokkos(const EllLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode EllMult_CUDA(const EllLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream);

/// The rows' distance in the arrays: whole cache lines of 32 entries.
inline PetscInt EllPitch(PetscInt rows)
{
  return (rows + 31) / 32 * 32;
}
/// Columns of the first `width` entries of each row, [width * EllPitch(rows)].
PetscErrorCode EllColumns(const CsrView &A, PetscInt width, std::vector<PetscInt> *j);
/// `width` entries of each row are more than max_padding * nonzeros, with some slack so that a tiny matrix is never
/// absurd, or more than PetscInt counts. Shared by DIA and ELL.
bool TooMuchPadding(PetscInt rows, PetscLogDouble width, PetscInt nonzeros, PetscReal max_padding);
/// May A be padded to `width` columns of each row? If not, *why says so after `what`, why there are so many.
PetscErrorCode CheckPadding(const CsrView &A, PetscLogDouble width, const char what[], PetscReal max_padding, bool *ok,
                            std::string *why);

class Ell : public Format
{
public:
  const char      *Name() const override { return "ell"; }
  PetscErrorCode   Check(const CsrView &A, const Parameters &parameters, bool *ok, std::string *why) const override;
  PetscErrorCode   Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  const EllLayout &Layout() const { return layout_; }
  /// With the values where they are now; of a Build() on the device.
  EllLayout OnDevice() const
  {
    EllLayout layout = layout_;
    layout.a         = values();
    return layout;
  }

protected:
  PetscErrorCode BuildPattern(const CsrView &A, const Parameters &parameters) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;

private:
  EllLayout       layout_ = {};
  Array<PetscInt> j_;
};

} // namespace sparsegpu
