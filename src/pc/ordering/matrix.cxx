/// The rows of any type that gives them, made symmetric.
#include "pc/ordering/matrix.hpp"
#include <algorithm>
#include <numeric>
#include <petsc/private/matimpl.h>
#include "device/scalar.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

PetscErrorCode GraphOf(Mat A, SymmetricPattern *pattern, bool *moves)
{
  rows::CsrView csr{};
  Indices       natural;
  PetscBool     done;
  PetscInt      lacking = 0;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr.rows, &csr.i, &csr.j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "An ordering needs the rows of the matrix, which type %s does not give", ((PetscObject)A)->type_name);
  PetscCheck(csr.rows == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "An ordering needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, csr.rows, A->cmap->n);
  csr.cols     = csr.rows;
  csr.nonzeros = csr.rows > 0 ? csr.i[csr.rows] : 0;
  if (moves) {
    PetscInt diagonal = 0;
    for (PetscInt r = 0; r < csr.rows; r++)
      for (PetscInt e = csr.i[r]; e < csr.i[r + 1]; e++) diagonal += csr.j[e] == r;
    lacking = csr.rows - diagonal;
    *moves  = ManyLackPivots(lacking, csr.rows);
  }
  if (!moves || !*moves) {
    PetscCallCXX(natural.resize(csr.rows));
    std::iota(natural.begin(), natural.end(), 0);
    PetscCall(symbolic::SymmetricPatternOf(csr, natural, natural, pattern));
    const PetscCount off = csr.nonzeros - (csr.rows - lacking);
    if (moves) *moves = lacking > 0 && off != static_cast<PetscCount>(pattern->j.size());
  }
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, nullptr, &csr.i, &csr.j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateOrder(const Indices &order, IS *row, IS *column)
{
  PetscFunctionBegin;
  for (IS *is : {row, column}) {
    PetscCall(
        ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(order.size()), order.data(), PETSC_COPY_VALUES, is));
    PetscCall(ISSetPermutation(*is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeIndices(IS is, Indices *all)
{
  const PetscInt *indices;
  PetscInt        n;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &indices));
  PetscCallCXX(all->assign(indices, indices + n));
  PetscCall(ISRestoreIndices(is, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char TAKEN[] = "SparseGPUOrdering";

PetscErrorCode SetTaken(IS row, const std::string &taken)
{
  std::string *kept;

  PetscFunctionBegin;
  PetscCallCXX(kept = new std::string(taken));
  PetscCall(ComposeOwned((PetscObject)row, TAKEN, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetTaken(IS row, std::string *taken)
{
  PetscObject container;
  void       *kept;

  PetscFunctionBegin;
  taken->clear();
  PetscCall(PetscObjectQuery((PetscObject)row, TAKEN, &container));
  if (!container) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerGetPointer((PetscContainer)container, &kept));
  PetscCallCXX(*taken = *static_cast<std::string *>(kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OrderOf(Mat A, const char type[], Indices *order, std::string *taken)
{
  IS rows, columns;

  PetscFunctionBegin;
  PetscCall(MatGetOrdering(A, type, &rows, &columns));
  PetscCall(TakeIndices(columns, order));
  if (taken) PetscCall(GetTaken(rows, taken));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OrderByPetsc(const SymmetricPattern &A, const char type[], Indices *order)
{
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;
  Mat                   M;

  PetscFunctionBegin;
  PetscCheck(A.i[A.n] <= PETSC_MAX_INT - A.n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " nodes and %.0f edges are too many for PetscInt", A.n, (double)A.i[A.n]);
  PetscCallCXX(i.assign(1, 0));
  PetscCallCXX(j.reserve(A.j.size() + A.n));
  for (PetscInt k = 0; k < A.n; k++) { // columns ascend, and the diagonal is there
    const size_t begin = j.size();
    PetscCallCXX(j.insert(j.end(), A.j.begin() + A.i[k], A.j.begin() + A.i[k + 1]));
    PetscCallCXX(j.push_back(k));
    std::sort(j.begin() + static_cast<std::ptrdiff_t>(begin), j.end());
    PetscCallCXX(i.push_back(static_cast<PetscInt>(j.size())));
  }
  PetscCallCXX(a.assign(j.size(), Scalar(1)));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, A.n, A.n, i.data(), j.data(),
                                      reinterpret_cast<PetscScalar *>(a.data()), &M));
  PetscCall(OrderOf(M, type, order));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
