#include "energy.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace
{
// As nvml.h has them, which need not be there.
using Device = struct nvmlDevice_st *;
struct Library {
  int (*init)()                                          = nullptr; // each returns 0 if it could
  int (*by_index)(unsigned, Device *)                    = nullptr;
  int (*by_uuid)(const char *, Device *)                 = nullptr;
  int (*energy)(Device, unsigned long long *millijoules) = nullptr;
  Device device                                          = nullptr;
};

template <class Function> bool Find(void *handle, const char name[], Function *function)
{
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

bool Open(Library *l)
{
  void *const handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL); // stays open
  if (!handle) return false;
  if (!Find(handle, "nvmlInit_v2", &l->init) || !Find(handle, "nvmlDeviceGetHandleByIndex_v2", &l->by_index) ||
      !Find(handle, "nvmlDeviceGetHandleByUUID", &l->by_uuid) ||
      !Find(handle, "nvmlDeviceGetTotalEnergyConsumption", &l->energy) || l->init() != 0)
    return false;
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible && !strncmp(visible, "GPU-", 4)) {
    char uuid[96];
    snprintf(uuid, sizeof(uuid), "%.*s", static_cast<int>(strcspn(visible, ",")), visible);
    return l->by_uuid(uuid, &l->device) == 0;
  }
  return l->by_index(visible ? static_cast<unsigned>(strtoul(visible, nullptr, 10)) : 0, &l->device) == 0;
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
