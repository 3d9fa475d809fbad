/// ell's plan, from the longest row, and its arrays.
#include "mat/formats/ell/ell.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_ell()
{
  return EntryOf<Ell>();
}

PetscErrorCode EllPlan::Fits(bool *fits, std::string *why)
{
  const RowLengths *lengths;
  char              what[64];

  PetscFunctionBegin;
  PetscCall(look().Lengths(&lengths));
  PetscCall(PetscSNPrintf(what, sizeof(what), "its longest row has %" PetscInt_FMT " entries", lengths->longest));
  PetscCall(CheckPadding(rows(), static_cast<PetscLogDouble>(lengths->longest), what,
                         options<CommonOptions>().max_padding, fits, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllColumns(const CsrView &A, PetscInt width, std::vector<PetscInt> *j)
{
  const PetscInt pitch = EllPitch(A.rows);

  PetscFunctionBegin;
  PetscCallCXX(j->assign(static_cast<size_t>(width) * pitch, -1));
  for (PetscInt r = 0; r < A.rows; r++) {
    const PetscInt length = std::min(width, A.i[r + 1] - A.i[r]);
    for (PetscInt k = 0; k < length; k++) (*j)[static_cast<size_t>(k) * pitch + r] = A.j[A.i[r] + k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ell::BuildPattern(Plan *plan)
{
  const CsrView        &A = plan->rows();
  const RowLengths     *lengths;
  std::vector<PetscInt> j;

  PetscFunctionBegin;
  PetscCall(plan->look().Lengths(&lengths));
  layout_.width = lengths->longest;
  layout_.rows  = A.rows;
  layout_.pitch = EllPitch(A.rows);
  stored_       = layout_.width * layout_.pitch;
  PetscCall(EllColumns(A, layout_.width, &j));
  PetscCall(j_.Take(std::move(j), space_));
  layout_.j      = j_.data();
  pattern_bytes_ = static_cast<PetscLogDouble>(j_.bytes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Ell::Slots(const CsrView &A, PetscInt *slot) const
{
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) slot[e] = (e - A.i[r]) * layout_.pitch + r;
}

PetscErrorCode Ell::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, EllMult_CUDA(Layout(), x, {y, z}, stream), EllMult_Kokkos(Layout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ell::MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                             Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, EllMult_CUDA(Layout(), x, to, stream, exchange),
                             Format::MultInto(x, to, exchange, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ell::MultDots(const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, EllMultDots_CUDA(Layout(), dots, stream), Format::MultDots(dots, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
