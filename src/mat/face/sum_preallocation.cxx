/// The room that a sum of two matrices needs.
#include <algorithm>
#include <iterator>
#include <vector>
#include "mat/face/value_operations.hpp"

namespace sparsegpu::face
{

/// The columns of row r of A, in ascending order.
static PetscErrorCode SortedColumns(Mat A, PetscInt r, std::vector<PetscInt> *columns)
{
  PetscInt        count;
  const PetscInt *j;

  PetscFunctionBegin;
  PetscCall(MatGetRow(A, r, &count, &j, nullptr));
  PetscCallCXX(columns->assign(j, j + count));
  PetscCall(MatRestoreRow(A, r, &count, &j, nullptr));
  std::sort(columns->begin(), columns->end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAXPYGetPreallocation_SparseGPU(Mat Y, Mat X, Mat *B)
{
  std::vector<PetscInt> lengths, x, y, both;
  MatType               type;

  PetscFunctionBegin;
  PetscCallCXX(lengths.resize(Y->rmap->n));
  PetscCall(MatGetRowUpperTriangular(X));
  for (PetscInt r = 0; r < Y->rmap->n; r++) {
    PetscCall(SortedColumns(Y, r, &y));
    PetscCall(SortedColumns(X, r, &x));
    both.clear();
    PetscCallCXX(std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both)));
    lengths[r] = static_cast<PetscInt>(both.size());
  }
  PetscCall(MatRestoreRowUpperTriangular(X));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)Y), B));
  PetscCall(PetscObjectSetName((PetscObject)*B, ((PetscObject)Y)->name));
  PetscCall(MatSetLayouts(*B, Y->rmap, Y->cmap));
  PetscCall(MatGetType(Y, &type));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, lengths.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
