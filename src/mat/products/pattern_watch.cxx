/// A pattern is known by its fingerprint, which is taken again when the version of the matrix's pattern has moved.
#include "mat/products/pattern_watch.hpp"
#include "mat/rows/fingerprint.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

PetscErrorCode PatternWatch::Expect(const CsrView &csr)
{
  PetscFunctionBegin;
  version_ = 0;
  PetscCall(PatternFingerprint(csr, &fingerprint_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PatternWatch::Due(Mat M, Rows *rows, bool *due) const
{
  Version version;

  PetscFunctionBegin;
  PetscCall(rows->GetVersion(M, &version));
  *due = version_ != rows->pattern_version();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PatternWatch::Look(Mat M, Rows *rows, const CsrView &csr, bool *changed)
{
  const std::uint64_t before = fingerprint_;
  bool                due    = false;

  PetscFunctionBegin;
  *changed = false;
  PetscCall(Due(M, rows, &due));
  if (!due) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Expect(csr));
  *changed = fingerprint_ != before;
  version_ = rows->pattern_version();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
