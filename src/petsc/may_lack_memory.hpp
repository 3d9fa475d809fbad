/// For work that a run can do without, or do in another way.
#pragma once

#include <cstring>
#include <petscsys.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// What an error would have said; of a fixed size, as memory may be what is lacking.
struct Message {
  char text[1024] = "";
};

/// The message of the first error goes to `message`, a Message, and nowhere else.
inline PetscErrorCode KeepMessage(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType kind,
                                  const char *text, void *message)
{
  Message *kept = static_cast<Message *>(message);
  if (kind == PETSC_ERROR_INITIAL && text && !kept->text[0]) strncpy(kept->text, text, sizeof(kept->text) - 1);
  return code;
}

/// *code: what `call` returns; *message: what it would have said.
template <class Call> PetscErrorCode Quietly(Call call, PetscErrorCode *code, Message *message)
{
  PetscFunctionBegin;
  *message = Message();
  PetscCall(PetscPushErrorHandler(KeepMessage, message));
  *code = call();
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the error is a lack of memory. On the host it is an exception that PetscCallCXX has met: std::bad_alloc, or
/// Kokkos' "failed to allocate".
inline bool LacksMemory(PetscErrorCode code, const Message &message)
{
  return code == PETSC_ERR_MEM || (code == PETSC_ERR_LIB && strstr(message.text, "alloc"));
}

/// `call`, where it may lack memory without an end to the run: *lacks if it does, which -info tells. Any other error is
/// one.
template <class Call> PetscErrorCode MayLackMemory(Call call, bool *lacks)
{
  PetscErrorCode code = PETSC_SUCCESS;
  Message        message;

  PetscFunctionBegin;
  PetscCall(Quietly(call, &code, &message));
  *lacks = LacksMemory(code, message);
  PetscCheck(*lacks || !code, PETSC_COMM_SELF, code, "%s", message.text);
  if (*lacks) PetscCall(PetscInfo(nullptr, "Done in another way, for lack of memory: %s\n", message.text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `call` on the device, where the host can do the same: *host if the device lacks memory, or where the sizes are out
/// of the range of its numbers, which -info tells. Any other error is one.
template <class Call> PetscErrorCode TryOnDevice(Call call, bool *host)
{
  PetscErrorCode code = PETSC_SUCCESS;
  Message        message;

  PetscFunctionBegin;
  PetscCall(Quietly(call, &code, &message));
  *host = LacksMemory(code, message) || code == PETSC_ERR_ARG_OUTOFRANGE;
  PetscCheck(*host || !code, PETSC_COMM_SELF, code, "%s", message.text);
  if (*host) PetscCall(PetscInfo(nullptr, "Done on the host, as the GPU cannot: %s\n", message.text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
