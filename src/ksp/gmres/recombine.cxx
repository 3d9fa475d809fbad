/// On the host: rows in tiles, whose sums stay in the cache until all columns have been read.
#include "ksp/gmres/recombine.hpp"
#include <algorithm>
#include <vector>
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

/// sums [kept][rows] += columns first .. end - 1 of W from row `begin` on, times coefficients. Four at a time, so that
/// sums are loaded and stored a quarter as often.
static void AddColumns(const Dense &W, PetscInt first, PetscInt end, PetscInt begin, PetscInt rows,
                       const Scalar *coefficients, PetscInt kept, Scalar *sums)
{
  PetscInt c = first;

  for (; c + 4 <= end; c += 4) {
    const Scalar *const w[4] = {W.Column(c) + begin, W.Column(c + 1) + begin, W.Column(c + 2) + begin,
                                W.Column(c + 3) + begin};
    for (PetscInt q = 0; q < kept; q++) {
      const Scalar *const a  = coefficients + c * kept + q;
      const Scalar        a0 = a[0], a1 = a[kept], a2 = a[2 * kept], a3 = a[3 * kept];
      Scalar *const       sum = sums + q * rows;
      for (PetscInt k = 0; k < rows; k++) sum[k] += (a0 * w[0][k] + a1 * w[1][k]) + (a2 * w[2][k] + a3 * w[3][k]);
    }
  }
  for (; c < end; c++)
    for (PetscInt q = 0; q < kept; q++) {
      const Scalar a = coefficients[c * kept + q], *const w = W.Column(c) + begin;
      for (PetscInt k = 0; k < rows; k++) sums[q * rows + k] += a * w[k];
    }
}

PetscErrorCode Recombine_Host(const Recombination &r)
{
  constexpr PetscInt  TILE = 128; // rows
  std::vector<Scalar> sums;

  PetscFunctionBegin;
  PetscCallCXX(sums.resize(static_cast<size_t>(2 * TILE * r.kept)));
  for (PetscInt begin = 0; begin < r.V.rows; begin += TILE) {
    const PetscInt rows  = std::min(TILE, r.V.rows - begin);
    Scalar *const images = sums.data(), *const operands = images + r.kept * rows;
    std::fill_n(images, 2 * r.kept * rows, Scalar(0));
    AddColumns(r.V, 0, r.steps + 1, begin, rows, r.image, r.kept, images);
    AddColumns(r.head, 0, r.before, begin, rows, r.operand, r.kept, operands);
    AddColumns(r.tail, r.before, r.steps, begin, rows, r.operand, r.kept, operands);
    for (PetscInt q = 0; q < r.kept; q++) {
      std::copy_n(images + q * rows, rows, r.V.Column(q) + begin);
      std::copy_n(operands + q * rows, rows, r.head.Column(q) + begin);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
