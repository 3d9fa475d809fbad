/// The rows of op(A), from which a converted copy is built.
#pragma once

#include "mat/converted/converted.hpp"

namespace sparsegpu
{

/// A itself, or its transpose in the arrays of *converted, with values refreshed.
PetscErrorCode OperationView(const CsrView &A, Operation operation, ConvertedMatrix *converted, CsrView *view);
/// op(A) on the device, made there: of it the host sees where rows begin, and neither columns nor values. *made is
/// false where memory lacks.
PetscErrorCode TransposeOnDevice(const CsrView &A, Operation operation, ConvertedMatrix *converted,
                                 DeviceRows *transposed, CsrView *view, bool *made);

} // namespace sparsegpu
