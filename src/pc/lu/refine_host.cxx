/// The host engine's part in refinement: residuals and the vectors of GMRES.
#include <limits>
#include "pc/lu/engine_host.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// b is added last: with x of order 1 / eps, sums that began with b would lose it, and a singular system would look
/// solved.
void HostEngine::ResidualOf(PetscInt column, const Scalar *b, const Scalar *x, bool transpose, ResidualSize *size)
{
  const LuAnalysis            &A = *analysis_;
  const std::vector<PetscInt> &i = A.i, &j = A.j;
  PetscReal                    most = 0, largest_x = 0, largest_b = 0;
  Scalar                      *r      = Kept(residual_, column);
  bool                         finite = true, finite_b = true;

  std::fill_n(r, A.rows, Scalar(0));
  for (PetscInt k = 0; k < A.rows; k++) {
    for (PetscInt e = i[k]; e < i[k + 1]; e++) {
      if (transpose)
        r[j[e]] += a_[e] * x[k];
      else
        r[k] += a_[e] * x[j[e]];
    }
    largest_x = std::max(largest_x, Magnitude(x[k]));
    largest_b = std::max(largest_b, Magnitude(b[k]));
    finite_b  = finite_b && IsFinite(Magnitude(b[k]));
  }
  for (PetscInt k = 0; k < A.rows; k++) {
    r[k]                      = b[k] - r[k];
    const PetscReal magnitude = Magnitude(r[k]);
    finite                    = finite && IsFinite(magnitude);
    most                      = std::max(most, magnitude);
  }
  *size = finite ? SizeOf(most, transpose ? column_norm_ : row_norm_, largest_x, largest_b) : ResidualSize();
  if (!finite_b) size->error = std::numeric_limits<PetscReal>::quiet_NaN();
}
PetscErrorCode HostEngine::Residual(const LuColumns &columns, const Scalar *b, PetscInt ldb, const Scalar *x,
                                    PetscInt ldx, bool transpose, ResidualSize *size)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < columns.count; k++)
    ResidualOf(columns.at[k], b + static_cast<size_t>(columns.at[k]) * ldb,
               x + static_cast<size_t>(columns.at[k]) * ldx, transpose, &size[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Correct(const LuColumns &columns, Scalar *x, PetscInt ldx, bool transpose)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < columns.count; k++)
    std::copy_n(x + static_cast<size_t>(columns.at[k]) * ldx, analysis_->rows, Kept(before_, columns.at[k]));
  PetscCall(ApplyTo(columns, residual_.data(), analysis_->rows, x, ldx, transpose, true, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Basis(PetscInt count, Scalar **v)
{
  PetscFunctionBegin;
  PetscCallCXX(basis_.resize(static_cast<size_t>(count) * static_cast<size_t>(analysis_->rows)));
  *v = basis_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::KeptResidual(Scalar *v, bool scaled, bool transpose)
{
  const std::vector<PetscReal> &scale = transpose ? column_scale_ : row_scale_;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < analysis_->rows; k++) v[k] = scaled ? Scalar(scale[k]) * residual_[k] : residual_[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Multiply(const Scalar *z, Scalar *v, bool scaled, bool transpose)
{
  const std::vector<PetscInt>  &i = analysis_->i, &j = analysis_->j;
  const std::vector<PetscReal> &scale = transpose ? column_scale_ : row_scale_;

  PetscFunctionBegin;
  std::fill_n(v, analysis_->rows, Scalar(0));
  for (PetscInt r = 0; r < analysis_->rows; r++)
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      if (transpose)
        v[j[e]] += a_[e] * z[r];
      else
        v[r] += a_[e] * z[j[e]];
    }
  for (PetscInt k = 0; scaled && k < analysis_->rows; k++) v[k] = Scalar(scale[k]) * v[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Dots(PetscInt count, const Scalar *v, const Scalar *w, Scalar *result)
{
  const size_t n = static_cast<size_t>(analysis_->rows);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) {
    const Scalar *column = v + static_cast<size_t>(k) * n;
    result[k]            = Scalar(0);
    for (size_t r = 0; r < n; r++) result[k] += Conj(column[r]) * w[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Combine(PetscInt count, const Scalar *c, const Scalar *v, PetscReal beta, Scalar *y)
{
  const size_t n = static_cast<size_t>(analysis_->rows);

  PetscFunctionBegin;
  for (size_t r = 0; r < n; r++) {
    Scalar sum = beta == 0 ? Scalar(0) : Scalar(beta) * y[r];
    for (PetscInt k = 0; k < count; k++) sum += c[k] * v[static_cast<size_t>(k) * n + r];
    y[r] = sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::AddTo(Scalar *x, const Scalar *d)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < analysis_->rows; r++) {
    before_[r] = x[r];
    x[r] += d[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Values(std::vector<Scalar> *a)
{
  PetscFunctionBegin;
  PetscCallCXX(*a = a_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Sample(const Scalar **b, Scalar **product, Scalar **x)
{
  const PetscInt n = analysis_->rows;

  PetscFunctionBegin;
  PetscCallCXX(sample_.resize(3 * static_cast<size_t>(n)));
  for (PetscInt r = 0; r < n; r++) sample_[r] = Scalar(SampleEntry(r));
  *b       = sample_.data();
  *product = sample_.data() + n;
  *x       = *product + n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
