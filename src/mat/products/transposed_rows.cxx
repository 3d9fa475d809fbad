/// A transpose in the space of its rows.
#include "mat/products/transposed_rows.hpp"
#include "device/scatter.hpp"
#include "mat/rows/transpose.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

PetscErrorCode TransposedRows::Find(const CsrView &csr, Space space)
{
  PetscFunctionBegin;
  space_ = space;
  from_  = Array<PetscInt>(); // no entries: it stays empty
  rows_  = csr.cols;
  cols_  = csr.rows;
  a_     = Array<Scalar>();
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

PetscErrorCode TransposedRows::Reserve()
{
  PetscFunctionBegin;
  if (a_.size() != from_.size()) PetscCall(a_.Allocate(from_.size(), space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransposedRows::PermuteValues(const Scalar *a, Scalar *transposed) const
{
  const PetscInt *from = from_.data();

  PetscFunctionBegin;
  if (space_ == Space::Host)
    for (size_t e = 0; e < from_.size(); e++) transposed[e] = a[from[e]];
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  if (space_ == Space::Device) {
    PetscCall(DeviceStream(&stream));
    PetscCall(PermuteValues_CUDA(static_cast<PetscInt>(from_.size()), from, a, false, transposed, stream));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransposedRows::TakeValues(const Scalar *a)
{
  PetscFunctionBegin;
  PetscCall(Reserve());
  PetscCall(PermuteValues(a, a_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseRows TransposedRows::rows() const
{
  return SparseRows{rows_, cols_, static_cast<PetscInt>(j_.size()), CsrArrays{i_.data(), j_.data(), a_.data()}};
}

} // namespace sparsegpu::products
