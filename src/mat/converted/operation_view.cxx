/// Transposes for converted copies: on the host, with a permutation that brings new values in place, or on the device.
#include "mat/converted/operation_view.hpp"
#include "device/scatter.hpp"
#include "mat/rows/fingerprint.hpp"
#include "mat/rows/transpose.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::converted
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

PetscErrorCode TransposeOnDevice(Mat A, Rows *rows, const CsrView &csr, Operation operation, ConvertedMatrix *converted,
                                 std::shared_ptr<DeviceRows> *transposed, CsrView *view, bool *made)
{
  std::shared_ptr<Array<Scalar>> values;

  bool       lacks = false;
  CsrView    whole = csr;
  const auto make  = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
    PetscCall((*transposed)->Transpose_CUDA(whole, operation == Operation::ConjugateTranspose));
#endif
    PetscCall(PatternFingerprint(whole, &converted->fingerprint)); // waits, too: the rows may go
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCallCXX(*transposed = std::make_shared<DeviceRows>());
  PetscCall(rows->BringToDevice(A, &whole));
  lacks = !whole.device.i;
  if (!lacks) PetscCall(MayLackMemory(make, &lacks));
  *made = !lacks;
  if (lacks) transposed->reset();
  converted->tperm.clear(); // made when values change
  converted->from = Array<PetscInt>();
  converted->ti.clear();
  converted->tj.clear();
  converted->ta.clear();
  if (lacks) PetscFunctionReturn(PETSC_SUCCESS);
  *view        = CsrView{csr.cols, csr.rows, csr.nonzeros, nullptr, nullptr, nullptr, csr.block_size};
  view->device = (*transposed)->View();
  PetscCall((*transposed)->TakeValues(&values));
  view->owners = CsrOwners{*transposed, values};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransposedValues(Mat A, Rows *rows, const CsrView &csr, Operation operation, ConvertedMatrix *converted,
                                DeviceRows *transposed, CsrView *view, const Scalar **values)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  const bool conjugate = operation == Operation::ConjugateTranspose;
  CsrView    whole     = csr;
  Scalar    *a;
  Stream     stream;

  // where there is no entry `from` is always complete
  if (converted->from.size() != static_cast<size_t>(csr.nonzeros) || csr.nonzeros == 0 ||
      converted->format->UpdatesReadPattern()) {
    PetscCall(rows->BringToDevice(A, &whole));
    PetscCheck(whole.device.i, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the rows on the device");
    PetscCall(transposed->Transpose_CUDA(whole, conjugate, &converted->from));
    view->device = transposed->View();
    *values      = view->device.a;
  } else {
    PetscCall(rows->BringValues(A, Space::Device, &a));
    PetscCall(DeviceStream(&stream));
    PetscCall(converted->values.Reserve(static_cast<size_t>(csr.nonzeros) * sizeof(Scalar)));
    *values = static_cast<const Scalar *>(converted->values.data());
    PetscCall(PermuteValues_CUDA(csr.nonzeros, converted->from.data(), a, conjugate,
                                 static_cast<Scalar *>(converted->values.data()), stream));
  }
  const CsrArrays there = view->device;
  *view                 = CsrView{csr.cols, csr.rows, csr.nonzeros, nullptr, nullptr, nullptr, csr.block_size};
  view->device          = there;
#else // nothing lies on a device
  (void)A, (void)rows, (void)csr, (void)operation, (void)converted, (void)transposed, (void)view, (void)values;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::converted
