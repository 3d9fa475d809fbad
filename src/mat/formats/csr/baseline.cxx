/// csr as what every product can run on.
#include "mat/formats/baseline.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/csr/transposed.hpp"

namespace sparsegpu
{

const char *const BASELINE  = "csr";
const char *const SCATTERED = CsrTransposed::NAME;

std::unique_ptr<Format> MakeScattered(bool conjugate)
{
  return std::make_unique<CsrTransposed>(conjugate);
}

bool BaselineInOrder(const CsrView &A, const Parameters &parameters, Space space)
{
  return CsrInOrder(A, parameters, space);
}

CsrArrays BaselineArrays(const Format &baseline)
{
  const CsrLayout layout = static_cast<const Csr &>(baseline).OnDevice();
  return CsrArrays{layout.i, layout.j, layout.a};
}

} // namespace sparsegpu
