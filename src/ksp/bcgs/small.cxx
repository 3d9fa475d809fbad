/// What bcgs's launches of many iterations work on.
#include "ksp/bcgs/small.hpp"

namespace sparsegpu::bcgs
{

PetscErrorCode ArraySolve::Lend(Arrays *v, State **state, bool *with_norm)
{
  PetscFunctionBegin;
  PetscCall(system_.Solution(&v_.x)); // which says that it changes
  *v         = v_;
  *state     = control_.state;
  *with_norm = control_.with_norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SmallMethod::Place(const SmallShape &shape, char *base, size_t *used, SmallWork *work)
{
  work->half  = Take<PetscReal>(base, used, SHADOW_DOTS * shape.blocks);
  work->whole = Take<PetscReal>(base, used, MINIMISE_DOTS * shape.blocks);
  work->sums  = Take<PetscReal>(base, used, SHADOW_DOTS * shape.blocks);
}

PetscErrorCode SmallMethod::Lend(ArraySolve *arrays, PetscInt, SmallWork *work, SmallControl *control)
{
  PetscFunctionBegin;
  control->rows = static_cast<PetscReal>(arrays->system().rows());
  PetscCall(arrays->Lend(&work->v, &work->state, &control->with_norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Told SmallMethod::Tell(const Record &record, const Record &)
{
  return Told{record.norm, static_cast<Outcome>(record.outcome)};
}

} // namespace sparsegpu::bcgs
