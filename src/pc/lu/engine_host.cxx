/// The host engine's factorization and its solves: scaling, places of the entries, fronts.
#include "pc/lu/engine_host.hpp"
#include <unistd.h>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Allocates what the analysis says that the factorization needs, before any work is done.
template <class Number> PetscErrorCode Allocate(PetscCount entries, const char what[], std::vector<Number> *array)
{
  const double bytes = static_cast<double>(entries) * sizeof(Number);
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
  const PetscInt n = analysis.rows;

  PetscFunctionBegin;
  analysis_ = &analysis;
  PetscCallCXX(row_scale_ = analysis.row_scale);
  PetscCallCXX(column_scale_ = analysis.column_scale);
  basis_.clear();
  basis_.shrink_to_fit();
  PetscCallCXX(column_sums_.resize(n));
  PetscCallCXX(residual_.resize(analysis.refine ? n : 0));
  PetscCallCXX(before_.resize(analysis.refine ? n : 0));
  PetscCallCXX(a_.resize(analysis.refine ? analysis.j.size() : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode HostFactors<Number>::Symbolic(const LuAnalysis &analysis)
{
  PetscFunctionBegin;
  PetscCall(HostEngine::Symbolic(analysis));
  values_.clear(); // they may be large: allocated again by Numeric()
  values_.shrink_to_fit();
  work_.clear();
  work_.shrink_to_fit();
  PetscCallCXX(local_row_.resize(analysis.rows));
  PetscCallCXX(met_.resize(analysis.symmetric ? analysis.rows : 0));
  PetscCallCXX(pair_.resize(analysis.paired ? analysis.rows : 0));
  const size_t apart = analysis.tree.apart >= 0 ? static_cast<size_t>(analysis.tree.Pivots(analysis.tree.apart)) : 0;
  PetscCallCXX(apart_.resize(apart * apart));
  PetscCallCXX(w_.resize(analysis.rows));
  PetscCallCXX(scratch_.resize(analysis.plan.most_pivots + analysis.plan.widest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> void HostFactors<Number>::ScaleByDiagonal(const Scalar *a)
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
template <class Number> void HostFactors<Number>::Equilibrate(const Scalar *a)
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

/// Scales, norms, and the matrix's entries in the fronts. *largest: of the scaled entries.
template <class Number> void HostFactors<Number>::Fill(const Scalar *a, PetscReal *largest)
{
  const LuAnalysis            &A    = *analysis_;
  const FrontPlan             &plan = A.plan;
  const std::vector<PetscInt> &i = A.i, &j = A.j;
  std::vector<PetscReal>      &sums = column_sums_;

  row_norm_ = 0;
  *largest  = 0;
  if (!A.matched && A.symmetric) ScaleByDiagonal(a);
  if (!A.matched && !A.symmetric) Equilibrate(a);
  std::fill(sums.begin(), sums.end(), PetscReal(0));
  std::fill(values_.begin(), values_.end(), Number(0));
  for (PetscInt r = 0; r < A.rows; r++) {
    PetscReal sum = 0;
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      const PetscReal scale     = row_scale_[r] * column_scale_[j[e]];
      const PetscReal magnitude = Magnitude(a[e]);
      const Scalar    own       = Scalar(scale) * a[e];
      const Scalar    value     = plan.shape == Shape::Hermitian && j[e] != r ? Conj(own) : own;
      sum += magnitude;
      sums[j[e]] += magnitude;
      *largest = std::max(*largest, scale * magnitude);
      if (plan.place[e] >= 0) values_[plan.place[e]] = Rounded<Number>(value);
    }
    row_norm_ = std::max(row_norm_, sum);
  }
  column_norm_ = A.rows > 0 ? *std::max_element(sums.begin(), sums.end()) : 0;
}

template <class Number>
PetscErrorCode HostFactors<Number>::Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report)
{
  const LuAnalysis &A    = *analysis_;
  const FrontPlan  &plan = A.plan;
  PetscReal         largest;

  PetscFunctionBegin;
  if (static_cast<PetscCount>(values_.size()) != plan.values) {
    PetscCall(Allocate(plan.values, "factors", &values_));
    PetscCall(Allocate(plan.work, "updates", &work_));
  }
  Fill(a, &largest);
  if (!a_.empty() && a != a_.data()) std::copy_n(a, a_.size(), a_.data());
  const PivotsOf<Number> pivots{local_row_.data(), A.paired ? pair_.data() : nullptr,
                                met_.empty() ? nullptr : met_.data()};
  PetscCall(
      LuNumeric_Host(A.tree, plan, policy.For(largest), pivots, values_.data(), apart_.data(), work_.data(), report));
  report->largest = largest;
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

template <class Number> PetscErrorCode HostFactors<Number>::TakeColumns(PetscInt count)
{
  const FrontPlan &plan = analysis_->plan;
  const size_t     n = static_cast<size_t>(analysis_->rows), m = static_cast<size_t>(plan.most_pivots + plan.widest);

  PetscFunctionBegin;
  if (w_.size() < n * count) PetscCallCXX(w_.resize(n * count));
  if (scratch_.size() < m * count) PetscCallCXX(scratch_.resize(m * count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode HostFactors<Number>::ApplyTo(const LuColumns &columns, const Scalar *b,
                                                                    PetscInt ldb, Scalar *x, PetscInt ldx,
                                                                    bool transpose, bool scale, bool add)
{
  const LuAnalysis            &A       = *analysis_;
  const FrontPlan             &plan    = A.plan;
  const std::vector<PetscInt> &from    = transpose ? A.column_order : A.row_order,
                              &to      = transpose ? A.row_order : A.column_order;
  const std::vector<PetscReal> &before = transpose ? column_scale_ : row_scale_,
                               &after  = transpose ? row_scale_ : column_scale_;
  const size_t   n                     = static_cast<size_t>(A.rows);
  const PetscInt count                 = columns.count;
  PetscReal      range[LU_COLUMNS]     = {0}; // what brings a column into the range of Number

  PetscFunctionBegin;
  PetscCall(TakeColumns(count));
  for (PetscInt c = 0; c < count; c++) {
    const Scalar *const column = b + static_cast<size_t>(columns.at[c]) * ldb;
    const auto scaled = [&](size_t k) { return scale ? Scalar(before[from[k]]) * column[from[k]] : column[from[k]]; };
    for (size_t k = 0; k < n && sizeof(Number) < sizeof(Scalar); k++)
      if (IsFinite(Magnitude(scaled(k)))) range[c] = std::max(range[c], Magnitude(scaled(k)));
    range[c] = sizeof(Number) < sizeof(Scalar) ? RangeScale(range[c]) : 1;
    for (size_t k = 0; k < n; k++) w_[c * n + k] = Rounded<Number>(Scalar(range[c]) * scaled(k));
  }
  PetscCall(Sweep(transpose, Sweeps::Both, count));
  for (PetscInt c = 0; c < count; c++)
    for (size_t k = 0; k < n; k++) {
      const Scalar v  = Scalar(after[to[k]]) * (Scalar(1 / range[c]) * Widened(w_[c * n + k]));
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
  return bytes(A.plan.place) + bytes(A.tree.row) + bytes(A.tree.relative) + bytes(A.i) + bytes(A.j) + bytes(a_) +
         bytes(residual_) + bytes(before_) + bytes(sample_) + bytes(basis_);
}
template <class Number> PetscLogDouble HostFactors<Number>::Bytes() const
{
  const FrontPlan &plan = analysis_->plan;
  return HostEngine::Bytes() + static_cast<PetscLogDouble>(plan.values + plan.work) * sizeof(Number) +
         static_cast<PetscLogDouble>(w_.size()) * sizeof(Number);
}

// for half_host.cxx
template PetscErrorCode HostFactors<Scalar>::TakeColumns(PetscInt);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode HostFactors<Single>::TakeColumns(PetscInt);
#endif

std::unique_ptr<LuEngine> MakeLuEngine_Host(bool single)
{
  if (single && HAVE_SINGLE) return std::make_unique<HostFactors<Single>>();
  return std::make_unique<HostFactors<Scalar>>();
}

} // namespace sparsegpu::lu
