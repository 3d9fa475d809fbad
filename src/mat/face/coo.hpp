/// What the preallocation by coordinates and the assembly of values share.
#pragma once

#include "mat/face/context.hpp"

namespace sparsegpu::face
{

using PreallocateCoo = PetscErrorCode (*)(Mat, PetscCount, PetscInt[], PetscInt[]);
using SetValuesCoo   = PetscErrorCode (*)(Mat, const PetscScalar[], InsertMode);

/// *there: the `count` entries that were given on the host or on the device, in `space`: in `room` if they are not
/// there.
template <class T> PetscErrorCode InSpace(Space space, T *given, PetscCount count, Array<T> *room, T **there)
{
  PetscBool device;

  PetscFunctionBegin;
  *there = given;
  PetscCall(DevicePointer(given, &device));
  if (device) PetscCall(DeviceAfterVectors()); // they may be a vector's
  if ((space == Space::Device) == static_cast<bool>(device)) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Device) {
    PetscCall(room->Copy(given, static_cast<size_t>(count), space));
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(room->bytes())));
  } else {
    Stream         stream;
    std::vector<T> host;
    PetscCallCXX(host.resize(static_cast<size_t>(count)));
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(host.data(), given, host.size() * sizeof(T), stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(host.size() * sizeof(T))));
    PetscCall(room->Take(std::move(host), space));
  }
  *there = room->data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does the map of A map to the pattern that A has now?
PetscErrorCode MapFits(Mat A, Context *context, CsrView *csr, bool *fits);
/// MatSetValuesCOO() of plain AIJ through a map; *map lies on the host afterwards.
PetscErrorCode SetValuesOnHost(Mat A, std::shared_ptr<CooMap> *map, const PetscScalar v[], InsertMode mode);
PetscErrorCode MatSetValuesCOO_SparseGPU(Mat A, const PetscScalar v[], InsertMode mode);

/// A matrix that becomes plain AIJ keeps its map, and takes values by it until it is preallocated again. *map: one that
/// A has kept, which is A's context's now; null if there is none.
PetscErrorCode TakeKeptMap(Mat A, std::shared_ptr<CooMap> *map);

} // namespace sparsegpu::face
