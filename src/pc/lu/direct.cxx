/// The analysis of a direct factorization.
#include "pc/lu/direct.hpp"
#include <algorithm>
#include <numeric>
#include "pc/lu/placement.hpp"
#include "pc/ordering/matrix.hpp"
#include "pc/symbolic/elimination.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

using symbolic::Inverted;

const char *const LuMatchingNames[3] = {"auto", "on", "off"};
const char *const LuPivotedNames[3]  = {"auto", "on", "off"};
const char *const LuHostNames[3]     = {"auto", "on", "off"};
const char *const LuSpillNames[3]    = {"auto", "on", "off"};
const char *const LuPrecisionNames[] = {"full", "single", "Precision", "", nullptr};

namespace
{
/// Whether A has an entry (j, i) for each entry (i, j).
PetscErrorCode SymmetricallyPlaced(const CsrView &A, bool *symmetric)
{
  std::vector<PetscInt> natural;
  SymmetricPattern      pattern;
  PetscCount            off = 0;

  PetscFunctionBegin;
  PetscCallCXX(natural.resize(A.rows));
  std::iota(natural.begin(), natural.end(), 0);
  PetscCall(symbolic::SymmetricPatternOf(A, natural, natural, &pattern));
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) off += A.j[e] != r;
  *symmetric = off == static_cast<PetscCount>(pattern.j.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Rows move to where the matching has them, and `reorder` gives an order of elimination for that; the scaling is the
/// matching's. Where the matching is the one in use, or rows are paired as it says without one, they stay where they
/// are.
PetscErrorCode DirectFactor::Arrange(const CsrView &A, Matching &&matching, std::vector<PetscInt> *row,
                                     std::vector<PetscInt> *column, Orderer reorder, void *context)
{
  PetscFunctionBegin;
  bool moved = row->empty() || (analysis_.matched && pairing_ != matching.row); // or there is no order yet
  for (PetscInt k = 0; k < A.rows && !moved && !analysis_.matched; k++) moved = matching.row[(*column)[k]] != (*row)[k];
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
    deferred_.clear();
    tried_deferring = false;
    PetscCallCXX(row->resize(A.rows));
    for (PetscInt k = 0; k < A.rows; k++) (*row)[k] = matching.row[(*column)[k]];
  }
  analysis_.matched      = true;
  pairing_               = std::move(matching.row);
  analysis_.row_scale    = std::move(matching.row_scale);
  analysis_.column_scale = std::move(matching.column_scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Symbolic(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column,
                                      Orderer reorder, void *context, Space space)
{
  constexpr PetscReal WEAK   = static_cast<PetscReal>(1e-3);
  bool                wanted = MayMatch(), symmetric = false;
  Matching            matching;

  PetscFunctionBegin;
  space_           = space;
  single_          = options.single && HAVE_SINGLE && schur.empty(); // no refinement of a Schur complement
  why_wide_        = "";
  singular_column_ = -1;
  tried_deferring  = false;
  deferred_.clear();
  partner_.clear();
  analysis_.paired = false;
  if (wanted && options.matching == 0) {
    wanted = row == column; // different orders mean that the caller has chosen a diagonal
    if (wanted) PetscCallCXX(wanted = WeakDiagonal(A, WEAK));
    // a symmetric structure is kept if the values allow it
    if (wanted && !ordering::ManyLackPivots(LackingPivots(A), A.rows)) PetscCall(SymmetricallyPlaced(A, &symmetric));
    wanted = wanted && !symmetric;
  }
  if (wanted) {
    PetscCall(MaximumProduct(A, &matching));
    singular_column_ = matching.unmatched;
  }
  const bool pairs = MayPair() && options.matching != 2 &&
                     (options.matching == 1 || ordering::ManyLackPivots(LackingPivots(A), A.rows));
  if (pairs) PetscCall(MaximumProduct(A, &matching));
  analysis_.matched = false;
  PetscCallCXX(analysis_.row_scale.assign(A.rows, PetscReal(1)));
  PetscCallCXX(analysis_.column_scale.assign(A.rows, PetscReal(1)));
  if (wanted && singular_column_ < 0) {
    PetscCall(Arrange(A, std::move(matching), &row, &column, reorder, context));
  } else if (pairs && matching.unmatched < 0) {
    Pairing pairing;
    PetscCall(PairUnknowns(A, matching, &pairing));
    PetscCall(ArrangePairs(A, std::move(pairing), &column, row.empty() ? context : nullptr));
    PetscCallCXX(row = column);
  } else if (row.empty()) {
    PetscCall((*reorder)(A, context, &column));
    PetscCallCXX(row = column);
  }
  if (pairs) analysis_.paired = true;
  PetscCall(Analyse(A, row, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::MatchAgain(const CsrView &A, Orderer reorder, void *context, bool *changed)
{
  std::vector<PetscInt> row, column;
  Matching              matching;

  PetscFunctionBegin;
  *changed = false;
  PetscCall(MaximumProduct(A, &matching));
  singular_column_ = matching.unmatched;
  if (singular_column_ >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  *changed = !analysis_.matched || pairing_ != matching.row || analysis_.row_scale != matching.row_scale ||
             analysis_.column_scale != matching.column_scale;
  if (!*changed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(row = analysis_.row_order);
  PetscCallCXX(column = analysis_.column_order);
  PetscCall(Arrange(A, std::move(matching), &row, &column, reorder, context));
  partner_.clear();
  analysis_.paired = false;
  PetscCall(Analyse(A, row, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::GetArrangement(LuArrangement *arrangement) const
{
  PetscFunctionBegin;
  PetscCallCXX(*arrangement = (LuArrangement{kind, analysis_.matched, analysis_.paired, analysis_.row_order,
                                             analysis_.column_order, analysis_.row_scale, analysis_.column_scale,
                                             ordered_by, deferred_, pairing_, partner_}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Restore(const CsrView &A, const LuArrangement &arrangement)
{
  PetscFunctionBegin;
  kind              = arrangement.kind;
  analysis_.matched = arrangement.matched;
  analysis_.paired  = arrangement.paired;
  PetscCallCXX(deferred_ = arrangement.deferred);
  PetscCallCXX(partner_ = arrangement.partner);
  PetscCallCXX(pairing_ = arrangement.pairing);
  PetscCallCXX(ordered_by = arrangement.ordered_by);
  PetscCallCXX(analysis_.row_scale = arrangement.row_scale);
  PetscCallCXX(analysis_.column_scale = arrangement.column_scale);
  PetscCall(Analyse(A, arrangement.row_order, arrangement.column_order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::PlanIn(Space space)
{
  LuAnalysis &F             = analysis_;
  PetscInt    largest_small = LARGEST_SMALL;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) PetscCall(LargestSmallFront_CUDA(&largest_small));
#endif
  PetscCall(PlanFronts(F.tree, space == Space::Host ? lu::Steps::Postorder : lu::Steps::Device, largest_small,
                       !F.symmetric  ? Shape::General
                       : F.hermitian ? Shape::Hermitian
                                     : Shape::Symmetric,
                       &F.plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Fronts and places for the order that rows and columns have now.
PetscErrorCode DirectFactor::Analyse(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column)
{
  LuAnalysis           &F = analysis_;
  SymmetricPattern      pattern;
  std::vector<PetscInt> columns, partner;

  PetscFunctionBegin;
  F.rows      = A.rows;
  F.symmetric = kind == DirectKind::Cholesky;
  F.hermitian = hermitian;
  F.refine    = options.refine > 0;
  F.spins     = options.spins;
  F.spill     = static_cast<Spill>(options.spill);
  proven      = false;
  pivoted_.reset(); // frees what these hold of the last pattern
  engine_.reset();
  if (!deferred_.empty()) PetscCall(DeferredLast(&row, &column));
  PetscCall(symbolic::SymmetricPatternOf(A, Inverted(row), Inverted(column), &pattern));
  PetscCall(AddPath(static_cast<PetscInt>(schur.empty() ? deferred_.size() : schur.size()), &pattern));
  if (!partner_.empty()) {
    const std::vector<PetscInt> place = Inverted(column);
    for (const PetscInt u : column) PetscCallCXX(partner.push_back(place[partner_[u]]));
    PetscCall(symbolic::JoinPairs(partner, &pattern));
  }
  PetscCall(symbolic::BuildFrontTree(pattern, static_cast<PetscInt>(schur.size()), partner, &F.tree));
  pattern = SymmetricPattern();
  PetscCallCXX(F.row_order.resize(F.rows));
  PetscCallCXX(F.column_order.resize(F.rows));
  for (PetscInt k = 0; k < F.rows; k++) {
    F.row_order[k]    = row[F.tree.order[k]];
    F.column_order[k] = column[F.tree.order[k]];
  }
  PetscCall(PlanIn(space_));
  const bool moves =
      space_ == Space::Device && may_move && (options.host == 1 || HostIsFaster(F.tree, F.plan, A.nonzeros));
  moved_ = moves || (moved_ && space_ == Space::Host);
  if (moves) {
    space_ = Space::Host;
    PetscCall(PlanIn(space_));
  }
  may_move = false; // numeric factorizations have the values in one place
  PetscCall(PlaceEntries(A, F.tree, Inverted(F.row_order), Inverted(F.column_order), &F.plan));
  PetscCallCXX(F.i.assign(A.i, A.i + A.rows + 1));
  PetscCallCXX(F.j.assign(A.j, A.j + A.nonzeros));
  PetscCallCXX(columns.assign(A.cols, 0));
  F.longest_row = 0;
  for (PetscInt r = 0; r < A.rows; r++) {
    F.longest_row = std::max(F.longest_row, A.i[r + 1] - A.i[r]);
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) ++columns[A.j[e]];
  }
  F.longest_column = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
  PetscCall(MakeEngine());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::MakeEngine()
{
  PetscFunctionBegin;
  engine_.reset(); // before another one asks how much memory is free
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) PetscCallCXX(engine_ = MakeLuEngine_CUDA(single_));
#endif
  if (!engine_) PetscCallCXX(engine_ = MakeLuEngine_Host(single_));
  PetscCall(engine_->Symbolic(analysis_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Widen(const char *why)
{
  PetscFunctionBegin;
  if (!single_) PetscFunctionReturn(PETSC_SUCCESS);
  single_   = false;
  proven    = false;
  why_wide_ = why;
  PetscCall(MakeEngine());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
