/// Brings the rows of a factor, or of its transpose, whose pattern is made once and whose values are permuted.
#include "mat/products/factor.hpp"
#include "device/scatter.hpp"
#include "mat/rows/fingerprint.hpp"
#include "mat/rows/transpose.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

PetscErrorCode Factor::TransposeRows(const CsrView &csr, Space space)
{
  PetscFunctionBegin;
  values_ = 0;
  if (space == Space::Host) {
    std::vector<PetscInt> i, j, from;
    PetscCall(TransposePattern(csr, &i, &j, &from));
    PetscCall(i_.Take(std::move(i), space));
    PetscCall(j_.Take(std::move(j), space));
    PetscCall(from_.Take(std::move(from), space));
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) PetscCall(TransposePattern_CUDA(csr, &i_, &j_, &from_));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::PermuteRows(const CsrView &csr, Space space, const Scalar *a)
{
  const PetscInt *from = from_.data();

  PetscFunctionBegin;
  PetscCall(a_.Allocate(csr.nonzeros, space));
  if (space == Space::Host)
    for (PetscInt e = 0; e < csr.nonzeros; e++) a_.data()[e] = a[from[e]];
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  if (space == Space::Device) {
    PetscCall(DeviceStream(&stream));
    PetscCall(PermuteValues_CUDA(csr.nonzeros, from, a, false, a_.data(), stream));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::Bring(Mat M, Rows *rows, Space space, bool values)
{
  CsrView csr;
  Scalar *a = nullptr;

  PetscFunctionBegin;
  PetscCall(rows->GetPattern(M, &csr, nullptr));
  view_ = SparseRows{csr.rows, csr.cols, csr.nonzeros, {}};
  PetscCall(rows->BringPattern(M, space, &view_.arrays.i, &view_.arrays.j));
  if (values) PetscCall(rows->BringValues(M, space, &a));
  view_.arrays.a = a;
  if (space == Space::Device) csr.device = view_.arrays;
  PetscCall(watch_.Look(M, rows, csr, &changed_));
  if (!transposed_) PetscFunctionReturn(PETSC_SUCCESS);
  if (changed_) PetscCall(TransposeRows(csr, space));
  if (values && values_ != rows->version()) {
    PetscCall(PermuteRows(csr, space, a));
    values_ = rows->version();
  }
  view_ = SparseRows{csr.cols, csr.rows, csr.nonzeros, CsrArrays{i_.data(), j_.data(), a_.data()}};
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
