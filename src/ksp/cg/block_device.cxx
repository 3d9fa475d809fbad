/// The passes of block conjugate gradients, launched on the device of one process, ahead of what the host has heard.
#include <algorithm>
#include "ksp/cg/cg.hpp"
#include "ksp/common/passes.hpp"

namespace sparsegpu::cg
{

PetscErrorCode BlockSolve::ReserveBlock()
{
  char *base = nullptr;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) { // how much, then where
    size_t used    = 0;
    block_.state   = Take<BlockState>(base, &used, 1);
    block_.partial = Take<Scalar>(base, &used, BLOCK_SUMS * BLOCK_GRID);
    if (pass == 0) PetscCall(block_scratch_.Reserve(used));
    base = static_cast<char *>(block_scratch_.data());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For iteration k, -1: the beginning of a block.
PetscErrorCode BlockSolve::SetControl(PetscInt k)
{
  PetscFunctionBegin;
  block_.number  = static_cast<int>(k);
  block_.round   = records_.Round(k);
  block_.records = records_.Of(k);
  block_.varies  = control_.varies;
  block_.norm    = norm_;
  SetTests(&block_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Waits for the outcome.
PetscErrorCode BlockSolve::BeginOnDevice()
{
  PetscFunctionBegin;
  PetscCall(ReserveBlock());
  outcome_ = GOES_ON;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  Told   told;
  if (outside_) PetscCall(ApplyPreconditioner());
  records_.Begin();
  PetscCall(SetControl(-1));
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(BeginBlock_CUDA(v_, block_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(ToldOf(-1, 0, &told));
  outcome_ = told.outcome;
#endif
  PetscCall(PetscLogGpuFlops(2.0 * v_.rows * v_.count * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlockSolve::IterateOnDevice(PetscInt k)
{
  PetscFunctionBegin;
  PetscCall(MultiplyOnDevice(v_.p, v_.ld, false));
  PetscCall(SetControl(k));
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(ResidualBlock_CUDA(v_, block_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  if (outside_) PetscCall(ApplyPreconditioner());
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(DirectionBlock_CUDA(v_, block_, stream));
  PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscCall(PetscLogGpuFlops(11.0 * v_.rows * v_.count * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
