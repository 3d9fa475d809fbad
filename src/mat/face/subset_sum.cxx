/// A first pass looks for each entry of X in Y's row, a second one adds. In parallel the blocks are added when all
/// ranks have found all entries of theirs; ghosts have other numbers in X than in Y.
#include "mat/face/subset_sum.hpp"
#include <algorithm>
#include "mat/face/parallel_away.hpp"
#include "mat/face/pieces.hpp"

namespace sparsegpu::face
{

using namespace there;

PetscErrorCode SubsetSum::Prepare(Mat Y, PetscScalar alpha, Mat X, const std::vector<PetscInt> *number, bool *fits)
{
  const int none = 0;
  PetscBool seq, mpi;
  Context  *context;
  CsrView   csr;
  int       any = 0;

  PetscFunctionBegin;
  *fits = false;
  PetscCall(IsOurs(X, &seq, &mpi));
  if (seq) PetscCall(IsOurs(Y, &seq, &mpi));
  if (!seq || X->rmap->n != Y->rmap->n || (!number && X->cmap->n != Y->cmap->n)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(X, &context));
  PetscCall(context->rows.GetShape(X, &csr));
  *fits = csr.nonzeros == 0;
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Find(Y, Need::Write, &y_));
  PetscCall(Pattern(Y, &y_, &add_.i, &add_.j));
  if (y_.is) PetscCall(Bring(X, y_.space, true, &x_));
  if (!y_.is || !x_.is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(lost_.Copy(&none, 1, y_.space));
  if (number) PetscCall(number_.Copy(number->data(), number->size(), y_.space));
  add_.number = number ? number_.data() : nullptr;
  add_.alpha  = Ours(alpha);
  add_.x      = CsrArrays{x_.pattern.device.i, x_.pattern.device.j, x_.a};
  add_.y      = nullptr;
  add_.lost   = lost_.data();
  PetscCall(values::ForEach(y_.space, y_.pattern.rows, add_));
  if (y_.space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(&any, lost_.data(), sizeof(any), stream));
  } else {
    any = *lost_.data();
  }
  *fits = !any; // no subset: PETSc puts the entries in, if the matrix lets it
  Y_    = Y;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubsetSum::Add()
{
  PetscFunctionBegin;
  if (!Y_) PetscFunctionReturn(PETSC_SUCCESS);
  add_.y = y_.a;
  PetscCall(Write(Y_, y_, y_.pattern.rows, add_, 2.0 * x_.pattern.nonzeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddSubsetParallel(Mat Y, PetscScalar alpha, Mat X, bool *done)
{
  BlocksMayLeave        scope;
  SubsetSum             sums[2];
  Mat                   x[2], y[2];
  const PetscInt       *from, *to;
  std::vector<PetscInt> number;
  bool                  fits[2] = {false, false};

  PetscFunctionBegin;
  for (Mat A : {X, Y}) PetscCall(ConvertBlocks(A));
  PetscCall(scope.Begin(Y));
  PetscCall(MatMPIAIJGetSeqAIJ(X, &x[0], &x[1], &from));
  PetscCall(MatMPIAIJGetSeqAIJ(Y, &y[0], &y[1], &to));
  const PetscInt *const end = to + y[1]->cmap->n;
  for (PetscInt k = 0; k < x[1]->cmap->n; k++) {
    const PetscInt *const at = std::lower_bound(to, end, from[k]);
    if (at != end && *at == from[k]) PetscCallCXX(number.push_back(static_cast<PetscInt>(at - to)));
  }
  const bool all = static_cast<PetscInt>(number.size()) == x[1]->cmap->n && X->cmap->rstart == Y->cmap->rstart;
  if (all) PetscCall(sums[0].Prepare(y[0], alpha, x[0], nullptr, &fits[0]));
  if (fits[0]) PetscCall(sums[1].Prepare(y[1], alpha, x[1], &number, &fits[1]));
  PetscCall(AllAgree(PetscObjectComm((PetscObject)Y), fits[0] && fits[1], done));
  for (SubsetSum &sum : sums)
    if (*done) PetscCall(sum.Add());
  PetscCall(scope.End());
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  Context *context;
  PetscCall(GetContext(Y, &context));
  const NothingSet nothing(context);
  PetscCall(MatAssemblyBegin(Y, MAT_FINAL_ASSEMBLY)); // forgets symmetry and the like, as PETSc's does
  PetscCall(MatAssemblyEnd(Y, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
