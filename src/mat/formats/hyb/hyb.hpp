/// HYB: the first K entries of every row in ELLPACK, the rest as coordinates. K is the largest width that at least one
/// third of the rows reach, from a histogram of the row lengths. Values: the ELL part, then the COO part. Refuses
/// only more entries than PetscInt counts. Bell & Garland, NVR-2008-004, section 2.5.
#pragma once

#include "mat/formats/coo/coo.hpp"
#include "mat/formats/ell/ell.hpp"

namespace sparsegpu::formats
{

/// The largest width that at least `fraction` of the rows reach; 0 if there is none.
PetscErrorCode HybWidth(const CsrView &A, PetscReal fraction, PetscInt *width);

struct HybOptions : OptionsOf<HybOptions> {
  PetscReal fraction = 1.0 / 3.0; ///< -mat_sparsegpu_hyb_fraction: of the rows must reach the width of the ELL part

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

class HybPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
};

class Hyb : public Format
{
public:
  const char           *Name() const override { return "hyb"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<HybPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  /// With the values where they are now.
  EllLayout Ell() const
  {
    EllLayout layout = ell_;
    layout.a         = values();
    return layout;
  }
  const CooLayout &Coo() const { return coo_.Layout(); }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;

private:
  EllLayout       ell_ = {};
  CooArrays       coo_;
  Array<PetscInt> ell_j_;
};

} // namespace sparsegpu::formats
