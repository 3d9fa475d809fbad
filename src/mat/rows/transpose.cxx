/// The pattern of a transpose by a counting sort.
#include "mat/rows/transpose.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

PetscErrorCode TransposePattern(const CsrView &A, std::vector<PetscInt> *i, std::vector<PetscInt> *j,
                                std::vector<PetscInt> *source)
{
  std::vector<PetscInt> next;

  PetscFunctionBegin;
  PetscCallCXX(i->assign(static_cast<size_t>(A.cols) + 1, 0));
  PetscCallCXX(j->resize(A.nonzeros));
  PetscCallCXX(source->resize(A.nonzeros));
  for (PetscInt e = 0; e < A.nonzeros; e++) ++(*i)[A.j[e] + 1];
  for (PetscInt c = 0; c < A.cols; c++) (*i)[c + 1] += (*i)[c];
  PetscCallCXX(next.assign(i->begin(), i->end()));
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscInt t = next[A.j[e]]++;
      (*j)[t]          = r;
      (*source)[t]     = e;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
