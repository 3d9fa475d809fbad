/// Products of the transpose, scattered from the matrix's rows by one thread.
#include <algorithm>
#include "mat/formats/csr/transposed.hpp"
#include "mat/formats/registry.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

std::unique_ptr<Format> MakeBaselineTransposed(bool hermitian)
{
  return std::make_unique<CsrTransposed>(hermitian);
}

const char *BaselineTransposed()
{
  return CsrTransposed::NAME;
}

PetscErrorCode CsrTransposed::BuildPattern(Plan *)
{
  PetscFunctionBegin;
  stored_ = nonzeros_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CsrTransposed::Borrow(const CsrView &A)
{
  i_        = A.i;
  j_        = A.j;
  borrowed_ = A.a;
}

/// sum[j] += a x over all entries, row by row.
template <bool hermitian>
static void Scatter(PetscInt rows, const PetscInt *i, const PetscInt *j, const Scalar *a, const Scalar *x, Scalar *sum)
{
  for (PetscInt r = 0; r < rows; r++) {
    const Scalar v = x[r];
    for (PetscInt e = i[r]; e < i[r + 1]; e++) sum[j[e]] += (hermitian ? Conj(a[e]) : a[e]) * v;
  }
}

PetscErrorCode CsrTransposed::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream)
{
  Scalar *sum = z;

  PetscFunctionBegin;
  if (y) {
    PetscCallCXX(sums_.resize(cols_));
    sum = sums_.data();
  }
  std::fill(sum, sum + cols_, Scalar(0));
  if (hermitian_)
    Scatter<true>(rows_, i_, j_, borrowed_, x, sum);
  else
    Scatter<false>(rows_, i_, j_, borrowed_, x, sum);
  if (y)
    for (PetscInt c = 0; c < cols_; c++) z[c] = y[c] + sum[c];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
