/// Offsets of the fronts: factors one after the other, updates by first fit over the steps in which they live.
#include "pc/lu/plan.hpp"
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include "pc/lu/steps.hpp"
#include "pc/ordering/cores.hpp"
#include "pc/ordering/in_parts.hpp"
#include "pc/symbolic/elimination.hpp"
#include "pc/symbolic/supernodes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
using symbolic::ALIGNED; // entries

/// First fit, lowest place first; neighbouring gaps are joined. Gaps of one size class are kept by their places, and
/// the classes are fine: a search looks at the lowest gap of each larger class, and walks through one.
class Arena
{
public:
  Arena() { lowest_.fill(NONE); }
  PetscCount Take(PetscCount size)
  {
    if (size == 0) return 0;
    const int  mine  = ClassOf(size);
    PetscCount place = *std::min_element(lowest_.begin() + mine + 1, lowest_.end());
    for (const PetscCount at : by_size_[mine]) {
      if (at > place) break;
      if (gaps_.at(at) < size) continue;
      place = at;
      break;
    }
    if (place < NONE) {
      const PetscCount rest = Remove(gaps_.find(place)) - size;
      if (rest > 0) Add(place + size, rest);
      return place;
    }
    place = end_;
    if (!gaps_.empty()) { // the last gap may touch the end
      const auto last = std::prev(gaps_.end());
      if (last->first + last->second == end_) {
        place = last->first;
        Remove(last);
      }
    }
    end_ = place + size;
    return place;
  }
  void Give(PetscCount at, PetscCount size)
  {
    if (size == 0) return;
    auto next = gaps_.lower_bound(at);
    if (next != gaps_.end() && at + size == next->first) {
      const auto after = std::next(next);
      size += Remove(next);
      next = after;
    }
    if (next != gaps_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        size += Remove(before);
      }
    }
    Add(at, size);
  }
  PetscCount end() const { return end_; }

private:
  using Gaps                        = std::map<PetscCount, PetscCount>; ///< begin -> size
  static constexpr int        PARTS = 16, CLASSES = 64 * PARTS;         ///< classes of an octave; all
  static constexpr PetscCount NONE = std::numeric_limits<PetscCount>::max();
  /// Sizes of a class are smaller than those of the next.
  static int ClassOf(PetscCount size)
  {
    int        octave = 0;
    PetscCount top    = size;
    for (; top >= 2 * PARTS; octave++) top /= 2;
    return octave * PARTS + static_cast<int>(top);
  }
  void Add(PetscCount at, PetscCount size)
  {
    const int c = ClassOf(size);
    gaps_[at]   = size;
    by_size_[c].insert(at);
    lowest_[c] = std::min(lowest_[c], at);
  }
  PetscCount Remove(Gaps::iterator gap) ///< and returns its size
  {
    const PetscCount size = gap->second;
    const int        c    = ClassOf(size);
    by_size_[c].erase(gap->first);
    lowest_[c] = by_size_[c].empty() ? NONE : *by_size_[c].begin();
    gaps_.erase(gap);
    return size;
  }

  Gaps                                      gaps_;
  std::array<std::set<PetscCount>, CLASSES> by_size_; ///< places
  std::array<PetscCount, CLASSES>           lowest_;  ///< of those, NONE where there are none
  PetscCount                                end_ = 0;
};

