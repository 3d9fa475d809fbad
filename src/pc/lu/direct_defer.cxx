/// Pivots that a front has no row for: rows change places within a tile of a front alone, and what is left for its last
/// columns may be nothing. Such columns wait, with the rows that were left for them, for the end of the order, where
/// all that they are coupled with has been eliminated but for each other: there they follow each other in the
/// elimination tree. So do delayed pivots in Duff & Reid, ACM Trans. Math. Softw. 9(3), 1983, anew for each
/// factorization; these stay. Other columns of their fronts keep the rows that they have taken. In a symmetric
/// factorization unknowns wait, rows and columns, with all that they were paired with.
#include <algorithm>
#include <numeric>
#include "pc/lu/direct.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Columns that wait after one factorization, at most: their front is dense. And where factors are good as they are
/// and no pivot was replaced, so that no more than a few digits can be gained.
constexpr PetscInt MOST = 256, FEW = 32; // a symmetric pivot may take up to four with it

/// Pivots of at most `limit`, ascending, and no more than the `most` smallest.
std::vector<PetscInt> PoorPivots(const std::vector<Scalar> &pivots, PetscReal limit, PetscInt most)
{
  std::vector<PetscInt> poor;
  for (size_t k = 0; k < pivots.size(); k++)
    if (Magnitude(pivots[k]) <= limit) poor.push_back(static_cast<PetscInt>(k));
  if (poor.size() <= static_cast<size_t>(most)) return poor;
  std::stable_sort(poor.begin(), poor.end(),
                   [&](PetscInt a, PetscInt b) { return Magnitude(pivots[a]) < Magnitude(pivots[b]); });
  poor.resize(most);
  std::sort(poor.begin(), poor.end());
  return poor;
}
} // namespace

PetscErrorCode DirectFactor::DeferredLast(std::vector<PetscInt> *row, std::vector<PetscInt> *column) const
{
  std::vector<char>     waits;
  std::vector<PetscInt> order, r, c;

  PetscFunctionBegin;
  PetscCallCXX(waits.assign(column->size(), 0));
  for (const PetscInt k : deferred_) waits[k] = 1;
  PetscCallCXX(order.resize(column->size()));
  std::iota(order.begin(), order.end(), 0);
  PetscCallCXX(std::stable_partition(order.begin(), order.end(), [&](PetscInt k) { return !waits[(*column)[k]]; }));
  PetscCallCXX(r.reserve(order.size()));
  PetscCallCXX(c.reserve(order.size()));
  for (const PetscInt k : order) {
    r.push_back((*row)[k]);
    c.push_back((*column)[k]);
  }
  *row    = std::move(r);
  *column = std::move(c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of a symmetric factorization: the unknowns that these pivots, of `from`, were combined of, with their partners.
PetscErrorCode DirectFactor::AddUnknowns(const std::vector<PetscInt> &pivots, const std::vector<PetscInt> &from,
                                         std::vector<PetscInt> *unknowns)
{
  std::vector<PairCode> pair;

  PetscFunctionBegin;
  PetscCall(engine_->Pairs(&pair));
  for (const PetscInt k : pivots)
    for (const PetscInt other : {k, pair[k] > 0 ? k + 1 : pair[k] < 0 ? k - 1 : k}) {
      const PetscInt u = analysis_.column_order[from[other]];
      PetscCallCXX(unknowns->push_back(u));
      if (!partner_.empty()) PetscCallCXX(unknowns->push_back(partner_[u]));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Defer(const CsrView &A, bool good, PetscInt *count)
{
  constexpr PetscReal   POOR = static_cast<PetscReal>(1e-4); // of the largest entry of the scaled matrix
  const FrontTree      &tree = analysis_.tree;
  std::vector<Scalar>   met, used;
  std::vector<PetscInt> poor, from, row, column, columns;

  PetscFunctionBegin;
  *count        = 0;
  const bool lu = kind == DirectKind::LU;
  if (!(lu || analysis_.paired) || !schur.empty() || single_ || pivoted_ || report_.perturbed > MOST)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(engine_->Pivots(&met, &used));
  const PetscReal replaced = report_.perturbed > 0 ? (1 + 8 * PETSC_MACHINE_EPSILON) * Replacement() : 0;
  PetscCallCXX(poor = PoorPivots(used, PetscMax(POOR * report_.largest, replaced), lu ? MOST : MOST / 4));
  const bool many = poor.size() > static_cast<size_t>(FEW) && report_.perturbed == 0;
  if (good && many) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(engine_->PivotRows(&from));
  PetscCallCXX(columns = deferred_);
  if (!lu) PetscCall(AddUnknowns(poor, from, &columns));
  for (size_t k = 0; k < poor.size() && lu; k++) PetscCallCXX(columns.push_back(analysis_.column_order[poor[k]]));
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  if (columns.size() == deferred_.size()) PetscFunctionReturn(PETSC_SUCCESS); // none, or the same again
  PetscCallCXX(row = analysis_.row_order);
  PetscCallCXX(column = analysis_.column_order);
  auto next = poor.begin(); // ascending
  for (PetscInt f = 0; f < tree.Fronts() && lu; f++) {
    const auto end = std::find_if(next, poor.end(), [&](PetscInt k) { return k >= tree.first[f + 1]; });
    if (next == end) continue;
    for (PetscInt k = tree.first[f]; k < tree.first[f + 1]; k++) row[k] = analysis_.row_order[from[k]];
    next = end;
  }
  deferred_ = std::move(columns);
  *count    = static_cast<PetscInt>(deferred_.size());
  PetscCall(Analyse(A, std::move(row), std::move(column)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
