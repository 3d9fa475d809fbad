/// Products of sparse matrices: the backend by the space that they lie in. On the host, where PETSc's own product is
/// the one to use, these plain loops are what the device's results are compared with.
#include "mat/products/multiply.hpp"
#include <algorithm>
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

namespace
{
PetscErrorCode PatternOnHost(const SparseRows &A, const SparseRows &B, Pattern *C)
{
  const CsrArrays      &a = A.arrays, &b = B.arrays;
  std::vector<PetscInt> i, j, row, seen;

  PetscFunctionBegin;
  PetscCallCXX(i.assign(static_cast<size_t>(A.rows) + 1, 0));
  PetscCallCXX(seen.assign(B.cols, -1));
  C->longest = 0;
  C->terms   = 0;
  for (PetscInt r = 0; r < A.rows; r++) {
    row.clear();
    for (PetscInt e = a.i[r]; e < a.i[r + 1]; e++)
      for (PetscInt k = b.i[a.j[e]]; k < b.i[a.j[e] + 1]; k++) {
        C->terms++;
        if (seen[b.j[k]] == r) continue;
        seen[b.j[k]] = r;
        PetscCallCXX(row.push_back(b.j[k]));
      }
    std::sort(row.begin(), row.end());
    PetscCheck(row.size() <= static_cast<size_t>(PETSC_MAX_INT - i[r]), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "The product has more than %" PetscInt_FMT " nonzeros in its first %" PetscInt_FMT " rows",
               PETSC_MAX_INT, r + 1);
    PetscCallCXX(j.insert(j.end(), row.begin(), row.end()));
    i[r + 1]   = static_cast<PetscInt>(j.size());
    C->longest = std::max(C->longest, static_cast<PetscInt>(row.size()));
  }
  PetscCall(C->i.Take(std::move(i), Space::Host));
  PetscCall(C->j.Take(std::move(j), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesOnHost(const SparseRows &A, const SparseRows &B, const SparseRows &C, Scalar *c, int *lost)
{
  const CsrArrays &a = A.arrays, &b = B.arrays;
  const PetscInt  *i = C.arrays.i, *j = C.arrays.j;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < A.rows; r++) {
    std::fill(c + i[r], c + i[r + 1], Scalar(0));
    for (PetscInt e = a.i[r]; e < a.i[r + 1]; e++)
      for (PetscInt k = b.i[a.j[e]]; k < b.i[a.j[e] + 1]; k++) {
        const PetscInt *at = std::lower_bound(j + i[r], j + i[r + 1], b.j[k]);
        if (at != j + i[r + 1] && *at == b.j[k])
          c[at - j] += a.a[e] * b.a[k];
        else if (lost)
          *lost = 1;
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MultiplyPattern(Space space, const SparseRows &A, const SparseRows &B, Pattern *C)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    PetscCall(MultiplyPattern_CUDA(A, B, C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PatternOnHost(A, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultiplyValues(Space space, const SparseRows &A, const SparseRows &B, const SparseRows &C,
                              PetscInt longest, const unsigned char *place, Scalar *c, int *lost)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    PetscCall(MultiplyValues_CUDA(A, B, C, longest, place, c, lost));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(ValuesOnHost(A, B, C, c, lost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
