/// The loops of the pattern of approximate inverses on the device.
#include "device/each.cuh"
#include "device/sort.hpp"
#include "pc/trisolve/isai_rows.hpp"

namespace sparsegpu::trisolve
{

PetscErrorCode CopyHalf_CUDA(const OneHalf &half, Array<PetscInt> *i, Array<PetscInt> *j)
{
  const PetscInt rows     = half.F.rows;
  PetscInt       nonzeros = 0;
  DeviceMemory   scratch;
  Stream         stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(i->Allocate(static_cast<size_t>(rows) + 1, Space::Device));
  PetscCall(LaunchEach(static_cast<PetscCount>(rows) + 1, HalfLength{half, i->data()}));
  PetscCall(RunningSum(rows, i, &nonzeros, &scratch, stream));
  PetscCall(j->Allocate(nonzeros, Space::Device));
  if (rows > 0) PetscCall(LaunchEach(rows, CopyHalf{half, i->data(), j->data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JoinHalves_CUDA(const JoinHalves &join)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(LaunchEach(static_cast<PetscCount>(join.rows) + 1, join));
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
