/// Which coarsening -pc_sparsegpuamg_type auto takes for a matrix.
#pragma once

#include <petscmat.h>
#include <string>
#include "pc/amg/settings.hpp"

namespace sparsegpu::amg
{

struct TypeChoice {
  bool        classical = false;
  std::string reason; ///< for people
};

/// By what the program said of A and by the kinds of its rows (pc/classical/kinds.hpp). The same on all processes.
/// Collective. Errors: PETSC_ERR_MEM.
PetscErrorCode ChooseType(Mat A, const Settings &settings, TypeChoice *choice);

} // namespace sparsegpu::amg
