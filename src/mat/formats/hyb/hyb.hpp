/// HYB: the first K entries of every row in ELLPACK, the rest as coordinates. K is the largest width that at least one
/// third of the rows reach, from a histogram of the row lengths. Values: the ELL part, then the COO part. Refuses
/// only more entries than PetscInt counts. Bell & Garland, NVR-2008-004, section 2.5.
#pragma once

#include "mat/formats/coo/coo.hpp"
#include "mat/formats/ell/ell.hpp"

namespace sparsegpu
{

/// The largest width that at least `fraction` of the rows reach; 0 if there is none.
PetscErrorCode HybWidth(const CsrView &A, PetscReal fraction, PetscInt *width);

class Hyb : public Format
{
public:
  const char      *Name() const override { return "hyb"; }
  PetscErrorCode   Check(const CsrView &A, const Parameters &parameters, bool *ok, std::string *why) const override;
  PetscErrorCode   Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  const EllLayout &Ell() const { return ell_; }
  const CooLayout &Coo() const { return coo_.Layout(); }

protected:
  PetscErrorCode BuildPattern(const CsrView &A, const Parameters &parameters) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;

private:
  EllLayout       ell_ = {};
  CooArrays       coo_;
  Array<PetscInt> ell_j_;
};

} // namespace sparsegpu
