/// A matched and scaled matrix, its columns in order, and solves with their factors.
#include "pc/lu/engine_pivoted.hpp"
#include <unistd.h>
#include "pc/lu/direct.hpp"
#include "pc/lu/matching.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Half a minute of multiplications, or as many as 5,000 dense rows have; entries of factors that a quarter of the
/// machine's memory has room for, with their indices.
PivotedLimits LimitsFor(PetscInt rows)
{
  const double  bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  PivotedLimits limits;
  limits.multiplications = rows <= 5000 ? 5e10 : 1e10;
  limits.entries         = static_cast<PetscCount>(bytes / 4 / static_cast<double>(sizeof(Scalar) + sizeof(PetscInt)));
  return limits;
}
} // namespace

/// The scaled matrix by columns, without what is zero.
PivotedColumns PivotedEngine::TakeColumns(const Scalar *a, const std::vector<PetscInt> &row_of) const
{
  const LuAnalysis     &A = *analysis_;
  PivotedColumns        columns;
  std::vector<PetscInt> place(A.rows);

  columns.rows = A.rows;
  columns.begin.assign(static_cast<size_t>(A.rows) + 1, 0);
  columns.preferred.resize(A.rows);
  for (PetscInt k = 0; k < A.rows; ++k) {
    place[columns_[k]]   = k;
    columns.preferred[k] = row_of[columns_[k]];
  }
  for (size_t e = 0; e < A.j.size(); ++e)
    if (Magnitude(a[e]) != 0) ++columns.begin[place[A.j[e]] + 1];
  for (PetscInt k = 0; k < A.rows; ++k) columns.begin[k + 1] += columns.begin[k];
  std::vector<PetscCount> next(columns.begin.begin(), columns.begin.end() - 1);
  columns.row.resize(static_cast<size_t>(columns.begin[A.rows]));
  columns.value.resize(columns.row.size());
  for (PetscInt r = 0; r < A.rows; ++r)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; ++e) {
      if (Magnitude(a[e]) == 0) continue;
      const PetscCount to = next[place[A.j[e]]]++;
      columns.row[to]     = r;
      columns.value[to]   = Scalar(row_scale_[r]) * (Scalar(column_scale_[A.j[e]]) * a[e]);
    }
  return columns;
}

void PivotedEngine::MeasureNorms(const Scalar *a)
{
  const LuAnalysis &A = *analysis_;

  std::fill(column_sums_.begin(), column_sums_.end(), PetscReal(0));
  row_norm_ = column_norm_ = 0;
  for (PetscInt r = 0; r < A.rows; ++r) {
    PetscReal sum = 0;
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; ++e) {
      sum += Magnitude(a[e]);
      column_sums_[A.j[e]] += Magnitude(a[e]);
    }
    row_norm_ = std::max(row_norm_, sum);
  }
  for (const PetscReal sum : column_sums_) column_norm_ = std::max(column_norm_, sum);
}

/// As Singular() says, of the scaled matrix.
bool PivotedEngine::LeavesResidual(const PivotedColumns &A)
{
  std::vector<Scalar> x(A.rows, Scalar(0)), r, w(A.rows);
  PetscReal           most = 0, largest = 0;

  for (PetscInt k = 0; k < A.rows; ++k) largest = std::max(largest, SampleEntry(k));
  for (int step = 0; step < 3; ++step) {
    r.assign(A.rows, Scalar(0)); // the right-hand side is added last, as in Residual()
    for (PetscInt k = 0; k < A.rows; ++k)
      for (PetscCount e = A.begin[k]; e < A.begin[k + 1]; ++e) r[A.row[e]] = r[A.row[e]] - A.value[e] * x[k];
    most = 0;
    for (PetscInt k = 0; k < A.rows; ++k) {
      r[k] = r[k] + Scalar(SampleEntry(k));
      if (!IsFinite(Magnitude(r[k]))) return true;
      most = std::max(most, Magnitude(r[k]));
    }
    if (step == 2) break;
    for (PetscInt k = 0; k < A.rows; ++k) w[k] = r[lu_.Rows()[k]];
    lu_.Solve(false, w.data());
    for (PetscInt k = 0; k < A.rows; ++k) x[k] = x[k] + w[k];
  }
  return !(most <= SOLVED * largest);
}

