#include "pc/lu/direct.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unistd.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

const char *const LuMatchingNames[3] = {"auto", "on", "off"};

namespace
{
std::vector<PetscInt> Places(const std::vector<PetscInt> &order)
{
  std::vector<PetscInt> place(order.size());
  for (size_t k = 0; k < order.size(); k++) place[order[k]] = static_cast<PetscInt>(k);
  return place;
}

/// Has A an entry (j, i) for each entry (i, j)?
PetscErrorCode SymmetricallyPlaced(const CsrView &A, bool *symmetric)
{
  std::vector<PetscInt> natural;
  SymmetricPattern      pattern;
  PetscCount            off = 0;

  PetscFunctionBegin;
  PetscCallCXX(natural.resize(A.rows));
  std::iota(natural.begin(), natural.end(), 0);
  PetscCall(SymmetricPatternOf(A, natural, natural, &pattern));
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) off += A.j[e] != r;
  *symmetric = off == static_cast<PetscCount>(pattern.j.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the analysis says that the factorization will need, before any work is done.
PetscErrorCode Allocate(PetscCount entries, const char what[], std::vector<Scalar> *array)
{
  const double bytes = static_cast<double>(entries) * sizeof(Scalar);
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  bool         taken = bytes <= there; // more may be promised, but not kept

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

/// Rows that stay without a strong diagonal entry are exchanged for others, and the order is found anew.
PetscErrorCode DirectFactor::Match(const CsrView &A, std::vector<PetscInt> *row, std::vector<PetscInt> *column,
                                   PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *),
                                   void *context)
{
  constexpr PetscReal WEAK = static_cast<PetscReal>(1e-3);
  Matching            matching;

  PetscFunctionBegin;
  matched_   = kind == DirectKind::LU && options.matching != 2;
  may_match_ = false;
  if (matched_ && options.matching == 0) {
    bool weak = *row == *column; // whoever pairs rows with other columns has chosen a diagonal
    if (weak) PetscCallCXX(weak = WeakDiagonal(A, WEAK));
    if (weak) PetscCall(SymmetricallyPlaced(A, &may_match_)); // a structure to be kept if the values let it be
    matched_ = weak && !may_match_;
  }
  singular_column_ = -1;
  if (matched_) {
    PetscCall(MaximumProduct(A, &matching));
    singular_column_ = matching.unmatched;
    matched_         = singular_column_ < 0;
  }
  PetscCallCXX(row_scale_.assign(A.rows, PetscReal(1)));
  PetscCallCXX(column_scale_.assign(A.rows, PetscReal(1)));
  if (!matched_) PetscFunctionReturn(PETSC_SUCCESS);
  bool moved = false;
  for (PetscInt k = 0; k < A.rows && !moved; k++) moved = matching.row[k] != k;
  if (moved) {
    std::vector<PetscInt> i{0}, j;
    PetscCallCXX(i.reserve(static_cast<size_t>(A.rows) + 1));
    PetscCallCXX(j.reserve(A.nonzeros));
    for (PetscInt k = 0; k < A.rows; k++) {
      const PetscInt r = matching.row[k];
      j.insert(j.end(), A.j + A.i[r], A.j + A.i[r + 1]);
      i.push_back(static_cast<PetscInt>(j.size()));
    }
    const CsrView B{A.rows, A.cols, A.nonzeros, i.data(), j.data(), nullptr};
    PetscCall((*reorder)(B, context, column));
    PetscCallCXX(row->resize(A.rows));
    for (PetscInt k = 0; k < A.rows; k++) (*row)[k] = matching.row[(*column)[k]];
  }
  row_scale_    = std::move(matching.row_scale);
  column_scale_ = std::move(matching.column_scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Symbolic(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column,
                                      PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *),
                                      void *context)
{
  SymmetricPattern      pattern;
  std::vector<PetscInt> columns;

  PetscFunctionBegin;
  rows_ = A.rows;
  PetscCall(Match(A, &row, &column, reorder, context));
  if (singular_column_ >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SymmetricPatternOf(A, Places(row), Places(column), &pattern));
  PetscCall(BuildFrontTree(pattern, &tree_));
  pattern = SymmetricPattern();
  PetscCallCXX(row_order_.resize(rows_));
  PetscCallCXX(column_order_.resize(rows_));
  for (PetscInt k = 0; k < rows_; k++) {
    row_order_[k]    = row[tree_.order[k]];
    column_order_[k] = column[tree_.order[k]];
  }
  PetscCall(PlanFronts(tree_, Steps::Postorder, &plan_));
  PetscCall(PlaceEntries(A, tree_, Places(row_order_), Places(column_order_), kind == DirectKind::Cholesky, &plan_));
  PetscCallCXX(i_.assign(A.i, A.i + A.rows + 1));
  PetscCallCXX(j_.assign(A.j, A.j + A.nonzeros));
  PetscCallCXX(columns.assign(A.cols, 0));
  longest_row_ = 0;
  for (PetscInt r = 0; r < A.rows; r++) {
    longest_row_ = std::max(longest_row_, A.i[r + 1] - A.i[r]);
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) ++columns[A.j[e]];
  }
  longest_column_ = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
  values_.clear(); // they may be large: when there are values to put there
  values_.shrink_to_fit();
  work_.clear();
  work_.shrink_to_fit();
  PetscCallCXX(local_row_.resize(rows_));
  PetscCallCXX(w_.resize(rows_));
  PetscCallCXX(column_sums_.resize(rows_));
  PetscCallCXX(scratch_.resize(plan_.most_pivots + plan_.widest));
  PetscCallCXX(residual_.resize(options.refine > 0 ? 2 * rows_ : 0));
  PetscCallCXX(a_.resize(options.refine > 0 ? A.nonzeros : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows and columns by the square root of their diagonal entry, which gets a magnitude of about 1: what is small then
/// is small against its own row and column. Powers of two round nothing.
void DirectFactor::ScaleByDiagonal(const Scalar *a)
{
  for (PetscInt r = 0; r < rows_; r++) {
    PetscReal diagonal = 0, most = 0;
    for (PetscInt e = i_[r]; e < i_[r + 1]; e++) {
      const PetscReal magnitude = Magnitude(a[e]);
      if (!(magnitude - magnitude == 0)) continue;
      most = std::max(most, magnitude);
      if (j_[e] == r) diagonal = magnitude;
    }
    if (!(diagonal > 0)) diagonal = most;
    int exponent = 0;
    if (diagonal > 0) std::frexp(diagonal, &exponent);
    row_scale_[r] = std::ldexp(static_cast<PetscReal>(1), -exponent / 2);
  }
  column_scale_ = row_scale_;
}

PetscErrorCode DirectFactor::Numeric(const Scalar *a)
{
  std::vector<PetscReal> &sums    = column_sums_;
  PetscReal               largest = 0;
  LuPivoting              pivoting;

  PetscFunctionBegin;
  if (static_cast<PetscCount>(values_.size()) != plan_.values) {
    PetscCall(Allocate(plan_.values, "factors", &values_));
    PetscCall(Allocate(plan_.work, "updates", &work_));
  }
  row_norm_ = 0;
  if (!matched_) ScaleByDiagonal(a);
  std::fill(sums.begin(), sums.end(), PetscReal(0));
  std::fill(values_.begin(), values_.end(), Scalar(0));
  for (PetscInt r = 0; r < rows_; r++) {
    PetscReal sum = 0;
    for (PetscInt e = i_[r]; e < i_[r + 1]; e++) {
      const PetscReal scale     = row_scale_[r] * column_scale_[j_[e]];
      const PetscReal magnitude = Magnitude(a[e]);
      const Scalar    value     = Scalar(scale) * a[e];
      sum += magnitude;
      sums[j_[e]] += magnitude;
      largest = std::max(largest, scale * magnitude);
      if (plan_.place[e] >= 0) values_[plan_.place[e]] = value;
      if (!plan_.mirror.empty() && plan_.mirror[e] >= 0) values_[plan_.mirror[e]] = hermitian ? Conj(value) : value;
    }
    row_norm_ = std::max(row_norm_, sum);
  }
  column_norm_ = rows_ > 0 ? *std::max_element(sums.begin(), sums.end()) : 0;
  if (!a_.empty()) std::copy_n(a, a_.size(), a_.data());
  pivoting.exchange = kind == DirectKind::LU ? options.exchange : 0;
  pivoting.tiny     = PetscSqrtReal(PETSC_MACHINE_EPSILON) * PETSC_MACHINE_EPSILON * largest;
  pivoting.replace  = replace > 0 ? replace : small * largest;
  if (options.refine > 0 || replace > 0) pivoting.tiny = pivoting.replace;
  PetscCall(LuNumeric_Host(tree_, plan_, pivoting, values_.data(), local_row_.data(), work_.data(), &report_));
  PetscCall(PetscLogFlops(plan_.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x = or += the factors' inverse times b.
PetscErrorCode DirectFactor::ApplyFactors(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                          bool transpose, bool add)
{
  const std::vector<PetscInt> &from    = transpose ? column_order_ : row_order_,
                              &to      = transpose ? row_order_ : column_order_;
  const std::vector<PetscReal> &before = transpose ? column_scale_ : row_scale_,
                               &after  = transpose ? row_scale_ : column_scale_;
  const size_t n                       = static_cast<size_t>(rows_);

  PetscFunctionBegin;
  if (w_.size() < n * count) PetscCallCXX(w_.resize(n * count));
  if (scratch_.size() < static_cast<size_t>(plan_.most_pivots + plan_.widest) * count)
    PetscCallCXX(scratch_.resize(static_cast<size_t>(plan_.most_pivots + plan_.widest) * count));
  for (PetscInt c = 0; c < count; c++)
    for (size_t k = 0; k < n; k++) {
      w_[c * n + k] = Scalar(before[from[k]]) * b[static_cast<size_t>(c) * ldb + from[k]];
    }
  PetscCall(LuSolve_Host(tree_, plan_, values_.data(), local_row_.data(), transpose, count, w_.data(), rows_,
                         scratch_.data()));
  for (PetscInt c = 0; c < count; c++)
    for (size_t k = 0; k < n; k++) {
      const Scalar v  = Scalar(after[to[k]]) * w_[c * n + k];
      Scalar      &at = x[static_cast<size_t>(c) * ldx + to[k]];
      at              = add ? at + v : v;
    }
  PetscCall(PetscLogFlops(2.0 * static_cast<PetscLogDouble>(plan_.values) * count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// residual_ = b - A x or b - A^T x; its normwise backward error.
PetscReal DirectFactor::Residual(const Scalar *b, const Scalar *x, bool transpose)
{
  PetscReal most = 0, largest_x = 0, largest_b = 0;
  Scalar   *r = residual_.data();

  std::copy_n(b, rows_, r);
  for (PetscInt k = 0; k < rows_; k++) {
    for (PetscInt e = i_[k]; e < i_[k + 1]; e++) {
      if (transpose)
        r[j_[e]] = r[j_[e]] - a_[e] * x[k];
      else
        r[k] = r[k] - a_[e] * x[j_[e]];
    }
    largest_x = std::max(largest_x, Magnitude(x[k]));
    largest_b = std::max(largest_b, Magnitude(b[k]));
  }
  bool finite = true;
  for (PetscInt k = 0; k < rows_; k++) {
    const PetscReal magnitude = Magnitude(r[k]);
    if (!(magnitude - magnitude == 0)) finite = false;
    most = std::max(most, magnitude);
  }
  if (!finite) return PETSC_INFINITY;
  return most > 0 ? most / ((transpose ? column_norm_ : row_norm_) * largest_x + largest_b) : 0;
}

/// A residual is not had more exactly than its longest sum is rounded.
PetscReal DirectFactor::Goal(bool transpose) const
{
  const PetscReal longest = static_cast<PetscReal>(transpose ? longest_column_ : longest_row_);
  return std::max(static_cast<PetscReal>(32), longest + 1) * PETSC_MACHINE_EPSILON;
}

PetscErrorCode DirectFactor::Refine(const Scalar *b, Scalar *x, bool transpose, PetscReal *error)
{
  Scalar *const best = residual_.data() + rows_; // the solution before the step

  PetscFunctionBegin;
  *error   = Residual(b, x, transpose);
  refined_ = 0;
  while (*error > 2 * PETSC_MACHINE_EPSILON && refined_ < options.refine) {
    std::copy_n(x, rows_, best);
    PetscCall(ApplyFactors(1, residual_.data(), rows_, x, rows_, transpose, true));
    const PetscReal next = Residual(b, x, transpose);
    refined_++;
    if (!(next < *error)) {
      std::copy_n(best, rows_, x);
      break;
    }
    const bool slow = next > *error / 2;
    *error          = next;
    if (slow && *error <= Goal(transpose)) break;
  }
  reached_ = *error;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   bool transpose)
{
  PetscFunctionBegin;
  PetscCall(ApplyFactors(count, b, ldb, x, ldx, transpose, false));
  for (PetscInt c = 0; c < count && !a_.empty(); c++) {
    const Scalar *rhs = b + static_cast<size_t>(c) * ldb;
    PetscReal     error;
    if (!std::all_of(rhs, rhs + rows_, [](const Scalar &v) { return Magnitude(v) - Magnitude(v) == 0; }))
      continue; // what is not a number stays so
    PetscCall(Refine(rhs, x + static_cast<size_t>(c) * ldx, transpose, &error));
    PetscCheck(error <= Goal(transpose), PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED,
               "The backward error of a solve is %g after %" PetscInt_FMT
               " steps of refinement, more than %g; %" PetscInt_FMT
               " pivots were replaced (-mat_sparsegpu_lu_matching on, another -pc_factor_mat_ordering_type, or "
               "-mat_sparsegpu_lu_refine 0 and a Krylov method may help)",
               (double)error, refined_, (double)Goal(transpose), report_.perturbed);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With a right-hand side that a singular matrix can hardly make: b = A x would be solved by any perturbation of it.
PetscErrorCode DirectFactor::Probe(bool *good, PetscReal *error)
{
  std::vector<Scalar> x, b;

  PetscFunctionBegin;
  *good  = report_.finite;
  *error = PETSC_INFINITY;
  if (!*good || a_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(x.resize(rows_));
  PetscCallCXX(b.resize(rows_));
  for (PetscInt r = 0; r < rows_; r++)
    b[r] = Scalar(1 + static_cast<PetscReal>((static_cast<unsigned>(r) * 2654435761u) >> 22) / 1024);
  PetscCall(ApplyFactors(1, b.data(), rows_, x.data(), rows_, false, false));
  PetscCall(Refine(b.data(), x.data(), false, error));
  *good = *error <= Goal(false);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble DirectFactor::Bytes() const
{
  const auto bytes = [](const auto &v) { return static_cast<PetscLogDouble>(v.size() * sizeof(v[0])); };
  return static_cast<PetscLogDouble>(plan_.values + plan_.work) * sizeof(Scalar) + bytes(plan_.place) +
         bytes(plan_.mirror) + bytes(tree_.row) + bytes(tree_.relative) + bytes(i_) + bytes(j_) + bytes(a_) +
         bytes(w_) + bytes(residual_);
}

PetscErrorCode DirectFactor::View(PetscViewer viewer) const
{
  constexpr PetscInt limits[]  = {16, 64, 160, 512, PETSC_MAX_INT};
  PetscInt           counts[5] = {0};

  PetscFunctionBegin;
  for (PetscInt f = 0; f < tree_.Fronts(); f++)
    ++counts[std::lower_bound(limits, limits + 4, tree_.Pivots(f) + tree_.Others(f)) - limits];
  PetscCall(PetscViewerASCIIPrintf(viewer, "sparsegpu %s on the host\n", kind == DirectKind::LU ? "LU" : "Cholesky"));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " fronts, the largest of order %" PetscInt_FMT
                                   "; of order up to 16, 64, 160, 512, above: %" PetscInt_FMT " %" PetscInt_FMT
                                   " %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT "\n",
                                   tree_.Fronts(), plan_.largest, counts[0], counts[1], counts[2], counts[3],
                                   counts[4]));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%.4g entries of the factors, %.3g times the matrix's, %.2g %% of them zeros; %.4g flops; %.3g MB\n",
      (double)plan_.values, (double)plan_.values / PetscMax(1.0, (double)j_.size()),
      100 * 2.0 * (double)tree_.zeros / PetscMax(1.0, (double)plan_.values), plan_.flops, Bytes() / 1e6));
  PetscCall(PetscViewerASCIIPrintf(viewer, "rows %s\n", matched_ ? "matched and scaled" : "as they were"));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " pivots replaced; the last solve took %" PetscInt_FMT
                                   " steps of refinement to the backward error %.2g\n",
                                   report_.perturbed, refined_, (double)reached_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
