/// Work that each process of a communicator does alone, among work that they do together.
#pragma once

#include "petsc/may_lack_memory.hpp"

namespace sparsegpu
{

/// `call`, which each process makes alone: an error on one is an error on all, so that none waits for it.
template <class Call> PetscErrorCode OnAll(MPI_Comm comm, Call call)
{
  PetscMPIInt    size;
  PetscErrorCode code = PETSC_SUCCESS;
  Message        message;
  PetscInt       mine, worst;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) {
    PetscCall(call());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Quietly(call, &code, &message));
  mine = static_cast<PetscInt>(code);
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPIU_INT, MPI_MAX, comm));
  PetscCheck(!worst, PETSC_COMM_SELF, static_cast<PetscErrorCode>(worst), "%s",
             mine ? message.text : "Another process failed: see its message");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
