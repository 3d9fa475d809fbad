#include "pc/lu/direct.hpp"
#include <algorithm>
#include <numeric>
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
} // namespace

/// Rows that stay without a strong diagonal entry are exchanged for others, and the order is found anew.
PetscErrorCode DirectFactor::Match(const CsrView &A, std::vector<PetscInt> *row, std::vector<PetscInt> *column,
                                   PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *),
                                   void *context)
{
  constexpr PetscReal WEAK = static_cast<PetscReal>(1e-3);
  Matching            matching;

  PetscFunctionBegin;
  analysis_.matched = kind == DirectKind::LU && options.matching != 2;
  may_match_        = false;
  if (analysis_.matched && options.matching == 0) {
    bool weak = *row == *column; // whoever pairs rows with other columns has chosen a diagonal
    if (weak) PetscCallCXX(weak = WeakDiagonal(A, WEAK));
    if (weak) PetscCall(SymmetricallyPlaced(A, &may_match_)); // a structure to be kept if the values let it be
    analysis_.matched = weak && !may_match_;
  }
  singular_column_ = -1;
  if (analysis_.matched) {
    PetscCall(MaximumProduct(A, &matching));
    singular_column_  = matching.unmatched;
    analysis_.matched = singular_column_ < 0;
  }
  PetscCallCXX(analysis_.row_scale.assign(A.rows, PetscReal(1)));
  PetscCallCXX(analysis_.column_scale.assign(A.rows, PetscReal(1)));
  if (!analysis_.matched) PetscFunctionReturn(PETSC_SUCCESS);
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
  analysis_.row_scale    = std::move(matching.row_scale);
  analysis_.column_scale = std::move(matching.column_scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Symbolic(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column,
                                      PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *),
                                      void *context, Space space)
{
  LuAnalysis           &F = analysis_;
  SymmetricPattern      pattern;
  std::vector<PetscInt> columns;
  PetscInt              largest_small = LARGEST_SMALL;

  PetscFunctionBegin;
  F.rows      = A.rows;
  F.symmetric = kind == DirectKind::Cholesky;
  F.hermitian = hermitian;
  F.refine    = options.refine > 0;
  F.spins     = options.spins;
  PetscCall(Match(A, &row, &column, reorder, context));
  if (singular_column_ >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  engine_.reset(); // what it holds of the last pattern goes first
  PetscCall(SymmetricPatternOf(A, Places(row), Places(column), &pattern));
  PetscCall(BuildFrontTree(pattern, &F.tree));
  pattern = SymmetricPattern();
  PetscCallCXX(F.row_order.resize(F.rows));
  PetscCallCXX(F.column_order.resize(F.rows));
  for (PetscInt k = 0; k < F.rows; k++) {
    F.row_order[k]    = row[F.tree.order[k]];
    F.column_order[k] = column[F.tree.order[k]];
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) PetscCall(LargestSmallFront_CUDA(&largest_small));
#endif
  PetscCall(PlanFronts(F.tree, space == Space::Host ? Steps::Postorder : Steps::Device, largest_small, &F.plan));
  PetscCall(PlaceEntries(A, F.tree, Places(F.row_order), Places(F.column_order), F.symmetric, &F.plan));
  PetscCallCXX(F.i.assign(A.i, A.i + A.rows + 1));
  PetscCallCXX(F.j.assign(A.j, A.j + A.nonzeros));
  PetscCallCXX(columns.assign(A.cols, 0));
  F.longest_row = 0;
  for (PetscInt r = 0; r < A.rows; r++) {
    F.longest_row = std::max(F.longest_row, A.i[r + 1] - A.i[r]);
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) ++columns[A.j[e]];
  }
  F.longest_column = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) PetscCallCXX(engine_ = MakeLuEngine_CUDA());
#endif
  if (!engine_) PetscCallCXX(engine_ = MakeLuEngine_Host());
  PetscCall(engine_->Symbolic(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Numeric(const Scalar *a)
{
  LuPolicy policy;

  PetscFunctionBegin;
  policy.exchange = kind == DirectKind::LU ? options.exchange : 0;
  policy.small    = small;
  policy.replace  = replace;
  policy.all      = options.refine > 0 || replace > 0;
  PetscCall(engine_->Numeric(a, policy, &report_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A residual is not had more exactly than its longest sum is rounded.
PetscReal DirectFactor::Goal(bool transpose) const
{
  const PetscReal longest = static_cast<PetscReal>(transpose ? analysis_.longest_column : analysis_.longest_row);
  return std::max(static_cast<PetscReal>(32), longest + 1) * PETSC_MACHINE_EPSILON;
}

PetscErrorCode DirectFactor::Refine(const Scalar *b, Scalar *x, bool transpose, PetscReal *error)
{
  PetscFunctionBegin;
  PetscCall(engine_->Residual(b, x, transpose, error));
  refined_ = 0;
  while (*error > 2 * PETSC_MACHINE_EPSILON && refined_ < options.refine) {
    PetscReal next;
    PetscCall(engine_->Correct(x, transpose));
    PetscCall(engine_->Residual(b, x, transpose, &next));
    refined_++;
    if (!(next < *error)) {
      PetscCall(engine_->Undo(x));
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
  PetscCall(engine_->Apply(count, b, ldb, x, ldx, transpose));
  for (PetscInt c = 0; c < count && options.refine > 0; c++) {
    PetscReal error;
    PetscCall(Refine(b + static_cast<size_t>(c) * ldb, x + static_cast<size_t>(c) * ldx, transpose, &error));
    // what is not a number stays so
    PetscCheck(error <= Goal(transpose) || PetscIsNanReal(error), PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED,
               "The backward error of a solve is %g after %" PetscInt_FMT
               " steps of refinement, more than %g; %" PetscInt_FMT
               " pivots were replaced (-mat_sparsegpu_lu_matching on, another -pc_factor_mat_ordering_type, or "
               "-mat_sparsegpu_lu_refine 0 and a Krylov method may help)",
               (double)error, refined_, (double)Goal(transpose), report_.perturbed);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Probe(bool *good, PetscReal *error)
{
  const Scalar *b;
  Scalar       *x;

  PetscFunctionBegin;
  *good  = report_.finite;
  *error = PETSC_INFINITY;
  if (!*good || options.refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(engine_->Sample(&b, &x));
  PetscCall(engine_->Apply(1, b, Rows(), x, Rows(), false));
  PetscCall(Refine(b, x, false, error));
  *good = *error <= Goal(false);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::View(PetscViewer viewer) const
{
  constexpr PetscInt limits[]  = {16, 64, 160, 512, PETSC_MAX_INT};
  PetscInt           counts[5] = {0};

  PetscFunctionBegin;
  for (PetscInt f = 0; f < analysis_.tree.Fronts(); f++)
    ++counts[std::lower_bound(limits, limits + 4, analysis_.tree.Pivots(f) + analysis_.tree.Others(f)) - limits];
  PetscCall(PetscViewerASCIIPrintf(viewer, "sparsegpu %s on %s\n", kind == DirectKind::LU ? "LU" : "Cholesky",
                                   Where() == Space::Host ? "the host" : "cuda"));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " fronts, the largest of order %" PetscInt_FMT
                                   "; of order up to 16, 64, 160, 512, above: %" PetscInt_FMT " %" PetscInt_FMT
                                   " %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT "\n",
                                   analysis_.tree.Fronts(), analysis_.plan.largest, counts[0], counts[1], counts[2],
                                   counts[3], counts[4]));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%.4g entries of the factors, %.3g times the matrix's, %.2g %% of them zeros; %.4g flops; %.3g MB\n",
      (double)analysis_.plan.values, (double)analysis_.plan.values / PetscMax(1.0, (double)analysis_.j.size()),
      100 * 2.0 * (double)analysis_.tree.zeros / PetscMax(1.0, (double)analysis_.plan.values), analysis_.plan.flops,
      Bytes() / 1e6));
  PetscCall(PetscViewerASCIIPrintf(viewer, "rows %s\n", analysis_.matched ? "matched and scaled" : "as they were"));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " pivots replaced; the last solve took %" PetscInt_FMT
                                   " steps of refinement to the backward error %.2g\n",
                                   report_.perturbed, refined_, (double)reached_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
