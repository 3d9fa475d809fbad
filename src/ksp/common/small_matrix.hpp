/// A small system's matrix in csr on the device: as its products have it, or a copy, refreshed when its values change.
#pragma once

#include <memory>
#include "ksp/common/device_system.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/rows/version.hpp"

namespace sparsegpu::ksp
{

class SmallMatrixCopy
{
public:
  PetscErrorCode Take(const DeviceSystem &system, CsrLayout *layout);
  void           Free()
  {
    own_.reset();
    version_ = 0;
  }

private:
  std::unique_ptr<Format> own_;         ///< of a matrix that its products have in another format
  Version                 version_ = 0; ///< of the matrix that own_ is a copy of
};

} // namespace sparsegpu::ksp
