/// How failed factorizations are reported: as an error where failures are errors (MatSetErrorIfFailure()), else by the
/// factor's MatFactorError.
#pragma once

#include <petscmat.h>
#include "mat/rows/csr_view.hpp"
#include "pc/lu/names.hpp"

namespace sparsegpu::lu
{

/// PCLU and PCCHOLESKY try new values again after a numeric zero pivot only, so that every failure is reported as one
/// but that of the pattern, which Symbolic() looks at only where it matches rows. B: A's rows and values on the host.
PetscErrorCode TellFailure(Mat F, Mat A, const CsrView &B);
/// After an analysis that has left no row for a column, with these values: F has failed if there is none with any
/// values.
PetscErrorCode TellSingularAnalysis(Mat F, Mat A, const CsrView &B);

} // namespace sparsegpu::lu
