/// Builds coo's arrays: the row of each entry beside CSR's columns and values.
#include "mat/formats/coo/coo.hpp"
#include "device/backend_call.hpp"
#include "mat/formats/plan.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_coo()
{
  return EntryOf<Coo>();
}

PetscErrorCode CooArrays::Build(PetscInt rows, std::vector<PetscInt> &&row, std::vector<PetscInt> &&j, Space space)
{
  PetscFunctionBegin;
  layout_          = {};
  layout_.rows     = rows;
  layout_.nonzeros = static_cast<PetscInt>(row.size());
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) layout_.intervals = (layout_.nonzeros + CooInterval_CUDA() - 1) / CooInterval_CUDA();
#endif
  PetscCall(row_.Take(std::move(row), space));
  PetscCall(j_.Take(std::move(j), space));
  PetscCall(carry_row_.Allocate(layout_.intervals, space));
  PetscCall(carry_value_.Allocate(layout_.intervals, space));
  layout_.row         = row_.data();
  layout_.j           = j_.data();
  layout_.carry_row   = carry_row_.data();
  layout_.carry_value = carry_value_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

CooLayout CooArrays::Layout(const Scalar *a) const
{
  CooLayout layout = layout_;
  layout.a         = a;
  return layout;
}

PetscErrorCode Coo::BuildPattern(Plan *plan)
{
  const CsrView        &A = plan->rows();
  std::vector<PetscInt> row, j;

  PetscFunctionBegin;
  stored_ = A.nonzeros;
  PetscCallCXX(row.resize(A.nonzeros));
  PetscCallCXX(j.assign(A.j, A.j + A.nonzeros));
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) row[e] = r;
  PetscCall(arrays_.Build(A.rows, std::move(row), std::move(j), space_));
  pattern_bytes_ = arrays_.Bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Coo::Borrow(const CsrView &A)
{
  if (space_ == Space::Host) borrowed_ = A.a;
}

PetscErrorCode Coo::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  const CooLayout A = arrays_.Layout(values());

  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, CooMult_CUDA(A, x, y, z, stream), CooMult_Kokkos(A, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
