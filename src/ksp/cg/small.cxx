/// What cg's launches of many iterations work on.
#include "ksp/cg/small.hpp"

namespace sparsegpu::cg
{

PetscErrorCode ArraySolve::Lend(PetscInt k, Arrays *v, State **state, Norm *norm)
{
  PetscFunctionBegin;
  PetscCall(system_.Solution(&v_.x)); // which says that it changes
  *v     = v_;
  *state = control_.state;
  *norm  = norm_;
  round_ = first_round_ + static_cast<int>(k) - 1; // as if those before had been launched one by one
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SmallMethod::Place(const SmallShape &shape, char *base, size_t *used, SmallWork *work)
{
  work->dots    = Take<PetscReal>(base, used, DOTS * shape.blocks);
  work->sums    = Take<PetscReal>(base, used, 2 * shape.blocks);
  work->arrived = Take<unsigned>(base, used, GROUP_COUNTERS);
}

PetscErrorCode SmallMethod::Lend(ArraySolve *arrays, PetscInt iteration, SmallWork *work, SmallControl *control)
{
  PetscFunctionBegin;
  PetscCall(arrays->Lend(iteration, &work->v, &work->state, &control->norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Told SmallMethod::Tell(const Record &record, const CgRecord &entry)
{
  return Told{record.norm, static_cast<Outcome>(record.outcome), entry.alpha, entry.rho};
}

} // namespace sparsegpu::cg
