/// A preconditioner of the user's that counts its applications.
#pragma once

#include "systems.hpp"

namespace testing
{

inline PetscErrorCode CountApplication(PC pc, Vec r, Vec z)
{
  void *count;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &count));
  ++*static_cast<PetscInt *>(count);
  PetscCall(VecCopy(r, z));
  PetscCall(VecScale(z, (PetscReal)0.25));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A set-up of SolveWith(); count: a PetscInt.
inline PetscErrorCode SetCountedShell(KSP ksp, void *count)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, count));
  PetscCall(PCShellSetApply(pc, CountApplication));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A x = b with that, by the solver of `type` with the options that are set: *count applications.
inline PetscErrorCode SolveCounted(const char type[], Mat A, Vec b, Outcome *out, PetscInt *count)
{
  const Option option("-ksp_type", type);

  PetscFunctionBeginUser;
  *count = 0;
  PetscCall(SolveWith(A, b, nullptr, out, SetCountedShell, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
