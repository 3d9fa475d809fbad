/// The engine of the last resort: on the host, by columns with partial pivoting. Its residuals and vectors are those of
/// the host's other engine.
#pragma once

#include "pc/lu/engine_host.hpp"
#include "pc/lu/pivoted.hpp"

namespace sparsegpu::lu
{

class PivotedEngine : public HostEngine
{
public:
  /// Rows are matched for these values; the columns come in the order of the analysis, sorted by blocks. Of the policy
  /// it takes the threshold, `exchange`. What it cannot factor is told by Outcome() and Singular().
  PetscErrorCode Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report) override;
  PetscLogDouble Bytes() const override;
  PetscErrorCode ApplyHalf(const LuHalf &, const LuColumns &, const Scalar *, PetscInt, Scalar *, PetscInt) override;
  PetscErrorCode Pivots(std::vector<Scalar> *met, std::vector<Scalar> *used) override;
  PetscErrorCode PivotRows(std::vector<PetscInt> *row) override;
  PetscErrorCode Pairs(std::vector<PairCode> *pair) override;
  PetscErrorCode Apart(Scalar *block) override;

  PivotedOutcome Outcome() const { return outcome_; }
  /// Whether the scaled matrix is singular to rounding: what is left of a right-hand side of ones after a solve and a
  /// step of refinement is too large a part of it for the solution to have a digit.
  bool       Singular() const { return singular_; }
  PetscInt   Blocks() const { return blocks_; }
  PetscInt   FailedColumn() const { return lu_.Step() < 0 ? -1 : columns_[lu_.Step()]; } ///< of A
  PetscCount Entries() const { return lu_.Entries(); }
  double     Multiplications() const { return lu_.Multiplications(); }

protected:
  PetscErrorCode ApplyTo(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                         bool transpose, bool scale, bool add) override;

private:
  PivotedColumns TakeColumns(const Scalar *a, const std::vector<PetscInt> &row_of) const;
  void           MeasureNorms(const Scalar *a);
  bool           LeavesResidual(const PivotedColumns &A);

  PivotedLu             lu_;
  PivotedOutcome        outcome_  = PivotedOutcome::Singular;
  bool                  singular_ = true;
  PetscInt              blocks_   = 0;
  std::vector<PetscInt> columns_; ///< [rows] column of A that is eliminated k-th
  std::vector<Scalar>   w_;       ///< [rows] a right-hand side in the order of elimination
};

} // namespace sparsegpu::lu
