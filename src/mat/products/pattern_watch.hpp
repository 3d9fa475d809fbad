/// What was made of a matrix's pattern asks here whether it must be made anew.
#pragma once

#include <cstdint>
#include "mat/products/names.hpp"
#include "mat/rows/rows.hpp"

namespace sparsegpu::products
{

/// Whether a matrix still has the pattern that it had at the last look. A pattern version that moved need not mean
/// another pattern: the contents decide.
class PatternWatch
{
public:
  /// csr: the rows of M, read on the device where csr.device is set. *changed: since the last look, or the first one.
  PetscErrorCode Look(Mat M, Rows *rows, const CsrView &csr, bool *changed);
  /// Whether Look() would read the rows.
  PetscErrorCode Due(Mat M, Rows *rows, bool *due) const;
  /// As if that pattern had been looked at, which is not a matrix's yet.
  PetscErrorCode Expect(const CsrView &csr);

private:
  Version       version_     = 0; ///< for which the fingerprint was taken
  std::uint64_t fingerprint_ = 0;
};

} // namespace sparsegpu::products
