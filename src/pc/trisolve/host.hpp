/// Engines `level` and `jacobi` on the host, in parallel by Kokkos. Engines `auto` and `syncfree` are Solve_Host()
/// there: one worker that takes row after row never waits. The formulas are those of syncfree.cu and jacobi.cu.
#pragma once

#include "pc/trisolve/kept.hpp"
#include "pc/trisolve/trisolve.hpp"

namespace sparsegpu::trisolve
{

/// All rows of a level at a time; every row is summed up as Solve_Host() does, so the solution has the same bits.
class HostLevels : public Trisolve
{
public:
  PetscErrorCode Analyse(const FactorView &factors, Stream) override;
  PetscErrorCode SetValues(const Scalar *values, Stream) override;
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream) override;
  size_t         Bytes() const override;

private:
  FactorView            factors_ = {};
  const Scalar         *values_  = nullptr;
  std::vector<PetscInt> order_[2]; ///< [rows] of L, of U: rows by level
  std::vector<PetscInt> begin_[2]; ///< [levels + 1] in order_
  std::vector<Scalar>   unknowns_; ///< [rows]
};

/// options.sweeps Jacobi sweeps over each factor.
class HostJacobi : public Trisolve
{
public:
  PetscErrorCode    Analyse(const FactorView &factors, Stream) override;
  PetscErrorCode    SetValues(const Scalar *values, Stream) override;
  PetscErrorCode    Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream) override;
  const KeptValues *Kept() const override { return &values_; }
  size_t            Bytes() const override { return values_.Bytes() + work_.size() * sizeof(Scalar); }

private:
  FactorView          factors_ = {};
  KeptValues          values_;
  std::vector<Scalar> work_; ///< [3 * rows]
};

/// The transposed factors on the host, as TransposedFactors are on the device.
class HostTransposed
{
public:
  /// F's order of rows and columns must outlive this. O(nonzeros).
  PetscErrorCode Build(const FactorView &F);
  /// values [nonzeros] of F.
  PetscErrorCode  SetValues(const Scalar *values);
  const Scalar   *values() const { return values_.data(); }
  void            DropValues() { values_ = std::vector<Scalar>(); }
  const PetscInt *from() const { return from_.data(); } ///< [nonzeros] entry of F
  size_t          Bytes() const
  {
    return (i_.size() + j_.size() + diagonal_.size() + from_.size()) * sizeof(PetscInt) +
           values_.size() * sizeof(Scalar);
  }

  FactorView view = {};

private:
  std::vector<PetscInt> i_, j_, diagonal_;
  std::vector<PetscInt> from_; ///< [nonzeros] entry of F
  std::vector<Scalar>   values_;
};

} // namespace sparsegpu::trisolve
