/// Incomplete factorizations on the host, row by row: symbolic with levels of fill, numeric in the pattern found.
#include "pc/ilu/ilu.hpp"
#include <algorithm>
#include <numeric>
#include "mat/rows/sizes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

namespace
{
/// One row of the factors under construction: a list of columns in ascending order, with their levels.
struct RowList {
  std::vector<PetscInt> next;  ///< [n + 1] the column after; next[n] begins the list, n ends it
  std::vector<PetscInt> level; ///< [n] of the columns in the list, -1 of the others

  /// Adds a column at or after the place `at`; moves `at` to it.
  void Add(PetscInt column, PetscInt new_level, PetscInt *at)
  {
    if (level[column] >= 0) {
      level[column] = std::min(level[column], new_level);
      return;
    }
    while (next[*at] < column) *at = next[*at];
    next[column]  = next[*at];
    next[*at]     = column;
    level[column] = new_level;
    *at           = column;
  }
};
} // namespace

/// The upper triangle of the permuted matrix and its mirror image, in the matrix's own numbering; entry[k]: where
/// entry k comes from.
static PetscErrorCode Mirror(const CsrView &A, const FactorPattern &p, std::vector<PetscInt> *i,
                             std::vector<PetscInt> *j, std::vector<PetscInt> *entry)
{
  std::vector<PetscInt> row_step, column_step, next;

  PetscFunctionBegin;
  PetscCallCXX(row_step.resize(A.rows));
  PetscCallCXX(column_step.resize(A.rows));
  for (PetscInt r = 0; r < A.rows; r++) row_step[p.row[r]] = column_step[p.column[r]] = r;
  PetscCallCXX(i->assign(static_cast<size_t>(A.rows) + 1, 0));
  const auto each = [&](const auto &take) {
    for (PetscInt row = 0; row < A.rows; row++)
      for (PetscInt e = A.i[row]; e < A.i[row + 1]; e++) {
        const PetscInt r = row_step[row], c = column_step[A.j[e]];
        if (c >= r) take(row, A.j[e], e);
        if (c > r) take(p.row[c], p.column[r], e);
      }
  };
  each([&](PetscInt row, PetscInt, PetscInt) { (*i)[row + 1]++; });
  PetscCall(CheckedOffsets("Entries of the upper triangle and its mirror image", i));
  PetscCallCXX(next = *i);
  PetscCallCXX(j->resize(i->back()));
  PetscCallCXX(entry->resize(i->back()));
  each([&](PetscInt row, PetscInt column, PetscInt e) {
    (*j)[next[row]]       = column;
    (*entry)[next[row]++] = e;
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without fill in the order of the matrix: its own pattern. *done: false if a diagonal entry is missing or the order
/// is another.
static PetscErrorCode OwnPattern(const CsrView &A, FactorPattern *p, std::vector<PetscInt> *source, bool *done)
{
  PetscFunctionBegin;
  *done = false;
  PetscCallCXX(p->diagonal.resize(p->rows));
  for (PetscInt r = 0; r < p->rows; r++) {
    const PetscInt *begin = A.j + A.i[r], *end = A.j + A.i[r + 1], *at = std::lower_bound(begin, end, r);
    if (p->row[r] != r || p->column[r] != r || at == end || *at != r || !std::is_sorted(begin, end))
      PetscFunctionReturn(PETSC_SUCCESS);
    p->diagonal[r] = static_cast<PetscInt>(at - A.j);
  }
  PetscCallCXX(p->i.assign(A.i, A.i + p->rows + 1));
  PetscCallCXX(p->j.assign(A.j, A.j + A.nonzeros));
  PetscCallCXX(source->resize(A.nonzeros));
  std::iota(source->begin(), source->end(), 0);
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic_Host(const CsrView &matrix, Incomplete kind, PetscInt levels, bool add_diagonal,
                             FactorPattern *p, std::vector<PetscInt> *source)
{
  const PetscInt        n = p->rows;
  CsrView               A = matrix;
  std::vector<PetscInt> step, columns, level, slot, mirror_i, mirror_j, mirror_entry;
  RowList               list;

  PetscFunctionBegin;
  if (kind == Incomplete::Cholesky) {
    PetscCall(Mirror(matrix, *p, &mirror_i, &mirror_j, &mirror_entry));
    A = CsrView{n, n, mirror_i.back(), mirror_i.data(), mirror_j.data(), nullptr};
  }
  if (levels == 0 && A.rows > 0) {
    bool done;
    PetscCall(OwnPattern(A, p, source, &done));
    if (done) {
      if (!mirror_entry.empty()) *source = std::move(mirror_entry);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCallCXX(step.resize(n)); // the elimination step of each column of A
  for (PetscInt c = 0; c < n; c++) step[p->column[c]] = c;
  PetscCallCXX(list.next.assign(static_cast<size_t>(n) + 1, n));
  PetscCallCXX(list.level.assign(n, -1));
  PetscCallCXX(p->i.assign(1, 0));
  PetscCallCXX(p->diagonal.resize(n));
  PetscCallCXX(slot.resize(A.nonzeros));
  p->j.clear();
  PetscCallCXX(p->j.reserve(A.nonzeros));
  PetscCallCXX(level.reserve(A.nonzeros));
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt row = p->row[r], length = A.i[row + 1] - A.i[row];
    PetscCallCXX(columns.resize(length));
    for (PetscInt k = 0; k < length; k++) columns[k] = step[A.j[A.i[row] + k]];
    if (!std::is_sorted(columns.begin(), columns.end())) std::sort(columns.begin(), columns.end());
    list.next[n] = n;
    PetscInt at  = n; // the head
    for (const PetscInt c : columns) {
      PetscInt from = at;
      list.Add(c, 0, &from);
      at = from;
    }
    if (list.level[r] < 0) {
      PetscCheck(add_diagonal, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
                 "Matrix is missing the diagonal entry of row %" PetscInt_FMT
                 " (-pc_factor_diagonal_fill puts zeros there)",
                 row);
      PetscInt from = n;
      while (list.next[from] < r) from = list.next[from];
      list.Add(r, 0, &from);
    }
    for (PetscInt m = list.next[n]; m < r && levels > 0; m = list.next[m]) {
      PetscInt from = m;
      if (list.level[m] >= levels) continue; // its fill is of higher levels
      for (PetscInt e = p->diagonal[m] + 1; e < p->i[m + 1]; e++) {
        const PetscInt fill = list.level[m] + level[e] + 1;
        if (fill <= levels) list.Add(p->j[e], fill, &from);
      }
    }
    for (PetscInt c = list.next[n]; c < n; c = list.next[c]) {
      if (c == r) p->diagonal[r] = static_cast<PetscInt>(p->j.size());
      PetscCallCXX(p->j.push_back(c));
      PetscCallCXX(level.push_back(list.level[c]));
      list.level[c] = -1;
    }
    PetscCheck(p->j.size() <= static_cast<size_t>(PETSC_MAX_INT), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "The factors have more than %" PetscInt_FMT " entries", PETSC_MAX_INT);
    PetscCallCXX(p->i.push_back(static_cast<PetscInt>(p->j.size())));
    const auto begin = p->j.begin() + p->i[r], end = p->j.end();
    for (PetscInt e = A.i[row]; e < A.i[row + 1]; e++)
      slot[e] = static_cast<PetscInt>(std::lower_bound(begin, end, step[A.j[e]]) - p->j.begin());
  }
  PetscCallCXX(source->assign(p->j.size(), -1));
  for (PetscInt e = 0; e < A.nonzeros; e++) (*source)[slot[e]] = mirror_entry.empty() ? e : mirror_entry[e];
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// A row of U that is so many times as long as what is left of the row at work is searched, not run through.
constexpr PetscInt MUCH_LONGER = 16;

/// Takes `factor` times the later entries of row m from the entries behind `at` of the row that ends before `end`.
/// place: of a column in that row, -1: it has none.
void EliminateRow(const FactorPattern &p, PetscInt m, PetscInt at, PetscInt end, const std::vector<PetscInt> &place,
                  Scalar *a)
{
  const Scalar   factor = a[at];
  const PetscInt last   = p.i[m + 1];
  PetscInt       f      = p.diagonal[m] + 1;

  if ((last - f) / MUCH_LONGER <= end - at) {
    for (; f < last; f++)
      if (place[p.j[f]] >= 0) a[place[p.j[f]]] = a[place[p.j[f]]] - factor * a[f];
    return;
  }
  for (PetscInt e = at + 1; e < end && f < last; e++) {
    f = static_cast<PetscInt>(std::lower_bound(p.j.begin() + f, p.j.begin() + last, p.j[e]) - p.j.begin());
    if (f < last && p.j[f] == p.j[e]) a[e] = a[e] - factor * a[f];
  }
}
} // namespace

PetscErrorCode Numeric_Host(const FactorPattern &p, Incomplete kind, const Pivots &pivots, Scalar *a,
                            PetscInt *zero_row, PetscReal *zero_pivot)
{
  std::vector<PetscInt> place;
  const bool            eliminate = kind != Incomplete::None;

  PetscFunctionBegin;
  *zero_row = -1;
  PetscCallCXX(place.assign(p.rows, -1)); // of a column in the row at work
  for (PetscInt r = 0; r < p.rows; r++) {
    PetscReal others = 0;
    if (!eliminate) // the triangles: L's magnitudes before they are scaled
      for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) others += Magnitude(a[e]);
    for (PetscInt e = p.i[r]; e < p.i[r + 1]; e++) place[p.j[e]] = e;
    a[p.diagonal[r]] += Scalar(pivots.shift);
    for (PetscInt e = p.i[r]; e < p.diagonal[r]; e++) {
      const PetscInt m = p.j[e];
      a[e]             = a[e] * a[p.diagonal[m]];
      if (eliminate) EliminateRow(p, m, e, p.i[r + 1], place, a);
    }
    for (PetscInt e = p.i[r]; e < p.i[r + 1]; e++) {
      place[p.j[e]] = -1;
      if (e > p.diagonal[r] || (e < p.diagonal[r] && eliminate && !pivots.upper)) others += Magnitude(a[e]);
    }
    Scalar         &pivot     = a[p.diagonal[r]];
    const PetscReal magnitude = Magnitude(pivot), size = pivots.positive ? RealPart(pivot) : magnitude;
    if (size <= pivots.zero * (pivots.relative ? others : 1) || (pivots.nan && magnitude != magnitude)) {
      if (*zero_row < 0) {
        *zero_row   = r;
        *zero_pivot = magnitude;
      }
      pivot += Scalar(pivots.replace);
    }
    pivot = Inverse(pivot);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
