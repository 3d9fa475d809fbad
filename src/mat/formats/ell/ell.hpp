/// ELLPACK: `width` entries per row in columns of `pitch` rows; entry k of row r is at k * pitch + r, so neighbouring
/// threads read neighbouring entries. Shorter rows end in padding with column -1, which is never multiplied.
/// Bell & Garland, NVR-2008-004, sections 2.2 and 3.2.
#pragma once

#include "mat/formats/padding.hpp"
#include "mat/formats/plan.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::formats
{

struct EllLayout {
  PetscInt        rows, width;
  PetscInt        pitch; ///< rows, rounded up to a multiple of 32
  const PetscInt *j;     ///< [width * pitch] column, -1 for padding
  const Scalar   *a;     ///< [width * pitch] value
};

/// z = A x + y; y null or z allowed.
PetscErrorCode EllMult_Kokkos(const EllLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode EllMult_CUDA(const EllLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                            const comm::DeviceExchange *exchange = nullptr);
/// Format::MultDots().
PetscErrorCode EllMultDots_CUDA(const EllLayout &A, const ProductDots &dots, Stream stream);

/// Columns of the first `width` entries of each row, [width * EllPitch(rows)].
PetscErrorCode EllColumns(const CsrView &A, PetscInt width, std::vector<PetscInt> *j);
class EllPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
};

class Ell : public Format
{
public:
  const char           *Name() const override { return "ell"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<EllPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  PetscErrorCode        MultDots(const ProductDots &dots, Stream stream) override;
  PetscErrorCode        MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                 Stream stream) override;
  bool                  TakesSteps() const override { return space_ == Space::Device; }
  /// With the values where they are now.
  EllLayout Layout() const
  {
    EllLayout layout = layout_;
    layout.a         = values();
    return layout;
  }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;

private:
  EllLayout       layout_ = {};
  Array<PetscInt> j_;
};

} // namespace sparsegpu::formats
