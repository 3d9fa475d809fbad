/// Rows of other ranks are fetched; all are multiplied, sent and summed in the space of the product, the pattern as the
/// values.
#include "mat/face/parallel_product.hpp"
#include "mat/face/pieces.hpp"

namespace sparsegpu::face
{

void ParallelProduct::GetFactors(Factors *f) const
{
  const bool left = step_ == Step::AB || step_ == Step::PtAP;

  f->left       = left_.own();
  f->transposed = step_ == Step::PtAP ? right_.own() : left_.own();
  f->all.left   = left ? &f->left : nullptr;
  f->all.right  = nullptr;
  if (step_ != Step::At) {
    f->right     = right_.all();
    f->all.right = &f->right;
  }
  f->all.transposed = Transposes() ? &f->transposed : nullptr;
}

PetscErrorCode ParallelProduct::JoinRows(const StepOperands &operands, bool *fits)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)operands.left);
  Context       *context;
  bool           left, right = true;

  PetscFunctionBegin;
  PetscCall(left_.Join(operands.left, &left));
  if (operands.right) PetscCall(right_.Join(operands.right, &right));
  PetscCall(AllAgree(comm, left && right, fits));
  if (!*fits || !Fetches()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(operands.left, &context));
  PetscCall(context->halo.Prepare(operands.left, Space::Host));
  PetscCall(right_.Fetch(operands.right, context->halo.forest(), fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::FindLocalPattern(const StepOperands &operands)
{
  Factors factors;

  PetscFunctionBegin;
  PetscCall(left_.BringPattern(operands.left, space_));
  if (operands.right) PetscCall(right_.BringPattern(operands.right, space_));
  GetFactors(&factors);
  const CsrView transposed = step_ == Step::PtAP ? right_.OwnView() : left_.OwnView();
  PetscCall(local_.FindPattern(space_, factors.all, Transposes() ? &transposed : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::FindPattern(const StepOperands &operands, BlockPatterns *patterns, bool *fits)
{
  const Mat left  = operands.left;
  bool      lacks = false;
  Numbering own;

  PetscFunctionBegin;
  PetscCall(JoinRows(operands, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TryOnDevice([&] { return FindLocalPattern(operands); }, &lacks));
  PetscCall(AllAgree(PetscObjectComm((PetscObject)left), !lacks, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  own.begin                = left->rmap->rstart;
  own.own                  = left->rmap->n;
  const Numbering  &rows   = !Transposes() ? own : step_ == Step::PtAP ? right_.columns() : left_.columns();
  const Numbering  &cols   = step_ == Step::At ? own : right_.columns();
  const PetscLayout layout = !Transposes() ? left->rmap : step_ == Step::PtAP ? operands.right->cmap : left->cmap;
  PetscCall(rows_.Find(layout, rows, cols, local_.Result(), patterns, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::Expect(Mat C)
{
  bool changed;

  PetscFunctionBegin;
  PetscCall(watch_.Look(C, &changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::Fits(const StepOperands &operands, Mat C, bool *fits)
{
  bool left, right = true, changed;

  PetscFunctionBegin;
  PetscCall(left_.Fits(operands.left, &left));
  if (operands.right) PetscCall(right_.Fits(operands.right, &right));
  PetscCall(watch_.Look(C, &changed));
  *fits = left && right && !changed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::GatherValues(const StepOperands &operands)
{
  PetscFunctionBegin;
  PetscCall(local_.Reserve());
  PetscCall(rows_.Reserve(&computed_));
  PetscCall(left_.GatherValues(operands.left));
  if (operands.right) PetscCall(right_.GatherValues(operands.right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::Multiply()
{
  Factors factors;

  PetscFunctionBegin;
  PetscCall(right_.FetchValues());
  GetFactors(&factors);
  if (space_ == Space::Device) PetscCall(PetscLogGpuTimeBegin());
  const PetscErrorCode code = local_.FindValues(factors.all, computed_);
  if (space_ == Space::Device) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(code);
  PetscCall(rows_.Exchange());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
