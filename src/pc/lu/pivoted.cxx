/// Column after column: which pivots reach it, their elimination in topological order, its own pivot.
#include "pc/lu/pivoted.hpp"
#include <algorithm>

namespace sparsegpu::lu
{

/// Rows that are reached from `row` through columns of L, depth first, each after all that it reaches.
void PivotedLu::Reach(PetscInt row, PetscInt column)
{
  const auto visit = [&](PetscInt r) {
    seen_[r] = column;
    x_[r]    = Scalar(0);
    if (place_[r] < 0) {
      open_.push_back(r);
    } else {
      stack_.push_back(place_[r]);
      next_.push_back(lower_begin_[place_[r]]);
    }
  };
  if (seen_[row] == column) return;
  visit(row);
  while (!stack_.empty()) {
    const PetscInt   p   = stack_.back();
    const PetscCount end = lower_begin_[p + 1];
    PetscCount       e   = next_.back();
    while (e < end && seen_[lower_row_[e]] == column) ++e;
    next_.back() = e + 1;
    if (e < end) {
      visit(lower_row_[e]);
      continue;
    }
    reached_.push_back(p);
    stack_.pop_back();
    next_.pop_back();
  }
}

void PivotedLu::Eliminate(PetscInt column)
{
  for (size_t k = reached_.size(); k-- > 0;) {
    const PetscInt p = reached_[k];
    const Scalar   u = x_[pivot_row_[p]];
    if (!(Magnitude(u) > 0) && Magnitude(u) == 0) continue; // by cancellation
    upper_row_.push_back(p);
    upper_.push_back(u);
    largest_ = std::max(largest_, Magnitude(u));
    for (PetscCount e = lower_begin_[p]; e < lower_begin_[p + 1]; ++e)
      x_[lower_row_[e]] = x_[lower_row_[e]] - lower_[e] * u;
    multiplications_ += static_cast<double>(lower_begin_[p + 1] - lower_begin_[p]);
  }
  upper_begin_[column + 1] = static_cast<PetscCount>(upper_.size());
}

/// The magnitude of the largest entry that may be the pivot; not a number if one is none. *pivot: its row.
PetscReal PivotedLu::Choose(PetscInt column, const PivotedColumns &A, PetscReal threshold, PetscInt *pivot) const
{
  const PetscInt preferred = A.preferred[column];
  PetscReal      most      = 0;

  *pivot = -1;
  for (const PetscInt r : open_) {
    const PetscReal magnitude = Magnitude(x_[r]);
    if (!(magnitude - magnitude == 0)) return magnitude - magnitude;
    if (magnitude > most) {
      most   = magnitude;
      *pivot = r;
    }
  }
  if (most > 0 && seen_[preferred] == column && place_[preferred] < 0 && Magnitude(x_[preferred]) >= threshold * most)
    *pivot = preferred;
  return most;
}

void PivotedLu::Store(PetscInt column, PetscInt pivot)
{
  const Scalar inverse = Inverse(x_[pivot]);

  smallest_          = std::min(smallest_, Magnitude(x_[pivot]));
  largest_           = std::max(largest_, Magnitude(x_[pivot]));
  inverse_[column]   = inverse;
  pivot_row_[column] = pivot;
  place_[pivot]      = column;
  for (const PetscInt r : open_) {
    if (r == pivot || Magnitude(x_[r]) == 0) continue;
    lower_row_.push_back(r);
    lower_.push_back(x_[r] * inverse);
  }
  lower_begin_[column + 1] = static_cast<PetscCount>(lower_.size());
}

PivotedOutcome PivotedLu::Factor(const PivotedColumns &A, PetscReal threshold, const PivotedLimits &limits)
{
  const size_t n = static_cast<size_t>(A.rows);

  rows_            = A.rows;
  step_            = -1;
  smallest_        = A.rows > 0 ? PETSC_MAX_REAL : 0;
  largest_         = 0;
  multiplications_ = 0;
  lower_begin_.assign(n + 1, 0);
  upper_begin_.assign(n + 1, 0);
  for (std::vector<PetscInt> *v : {&lower_row_, &upper_row_}) v->clear();
  for (std::vector<Scalar> *v : {&lower_, &upper_}) v->clear();
  for (std::vector<PetscInt> *v : {&pivot_row_, &place_, &seen_}) v->assign(n, -1);
  for (std::vector<Scalar> *v : {&x_, &inverse_}) v->assign(n, Scalar(0));
  for (PetscInt k = 0; k < A.rows; ++k) {
    PetscInt pivot;
    step_ = k;
    reached_.clear();
    open_.clear();
    for (PetscCount e = A.begin[k]; e < A.begin[k + 1]; ++e) Reach(A.row[e], k);
    for (PetscCount e = A.begin[k]; e < A.begin[k + 1]; ++e) x_[A.row[e]] = A.value[e];
    Eliminate(k);
    const PetscReal most = Choose(k, A, threshold, &pivot);
    if (!(most == most)) return PivotedOutcome::NotFinite;
    if (pivot < 0) {
      smallest_ = 0;
      return PivotedOutcome::Singular;
    }
    Store(k, pivot);
    if (multiplications_ > limits.multiplications || Entries() > limits.entries) return PivotedOutcome::Costly;
  }
  for (PetscInt &r : lower_row_) r = place_[r];
  return PivotedOutcome::Done;
}

void PivotedLu::Solve(bool transpose, Scalar *w) const
{
  for (PetscInt k = 0; k < rows_; ++k)
    if (transpose) {
      Scalar sum = w[k];
      for (PetscCount e = upper_begin_[k]; e < upper_begin_[k + 1]; ++e) sum = sum - upper_[e] * w[upper_row_[e]];
      w[k] = sum * inverse_[k];
    } else {
      for (PetscCount e = lower_begin_[k]; e < lower_begin_[k + 1]; ++e)
        w[lower_row_[e]] = w[lower_row_[e]] - lower_[e] * w[k];
    }
  for (PetscInt k = rows_ - 1; k >= 0; --k)
    if (transpose) {
      for (PetscCount e = lower_begin_[k]; e < lower_begin_[k + 1]; ++e) w[k] = w[k] - lower_[e] * w[lower_row_[e]];
    } else {
      w[k] = w[k] * inverse_[k];
      for (PetscCount e = upper_begin_[k]; e < upper_begin_[k + 1]; ++e)
        w[upper_row_[e]] = w[upper_row_[e]] - upper_[e] * w[k];
    }
}

namespace
{
/// Strongly connected components of the columns, where j leads to i if row_of[i] has an entry in column j.
class Components
{
public:
  Components(const CsrView &A, const std::vector<PetscInt> &row_of);
  PetscInt                     Find();
  const std::vector<PetscInt> &block() const { return block_; } ///< [n] components that it leads to come before

private:
  void Open(PetscInt j);
  void Close(PetscInt j);

