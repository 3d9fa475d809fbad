/// Which backend's launcher a Mult() calls: decided by the space its arrays lie in.
#pragma once

#if defined(SPARSEGPU_HAVE_CUDA)
  #define SPARSEGPU_LAUNCH(space, cuda, kokkos) ((space) == ::sparsegpu::Space::Device ? (cuda) : (kokkos))
#else // nothing lies on a device, and the CUDA launchers are not there to link
  #define SPARSEGPU_LAUNCH(space, cuda, kokkos) (kokkos)
#endif
