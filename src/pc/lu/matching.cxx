/// Maximum product matching as an assignment of least cost, by shortest augmenting paths. Costs are whole numbers:
/// scales are powers of two, and many equal distances make searches short.
#include "pc/lu/matching.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
bool Counts(PetscReal magnitude)
{
  return magnitude > 0 && magnitude - magnitude == 0;
}

/// The assignment of rows to columns of least cost; cost = UNITS log2(largest of the column / magnitude) >= 0, rounded,
/// duals u[row] + v[column] <= cost, equal where assigned. So magnitudes are rounded by a factor of at most 2^(1/8).
class Assignment
{
  using Cost                  = std::int64_t; ///< of a path: as many entries as there are rows
  static constexpr Cost UNITS = 4, FAR = std::numeric_limits<Cost>::max() / 4;
  using Reached = std::pair<Cost, PetscInt>; ///< distance, row

public:
  explicit Assignment(const CsrView &A);
  PetscInt Solve(); ///< a column that cannot be assigned, -1: none
  void     Take(Matching *matching) const;

private:
  void Start();
  void Assign(PetscInt entry); ///< its row to its column
  bool Augment(PetscInt column);
  void Reach(PetscInt column, Cost length, Cost *shortest, PetscInt *last);
  void PopNearest();
  bool TakeNearest(Cost shortest, Cost *length, PetscInt *row);
  void Flip(PetscInt column, PetscInt last);

  PetscInt                  n_;
  std::vector<PetscInt>     begin_, row_; ///< by columns
  std::vector<std::int32_t> cost_;
  std::vector<double>       largest_; ///< log2
  std::vector<Cost>         u_, v_;
  std::vector<PetscInt>     row_of_, column_of_; ///< -1: none
  std::vector<PetscInt>     entry_of_;           ///< [columns] the entry assigned
  std::vector<Cost>         distance_;           ///< [rows] while a column is being assigned
  std::vector<PetscInt>     before_;             ///< [rows] entry that the shortest path comes by
  std::vector<PetscInt>     column_at_;          ///< [entries] its column
  std::vector<signed char>  state_;              ///< [rows] 0: not seen, 1: reached, 2: final
  std::vector<PetscInt>     touched_;
  std::vector<Reached>      heap_;      ///< the nearest first; an entry of a larger distance than its row's is stale
  std::vector<PetscInt>     near_;      ///< final ones, no further than the last one taken, as they were reached
  size_t                    taken_ = 0; ///< of these: their columns have come
};

Assignment::Assignment(const CsrView &A)
    : n_(A.rows),
      begin_(A.rows + 1, 0),
      largest_(A.rows, 0),
      u_(A.rows, 0),
      v_(A.rows, 0),
      row_of_(A.rows, -1),
      column_of_(A.rows, -1),
      entry_of_(A.rows, -1),
      distance_(A.rows),
      before_(A.rows, -1),
      state_(A.rows, 0)
{
  for (PetscInt e = 0; e < A.nonzeros; e++)
    if (Counts(Magnitude(A.a[e]))) ++begin_[A.j[e] + 1];
  for (PetscInt j = 0; j < n_; j++) begin_[j + 1] += begin_[j];
  std::vector<double> magnitudes(begin_[n_]);
  row_.resize(begin_[n_]);
  cost_.resize(begin_[n_]);
  column_at_.resize(begin_[n_]);
  std::vector<PetscInt> at(begin_.begin(), begin_.end() - 1);
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const double magnitude = static_cast<double>(Magnitude(A.a[e]));
      if (!Counts(Magnitude(A.a[e]))) continue;
      const PetscInt to = at[A.j[e]]++;
      row_[to]          = r;
      magnitudes[to]    = magnitude;
      column_at_[to]    = A.j[e];
      largest_[A.j[e]]  = std::max(largest_[A.j[e]], magnitude);
    }
  for (PetscInt j = 0; j < n_; j++) {
    if (begin_[j] == begin_[j + 1]) continue; // no logarithm of zero, which may trap
    largest_[j] = std::log2(largest_[j]);
    for (PetscInt e = begin_[j]; e < begin_[j + 1]; e++)
      cost_[e] = static_cast<std::int32_t>(std::lround(UNITS * (largest_[j] - std::log2(magnitudes[e]))));
  }
}

void Assignment::Assign(PetscInt e)
{
  row_of_[column_at_[e]]   = row_[e];
  column_of_[row_[e]]      = column_at_[e];
  entry_of_[column_at_[e]] = e;
}

/// Duals, and all that can be assigned without a search: the diagonal first, which keeps what structure there is, then
/// any row without a column, then by moving one row.
void Assignment::Start()
{
  std::vector<PetscInt> looked(begin_.begin(), begin_.end() - 1); // entries before have no free row left
  const auto            tight = [&](PetscInt e) { return cost_[e] - u_[row_[e]] <= v_[column_at_[e]]; };

  std::fill(u_.begin(), u_.end(), FAR);
  for (size_t e = 0; e < row_.size(); e++) u_[row_[e]] = std::min<Cost>(u_[row_[e]], cost_[e]);
  for (PetscInt j = 0; j < n_; j++) {
    v_[j] = begin_[j] < begin_[j + 1] ? FAR : 0;
    for (PetscInt e = begin_[j]; e < begin_[j + 1]; e++) v_[j] = std::min(v_[j], cost_[e] - u_[row_[e]]);
    for (PetscInt e = begin_[j]; e < begin_[j + 1]; e++)
      if (row_[e] == j && tight(e)) Assign(e);
  }
  for (PetscInt j = 0; j < n_; j++)
    for (PetscInt e = begin_[j]; e < begin_[j + 1] && row_of_[j] < 0; e++)
      if (column_of_[row_[e]] < 0 && tight(e)) Assign(e);
  for (PetscInt j = 0; j < n_; j++)
    for (PetscInt e = begin_[j]; e < begin_[j + 1] && row_of_[j] < 0; e++) {
      if (!tight(e)) continue;
      const PetscInt other = column_of_[row_[e]];
      for (PetscInt &f = looked[other]; f < begin_[other + 1]; f++)
        if (column_of_[row_[f]] < 0 && tight(f)) {
          Assign(f);
          Assign(e);
          break;
        }
    }
}

