/// A sweep on the host, whose product A x has been computed before.
#include "ksp/sweep/closing.hpp"
#include "ksp/sweep/row.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::sweep
{

PetscReal JoinNorms(JacobiNorm norm, int ranks, const Scalar *norms)
{
  PetscReal whole = RealPart(norms[0]);

  for (int r = 1; r < ranks; r++) whole = joined(norm, whole, RealPart(norms[r]));
  return whole;
}

PetscErrorCode JacobiSweep_Host(const JacobiSweep &sweep, PetscReal *norm)
{
  PetscReal total = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < sweep.rows; r++) total = joined(sweep.norm, total, jacobi_row(sweep, r, sweep.product[r]));
  *norm = total;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::sweep