  PetscInt              n_, count_ = 0, blocks_ = 0;
  std::vector<PetscInt> begin_, to_;           ///< [n + 1], edges
  std::vector<PetscInt> number_, low_, block_; ///< [n] in the order of discovery, the least reached; -1: not seen
  std::vector<PetscInt> path_, at_, waiting_;  ///< the search's path, its next edges; found, but not in a component
};

Components::Components(const CsrView &A, const std::vector<PetscInt> &row_of)
    : n_(A.rows),
      begin_(static_cast<size_t>(A.rows) + 1, 0),
      to_(static_cast<size_t>(A.nonzeros)),
      number_(A.rows, -1),
      low_(A.rows, -1),
      block_(A.rows, -1)
{
  for (PetscInt e = 0; e < A.nonzeros; ++e) ++begin_[A.j[e] + 1];
  for (PetscInt j = 0; j < n_; ++j) begin_[j + 1] += begin_[j];
  std::vector<PetscInt> next(begin_.begin(), begin_.end() - 1);
  for (PetscInt i = 0; i < n_; ++i)
    for (PetscInt e = A.i[row_of[i]]; e < A.i[row_of[i] + 1]; ++e) to_[next[A.j[e]]++] = i;
}

void Components::Open(PetscInt j)
{
  number_[j] = low_[j] = count_++;
  path_.push_back(j);
  at_.push_back(begin_[j]);
  waiting_.push_back(j);
}

void Components::Close(PetscInt j)
{
  path_.pop_back();
  at_.pop_back();
  if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[j]);
  if (low_[j] < number_[j]) return;
  for (PetscInt k = -1; k != j;) {
    k = waiting_.back();
    waiting_.pop_back();
    block_[k] = blocks_;
  }
  ++blocks_;
}

PetscInt Components::Find()
{
  for (PetscInt root = 0; root < n_; ++root) {
    if (number_[root] >= 0) continue;
    Open(root);
    while (!path_.empty()) {
      const PetscInt j = path_.back();
      if (at_.back() == begin_[j + 1]) {
        Close(j);
        continue;
      }
      const PetscInt i = to_[at_.back()++];
      if (number_[i] < 0)
        Open(i);
      else if (block_[i] < 0)
        low_[j] = std::min(low_[j], number_[i]);
    }
  }
  return blocks_;
}
} // namespace

void SortByBlocks(const CsrView &A, const std::vector<PetscInt> &row_of, std::vector<PetscInt> *order, PetscInt *blocks)
{
  Components components(A, row_of);
  *blocks = components.Find();
  std::stable_sort(order->begin(), order->end(),
                   [&](PetscInt a, PetscInt b) { return components.block()[a] < components.block()[b]; });
}

} // namespace sparsegpu::lu
