/// The numeric part of a direct factorization, and its solves with their refinement.
#include <algorithm>
#include "pc/lu/direct.hpp"
#include "pc/lu/refine_columns.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

PetscErrorCode DirectFactor::Numeric(const Scalar *a, PetscReal small)
{
  LuPolicy policy;

  PetscFunctionBegin;
  policy.exchange = kind == DirectKind::LU ? options.exchange : 0;
  policy.small    = small;
  policy.replace  = replace;
  policy.all      = options.refine > 0 || replace > 0;
  policy.epsilon  = Epsilon();
  small_          = small;
  pivoted_.reset();
  PetscCall(engine_->Numeric(a, policy, &report_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A residual cannot be computed more accurately than the rounding of its longest sum.
PetscReal DirectFactor::Goal(bool transpose) const
{
  const PetscReal longest = static_cast<PetscReal>(transpose ? analysis_.longest_column : analysis_.longest_row);
  return std::max(static_cast<PetscReal>(32), longest + 1) * PETSC_MACHINE_EPSILON;
}

PetscErrorCode DirectFactor::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   bool transpose)
{
  PetscInt     width = count;
  ResidualSize size[LU_COLUMNS];

  PetscFunctionBegin;
  solved_  = true;
  reached_ = 0;
  refined_ = 0;
  if (count > 0) PetscCall(Engine()->Room(&width));
  for (PetscInt first = 0; first < count; first += width) {
    const PetscInt columns = PetscMin(width, count - first);
    const Scalar  *from    = b + static_cast<size_t>(first) * ldb;
    Scalar        *to      = x + static_cast<size_t>(first) * ldx;
    PetscInt       steps;
    PetscCall(Engine()->Apply(FirstColumns(columns), from, ldb, to, ldx, transpose));
    if (options.refine == 0) continue;
    PetscCall(RefineColumns(Engine(), Rows(), LuBlock{columns, from, ldb, to, ldx, transpose},
                            RefineLimits{Goal(transpose), options.refine, false}, &steps, size));
    refined_ = std::max(refined_, steps);
    for (PetscInt c = 0; c < columns; c++) {
      solved_  = solved_ && !(size[c].error > Goal(transpose)); // NaN stays NaN
      reached_ = PetscMax(reached_, size[c].error);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::SolveHalf(bool forward, const Scalar *b, Scalar *x)
{
  PetscInt width = 1;

  PetscFunctionBegin;
  PetscCall(Engine()->Room(&width));
  PetscCall(Engine()->ApplyHalf(LuHalf{forward, false, true}, FirstColumns(1), b, Rows(), x, Rows()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::ProbeWith(const Scalar *b, Scalar *x, bool transpose, bool thorough, bool *good,
                                       ResidualSize *size)
{
  PetscInt steps, width = 1;

  PetscFunctionBegin;
  PetscCall(Engine()->Room(&width));
  PetscCall(Engine()->Apply(FirstColumns(1), b, Rows(), x, Rows(), transpose));
  PetscCall(RefineColumns(Engine(), Rows(), LuBlock{1, b, Rows(), x, Rows(), transpose},
                          RefineLimits{Goal(transpose), options.refine, thorough}, &steps, size));
  refined_ = std::max(refined_, steps);
  *good    = *good && size->error <= Goal(transpose);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::Probe(bool *good, ResidualSize *size)
{
  ResidualSize  other;
  const Scalar *b;
  Scalar       *product, *x;

  PetscFunctionBegin;
  *good = false;
  *size = ResidualSize();
  if (!report_.finite) PetscFunctionReturn(PETSC_SUCCESS);
  *good    = true;
  refined_ = 0;
  PetscCall(Engine()->Sample(&b, &product, &x));
  PetscCall(ProbeWith(b, x, false, !pivoted_, good, size));
  for (const bool transpose : {false, true}) {
    if (transpose && !pivoted_) break; // the device would need the transpose
    PetscCall(Engine()->Multiply(b, product, false, transpose));
    PetscCall(ProbeWith(product, x, transpose, false, good, &other));
    size->error = std::max(size->error, other.error);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