PetscCount Aligned(PetscCount entries)
{
  return (entries + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/// Factors one after the other, in the order of the steps; those of large fronts on a device begin and end aligned.
void PlaceFactors(const FrontTree &tree, Steps steps, FrontPlan *plan)
{
  const PetscInt fronts = tree.Fronts();
  const PetscInt large  = steps == Steps::Device ? plan->FirstLarge() : fronts;

  plan->lower.resize(fronts);
  plan->upper.resize(fronts);
  for (PetscInt k = 0; k < fronts; k++) {
    const PetscInt   f = plan->step[k];
    const PetscCount p = tree.Pivots(f), r = tree.Others(f), m = p + r;
    if (k >= large) plan->values = Aligned(plan->values);
    plan->lower[f]         = plan->values;
    plan->upper[f]         = plan->values + plan->FactorEntries(p, r) - p * r;
    plan->values           = plan->upper[f] + p * r;
    plan->largest          = std::max(plan->largest, static_cast<PetscInt>(m));
    plan->most_pivots      = std::max(plan->most_pivots, static_cast<PetscInt>(p));
    plan->widest           = std::max(plan->widest, static_cast<PetscInt>(r));
    const PetscLogDouble P = static_cast<PetscLogDouble>(p), R = static_cast<PetscLogDouble>(r);
    if (f != tree.apart) plan->flops += (P * P * P * 2 / 3 + 2 * P * P * R + 2 * P * R * R) / (plan->Half() ? 2 : 1);
    plan->solve_flops += 2 * P * P + 4 * P * R;
  }
  if (large < fronts) plan->values = Aligned(plan->values);
}

/// Entries of scratch for columns of L times D: a slab of the others', a tile of the pivots'.
PetscCount ScaledEntries(const FrontTree &tree)
{
  PetscCount most = 0;
  for (PetscInt f = 0; f < tree.Fronts(); f++) {
    const PetscCount p = tree.Pivots(f), r = tree.Others(f);
    most = std::max({most, std::min<PetscCount>(p, SCALED_PIVOTS) * r, std::min<PetscCount>(p, LU_TILE) * p});
  }
  return most;
}

void Plan(const FrontTree &tree, Steps steps, PetscInt largest_small, Shape shape, FrontPlan *plan)
{
  const PetscInt           fronts = tree.Fronts();
  const symbolic::Children children(tree.parent);
  Arena                    arena;

  *plan        = FrontPlan();
  plan->shape  = shape;
  plan->packed = plan->Half() && steps == Steps::Device;
  FindSteps(tree, steps, largest_small, plan);
  PlaceFactors(tree, steps, plan);
  plan->update.resize(fronts);
  for (PetscInt s = 0; s < plan->Steps(); s++) {
    for (PetscInt k = plan->step_begin[s]; k < plan->step_begin[s + 1]; k++) {
      const PetscInt f = plan->step[k];
      plan->update[f]  = arena.Take(Aligned(plan->Entries(tree.Others(f))));
    }
    for (PetscInt k = plan->step_begin[s]; k < plan->step_begin[s + 1]; k++)
      for (const PetscInt c : children.Of(plan->step[k])) {
        arena.Give(plan->update[c], Aligned(plan->Entries(tree.Others(c))));
      }
  }
  plan->scaled = arena.end();
  plan->work   = arena.end() + (plan->Half() ? ScaledEntries(tree) : 0);
}

/// Entries below the diagonal of the permuted matrix in columns [first, end), column by column as eliminated.
struct LowerEntries {
  std::vector<PetscInt> begin, entry, row; ///< [end - first + 1]; of the matrix; as eliminated
};

LowerEntries FindLowerEntries(const CsrView &A, const std::vector<PetscInt> &row_place,
                              const std::vector<PetscInt> &column_place, PetscInt first, PetscInt end)
{
  LowerEntries lower;
  const auto   each = [&](auto take) {
    for (PetscInt r = 0; r < A.rows; r++) {
      const PetscInt i = row_place[r], bound = std::min(i, end);
      if (i <= first) continue;
      for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
        const PetscInt j = column_place[A.j[e]];
        if (j >= first && j < bound) take(e, i, j - first);
      }
    }
  };
  lower.begin.assign(static_cast<size_t>(end - first) + 1, 0);
  each([&](PetscInt, PetscInt, PetscInt j) { ++lower.begin[j + 1]; });
  std::partial_sum(lower.begin.begin(), lower.begin.end(), lower.begin.begin());
  lower.entry.resize(lower.begin.back());
  lower.row.resize(lower.begin.back());
  std::vector<PetscInt> at(lower.begin.begin(), lower.begin.end() - 1);
  each([&](PetscInt e, PetscInt i, PetscInt j) {
    lower.row[at[j]]     = i;
    lower.entry[at[j]++] = e;
  });
  return lower;
}

/// Front by front: where it has its rows is noted once, and looked up for the entries in its pivots' rows and columns.
/// Fronts follow each other in parts of as many pivots, one a thread.
void Place(const CsrView &A, const FrontTree &tree, const std::vector<PetscInt> &row_place,
           const std::vector<PetscInt> &column_place, FrontPlan *plan)
{
  constexpr PetscInt    MOST = 8, FULL = 100000; // parts; entries of one at least
  const PetscInt        threads = std::min<PetscInt>(MOST, ordering::Cores());
  const PetscInt        parts   = std::max<PetscInt>(1, std::min(threads, A.nonzeros / FULL));
  std::vector<PetscInt> matrix_row(A.rows);
  for (PetscInt r = 0; r < A.rows; r++) matrix_row[row_place[r]] = r;
  plan->place.assign(A.nonzeros, -1);
  const auto begin = [&](PetscInt part) {
    const PetscInt pivot = static_cast<PetscInt>(static_cast<PetscCount>(A.rows) * part / parts);
    return static_cast<PetscInt>(std::lower_bound(tree.first.begin(), tree.first.end() - 1, pivot) -
                                 tree.first.begin());
  };
  ordering::InParts(parts, static_cast<int>(threads), [&](PetscInt part) {
    const PetscInt        front = begin(part), end = begin(part + 1), column = tree.first[front];
    std::vector<PetscInt> local(A.rows);
    LowerEntries          lower;
    if (!plan->Half()) lower = FindLowerEntries(A, row_place, column_place, column, tree.first[end]);
    for (PetscInt f = front; f < end; f++) {
      const PetscCount p = tree.Pivots(f), rows = p + tree.Others(f);
      const auto       at = [&](PetscInt i, PetscInt j) {
        const PetscCount a = local[i], b = local[j];
        if (plan->Half())
          return a < p ? plan->lower[f] + TileColumn(p, b) + a : plan->upper[f] + a - p + b * (rows - p);
        return b < p ? plan->lower[f] + a + b * rows : plan->upper[f] + a + (b - p) * p;
      };
      for (PetscInt k = tree.first[f]; k < tree.first[f + 1]; k++) local[k] = k - tree.first[f];
      for (PetscCount e = tree.row_begin[f]; e < tree.row_begin[f + 1]; e++)
        local[tree.row[e]] = static_cast<PetscInt>(p + e - tree.row_begin[f]);
      for (PetscInt k = tree.first[f]; k < tree.first[f + 1]; k++) {
        for (PetscInt e = A.i[matrix_row[k]]; e < A.i[matrix_row[k] + 1]; e++) {
          const PetscInt j = column_place[A.j[e]];
          if (j < k) continue;
          plan->place[e] = plan->Half() ? at(j, k) : at(k, j);
        }
        if (plan->Half()) continue;
        for (PetscInt e = lower.begin[k - column]; e < lower.begin[k - column + 1]; e++)
          plan->place[lower.entry[e]] = at(lower.row[e], k);
      }
    }
  });
}
} // namespace

PetscErrorCode PlanFronts(const FrontTree &tree, Steps steps, PetscInt largest_small, Shape shape, FrontPlan *plan)
{
  PetscFunctionBegin;
  PetscCallCXX(Plan(tree, steps, largest_small, shape, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlaceEntries(const CsrView &A, const FrontTree &tree, const std::vector<PetscInt> &row_place,
                            const std::vector<PetscInt> &column_place, FrontPlan *plan)
{
  PetscFunctionBegin;
  PetscCallCXX(Place(A, tree, row_place, column_place, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