PetscErrorCode PivotedEngine::Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report)
{
  const LuAnalysis &A = *analysis_;
  const CsrView     view{A.rows, A.rows, static_cast<PetscInt>(A.j.size()), A.i.data(), A.j.data(), a};
  PivotedColumns    columns;
  Matching          matching;

  PetscFunctionBegin;
  *report   = LuReport();
  outcome_  = PivotedOutcome::Singular;
  singular_ = true;
  PetscCall(MaximumProduct(view, &matching));
  if (matching.unmatched >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  row_scale_    = std::move(matching.row_scale);
  column_scale_ = std::move(matching.column_scale);
  MeasureNorms(a);
  if (!a_.empty()) std::copy_n(a, a_.size(), a_.data());
  try {
    columns_ = A.column_order;
    SortByBlocks(view, matching.row, &columns_, &blocks_);
    columns   = TakeColumns(a, matching.row);
    outcome_  = lu_.Factor(columns, policy.exchange, LimitsFor(A.rows));
    singular_ = outcome_ == PivotedOutcome::Singular || (outcome_ == PivotedOutcome::Done && LeavesResidual(columns));
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for a factorization with partial pivoting: %s", e.what());
  }
  report->smallest = lu_.Smallest();
  report->growth   = lu_.Largest();
  report->finite   = outcome_ != PivotedOutcome::NotFinite;
  PetscCall(PetscLogFlops(2 * lu_.Multiplications()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One column after the other.
PetscErrorCode PivotedEngine::ApplyTo(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                      bool transpose, bool scale, bool add)
{
  const std::vector<PetscInt>  &from = transpose ? columns_ : lu_.Rows(), &to = transpose ? lu_.Rows() : columns_;
  const std::vector<PetscReal> &before = transpose ? column_scale_ : row_scale_,
                               &after  = transpose ? row_scale_ : column_scale_;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < columns.count; ++c) {
    const Scalar *in  = b + static_cast<size_t>(columns.at[c]) * static_cast<size_t>(ldb);
    Scalar       *out = x + static_cast<size_t>(columns.at[c]) * static_cast<size_t>(ldx);
    PetscCallCXX(w_.resize(analysis_->rows));
    for (PetscInt k = 0; k < analysis_->rows; ++k) w_[k] = scale ? Scalar(before[from[k]]) * in[from[k]] : in[from[k]];
    lu_.Solve(transpose, w_.data());
    for (PetscInt k = 0; k < analysis_->rows; ++k) {
      const Scalar v = Scalar(after[to[k]]) * w_[k];
      out[to[k]]     = add ? out[to[k]] + v : v;
    }
  }
  PetscCall(PetscLogFlops(2.0 * static_cast<PetscLogDouble>(lu_.Entries()) * columns.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble PivotedEngine::Bytes() const
{
  return static_cast<PetscLogDouble>(lu_.Entries()) * (sizeof(Scalar) + sizeof(PetscInt)) +
         static_cast<PetscLogDouble>(a_.size() + basis_.size()) * sizeof(Scalar);
}

/// Blocks are solved with one after the other, and what one leaves to the next is not part of a triangle.
PetscErrorCode PivotedEngine::ApplyHalf(const LuHalf &, const LuColumns &, const Scalar *, PetscInt, Scalar *, PetscInt)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Factors with partial pivoting have no forward and backward solves");
}
PetscErrorCode PivotedEngine::Pivots(std::vector<Scalar> *, std::vector<Scalar> *)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Factors with partial pivoting are not symmetric");
}
PetscErrorCode PivotedEngine::PivotRows(std::vector<PetscInt> *)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Factors with partial pivoting have no fronts");
}
PetscErrorCode PivotedEngine::Pairs(std::vector<PairCode> *)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Factors with partial pivoting have no pairs");
}
PetscErrorCode PivotedEngine::Apart(Scalar *)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Factors with partial pivoting have no Schur complement");
}

} // namespace sparsegpu::lu
