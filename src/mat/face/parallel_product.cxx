/// Patterns: rows of other ranks are fetched on the host, all are multiplied in the space of the product, and those of
/// the result are joined on the host.
/// Values: gathered, fetched, multiplied, sent and summed in that space.
#include "mat/face/parallel_product.hpp"
#include "mat/face/pieces.hpp"

namespace sparsegpu::face
{

void ParallelProduct::GetFactors(Factors *f) const
{
  f->left       = left_.own();
  f->right      = right_.all();
  f->transposed = type_ == MATPRODUCT_PtAP ? right_.own() : left_.own();
  f->all        = products::LocalFactors{type_ == MATPRODUCT_AB ? nullptr : &f->transposed,
                                  type_ == MATPRODUCT_AtB ? nullptr : &f->left, &f->right};
}

PetscErrorCode ParallelProduct::JoinRows(const Mat_Product *product, bool *fits)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)product->A);
  Context       *context;
  bool           left, right;

  PetscFunctionBegin;
  PetscCall(left_.Join(product->A, &left));
  PetscCall(right_.Join(product->B, &right));
  PetscCall(AllAgree(comm, left && right, fits));
  if (!*fits || !Fetches()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(product->A, &context));
  PetscCall(context->halo.Prepare(product->A, Space::Host));
  PetscCall(right_.Fetch(product->B, context->halo.forest(), fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::FindLocalPattern(const Mat_Product *product)
{
  Factors factors;

  PetscFunctionBegin;
  PetscCall(left_.BringPattern(product->A, space_));
  PetscCall(right_.BringPattern(product->B, space_));
  GetFactors(&factors);
  const CsrView transposed = type_ == MATPRODUCT_PtAP ? right_.OwnView() : left_.OwnView();
  PetscCall(local_.FindPattern(space_, factors.all, type_ == MATPRODUCT_AB ? nullptr : &transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::FindPattern(const Mat_Product *product, HostPattern patterns[2], bool *fits)
{
  const MPI_Comm        comm   = PetscObjectComm((PetscObject)product->A);
  const bool            triple = type_ == MATPRODUCT_PtAP;
  bool                  lacks  = false;
  Numbering             own;
  std::vector<PetscInt> i, j;

  PetscFunctionBegin;
  PetscCall(JoinRows(product, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TryOnDevice([&] { return FindLocalPattern(product); }, &lacks));
  PetscCall(AllAgree(comm, !lacks, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CopyToHost(local_.result().i, space_, &i));
  PetscCall(CopyToHost(local_.result().j, space_, &j));
  own.begin                = product->A->rmap->rstart;
  own.own                  = product->A->rmap->n;
  const Numbering  &rows   = triple ? right_.columns() : type_ == MATPRODUCT_AtB ? left_.columns() : own;
  const PetscLayout layout = (triple ? product->B : product->A)->cmap; // A B has no rows of others
  PetscCall(rows_.Find(layout, rows, right_.columns(), i, j, patterns, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TryOnDevice([&] { return rows_.BringMaps(space_); }, &lacks));
  PetscCall(AllAgree(comm, !lacks, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::Expect(Mat C)
{
  bool changed;

  PetscFunctionBegin;
  PetscCall(watch_.Look(C, &changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::Fits(const Mat_Product *product, Mat C, bool *fits)
{
  bool left, right, changed;

  PetscFunctionBegin;
  PetscCall(left_.Fits(product->A, &left));
  PetscCall(right_.Fits(product->B, &right));
  PetscCall(watch_.Look(C, &changed));
  *fits = left && right && !changed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ParallelProduct::GatherValues(const Mat_Product *product)
{
  PetscFunctionBegin;
  PetscCall(local_.Reserve());
  PetscCall(rows_.Reserve(&computed_));
  PetscCall(left_.GatherValues(product->A));
  PetscCall(right_.GatherValues(product->B));
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
