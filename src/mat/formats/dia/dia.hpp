/// Diagonals: entry (r, r + offset[d]) is at d * pitch + r; no column is stored. Slots that are no entry of the matrix
/// hold PadValue() and are skipped, so that an Inf or NaN in x cannot leak through them; explicit zeros are entries.
/// Bell & Garland, NVR-2008-004, sections 2.1 and 3.1.
///
/// Of a matrix that is symmetric bit for bit, the diagonals above the main one are not stored: their entries are read
/// at (c, r), which is read as an entry of row c soon before or after, from a cache. A product's bits are the same.
#pragma once

#include "mat/formats/plan.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::formats
{

struct alignas(2 * sizeof(PetscInt)) Diagonal {
  PetscInt offset; ///< column - row
  PetscInt place;  ///< of row r: r + place, where the diagonal has an entry of that row
};

struct DiaLayout {
  PetscInt        rows, cols, diagonals;
  PetscInt        pitch;    ///< rows, rounded up to a multiple of 32
  bool            halved;   ///< the diagonals above the main one are read where those below it are
  const Diagonal *diagonal; ///< [diagonals] by ascending offset
  ValueLayout     a;        ///< [diagonals * pitch], or of those that are stored: value or pad; full, or single
};

/// z = A x + y; y null or z allowed.
PetscErrorCode DiaMult_Kokkos(const DiaLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode DiaMult_CUDA(const DiaLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                            const comm::DeviceExchange *exchange = nullptr);
/// Format::MultDots().
PetscErrorCode DiaMultDots_CUDA(const DiaLayout &A, const ProductDots &dots, Stream stream);
/// Format::MultDense().
PetscErrorCode DiaMultDense_Kokkos(const DiaLayout &A, const DenseColumns &d);
PetscErrorCode DiaMultDense_CUDA(const DiaLayout &A, const DenseColumns &d, Stream stream);
/// Format::MultDenseDots().
PetscErrorCode DiaMultDenseDots_CUDA(const DiaLayout &A, const DenseColumns &d, const DenseDots &dots, Stream stream);

/// For each entry of A: its place in layout.a where all diagonals are stored; its value there.
PetscErrorCode DiaSlots_CUDA(const DiaLayout &layout, const CsrArrays &A, PetscInt *slot, Stream stream);
PetscErrorCode DiaPlace_CUDA(const DiaLayout &layout, const CsrArrays &A, Scalar *values, Stream stream);
/// Whether each entry, pads included, has the bits of the entry mirrored at the main diagonal, of a square matrix with
/// mirrored diagonals, all in `values`. On the device synchronised, and soon done if the answer is no.
PetscErrorCode DiaSymmetric_Host(const DiaLayout &layout, const Scalar *values, bool *symmetric);
PetscErrorCode DiaSymmetric_CUDA(const DiaLayout &layout, const Scalar *values, bool *symmetric);

class DiaPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
  PetscErrorCode Estimate(PetscLogDouble beat, bool *candidate, Cost *cost) override;
  int            TrialPlace() const override { return 1; }
};

class Dia : public Format
{
public:
  const char           *Name() const override { return "dia"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<DiaPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  PetscErrorCode        MultDots(const ProductDots &dots, Stream stream) override;
  PetscErrorCode        MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                 Stream stream) override;
  bool                  TakesSteps() const override { return space_ == Space::Device; }
  bool                  TakesDifferences() const override { return true; }
  PetscErrorCode        MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream) override;
  PetscErrorCode        MultDenseDots(const DenseColumns &d, const DenseDots &dots, Stream stream) override;
  bool                  TakesDenseDots(PetscInt count) const override
  {
    return space_ == Space::Device && count % DENSE_DOTS == 0 && EncodedLayout().codec == ValueCodec::Full;
  }
  std::string Details() const override;
  /// With the values where and as they are now.
  DiaLayout Layout() const;
#if defined(SPARSEGPU_HAVE_CUDA)
  bool ConvertsOnDevice() const override
  {
    return true;
  }
#endif

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;
  bool           PlaceValues(const CsrView &A, Scalar *values) const override;
  bool           PadsByValue() const override
  {
    return true;
  }
  bool RoundsValues() const override
  {
    return true;
  }
  bool MayShrink() const override
  {
    return mirrored_ && wanted_ == ValueCodecNames[0];
  }
  PetscErrorCode Shrink() override;
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscErrorCode BuildPatternOnDevice(Plan *plan) override
  {
    return BuildPattern(plan); // looks at the rows through Look::Diagonals() alone
  }
  PetscErrorCode SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream) override;
  PetscErrorCode PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream) override;
#endif

private:
  /// Layout() without values, for places in all diagonals.
  DiaLayout AllDiagonals() const
  {
    DiaLayout layout = layout_;
    layout.diagonal  = diagonal_.data();
    return layout;
  }
  template <class Place> void EachSlot(const CsrView &A, Place place) const;

  DiaLayout             layout_ = {};
  std::vector<PetscInt> offsets_;          ///< of the diagonals, on the host
  bool                  mirrored_ = false; ///< square, with a diagonal -o for each o: the values may be symmetric
  Array<Diagonal>       diagonal_;         ///< as they all are stored; where mirrored_ again, as they are where halved
};

} // namespace sparsegpu::formats
