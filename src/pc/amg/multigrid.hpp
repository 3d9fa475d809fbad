/// What PCSPARSEGPUAMG has beside the data of PCMG, and how it is applied.
#pragma once

#include "pc/amg/cycle.hpp"
#include "pc/amg/hierarchy.hpp"

namespace sparsegpu::amg
{

/// The name under which it is composed with the PC.
constexpr const char DATA[] = "SparseGPUAMG";

struct Multigrid {
  struct _PCOps mg; ///< the operations of PCMG
  Settings      settings;
  Coordinates   coordinates;
  Hierarchy     hierarchy;
  Cycle         cycle;
  bool          cycle_type_set = false; ///< of PCMG, by ours
  bool          visits_set     = false; ///< Settings::ClassicalVisits(), by ours
  bool          cycle_asked    = false; ///< the program has set another cycle after that
  /// That the levels of PCMG have, and the finest one.
  Settings::Smoother smoothers[2] = {Settings::Smoother::Chebyshev, Settings::Smoother::Chebyshev};
};

PetscErrorCode DataOf(PC pc, Multigrid **data);

PetscErrorCode PCApply_SparseGPUAMG(PC pc, Vec b, Vec x);
PetscErrorCode PCApplyTranspose_SparseGPUAMG(PC pc, Vec b, Vec x);
PetscErrorCode PCMatApply_SparseGPUAMG(PC pc, Mat B, Mat X);

} // namespace sparsegpu::amg
