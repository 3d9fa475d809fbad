/// Sizes are known without the pattern, and so is a format that has been chosen.
#include "mat/face/view_away.hpp"

namespace sparsegpu::face
{

PetscErrorCode LooksAway(Mat A, bool few_facts, bool *away)
{
  PetscBool seq, mpi;
  Context  *context;

  PetscFunctionBegin;
  *away = false;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq || !few_facts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  *away = context->rows.pattern_away();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ShapeToView(Mat A, CsrView *csr, PatternKey *key)
{
  PetscBool seq, mpi;
  Context  *context;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq) {
    PetscCall(GetContext(A, &context));
    if (context->rows.pattern_away()) {
      PetscCall(context->rows.GetShape(A, csr, key));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(GetCsr(A, csr, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool KnownToView(const Settings &settings, const ConvertedMatrix *built, const Waiting *waiting, const PatternKey &key)
{
  if (settings.format != "auto") return built != nullptr;
  return settings.trial || (waiting && waiting->choice && !waiting->inherited && waiting->pattern == key);
}

PetscErrorCode PeekChoice(Mat matrix, Plans *plans, const PatternKey &key, const Waiting *waiting, Choice *choice)
{
  const CsrView &A     = plans->look().rows();
  const Space    space = plans->look().space();
  bool           lacks = false, known = waiting && waiting->choice;

  PetscFunctionBegin;
  if (known && waiting->inherited)
    PetscCall(choice::StillInherits(matrix, A, space, *waiting, &known));
  else if (known)
    known = waiting->pattern == key;
  if (known) {
    PetscCallCXX(*choice = *waiting->choice);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MayLackMemory([&] { return ChooseFormat(plans, choice); }, &lacks));
  if (lacks) PetscCallCXX(*choice = Choice{Baseline(), "auto: no memory to look at the matrix"});
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
