/// On the host: rows in tiles, whose sums stay in the cache until all columns have been read.
#include "ksp/gmres/recombine.hpp"
#include <algorithm>
#include <vector>
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

/// sums [kept][rows] += coefficients [kept] of a column's rows.
static void AddColumn(const Scalar *column, PetscInt rows, const Scalar *coefficients, PetscInt kept, Scalar *sums)
{
  for (PetscInt q = 0; q < kept; q++)
    for (PetscInt k = 0; k < rows; k++) sums[q * rows + k] += coefficients[q] * column[k];
}

PetscErrorCode Recombine_Host(const Recombination &r)
{
  constexpr PetscInt  TILE = 256; // rows
  std::vector<Scalar> sums;

  PetscFunctionBegin;
  PetscCallCXX(sums.resize(static_cast<size_t>(2 * TILE * r.kept)));
  for (PetscInt begin = 0; begin < r.V.rows; begin += TILE) {
    const PetscInt rows  = std::min(TILE, r.V.rows - begin);
    Scalar *const images = sums.data(), *const operands = images + r.kept * rows;
    std::fill_n(images, 2 * r.kept * rows, Scalar(0));
    for (PetscInt c = 0; c <= r.steps; c++) {
      AddColumn(r.V.Column(c) + begin, rows, r.image + c * r.kept, r.kept, images);
      if (c == r.steps) continue;
      const Dense &W = c < r.before ? r.head : r.tail;
      AddColumn(W.Column(c) + begin, rows, r.operand + c * r.kept, r.kept, operands);
    }
    for (PetscInt q = 0; q < r.kept; q++) {
      std::copy_n(images + q * rows, rows, r.V.Column(q) + begin);
      std::copy_n(operands + q * rows, rows, r.head.Column(q) + begin);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
