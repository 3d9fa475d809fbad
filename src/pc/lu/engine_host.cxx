/// The host engine's factorization and its solves: scaling, places of the entries, fronts.
#include "pc/lu/engine_host.hpp"
#include <unistd.h>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Allocates what the analysis says that the factorization needs, before any work is done.
PetscErrorCode Allocate(PetscCount entries, const char what[], std::vector<Scalar> *array)
{
  const double bytes = static_cast<double>(entries) * sizeof(Scalar);
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  bool         taken = bytes <= there; // the system may promise more and fail later

  PetscFunctionBegin;
  try {
    array->clear();
    if (taken) array->resize(static_cast<size_t>(entries));
  } catch (const std::exception &) {
    taken = false;
  }
  PetscCheck(taken, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "The %s of the direct factorization need %.4g bytes; this machine has %.4g, and not enough of them free "
             "(another -pc_factor_mat_ordering_type may need less)",
             what, bytes, there);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode HostEngine::Symbolic(const LuAnalysis &analysis)
{
  const FrontPlan &plan = analysis.plan;
  const PetscInt   n    = analysis.rows;

  PetscFunctionBegin;
  analysis_ = &analysis;
  PetscCallCXX(row_scale_ = analysis.row_scale);
  PetscCallCXX(column_scale_ = analysis.column_scale);
  values_.clear(); // they may be large: allocated again by Numeric()
  values_.shrink_to_fit();
  work_.clear();
  work_.shrink_to_fit();
  basis_.clear();
  basis_.shrink_to_fit();
  PetscCallCXX(local_row_.resize(n));
  PetscCallCXX(w_.resize(n));
  PetscCallCXX(column_sums_.resize(n));
  PetscCallCXX(scratch_.resize(plan.most_pivots + plan.widest));
  PetscCallCXX(residual_.resize(analysis.refine ? n : 0));
  PetscCallCXX(before_.resize(analysis.refine ? n : 0));
  PetscCallCXX(a_.resize(analysis.refine ? analysis.j.size() : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HostEngine::ScaleByDiagonal(const Scalar *a)
{
  const std::vector<PetscInt> &i = analysis_->i, &j = analysis_->j;

  row_scale_.resize(analysis_->rows);
  for (PetscInt r = 0; r < analysis_->rows; r++) {
    PetscReal diagonal = 0, most = 0;
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      const PetscReal magnitude = Magnitude(a[e]);
      if (!IsFinite(magnitude)) continue;
      most = std::max(most, magnitude);
      if (j[e] == r) diagonal = magnitude;
    }
    row_scale_[r] = DiagonalScale(diagonal, most);
  }
  column_scale_ = row_scale_;
}

/// Rows, then columns, have a largest entry in [1/2, 1).
void HostEngine::Equilibrate(const Scalar *a)
{
  const std::vector<PetscInt> &i = analysis_->i, &j = analysis_->j;
  std::vector<PetscReal>      &most = column_sums_;

  std::fill(most.begin(), most.end(), PetscReal(0));
  for (PetscInt r = 0; r < analysis_->rows; r++) {
    PetscReal largest = 0;
    for (PetscInt e = i[r]; e < i[r + 1]; e++)
      if (IsFinite(Magnitude(a[e]))) largest = std::max(largest, Magnitude(a[e]));
    row_scale_[r] = InverseScale(largest);
    for (PetscInt e = i[r]; e < i[r + 1]; e++)
      if (IsFinite(Magnitude(a[e]))) most[j[e]] = std::max(most[j[e]], row_scale_[r] * Magnitude(a[e]));
  }
  for (PetscInt c = 0; c < analysis_->rows; c++) column_scale_[c] = InverseScale(most[c]);
}

PetscErrorCode HostEngine::Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report)
{
  const LuAnalysis            &A    = *analysis_;
  const FrontPlan             &plan = A.plan;
  const std::vector<PetscInt> &i = A.i, &j = A.j;
  std::vector<PetscReal>      &sums    = column_sums_;
  PetscReal                    largest = 0;

  PetscFunctionBegin;
  if (static_cast<PetscCount>(values_.size()) != plan.values) {
    PetscCall(Allocate(plan.values, "factors", &values_));
    PetscCall(Allocate(plan.work, "updates", &work_));
  }
  row_norm_ = 0;
  if (!A.matched && A.symmetric) PetscCallCXX(ScaleByDiagonal(a));
  if (!A.matched && !A.symmetric) Equilibrate(a);
  std::fill(sums.begin(), sums.end(), PetscReal(0));
  std::fill(values_.begin(), values_.end(), Scalar(0));
  for (PetscInt r = 0; r < A.rows; r++) {
    PetscReal sum = 0;
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      const PetscReal scale     = row_scale_[r] * column_scale_[j[e]];
      const PetscReal magnitude = Magnitude(a[e]);
      const Scalar    own       = Scalar(scale) * a[e];
      const Scalar    value     = plan.shape == Shape::Hermitian && j[e] != r ? Conj(own) : own;
      sum += magnitude;
      sums[j[e]] += magnitude;
      largest = std::max(largest, scale * magnitude);
      if (plan.place[e] >= 0) values_[plan.place[e]] = value;
    }
    row_norm_ = std::max(row_norm_, sum);
  }
  column_norm_ = A.rows > 0 ? *std::max_element(sums.begin(), sums.end()) : 0;
  if (!a_.empty()) std::copy_n(a, a_.size(), a_.data());
  PetscCall(LuNumeric_Host(A.tree, plan, policy.For(largest), values_.data(), local_row_.data(), work_.data(), report));
  report->growth /= std::max(largest, PetscReal(1));
  PetscCall(PetscLogFlops(plan.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostEngine::Room(PetscInt *width)
{
  PetscFunctionBegin;
  *width = std::min(*width, LU_COLUMNS);
  if (!analysis_->refine) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t entries = static_cast<size_t>(*width) * static_cast<size_t>(analysis_->rows);
  if (residual_.size() < entries) PetscCallCXX(residual_.resize(entries));
  if (before_.size() < entries) PetscCallCXX(before_.resize(entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x = or += the factors' inverse times b, or, without `scale`, times what b becomes once it is scaled.
PetscErrorCode HostEngine::ApplyTo(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   bool transpose, bool scale, bool add)
{
  const LuAnalysis            &A       = *analysis_;
  const FrontPlan             &plan    = A.plan;
  const std::vector<PetscInt> &from    = transpose ? A.column_order : A.row_order,
                              &to      = transpose ? A.row_order : A.column_order;
  const std::vector<PetscReal> &before = transpose ? column_scale_ : row_scale_,
                               &after  = transpose ? row_scale_ : column_scale_;
  const size_t   n = static_cast<size_t>(A.rows), m = static_cast<size_t>(plan.most_pivots + plan.widest);
  const PetscInt count = columns.count;

  PetscFunctionBegin;
  if (w_.size() < n * count) PetscCallCXX(w_.resize(n * count));
  if (scratch_.size() < m * count) PetscCallCXX(scratch_.resize(m * count));
  for (PetscInt c = 0; c < count; c++)
    for (size_t k = 0; k < n; k++) {
      const Scalar &entry = b[static_cast<size_t>(columns.at[c]) * ldb + from[k]];
      w_[c * n + k]       = scale ? Scalar(before[from[k]]) * entry : entry;
    }
  PetscCall(LuSolve_Host(A.tree, plan, values_.data(), local_row_.data(), transpose, count, w_.data(), A.rows,
                         scratch_.data()));
  for (PetscInt c = 0; c < count; c++)
    for (size_t k = 0; k < n; k++) {
      const Scalar v  = Scalar(after[to[k]]) * w_[c * n + k];
      Scalar      &at = x[static_cast<size_t>(columns.at[c]) * ldx + to[k]];
      at              = add ? at + v : v;
    }
  PetscCall(PetscLogFlops(plan.solve_flops * count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble HostEngine::Bytes() const
{
  const auto        bytes = [](const auto &v) { return static_cast<PetscLogDouble>(v.size() * sizeof(v[0])); };
  const LuAnalysis &A     = *analysis_;
  return static_cast<PetscLogDouble>(A.plan.values + A.plan.work) * sizeof(Scalar) + bytes(A.plan.place) +
         bytes(A.tree.row) + bytes(A.tree.relative) + bytes(A.i) + bytes(A.j) + bytes(a_) + bytes(w_) +
         bytes(residual_) + bytes(before_) + bytes(sample_) + bytes(basis_);
}
std::unique_ptr<LuEngine> MakeLuEngine_Host()
{
  return std::make_unique<HostEngine>();
}

} // namespace sparsegpu::lu
