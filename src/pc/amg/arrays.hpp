/// The local entries of several vectors, where these are: on the device if all of them are there, else on the host.
#pragma once

#include "device/local_array.hpp"
#include "pc/amg/update.hpp"

namespace sparsegpu::amg
{

/// Runs run(space, arrays, array) for the local entries of `read`, where a null has a null array, and `write`.
template <int COUNT, class Run>
PetscErrorCode WithArrays(const Vec (&read)[COUNT], Vec write, Access access, const Run &run)
{
  PetscFunctionBegin;
  for (Space space : {Space::Device, Space::Host}) {
    LocalArray    from[COUNT], to;
    const Scalar *arrays[COUNT];
    int           there = 0, all = 0;

    for (int v = 0; v < COUNT; v++) {
      arrays[v] = nullptr;
      if (!read[v]) continue;
      PetscCall(from[v].Get(read[v], space, Access::Read));
      arrays[v] = from[v].read();
      there += from[v].on_device();
      all++;
    }
    if (write) {
      PetscCall(to.Get(write, space, access));
      there += to.on_device();
      all++;
    }
    const bool here = there == all || there == 0;
    if (here) PetscCall(run(there == all ? Space::Device : Space::Host, arrays, write ? to.write() : nullptr));
    for (LocalArray &array : from)
      if (array.borrowed()) PetscCall(array.Restore());
    if (write) PetscCall(to.Restore());
    if (here) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs make(arrays, array), a function object of an index, for the local entries of `write`.
template <int COUNT, class Make>
PetscErrorCode Update(const Vec (&read)[COUNT], Vec write, Access access, const Make &make)
{
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(write, &rows));
  PetscCall(WithArrays(read, write, access, [&](Space space, const Scalar *const *from, Scalar *to) {
    return ForEach(space, rows, make(from, to));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
