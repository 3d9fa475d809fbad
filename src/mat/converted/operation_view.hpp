/// The rows of op(A), from which a converted copy is built.
#pragma once

#include "mat/converted/converted.hpp"

namespace sparsegpu::converted
{

/// A itself, or its transpose in the arrays of *converted, with values refreshed.
PetscErrorCode OperationView(const CsrView &A, Operation operation, ConvertedMatrix *converted, CsrView *view);
/// op(A) on the device, made there from A's rows `csr`: of it the host sees where rows begin, and neither columns nor
/// values. *made is false where memory lacks.
PetscErrorCode TransposeOnDevice(Mat A, Rows *rows, const CsrView &csr, Operation operation, ConvertedMatrix *converted,
                                 std::shared_ptr<DeviceRows> *transposed, CsrView *view, bool *made);
/// *values [nonzeros] on the device: those of op(A), in the order of its rows, from A's there. *view: op(A), with
/// view->device where the place of entries is asked for the first time. Errors: PETSC_ERR_MEM.
PetscErrorCode TransposedValues(Mat A, Rows *rows, const CsrView &csr, Operation operation, ConvertedMatrix *converted,
                                DeviceRows *transposed, CsrView *view, const Scalar **values);

} // namespace sparsegpu::converted
