/// Matrices of real applications, for programs that link sparsegpu_input.
#pragma once

#include "family.hpp"

#include <load.hpp>

#include <filesystem>

namespace testing
{

/// Skips (by *loaded) a complex matrix where scalars are real.
inline PetscErrorCode LoadReal(const std::string &file, Problem *p, bool *loaded)
{
  std::string message;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(CollectMessage, &message));
  const PetscErrorCode code = LoadMatrix(PETSC_COMM_SELF, file.c_str(), &A);
  PetscCall(PetscPopErrorHandler());
  *loaded = code == PETSC_SUCCESS;
  if (!*loaded) {
    PetscCheck(message.find("\"complex\"") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s",
               message.c_str());
    PetscCall(Skip(message));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Gather(A, p));
  p->name = std::filesystem::path(file).filename().string();
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `check` of the file that -file names, else of all in the folder SPARSEGPU_MATRICES.
inline PetscErrorCode EachRealMatrix(PetscErrorCode (*check)(const std::string &file))
{
  char              file[PETSC_MAX_PATH_LEN] = "";
  const char *const folder                   = getenv("SPARSEGPU_MATRICES");
  PetscBool         set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-file", file, sizeof(file), &set));
  if (set) {
    PetscCall(check(file));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!folder || !*folder) {
    PetscCall(Skip("SPARSEGPU_MATRICES names no folder"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const auto &found : std::filesystem::directory_iterator(folder)) {
    const std::string name = found.path().filename().string(), stem = name.substr(0, name.find(".mtx"));
    if (stem == name || (stem.size() > 2 && stem.substr(stem.size() - 2) == "_b"))
      continue; // NAME_b is a right-hand side
    PetscCall(check(found.path().string()));
    SkipReason().clear(); // one that cannot be used is no reason to skip the others
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
