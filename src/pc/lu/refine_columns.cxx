/// Refinement of a block of columns: which of them take another step, and which leave.
#include "pc/lu/refine_columns.hpp"
#include <algorithm>
#include "pc/lu/direct.hpp"
#include "pc/lu/refine.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Backward errors up to this are those of rounding, below 1e-15 in double precision: another step would cost as much
/// as the solve. Direct solves of grids begin with 3e-16 to 1e-15, those with lost digits are left with 2e-16 by a
/// step.
constexpr PetscReal ROUNDING = 4 * PETSC_MACHINE_EPSILON;

class Refinement
{
public:
  Refinement(LuEngine *engine, PetscInt rows, const LuBlock &block, const RefineLimits &limits, ResidualSize *size)
      : engine_(engine),
        rows_(rows),
        block_(block),
        limits_(limits),
        size_(size)
  {
  }
  PetscErrorCode Begin();
  /// Whether columns were left to take one.
  PetscErrorCode Step(PetscInt *steps, bool *taken);
  PetscErrorCode Gmres(PetscInt *steps);

private:
  const Scalar  *B(PetscInt c) const { return block_.b + static_cast<size_t>(c) * block_.ldb; }
  Scalar        *X(PetscInt c) const { return block_.x + static_cast<size_t>(c) * block_.ldx; }
  PetscErrorCode Residuals(const LuColumns &columns, ResidualSize *size)
  {
    return engine_->Residual(columns, block_.b, block_.ldb, block_.x, block_.ldx, block_.transpose, size);
  }

  LuEngine           *engine_;
  PetscInt            rows_;
  const LuBlock      &block_;
  const RefineLimits &limits_;
  ResidualSize       *size_; ///< [block_.columns]
  LuColumns           open_; ///< that take another step
};

PetscErrorCode Refinement::Begin()
{
  ResidualSize again[LU_COLUMNS];
  LuColumns    zeroed;

  PetscFunctionBegin;
  PetscCall(Residuals(FirstColumns(block_.columns), size_));
  for (PetscInt c = 0; c < block_.columns; c++) { // worse than zero: refinement begins with zero
    if (size_[c].relative <= 1 || !(size_[c].error > limits_.goal)) continue;
    PetscCall(engine_->Combine(0, nullptr, nullptr, 0, X(c)));
    zeroed.Add(c);
  }
  if (zeroed.count > 0) PetscCall(Residuals(zeroed, again));
  for (PetscInt k = 0; k < zeroed.count; k++) size_[zeroed.at[k]] = again[k];
  for (PetscInt c = 0; c < block_.columns; c++)
    if (size_[c].error > ROUNDING) open_.Add(c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Refinement::Step(PetscInt *steps, bool *taken)
{
  ResidualSize next[LU_COLUMNS];
  LuColumns    left;

  PetscFunctionBegin;
  *taken = open_.count > 0 && *steps < limits_.steps;
  if (!*taken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(engine_->Correct(open_, block_.x, block_.ldx, block_.transpose));
  PetscCall(Residuals(open_, next));
  ++*steps;
  for (PetscInt k = 0; k < open_.count; k++) {
    const PetscInt  c      = open_.at[k];
    const PetscReal before = size_[c].error;
    if (!(next[k].error < before)) {
      PetscCall(engine_->Undo(c, X(c)));
      continue;
    }
    size_[c]        = next[k];
    const bool slow = next[k].error > before / 2; // at rounding level, or a case for GMRES
    if (!slow && next[k].error > ROUNDING) left.Add(c);
  }
  open_ = left;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Refinement::Gmres(PetscInt *steps)
{
  const PetscInt plain = *steps;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < block_.columns; c++) {
    PetscInt own = plain;
    if (!(size_[c].error > limits_.goal) && !(limits_.thorough && size_[c].relative > SOLVED)) continue;
    PetscCall(RefineByGmres(engine_, rows_, B(c), X(c), block_.transpose, limits_.thorough ? 0 : limits_.goal, &own,
                            &size_[c]));
    *steps = std::max(*steps, own);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RefineColumns(LuEngine *engine, PetscInt rows, const LuBlock &block, const RefineLimits &limits,
                             PetscInt *steps, ResidualSize *size)
{
  Refinement refinement(engine, rows, block, limits, size);
  bool       more = true;

  PetscFunctionBegin;
  *steps = 0;
  PetscCall(refinement.Begin());
  while (more) PetscCall(refinement.Step(steps, &more));
  PetscCall(refinement.Gmres(steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
