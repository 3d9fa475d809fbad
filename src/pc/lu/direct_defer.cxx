/// Pivots that a front has no row for: rows change places within a tile of a front alone, and what is left for its last
/// columns may be nothing. Such columns wait, with the rows that were left for them, for a front of their own at the
/// end of the order, where all other rows and columns have been eliminated, as delayed pivots do in Duff & Reid, ACM
/// Trans. Math. Softw. 9(3), 1983, once and for all values. Other columns of their fronts keep the rows that they have
/// taken.
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
constexpr PetscInt MOST = 256, FEW = 32;

/// Pivots of at most `limit`, and no more than the MOST smallest.
std::vector<PetscInt> PoorPivots(const std::vector<Scalar> &pivots, PetscReal limit)
{
  std::vector<PetscInt> poor;
  for (size_t k = 0; k < pivots.size(); k++)
    if (Magnitude(pivots[k]) <= limit) poor.push_back(static_cast<PetscInt>(k));
  if (poor.size() <= static_cast<size_t>(MOST)) return poor;
  std::stable_sort(poor.begin(), poor.end(),
                   [&](PetscInt a, PetscInt b) { return Magnitude(pivots[a]) < Magnitude(pivots[b]); });
  poor.resize(MOST);
  return poor;
}
} // namespace

PetscErrorCode DirectFactor::Defer(const CsrView &A, bool good, PetscInt *count)
{
  constexpr PetscReal   POOR = static_cast<PetscReal>(1e-4); // of the largest entry of the scaled matrix, about 1
  const FrontTree      &tree = analysis_.tree;
  std::vector<Scalar>   met, used;
  std::vector<PetscInt> poor, from, place, row, column;

  PetscFunctionBegin;
  *count = 0;
  if (kind != DirectKind::LU || !schur.empty() || single_ || pivoted_ || report_.perturbed > MOST)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(engine_->Pivots(&met, &used));
  PetscCallCXX(poor = PoorPivots(used, PetscMax(POOR, 2 * small_)));
  const bool many = poor.size() > static_cast<size_t>(FEW) && report_.perturbed == 0;
  if (poor.empty() || (good && many)) PetscFunctionReturn(PETSC_SUCCESS);
  // the last of the order: columns that have waited before, then those that wait now
  enum Wait : signed char {
    NONE,
    BEFORE,
    NOW
  };
  std::vector<signed char> wait;
  std::vector<bool>        takes;
  PetscCallCXX(wait.assign(Rows(), NONE));
  std::fill(wait.end() - deferred_, wait.end(), BEFORE);
  for (const PetscInt k : poor) wait[k] = NOW;
  PetscCallCXX(place.resize(Rows()));
  std::iota(place.begin(), place.end(), 0);
  PetscCallCXX(std::stable_sort(place.begin(), place.end(), [&](PetscInt a, PetscInt b) { return wait[a] < wait[b]; }));
  PetscCallCXX(takes.assign(Rows(), false));
  for (PetscInt f = 0; f < tree.Fronts(); f++)
    if (std::find(wait.begin() + tree.first[f], wait.begin() + tree.first[f + 1], NOW) !=
        wait.begin() + tree.first[f + 1])
      std::fill(takes.begin() + tree.first[f], takes.begin() + tree.first[f + 1], true);
  PetscCall(engine_->PivotRows(&from));
  PetscCallCXX(row.reserve(Rows()));
  PetscCallCXX(column.reserve(Rows()));
  for (const PetscInt k : place) {
    row.push_back(analysis_.row_order[takes[k] ? from[k] : k]);
    column.push_back(analysis_.column_order[k]);
  }
  const auto waiting =
      static_cast<PetscInt>(std::count_if(wait.begin(), wait.end(), [](signed char w) { return w != NONE; }));
  if (waiting == deferred_ && static_cast<PetscInt>(poor.size()) == waiting)
    PetscFunctionReturn(PETSC_SUCCESS); // again
  deferred_ = waiting;
  *count    = waiting;
  PetscCall(Analyse(A, row, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
