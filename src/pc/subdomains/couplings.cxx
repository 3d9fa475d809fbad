/// Couplings are dropped on the host, row by row.
#include "pc/subdomains/couplings.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

PetscErrorCode Uncoupled::Drop(const CsrView &A, const Cut &cut)
{
  const PetscInt *of_column = cut.OfColumn();

  PetscFunctionBegin;
  PetscCallCXX(i.assign(static_cast<size_t>(A.rows) + 1, 0));
  for (PetscInt r = 0; r < A.rows; r++) {
    i[r + 1] = i[r];
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) i[r + 1] += of_column[A.j[e]] == cut.of_row[r];
  }
  PetscCallCXX(j.resize(i.back()));
  PetscCallCXX(entry.resize(i.back()));
  for (PetscInt r = 0, k = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      if (of_column[A.j[e]] != cut.of_row[r]) continue;
      j[k]       = A.j[e];
      entry[k++] = e;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
