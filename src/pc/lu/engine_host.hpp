/// The engines on the host: scaling and the matrix as it was factored in ordinary memory, and fronts with factors of
/// one of two types, Scalar or Single.
#pragma once

#include <algorithm>
#include "pc/lu/engine.hpp"

namespace sparsegpu::lu
{

inline bool IsFinite(PetscReal magnitude)
{
  return magnitude - magnitude == 0;
}

class HostEngine : public LuEngine
{
public:
  PetscErrorCode Symbolic(const LuAnalysis &analysis) override;
  PetscErrorCode Room(PetscInt *width) override;
  PetscErrorCode Apply(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                       bool transpose) override
  {
    return ApplyTo(columns, b, ldb, x, ldx, transpose, true, false);
  }
  PetscErrorCode Residual(const LuColumns &columns, const Scalar *b, PetscInt ldb, const Scalar *x, PetscInt ldx,
                          bool transpose, ResidualSize *size) override;
  PetscErrorCode Correct(const LuColumns &columns, Scalar *x, PetscInt ldx, bool transpose) override;
  PetscErrorCode Undo(PetscInt column, Scalar *x) override
  {
    std::copy_n(Kept(before_, column), analysis_->rows, x);
    return PETSC_SUCCESS;
  }
  PetscErrorCode Basis(PetscInt count, Scalar **v) override;
  PetscErrorCode KeptResidual(Scalar *v, bool scaled, bool transpose) override;
  PetscErrorCode Precondition(const Scalar *v, Scalar *z, bool scaled, bool transpose) override
  {
    return ApplyTo(FirstColumns(1), v, analysis_->rows, z, analysis_->rows, transpose, !scaled, false);
  }
  PetscErrorCode Multiply(const Scalar *z, Scalar *v, bool scaled, bool transpose) override;
  PetscErrorCode Dots(PetscInt count, const Scalar *v, const Scalar *w, Scalar *result) override;
  PetscErrorCode Combine(PetscInt count, const Scalar *c, const Scalar *v, PetscReal beta, Scalar *y) override;
  PetscErrorCode AddTo(Scalar *x, const Scalar *d) override;
  PetscErrorCode Sample(const Scalar **b, Scalar **product, Scalar **x) override;
  PetscErrorCode Values(std::vector<Scalar> *a) override;
  PetscErrorCode Scales(std::vector<PetscReal> *row, std::vector<PetscReal> *column) override
  {
    PetscFunctionBegin;
    PetscCallCXX(*row = row_scale_);
    PetscCallCXX(*column = column_scale_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Space          Where() const override { return Space::Host; }
  PetscLogDouble Bytes() const override;

protected:
  /// x = or += the factors' inverse times b, or, without `scale`, times what b becomes once it is scaled.
  virtual PetscErrorCode ApplyTo(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                 bool transpose, bool scale, bool add) = 0;
  /// Column `column` of what is kept for a block.
  Scalar *Kept(std::vector<Scalar> &block, PetscInt column) const
  {
    return block.data() + static_cast<size_t>(column) * static_cast<size_t>(analysis_->rows);
  }

  const LuAnalysis      *analysis_ = nullptr;
  std::vector<PetscReal> row_scale_, column_scale_;
  std::vector<Scalar>    a_;                 ///< the values as they were factored; none without refinement
  std::vector<Scalar>    residual_, before_; ///< [rows x columns of a block]
  std::vector<Scalar>    sample_, basis_;
  std::vector<PetscReal> column_sums_;                    ///< [rows] scratch
  PetscReal              row_norm_ = 0, column_norm_ = 0; ///< largest sums of magnitudes

private:
  void ResidualOf(PetscInt column, const Scalar *b, const Scalar *x, bool transpose, ResidualSize *size);
};

/// Multifrontal factors of type Number. A right-hand side is brought into the range of Single by a power of two.
template <class Number> class HostFactors final : public HostEngine
{
public:
  PetscErrorCode Symbolic(const LuAnalysis &analysis) override;
  PetscErrorCode Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report) override;
  PetscErrorCode ApplyHalf(const LuHalf &half, const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x,
                           PetscInt ldx) override;
  PetscErrorCode Pivots(std::vector<Scalar> *met, std::vector<Scalar> *used) override;
  PetscErrorCode PivotRows(std::vector<PetscInt> *row) override
  {
    PetscFunctionBegin;
    PetscCallCXX(*row = local_row_);
    RowsOfFronts(analysis_->tree, row);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Pairs(std::vector<PairCode> *pair) override
  {
    PetscFunctionBegin;
    PetscCallCXX(*pair = pair_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Apart(Scalar *block) override;
  PetscLogDouble Bytes() const override;

protected:
  PetscErrorCode ApplyTo(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                         bool transpose, bool scale, bool add) override;

private:
  void ScaleByDiagonal(const Scalar *a);
  void Equilibrate(const Scalar *a);
  void Fill(const Scalar *a, PetscReal *largest);
  /// Room for `count` right-hand sides.
  PetscErrorCode TakeColumns(PetscInt count);
  PetscErrorCode Sweep(bool transpose, Sweeps sweeps, PetscInt count)
  {
    PetscFunctionBegin;
    PetscCall(LuSolve_Host(analysis_->tree, analysis_->plan, values_.data(), local_row_.data(),
                           analysis_->paired ? pair_.data() : nullptr, transpose, sweeps, count, w_.data(),
                           analysis_->rows, scratch_.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<Number>   values_, work_, scratch_;
  std::vector<Number>   apart_; ///< [pivots x pivots of FrontTree::apart]
  std::vector<Number>   met_;   ///< [rows] pivots of a symmetric factorization before any was replaced
  std::vector<Number>   w_;     ///< [rows x columns of a solve] a right-hand side in the order of elimination
  std::vector<PetscInt> local_row_;
  std::vector<PairCode> pair_; ///< [rows] PivotsOf, if LuAnalysis::paired
};

} // namespace sparsegpu::lu
