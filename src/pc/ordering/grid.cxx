/// The sides of a grid are read off sampled rows: with the distances |column - row| of a stencil in ascending order,
/// those above half of the largest lie round the largest stride, nx ny in three dimensions, and the others are those of
/// the grid with one dimension less.
#include "pc/ordering/grid.hpp"
#include <algorithm>
#include <vector>
#include "device/buffer.hpp"
#include "pc/ordering/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

namespace
{
constexpr PetscInt SAMPLES = 64;  ///< rows that are looked at
constexpr PetscInt MOST    = 512; ///< distances that a stencil may have

/// Distances of coupled nodes, ascending, without 0; empty: too many for a stencil.
PetscErrorCode FindDistances(const RowPattern &A, std::vector<PetscInt> *all)
{
  const size_t          size = static_cast<size_t>(SAMPLES * (MOST + 1));
  Array<PetscInt>       sample;
  std::vector<PetscInt> copy;

  PetscFunctionBegin;
  all->clear();
  PetscCall(sample.Allocate(size, A.space));
  PetscCall(ForEach(A.space, SAMPLES,
                    SampleDistances{A.rows / A.unknowns, A.unknowns, SAMPLES, MOST, A.i, A.j, sample.data()}));
  PetscCallCXX(copy.resize(size));
  PetscCall(sample.ToHost(copy.data()));
  for (auto row = copy.begin(); row != copy.end(); row += MOST + 1) {
    if (*row <= MOST) PetscCallCXX(all->insert(all->end(), row + 1, row + 1 + *row));
    std::sort(all->begin(), all->end());
    all->erase(std::unique(all->begin(), all->end()), all->end());
    if (*row <= MOST && all->size() <= static_cast<size_t>(MOST)) continue;
    all->clear();
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FindGrid(const RowPattern &A, PetscInt *sides, bool *found)
{
  std::vector<PetscInt> distance, strides;

  PetscFunctionBegin;
  *found = false;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindDistances(A, &distance));
  if (distance.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  while (!distance.empty()) {
    const auto     upper = std::find_if(distance.begin(), distance.end(),
                                        [&](PetscInt d) { return 2 * static_cast<PetscInt64>(d) > distance.back(); });
    const PetscInt sum   = *upper + distance.back();
    if (sum % 2) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallCXX(strides.push_back(sum / 2));
    distance.erase(upper, distance.end());
  }
  if (strides.back() != 1) PetscCallCXX(strides.push_back(1)); // nothing couples neighbours
  if (strides.size() > DIMENSIONS) PetscFunctionReturn(PETSC_SUCCESS);
  std::reverse(strides.begin(), strides.end());
  std::fill(sides, sides + DIMENSIONS, 1);
  for (size_t d = 0; d < strides.size(); d++) {
    const PetscInt above = d + 1 < strides.size() ? strides[d + 1] : A.rows / A.unknowns;
    if (above % strides[d] || above == strides[d]) PetscFunctionReturn(PETSC_SUCCESS);
    sides[d] = above / strides[d];
  }
  *found = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
