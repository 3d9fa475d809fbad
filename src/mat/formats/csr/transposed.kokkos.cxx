/// Products of the transpose, scattered from the matrix's rows by one thread.
#include <algorithm>
#include <cstddef>
#include "mat/formats/csr/transposed.hpp"
#include "mat/formats/registry.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
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

/// sum[j] += a x over all entries for n columns.
template <int n, bool hermitian>
static void ScatterColumns(PetscInt rows, const PetscInt *i, const PetscInt *j, const Scalar *a, const DenseColumns &d)
{
  const std::ptrdiff_t ldx = d.ldx, ldz = d.ldz;
  for (PetscInt r = 0; r < rows; r++) {
    Scalar v[n];
    for (int c = 0; c < n; c++) v[c] = d.x[r + c * ldx];
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      const Scalar value = hermitian ? Conj(a[e]) : a[e];
      Scalar      *sum   = d.z + j[e];
      for (int c = 0; c < n; c++) sum[c * ldz] += value * v[c];
    }
  }
}

PetscErrorCode CsrTransposed::MultDense(const DenseColumns &d, DeviceMemory *, Stream)
{
  constexpr PetscInt COLUMNS = 4; // of X and of Z, both in the caches

  PetscFunctionBegin;
  for (PetscInt c = 0; c < d.count;) {
    const PetscInt     taken = d.count - c >= COLUMNS ? COLUMNS : 1;
    const DenseColumns part  = d.Part(c, taken);
    for (PetscInt k = 0; k < taken; k++) std::fill(part.Z(k), part.Z(k) + cols_, Scalar(0));
    if (taken == 1)
      hermitian_ ? ScatterColumns<1, true>(rows_, i_, j_, borrowed_, part)
                 : ScatterColumns<1, false>(rows_, i_, j_, borrowed_, part);
    else
      hermitian_ ? ScatterColumns<COLUMNS, true>(rows_, i_, j_, borrowed_, part)
                 : ScatterColumns<COLUMNS, false>(rows_, i_, j_, borrowed_, part);
    c += taken;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
