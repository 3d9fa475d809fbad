/// Diagonals: entry (r, r + offset[d]) is at d * pitch + r; no column is stored. Slots that are no entry of the matrix
/// hold PadValue() and are skipped, so that an Inf or NaN in x cannot leak through them; explicit zeros are entries.
/// Bell & Garland, NVR-2008-004, sections 2.1 and 3.1.
#pragma once

#include "mat/formats/plan.hpp"

namespace sparsegpu::formats
{

struct DiaLayout {
  PetscInt        rows, cols, diagonals;
  PetscInt        pitch;  ///< rows, rounded up to a multiple of 32
  const PetscInt *offset; ///< [diagonals] column - row, ascending
  const Scalar   *a;      ///< [diagonals * pitch] value or PadValue()
};

/// z = A x + y; y null or z allowed.
PetscErrorCode DiaMult_Kokkos(const DiaLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode DiaMult_CUDA(const DiaLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream,
                            const comm::DeviceExchange *exchange = nullptr);
/// Format::MultDots().
PetscErrorCode DiaMultDots_CUDA(const DiaLayout &A, const ProductDots &dots, Stream stream);
/// Format::MultDense().
PetscErrorCode DiaMultDense_Kokkos(const DiaLayout &A, const DenseColumns &d);
PetscErrorCode DiaMultDense_CUDA(const DiaLayout &A, const DenseColumns &d, Stream stream);

/// For each entry of A: its place in layout.a; its value there.
PetscErrorCode DiaSlots_CUDA(const DiaLayout &layout, const CsrArrays &A, PetscInt *slot, Stream stream);
PetscErrorCode DiaPlace_CUDA(const DiaLayout &layout, const CsrArrays &A, Scalar *values, Stream stream);

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
  bool                  TakesDifferences() const override { return true; }
  PetscErrorCode        MultSending(const Scalar *x, const Scalar *y, Scalar *z, const comm::DeviceExchange &exchange,
                                    Stream stream) override;
  PetscErrorCode        MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream) override;
  const DiaLayout      &Layout() const { return layout_; }
  /// With the values where they are now; of a Build() on the device.
  DiaLayout OnDevice() const
  {
    DiaLayout layout = layout_;
    layout.a         = values();
    return layout;
  }
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
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscErrorCode BuildPatternOnDevice(Plan *plan) override
  {
    return BuildPattern(plan); // looks at the rows through Look::Diagonals() alone
  }
  PetscErrorCode SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream) override;
  PetscErrorCode PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream) override;
#endif

private:
  template <class Place> void EachSlot(const CsrView &A, Place place) const;

  DiaLayout             layout_ = {};
  std::vector<PetscInt> offsets_; ///< offset, on the host
  Array<PetscInt>       offset_;
};

} // namespace sparsegpu::formats
