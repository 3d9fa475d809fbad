/// What the two harnesses share. clang's libFuzzer calls the two functions with inputs of its own making, replay.cxx
/// with those of the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <petscsys.h>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); ///< 0, or it does not return

namespace fuzz
{
/// Whether the last input ended without a PETSc error.
inline bool &Accepted()
{
  static bool accepted = false;
  return accepted;
}

/// Ends the program, as a sanitizer's report does, where a result is wrong.
inline void Require(bool right, const char what[])
{
  if (right) return;
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

/// PETSc without its signal handlers, which would hide what the sanitizers have to say, and without printed errors:
/// their messages are formatted and dropped.
inline PetscErrorCode Initialize()
{
  static char   name[] = "fuzz", quiet[] = "-no_signal_handler";
  static char  *arguments[] = {name, quiet, nullptr};
  static char **argv        = arguments;
  int           argc        = 2;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace fuzz
