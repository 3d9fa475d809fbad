/// Schur complements in the factor's space: the front that was assembled for it, and solves between the two sweeps.
#include <algorithm>
#include "pc/lu/direct.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
PetscErrorCode CopyOut(Space space, Scalar *to, const Scalar *from, size_t count)
{
  Stream stream;

  PetscFunctionBegin;
  if (space == Space::Host) {
    std::copy_n(from, count, to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(to, from, count * sizeof(Scalar), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode CopyIn(Space space, Scalar *to, const Scalar *from, size_t count)
{
  Stream stream;

  PetscFunctionBegin;
  if (space == Space::Host) {
    std::copy_n(from, count, to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyIn(to, from, count * sizeof(Scalar), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// The path of the last `count` unknowns: they follow each other in the elimination tree.
PetscErrorCode AddPath(PetscInt count, SymmetricPattern *pattern)
{
  SymmetricPattern with;

  PetscFunctionBegin;
  with.n = pattern->n;
  PetscCallCXX(with.i.assign(1, 0));
  PetscCallCXX(with.i.reserve(pattern->i.size()));
  PetscCallCXX(with.j.reserve(pattern->j.size() + 2 * static_cast<size_t>(count)));
  for (PetscInt k = 0; k < pattern->n; k++) {
    const auto begin = pattern->j.begin() + static_cast<std::ptrdiff_t>(pattern->i[k]),
               end   = pattern->j.begin() + static_cast<std::ptrdiff_t>(pattern->i[k + 1]);
    with.j.insert(with.j.end(), begin, end);
    for (const PetscInt other : {k - 1, k + 1})
      if (std::min(k, other) >= pattern->n - count && other < pattern->n && std::find(begin, end, other) == end)
        with.j.push_back(other);
    with.i.push_back(static_cast<PetscCount>(with.j.size()));
  }
  *pattern = std::move(with);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// place[k]: which pivot of the front variable k of the complement is; the scales of its row and its column.
PetscErrorCode DirectFactor::SchurPlaces(std::vector<PetscInt> *place, std::vector<PetscReal> *row,
                                         std::vector<PetscReal> *column)
{
  std::vector<PetscInt>  pivot;
  std::vector<PetscReal> rows, columns;

  PetscFunctionBegin;
  PetscCall(engine_->Scales(&rows, &columns));
  PetscCallCXX(pivot.assign(Rows(), -1));
  const PetscInt first = SchurFirst();
  for (size_t k = 0; k < schur.size(); k++) pivot[analysis_.row_order[first + k]] = static_cast<PetscInt>(k);
  PetscCallCXX(place->resize(schur.size()));
  PetscCallCXX(row->resize(schur.size()));
  PetscCallCXX(column->resize(schur.size()));
  for (size_t k = 0; k < schur.size(); k++) {
    (*place)[k]  = pivot[schur[k]];
    (*row)[k]    = rows[schur[k]];
    (*column)[k] = columns[schur[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::SchurBlock(Scalar *S)
{
  const size_t           size = schur.size();
  std::vector<Scalar>    block;
  std::vector<PetscInt>  place;
  std::vector<PetscReal> row, column;

  PetscFunctionBegin;
  PetscCallCXX(block.resize(size * size));
  PetscCall(engine_->Apart(block.data()));
  PetscCall(SchurPlaces(&place, &row, &column));
  for (size_t j = 0; j < size; j++)
    for (size_t i = 0; i < size; i++)
      S[i + j * size] = Scalar(1 / row[i]) * (Scalar(1 / column[j]) * block[place[i] + place[j] * size]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without refinement. v: a vector of the engine's. What lies between the sweeps is scaled as the matrix is.
PetscErrorCode DirectFactor::SchurOnce(const Scalar *b, Scalar *x, Scalar *v, bool transpose,
                                       const std::function<PetscErrorCode(Scalar *)> &solve)
{
  const Space            space = engine_->Where();
  const size_t           size  = schur.size();
  const LuColumns        one   = FirstColumns(1);
  std::vector<Scalar>    own, inner;
  std::vector<PetscInt>  place;
  std::vector<PetscReal> row, column;

  PetscFunctionBegin;
  PetscCall(engine_->ApplyHalf(LuHalf{true, transpose, false}, one, b, Rows(), v, Rows()));
  PetscCallCXX(own.resize(size));
  PetscCallCXX(inner.resize(size));
  PetscCall(SchurPlaces(&place, &row, &column));
  const std::vector<PetscReal> &before = transpose ? column : row, &after = transpose ? row : column;
  PetscCall(CopyOut(space, own.data(), v + SchurFirst(), size));
  for (size_t k = 0; k < size; k++) inner[k] = Scalar(1 / before[k]) * own[place[k]];
  if (size > 0) PetscCall(solve(inner.data()));
  for (size_t k = 0; k < size; k++) own[place[k]] = Scalar(1 / after[k]) * inner[k];
  PetscCall(CopyIn(space, v + SchurFirst(), own.data(), size));
  PetscCall(engine_->ApplyHalf(LuHalf{false, transpose, false}, one, v, Rows(), x, Rows()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::SolveSchur(const Scalar *b, Scalar *x, bool transpose,
                                        const std::function<PetscErrorCode(Scalar *)> &solve)
{
  constexpr PetscReal ENOUGH = 4 * PETSC_MACHINE_EPSILON;
  constexpr PetscInt  STEPS  = 3;
  const LuColumns     one    = FirstColumns(1);
  PetscInt            width  = 1;
  ResidualSize        size;
  Scalar             *v;

  PetscFunctionBegin;
  solved_  = true;
  reached_ = 0;
  refined_ = 0;
  PetscCall(engine_->Room(&width));
  PetscCall(engine_->Basis(3, &v));
  Scalar *const residual = v + Rows(), *const step = residual + Rows();
  PetscCall(SchurOnce(b, x, v, transpose, solve));
  if (options.refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(engine_->Residual(one, b, Rows(), x, Rows(), transpose, &size));
  while (size.error > ENOUGH && size.error < PETSC_INFINITY && refined_ < std::min(STEPS, options.refine)) {
    ResidualSize next;
    PetscCall(engine_->KeptResidual(residual, false, transpose));
    PetscCall(SchurOnce(residual, step, v, transpose, solve));
    PetscCall(engine_->AddTo(x, step));
    PetscCall(engine_->Residual(one, b, Rows(), x, Rows(), transpose, &next));
    if (!(next.error < size.error)) {
      PetscCall(engine_->Undo(0, x));
      break;
    }
    refined_++;
    size = next;
  }
  reached_ = size.error;
  solved_  = !(size.error > Goal(transpose)); // NaN stays NaN
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
