/// Engine `jacobi`: an approximate solve without any waiting: a few Jacobi sweeps over each factor, y <- D^-1 (b - N
/// y), where N is the strict triangle. Exact after as many sweeps as the factor has levels; a few do for
/// preconditioning where the factors are diagonally dominant. Anzt, Chow, Dongarra, "Iterative sparse triangular solves
/// for preconditioning", Euro-Par 2015.
#pragma once

#include "pc/trisolve/kept.hpp"
#include "pc/trisolve/schedule.hpp"

namespace sparsegpu::trisolve
{

class JacobiSweeps : public WithoutLevels
{
public:
  PetscErrorCode Analyse(const FactorView &factors, Stream stream) override;
  PetscErrorCode SetValues(const Scalar *values, Stream stream) override;
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream) override;
  const KeptValues *Kept() const override { return &values_; }
  size_t            Bytes() const override { return values_.Bytes() + a_.bytes() + b_.bytes() + c_.bytes(); }

private:
  KeptValues    values_;
  Array<Scalar> a_, b_, c_; ///< [rows]
};

} // namespace sparsegpu::trisolve
