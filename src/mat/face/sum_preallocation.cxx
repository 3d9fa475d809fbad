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
  std::vector<PetscInt> lengths, off, x, y, both;
  const PetscInt        rows = Y->rmap->n, first = Y->cmap->rstart, end = Y->cmap->rend;
  MatType               type;

  PetscFunctionBegin;
  PetscCallCXX(lengths.resize(static_cast<size_t>(rows)));
  PetscCallCXX(off.resize(static_cast<size_t>(rows)));
  PetscCall(MatGetRowUpperTriangular(X));
  for (PetscInt r = 0; r < rows; r++) {
    PetscCall(SortedColumns(Y, Y->rmap->rstart + r, &y));
    PetscCall(SortedColumns(X, Y->rmap->rstart + r, &x));
    both.clear();
    PetscCallCXX(std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both)));
    const auto     from             = std::lower_bound(both.begin(), both.end(), first);
    const PetscInt here             = static_cast<PetscInt>(std::lower_bound(from, both.end(), end) - from);
    lengths[static_cast<size_t>(r)] = here;
    off[static_cast<size_t>(r)]     = static_cast<PetscInt>(both.size()) - here;
  }
  PetscCall(MatRestoreRowUpperTriangular(X));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)Y), B));
  PetscCall(PetscObjectSetName((PetscObject)*B, ((PetscObject)Y)->name));
  PetscCall(MatSetLayouts(*B, Y->rmap, Y->cmap));
  PetscCall(MatGetType(Y, &type));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, lengths.data()));
  PetscCall(MatMPIAIJSetPreallocation(*B, 0, lengths.data(), 0, off.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
