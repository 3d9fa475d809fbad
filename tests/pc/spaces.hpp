/// Where arrays can lie here.
#pragma once

#include "../testing.hpp"
#include "device/device.hpp"

namespace testing
{

using sparsegpu::Space;

/// The host always.
inline PetscErrorCode Spaces(std::vector<Space> *spaces)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(sparsegpu::DeviceFound(&device));
  spaces->assign(1, Space::Host);
  if (device) spaces->push_back(Space::Device);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
