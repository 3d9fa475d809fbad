/// Schur complements in the factor's space: the front that was assembled for it, and solves between the two sweeps.
#include <algorithm>
#include "pc/lu/direct.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// The path of the last `count` unknowns: they follow each other in the elimination tree.
PetscErrorCode AddPath(PetscInt count, SymmetricPattern *pattern)
{
  SymmetricPattern with;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
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

PetscErrorCode DirectFactor::PlaceSchur()
{
  std::vector<PetscInt>  pivot;
  std::vector<PetscReal> rows, columns;

  PetscFunctionBegin;
  PetscCall(engine_->Scales(&rows, &columns));
  PetscCallCXX(pivot.assign(Rows(), -1));
  const PetscInt first = SchurFirst();
  for (size_t k = 0; k < schur.size(); k++) pivot[analysis_.row_order[first + k]] = static_cast<PetscInt>(k);
  PetscCallCXX(schur_places_.resize(schur.size()));
  for (size_t k = 0; k < schur.size(); k++)
    schur_places_[k] = SchurPlace{pivot[schur[k]], rows[schur[k]], columns[schur[k]]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::SchurBlock(Scalar *S)
{
  const size_t        size = schur.size();
  std::vector<Scalar> block;

  PetscFunctionBegin;
  PetscCallCXX(block.resize(size * size));
  PetscCall(engine_->Apart(block.data()));
  PetscCall(PlaceSchur());
  for (size_t j = 0; j < size; j++)
    for (size_t i = 0; i < size; i++) {
      const SchurPlace &at = schur_places_[i], &of = schur_places_[j];
      S[i + j * size] = Scalar(1 / at.row) * (Scalar(1 / of.column) * block[at.pivot + of.pivot * size]);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without refinement. v: a vector of the engine's. What lies between the sweeps is scaled as the matrix is.
PetscErrorCode DirectFactor::SchurOnce(const Scalar *b, Scalar *x, Scalar *v, bool transpose,
                                       const std::function<PetscErrorCode(Scalar *)> &solve)
{
  const Space         space = engine_->Where();
  const size_t        size  = schur.size();
  const LuColumns     one   = FirstColumns(1);
  std::vector<Scalar> own, inner;

  PetscFunctionBegin;
  PetscCall(engine_->ApplyHalf(LuHalf{true, transpose, false}, one, b, Rows(), v, Rows()));
  PetscCallCXX(own.resize(size));
  PetscCallCXX(inner.resize(size));
  PetscCall(CopyToHost(space, v + SchurFirst(), size, own.data()));
  for (size_t k = 0; k < size; k++) {
    const SchurPlace &at = schur_places_[k];
    inner[k]             = Scalar(1 / (transpose ? at.column : at.row)) * own[at.pivot];
  }
  if (size > 0) PetscCall(solve(inner.data()));
  for (size_t k = 0; k < size; k++) {
    const SchurPlace &at = schur_places_[k];
    own[at.pivot]        = Scalar(1 / (transpose ? at.row : at.column)) * inner[k];
  }
  PetscCall(CopyFromHost(space, own.data(), size, v + SchurFirst()));
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
