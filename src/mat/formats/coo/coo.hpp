/// Coordinates: row, column and value of every entry, sorted by row; a segmented sum, insensitive to the row lengths.
/// Bell & Garland, NVR-2008-004, sections 2.3 and 3.4. Their kernel gives each warp an interval of entries; here a
/// thread block has one, and rows that span intervals are joined by a carry pass instead of a serial warp.
#pragma once

#include "mat/formats/format.hpp"

namespace sparsegpu::formats
{

struct CooLayout {
  PetscInt        rows, nonzeros;
  PetscInt        intervals;   ///< of CooInterval_CUDA() entries, the last may be shorter
  const PetscInt *row;         ///< [nonzeros] ascending
  const PetscInt *j;           ///< [nonzeros] column
  const Scalar   *a;           ///< [nonzeros] value
  PetscInt       *carry_row;   ///< [intervals] scratch
  Scalar         *carry_value; ///< [intervals] scratch
};

/// z = A x + y; y null or z allowed.
PetscErrorCode CooMult_Kokkos(const CooLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode CooMult_CUDA(const CooLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream);
/// Entries that one thread block sums.
PetscInt CooInterval_CUDA();

/// Owns the arrays of a CooLayout except the values; HYB's remainder is one, too.
class CooArrays
{
public:
  /// Takes over row and j [nonzeros].
  PetscErrorCode   Build(PetscInt rows, std::vector<PetscInt> &&row, std::vector<PetscInt> &&j, Space space);
  const CooLayout &Layout() const { return layout_; }
  CooLayout        Layout(const Scalar *a) const;
  PetscLogDouble   Bytes() const { return static_cast<PetscLogDouble>(row_.bytes() + j_.bytes()); }

private:
  CooLayout       layout_ = {};
  Array<PetscInt> row_, j_, carry_row_;
  Array<Scalar>   carry_value_;
};

class Coo : public Format
{
public:
  const char      *Name() const override { return "coo"; }
  PetscErrorCode   Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  void             Borrow(const CsrView &A) override;
  const CooLayout &Layout() const { return arrays_.Layout(); }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  bool           CsrOrder() const override { return true; }

private:
  CooArrays arrays_;
};

} // namespace sparsegpu::formats
