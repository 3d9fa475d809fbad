/// KSPSPARSEGPUJACOBI: settings and state.
#pragma once

#include <petsc/private/kspimpl.h>
#include "device/buffer.hpp"
#include "ksp/common/device_system.hpp"
#include "device/pinned.hpp"
#include "ksp/common/small_mode.hpp"
#include "ksp/jacobi/names.hpp"
#include "mat/rows/version.hpp"

namespace sparsegpu::jacobi
{

enum class JacobiTest {
  Residual,  ///< of KSPNormType's kind
  Difference ///< the largest change of an unknown in a sweep
};
extern const char *const JacobiTests[];

/// The work vectors. Sweeps go back and forth between the first two.
enum JacobiVectors {
  JACOBI_X,
  JACOBI_PRODUCT = 2,
  JACOBI_INVERSE, ///< of the diagonal
  JACOBI_RHS,
  JACOBI_VECTORS
};

struct Jacobi {
  JacobiTest       test       = JacobiTest::Residual;
  PetscReal        damping    = 1;
  SmallMode        small_mode = SmallMode::Auto;
  bool             runs       = false; ///< the last solve launched many sweeps at a time
  PetscObjectId    matrix     = 0;     ///< whose diagonal has been inverted, in the state and the version:
  PetscObjectState state      = -1;
  Version          version    = 0;       ///< 0: the matrix is not one of ours
  Vec              current    = nullptr; ///< the iterate that a monitor may ask for; not owned
  DeviceSystem     system;               ///< active if the vectors are on the host and the solve runs on the device
  Ranks            ranks;                ///< active if several ranks reach each other's memory where the vectors are
  DeviceMemory     arrays;               ///< then [3 * rows]: an iterate, the product, the inverse of the diagonal
  const Scalar    *iterate = nullptr;    ///< and the iterate that a monitor may ask for
  DeviceMemory     scratch;              ///< of the sweeps on a device
  PinnedMemory     records;
  int              round = 0; ///< Record::ready of this solve
};
inline Jacobi *JacobiOf(KSP ksp)
{
  return static_cast<Jacobi *>(ksp->data);
}

PetscErrorCode KSPCreate_SparseGPUJacobi(KSP ksp);
PetscErrorCode KSPSolve_SparseGPUJacobi(KSP ksp);
/// Brings JACOBI_INVERSE up to date. Errors: PETSC_ERR_ARG_WRONGSTATE naming the first row without a diagonal entry.
PetscErrorCode InvertDiagonal(KSP ksp);

} // namespace sparsegpu::jacobi
