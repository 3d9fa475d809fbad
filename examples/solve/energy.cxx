#include "energy.hpp"

#include <dlfcn.h>

namespace
{
// As nvml.h and cuda.h have them, which need not be there.
using Device = struct nvmlDevice_st *;
struct Library {
  int (*init)()                                          = nullptr; // each returns 0 if it could
  int (*by_bus)(const char *, Device *)                  = nullptr;
  int (*energy)(Device, unsigned long long *millijoules) = nullptr;
  int (*current)(int *device)                            = nullptr;
  int (*bus_of)(char *, int length, int device)          = nullptr;
  Device device                                          = nullptr;
};

template <class Function> bool Find(void *handle, const char name[], Function *function)
{
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

/// CUDA and the management library may number GPUs in different orders: both know a place on the bus.
bool Open(Library *l)
{
  void *const management = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL); // both stay open
  void *const driver     = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  char        bus[32];
  int         device;
  if (!management || !driver) return false;
  return Find(management, "nvmlInit_v2", &l->init) &&
         Find(management, "nvmlDeviceGetHandleByPciBusId_v2", &l->by_bus) &&
         Find(management, "nvmlDeviceGetTotalEnergyConsumption", &l->energy) &&
         Find(driver, "cuCtxGetDevice", &l->current) && Find(driver, "cuDeviceGetPCIBusId", &l->bus_of) &&
         l->init() == 0 && l->current(&device) == 0 && l->bus_of(bus, sizeof(bus), device) == 0 &&
         l->by_bus(bus, &l->device) == 0;
}
} // namespace

PetscErrorCode GpuEnergy(double *joules, bool *known)
{
  static Library     library;
  static const bool  open        = Open(&library);
  unsigned long long millijoules = 0;

  PetscFunctionBeginUser;
  *known  = open && library.energy(library.device, &millijoules) == 0;
  *joules = 1e-3 * static_cast<double>(millijoules);
  PetscFunctionReturn(PETSC_SUCCESS);
}
