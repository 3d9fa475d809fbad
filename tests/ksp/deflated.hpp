/// GMRES of ours whose restarts keep vectors.
#pragma once

#include "against_petsc.hpp"

namespace testing
{

/// These options, with a restart that keeps so many vectors.
inline std::string Deflated(PetscInt kept, const std::string &options)
{
  return options + " -ksp_sparsegpugmres_deflation " + std::to_string(kept) + " -ksp_type " + KSPSPARSEGPUGMRES;
}

} // namespace testing
