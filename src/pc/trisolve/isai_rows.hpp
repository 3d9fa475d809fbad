/// What the pattern of approximate inverses of power 2 is made of, row by row: function objects for loops of either
/// space.
#pragma once

#include "device/scalar.hpp"
#include "pc/trisolve/trisolve.hpp"

namespace sparsegpu::trisolve
{

/// One factor with its diagonal, of both in one CSR: row r begins at entry Begin(r).
struct OneHalf {
  FactorView            F;
  bool                  upper;
  SPARSEGPU_HD PetscInt Begin(PetscCount r) const { return upper ? F.diagonal[r] : F.i[r]; }
  SPARSEGPU_HD PetscInt Length(PetscCount r) const
  {
    return upper ? F.i[r + 1] - F.diagonal[r] : F.diagonal[r] - F.i[r] + 1;
  }
};

/// length [rows + 1]: of row r <= rows, 0 after the last.
struct HalfLength {
  OneHalf           half;
  PetscInt         *length;
  SPARSEGPU_HD void operator()(PetscCount r) const { length[r] = r < half.F.rows ? half.Length(r) : 0; }
};

struct CopyHalf {
  OneHalf           half;
  const PetscInt   *i; ///< [rows + 1]
  PetscInt         *j; ///< [i[rows]]
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    for (PetscInt k = 0; k < i[r + 1] - i[r]; k++) j[i[r] + k] = half.F.j[half.Begin(r) + k];
  }
};

/// Row r <= rows of both halves, each with its diagonal, as one: lower, diagonal, upper.
struct JoinHalves {
  PetscInt          rows;
  const PetscInt   *lower_i, *lower_j, *upper_i, *upper_j;
  PetscInt         *i, *j, *diagonal;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const PetscInt begin = lower_i[r] + upper_i[r] - static_cast<PetscInt>(r); // the diagonals before are there twice
    i[r]                 = begin;
    if (r == rows) return;
    const PetscInt lower = lower_i[r + 1] - lower_i[r];
    diagonal[r]          = begin + lower - 1;
    for (PetscInt k = 0; k < lower; k++) j[begin + k] = lower_j[lower_i[r] + k];
    for (PetscInt k = 1; k < upper_i[r + 1] - upper_i[r]; k++) j[diagonal[r] + k] = upper_j[upper_i[r] + k];
  }
};

/// The loops on the device, as those of InversePattern::Build().
PetscErrorCode CopyHalf_CUDA(const OneHalf &half, Array<PetscInt> *i, Array<PetscInt> *j);
PetscErrorCode JoinHalves_CUDA(const JoinHalves &join);

} // namespace sparsegpu::trisolve
