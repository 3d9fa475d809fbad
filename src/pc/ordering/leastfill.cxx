/// The best of PETSc's orderings for a direct factorization, by the operations that its fronts take: nested dissection
/// is the best for meshes, minimum degree for circuits and networks, and the analysis costs a fraction of a
/// factorization.
#include <petsc/private/matimpl.h>
#include <numeric>
#include "petsc/compat.hpp"
#include "pc/ordering/leastfill.hpp"
#include "pc/symbolic/elimination.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ordering
{

namespace
{
/// Rows of a matrix that PETSc's own minimum degree is tried on at most: its time grows fast.
constexpr PetscInt FEW_ROWS = 100000;
/// Operations of a factorization below which no second ordering is tried.
constexpr PetscLogDouble FEW_FLOPS = 1e6;

bool Known(const char name[])
{
  PetscErrorCode (*found)(Mat, MatOrderingType, IS *, IS *) = nullptr;
  PetscCallAbort(PETSC_COMM_SELF, PetscFunctionListFind(MatOrderingList, name, &found));
  return found != nullptr;
}

PetscErrorCode FlopsInOrder(const rows::CsrView &A, IS row, IS column, PetscLogDouble *flops)
{
  std::vector<PetscInt>      row_place(A.rows), column_place(A.rows);
  const PetscInt            *r, *c;
  symbolic::SymmetricPattern pattern;

  PetscFunctionBegin;
  PetscCall(ISGetIndices(row, &r));
  PetscCall(ISGetIndices(column, &c));
  for (PetscInt k = 0; k < A.rows; k++) {
    row_place[r[k]]    = k;
    column_place[c[k]] = k;
  }
  PetscCall(ISRestoreIndices(row, &r));
  PetscCall(ISRestoreIndices(column, &c));
  PetscCall(symbolic::SymmetricPatternOf(A, row_place, column_place, &pattern));
  PetscCall(symbolic::CountFlops(pattern, flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetOrdering_LeastFill(Mat A, MatOrderingType, IS *row, IS *column)
{
  std::vector<const char *> names;
  rows::CsrView             csr{};
  PetscLogDouble            least = 0;
  PetscBool                 done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr.rows, &csr.i, &csr.j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s needs the rows of the matrix, which type %s does not give",
             MATORDERINGLEASTFILL, ((PetscObject)A)->type_name);
  csr.cols     = csr.rows;
  csr.nonzeros = csr.rows > 0 ? csr.i[csr.rows] : 0;
  names.push_back(Known("metisnd") ? "metisnd" : MATORDERINGND);
  if (Known("amd"))
    names.push_back("amd");
  else if (csr.rows <= FEW_ROWS)
    names.push_back(MATORDERINGQMD);
  *row = nullptr;
  for (const char *name : names) {
    IS             r, c;
    PetscLogDouble flops;
    if (*row && least <= FEW_FLOPS) break;
    PetscCall(MatGetOrdering(A, name, &r, &c));
    PetscCall(FlopsInOrder(csr, r, c, &flops));
    PetscCall(PetscInfo(A, "Ordering %s: %g flops of a direct factorization\n", name, flops));
    if (!*row || flops < least) {
      if (*row) {
        PetscCall(ISDestroy(row));
        PetscCall(ISDestroy(column));
      }
      *row    = r;
      *column = c;
      least   = flops;
    } else {
      PetscCall(ISDestroy(&r));
      PetscCall(ISDestroy(&c));
    }
  }
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, nullptr, &csr.i, &csr.j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RegisterLeastFill()
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGLEASTFILL, MatGetOrdering_LeastFill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
