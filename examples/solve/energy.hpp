/// The energy that the GPU has used, by NVIDIA's management library, which is looked for when the program runs.
#pragma once

#include "petsc/compat.hpp"

/// Joules since some time in the past; *known false where there is no library, no GPU that it knows, or one that does
/// not count. Of several GPUs: the calling thread's, once CUDA has started on it.
PetscErrorCode GpuEnergy(double *joules, bool *known);
