/// Transposes for converted copies: on the host, with a permutation that brings new values in place, or on the device.
#include "mat/converted/operation_view.hpp"
#include "mat/rows/fingerprint.hpp"
#include "mat/rows/transpose.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu
{

PetscErrorCode OperationView(const CsrView &A, Operation operation, ConvertedMatrix *converted, CsrView *view)
{
  PetscFunctionBegin;
  *view = A;
  if (operation == Operation::Normal) PetscFunctionReturn(PETSC_SUCCESS);
  if (converted->ti.empty() || converted->tperm.size() != static_cast<size_t>(A.nonzeros))
    PetscCall(TransposePattern(A, &converted->ti, &converted->tj, &converted->tperm)); // released
  PetscCallCXX(converted->ta.resize(A.nonzeros));
  for (PetscInt t = 0; t < A.nonzeros; t++) {
    const Scalar v   = A.a[converted->tperm[t]];
    converted->ta[t] = operation == Operation::ConjugateTranspose ? Conj(v) : v;
  }
  *view = CsrView{A.cols,      A.rows, A.nonzeros, converted->ti.data(), converted->tj.data(), converted->ta.data(),
                  A.block_size};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransposeOnDevice(const CsrView &A, Operation operation, ConvertedMatrix *converted,
                                 DeviceRows *transposed, CsrView *view, bool *made)
{
  bool       lacks = false;
  const auto make  = [&]() -> PetscErrorCode {
    DeviceRows rows;
    CsrView    there = A;

    PetscFunctionBegin;
    PetscCall(rows.Upload(A, true));
    there.device = rows.View();
#if defined(SPARSEGPU_HAVE_CUDA)
    PetscCall(transposed->Transpose_CUDA(there, operation == Operation::ConjugateTranspose));
#endif
    PetscCall(PatternFingerprint(there, &converted->fingerprint));
    PetscCall(transposed->Download(&converted->ti)); // waits, too: the rows end here
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(MayLackMemory(make, &lacks));
  *made = !lacks;
  if (lacks) *transposed = DeviceRows();
  converted->tperm.clear(); // OperationView() makes these when values change
  converted->tj.clear();
  converted->ta.clear();
  if (lacks) PetscFunctionReturn(PETSC_SUCCESS);
  *view        = CsrView{A.cols, A.rows, A.nonzeros, converted->ti.data(), nullptr, nullptr, A.block_size};
  view->device = transposed->View();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
