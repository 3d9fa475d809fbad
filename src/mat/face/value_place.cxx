/// Finds the values of a matrix, and brings what an operation on them needs to where they are.
#include "mat/face/value_place.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::face::there
{

/// Products of the matrix run on the host as far as is known: that is where its values are wanted.
static bool MultipliedOnHost(const Context &context)
{
  return context.last && context.last->format && context.last->space == Space::Host;
}

PetscErrorCode Find(Mat A, Need need, There *t)
{
  bool may = false;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &t->context));
  PetscCall(Decide(A, t->context));
  PetscCall(MayGoAway(A, t->context, &may, &t->space));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  Rows *rows = &t->context->rows;
  PetscCall(rows->ValuesIn(A, t->space, &t->a));
  const bool wanted = need == Need::Anew || (need == Need::Write && t->space == Space::Device);
  if (!t->a && (!wanted || rows->away() || MultipliedOnHost(*t->context))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(rows->GetShape(A, &t->pattern));
  if (t->pattern.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  bool       lacks = false;
  const auto bring = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if (need == Need::Anew)
      PetscCall(rows->RoomForValues(A, t->space, &t->a));
    else
      PetscCall(rows->BringValues(A, t->space, &t->a));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (!t->a) PetscCall(MayLackMemory(bring, &lacks));
  t->is = !lacks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LogFlops(const There &t, PetscLogDouble flops)
{
  PetscFunctionBegin;
  PetscCall(t.space == Space::Device ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HasLength(Vec v, PetscInt length, bool *has)
{
  PetscInt n;

  PetscFunctionBegin;
  *has = true;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  *has = n == length;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Diagonal(Mat A, There *t, const PetscInt **place, bool *complete)
{
  bool lacks = false;

  PetscFunctionBegin;
  *complete = false;
  if (!t->is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayLackMemory([&] { return t->context->rows.BringDiagonal(A, t->space, place, complete); }, &lacks));
  t->is = !lacks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Pattern(Mat A, There *t, const PetscInt **i, const PetscInt **j)
{
  bool lacks = false;

  PetscFunctionBegin;
  if (!t->is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayLackMemory([&] { return t->context->rows.BringPattern(A, t->space, i, j); }, &lacks));
  t->is = !lacks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bring(Mat X, Space space, bool pattern, There *x)
{
  bool       lacks = false;
  const auto bring = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(x->context->rows.BringValues(X, space, &x->a));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(GetContext(X, &x->context));
  x->space = space;
  PetscCall(x->context->rows.GetShape(X, &x->pattern));
  PetscCall(MayLackMemory(bring, &lacks));
  x->is = !lacks;
  if (!lacks && pattern) PetscCall(Pattern(X, x, &x->pattern.device.i, &x->pattern.device.j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face::there