/// Rows that `column`, `length` away, brings nearer. *last: the nearest row without a column, *shortest away.
void Assignment::Reach(PetscInt column, Cost length, Cost *shortest, PetscInt *last)
{
  for (PetscInt e = begin_[column]; e < begin_[column + 1] && *shortest > length; e++) {
    const PetscInt i = row_[e];
    if (state_[i] == 2) continue;
    const Cost d = length + cost_[e] - u_[i] - v_[column];
    if (d >= *shortest || (state_[i] == 1 && d >= distance_[i])) continue;
    if (state_[i] == 0) touched_.push_back(i);
    state_[i]    = 1;
    distance_[i] = d;
    before_[i]   = e;
    if (column_of_[i] < 0) {
      *shortest = d;
      *last     = i;
    } else if (d <= length) { // of which there are many where values are alike: none is nearer
      state_[i] = 2;
      near_.push_back(i);
    } else {
      heap_.emplace_back(d, i);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<Reached>());
    }
  }
}

void Assignment::PopNearest()
{
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<Reached>());
  heap_.pop_back();
}

/// The nearest row that is not final, or that is and whose column has not come, in the order in which they were reached
/// where they are no further than the last one taken: in the reverse order pivots of saddle points let entries grow
/// 10^5 times as much. False: none nearer than `shortest`.
bool Assignment::TakeNearest(Cost shortest, Cost *length, PetscInt *row)
{
  if (shortest <= *length) return false;
  if (taken_ < near_.size()) {
    *row = near_[taken_++];
    return true;
  }
  while (!heap_.empty() && (state_[heap_.front().second] == 2 || heap_.front().first > distance_[heap_.front().second]))
    PopNearest();
  if (heap_.empty() || heap_.front().first >= shortest) return false;
  *length      = heap_.front().first;
  *row         = heap_.front().second;
  state_[*row] = 2;
  PopNearest();
  return true;
}

/// The path from `column` to row `last`: each of its rows gets the column that it is reached by.
void Assignment::Flip(PetscInt column, PetscInt last)
{
  for (PetscInt i = last;;) {
    const PetscInt e = before_[i], j = column_at_[e], next = row_of_[j];
    Assign(e);
    v_[j] = cost_[e] - u_[i];
    if (j == column) break;
    i = next;
  }
}

/// Dijkstra's algorithm over rows from `column` to the nearest row without a column.
bool Assignment::Augment(PetscInt column)
{
  Cost     shortest = FAR, length = 0;
  PetscInt last = -1, i = -1;

  touched_.clear();
  heap_.clear();
  near_.clear();
  taken_ = 0;
  Reach(column, length, &shortest, &last);
  while (TakeNearest(shortest, &length, &i)) Reach(column_of_[i], length, &shortest, &last);
  if (last >= 0) {
    for (const PetscInt r : touched_)
      if (state_[r] == 2) {
        u_[r] += distance_[r] - shortest;
        v_[column_of_[r]] = cost_[entry_of_[column_of_[r]]] - u_[r];
      }
    Flip(column, last);
  }
  for (const PetscInt r : touched_) state_[r] = 0;
  return last >= 0;
}

PetscInt Assignment::Solve()
{
  Start();
  for (PetscInt j = 0; j < n_; j++)
    if (row_of_[j] < 0 && !Augment(j)) return j;
  return -1;
}

/// 2^power, within what neither overflows nor is denormal.
PetscReal PowerOfTwo(double power)
{
  constexpr double LIMIT = sizeof(PetscReal) == sizeof(float) ? 60 : 500;
  return static_cast<PetscReal>(std::ldexp(1.0, static_cast<int>(std::min(LIMIT, std::max(-LIMIT, power)))));
}

/// The scales are those of the duals. What all rows are multiplied and all columns divided by is free: it makes the
/// largest and the smallest scales as moderate as they can be.
void Assignment::Take(Matching *matching) const
{
  std::vector<double> row(n_), column(n_);
  double              high = -HUGE_VAL, low = HUGE_VAL;

  for (PetscInt k = 0; k < n_; k++) {
    row[k]    = std::round(static_cast<double>(u_[k]) / UNITS);
    column[k] = std::round(static_cast<double>(v_[k]) / UNITS - largest_[k]);
    high      = std::max(high, std::max(row[k], -column[k]));
    low       = std::min(low, std::min(row[k], -column[k]));
  }
  const double middle = n_ > 0 ? std::round((high + low) / 2) : 0;
  matching->row       = row_of_;
  matching->row_scale.resize(n_);
  matching->column_scale.resize(n_);
  for (PetscInt k = 0; k < n_; k++) {
    matching->row_scale[k]    = PowerOfTwo(row[k] - middle);
    matching->column_scale[k] = PowerOfTwo(column[k] + middle);
  }
}
} // namespace

PetscErrorCode MaximumProduct(const CsrView &A, Matching *matching)
{
  PetscFunctionBegin;
  *matching = Matching();
  try {
    Assignment assignment(A);
    matching->unmatched = assignment.Solve();
    if (matching->unmatched < 0) assignment.Take(matching);
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the matching: %s", e.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
