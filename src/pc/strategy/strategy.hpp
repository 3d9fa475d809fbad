/// The kinds of PCSPARSEGPU: each is a strategy, which sets up and applies the preconditioner. The options and the
/// order of elimination belong to the preconditioner and outlive the strategy.
#pragma once

#include <petscpc.h>
#include <memory>
#include "pc/strategy/options.hpp"

namespace sparsegpu::strategy
{

/// The order of elimination in use; -pc_factor_reuse_ordering keeps it when the pattern changes.
struct EliminationOrder {
  std::string name; ///< empty: not chosen yet
  IS          row = nullptr, column = nullptr;

  /// A's ordering of this name, unless there is one of A's size.
  PetscErrorCode Find(Mat A, const char ordering[]);
  PetscErrorCode Free();
};

class Strategy
{
public:
  Strategy(PcOptions *options, EliminationOrder *order) : options_(options), order_(order) {}
  virtual ~Strategy() = default;
  /// Factors the diagonal block of pc's matrix; sets pc->failedreason. The analysis is repeated unless pc->flag says
  /// that the pattern is the same.
  virtual PetscErrorCode SetUp(PC pc) = 0;
  /// x = A^-1 b or A^-T b with the factors for A.
  virtual PetscErrorCode Apply(PC pc, Vec b, Vec x, bool transpose) = 0;
  /// X = A^-1 B, dense matrices; here column by column.
  virtual PetscErrorCode ApplyMany(PC pc, Mat B, Mat X);
  /// One half of a symmetric preconditioner. Errors: PETSC_ERR_SUP naming the kind unless that is icc.
  virtual PetscErrorCode ApplyHalf(PC pc, Vec b, Vec x, bool upper);
  /// After a KSPSolve(): errors of solves on the device that the host has not waited for.
  virtual PetscErrorCode PostSolve() { return PETSC_SUCCESS; }
  virtual PetscErrorCode View(PC pc, PetscViewer viewer) const = 0;
  /// Some options have changed; SetUp() comes next.
  virtual PetscErrorCode OptionsChanged() { return PETSC_SUCCESS; }
  /// Frees all but the order of elimination. Errors come from solves that got stuck.
  virtual PetscErrorCode Reset() = 0;
  /// The factor of MATSOLVERSPARSEGPU, null: none.
  virtual Mat FactorMatrix() const { return nullptr; }

protected:
  PcOptions        *options_;
  EliminationOrder *order_;
};

/// ILU(k), ICC(k) and the matrix's own triangles.
std::unique_ptr<Strategy> MakeIncompleteStrategy(PcOptions *options, EliminationOrder *order);
/// LU and Cholesky.
std::unique_ptr<Strategy> MakeDirectStrategy(PcOptions *options, EliminationOrder *order);
/// LU of small blocks (pc/blocks).
std::unique_ptr<Strategy> MakeBlocksStrategy(PcOptions *options, EliminationOrder *order);

/// A polynomial in the matrix.
std::unique_ptr<Strategy> MakePolynomialStrategy(PcOptions *options, EliminationOrder *order);

/// Whether one strategy serves both choices.
bool SameStrategy(FactorChoice a, FactorChoice b);
/// The strategy of options->factor.
PetscErrorCode MakeStrategy(PcOptions *options, EliminationOrder *order, std::unique_ptr<Strategy> *strategy);

} // namespace sparsegpu::strategy
