/// PCSPARSEGPU with incomplete factors. If no ordering was requested: the matrix's own, unless the solves are exact,
/// run on a GPU and find its levels too narrow; then abmc. Subdomains have narrow levels of their own side by side.
#include <petsc/private/matimpl.h>
#include "pc/ilu/factor.hpp"
#include "pc/strategy/factored.hpp"
#include "sparsegpu.h"

namespace sparsegpu::strategy
{

namespace
{
/// Narrow levels leave most of a GPU idle, which more iterations in another order make up for: solves in block
/// multi-colour order take 0.7 to 0.8 times as long with 39,000 and 62,000 entries a level, and no less with 87,000 and
/// 99,000 (docs/performance.md).
constexpr PetscInt NARROW = 75000; // entries of a level

class IncompleteStrategy : public FactoredStrategy
{
public:
  using FactoredStrategy::FactoredStrategy;
  PetscErrorCode ApplyHalf(PC pc, Vec b, Vec x, bool upper) override;
  /// The norms of the solve were on the host, so that its applications are done: whether one of them gave up is known
  /// without a wait.
  PetscErrorCode PostSolve() override
  {
    PetscFunctionBegin;
    if (factor_) PetscCall(FactorOf(factor_)->CheckStuck());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

protected:
  /// As PCILU and PCICC have it.
  MatFactorShiftType DefaultShift() const override
  {
    return options_->Symmetric() ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE;
  }
  PetscErrorCode Agree(PC pc, Mat A) const override;
  PetscErrorCode Symbolic(Mat A, Space space, bool kept) override;
  PetscErrorCode NameFill(std::string *fill) const override
  {
    PetscFunctionBegin;
    PetscCallCXX(*fill = "(" + std::to_string(static_cast<PetscInt>(options_->info.levels)) + ")");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode NameSolves(std::string *solves) const override
  {
    PetscFunctionBegin;
    PetscCallCXX(*solves = std::string(", solves: ") + EngineNames[static_cast<int>(options_->engine)]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode SymbolicIn(Mat A, const char ordering[], bool *narrow);
};

/// The factor in this order, and whether its levels are too narrow for a GPU.
PetscErrorCode IncompleteStrategy::SymbolicIn(Mat A, const char ordering[], bool *narrow)
{
  const bool icc = options_->factor == FactorChoice::ICC;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&factor_));
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, &factor_));
  Factor *factor = FactorOf(factor_);
  if (options_->factor == FactorChoice::None) factor->kind = Incomplete::None;
  factor->check         = options_->check;
  factor->engine_is_set = options_->engine_is_set;
  if (options_->engine_is_set) factor->options.engine = options_->engine;
  factor->precision_is_set = options_->precision_is_set;
  if (options_->precision_is_set) factor->options.single = options_->single;
  factor->subdomains_are_set = options_->subdomains_are_set;
  if (options_->subdomains_are_set) factor->subdomains = options_->subdomains;
  PetscCall(order_->Find(A, ordering));
  if (icc)
    PetscCall(MatICCFactorSymbolic(factor_, A, order_->row, &options_->info));
  else
    PetscCall(MatILUFactorSymbolic(factor_, A, order_->row, order_->column, &options_->info));
  *narrow = factor->Nonzeros() / PetscMax(factor->Levels(), 1) < NARROW;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Processes without rows need no subdomains.
PetscErrorCode IncompleteStrategy::Agree(PC pc, Mat A) const
{
  PetscInt rows;

  PetscFunctionBegin;
  if (options_->subdomains.automatic || options_->subdomains.count == 1) PetscFunctionReturn(PETSC_SUCCESS);
  rows = A->rmap->n > 0 ? A->rmap->n : PETSC_MAX_INT;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &rows, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscCheck(options_->subdomains.count <= rows, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpu_subdomains %" PetscInt_FMT
             " must be at most the rows of each process, of which one has %" PetscInt_FMT,
             options_->subdomains.count, rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteStrategy::Symbolic(Mat A, Space space, bool kept)
{
  const std::string &wanted = options_->ordering;
  bool               narrow;

  PetscFunctionBegin;
  PetscCall(SymbolicIn(A, wanted.empty() ? MATORDERINGNATURAL : wanted.c_str(), &narrow));
  if (!kept && wanted.empty() && space == Space::Device && narrow && order_->name == MATORDERINGNATURAL &&
      options_->factor != FactorChoice::None && FactorOf(factor_)->Subdomains() == 1 &&
      IsExact(FactorOf(factor_)->options.engine)) {
    PetscCall(order_->Free());
    PetscCall(SymbolicIn(A, MATORDERINGABMC, &narrow));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteStrategy::ApplyHalf(PC pc, Vec b, Vec x, bool upper)
{
  PetscFunctionBegin;
  if (options_->factor != FactorChoice::ICC) {
    PetscCall(Strategy::ApplyHalf(pc, b, x, upper));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalVectorRead(b, b_));
  PetscCall(VecGetLocalVector(x, x_));
  PetscCall(upper ? MatBackwardSolve(factor_, b_, x_) : MatForwardSolve(factor_, b_, x_));
  PetscCall(VecRestoreLocalVector(x, x_));
  PetscCall(VecRestoreLocalVectorRead(b, b_));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::unique_ptr<Strategy> MakeIncompleteStrategy(PcOptions *options, EliminationOrder *order)
{
  return std::make_unique<IncompleteStrategy>(options, order);
}

} // namespace sparsegpu::strategy
