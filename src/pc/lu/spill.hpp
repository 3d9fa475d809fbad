/// Which factors lie in the host's memory, where the device has no room for them: those of large fronts, the first of
/// the plan's steps first. They are computed in buffers of the device, and copied from there while the next ones are
/// computed; solves read them where they lie.
#pragma once

#include "pc/lu/plan.hpp"

namespace sparsegpu::lu
{

/// LuSpillNames.
enum class Spill {
  Needed, ///< what the device has no room for
  Always, ///< all large fronts'
  Never
};

struct SpillPlan {
  PetscCount begin = 0, end = 0; ///< the entries of FrontPlan::values that lie on the host
  PetscCount buffer  = 0;        ///< entries of each buffer on the device
  PetscInt   buffers = 0;        ///< 2, or 1 where there is no room for two: then copies are waited for
  PetscCount needed  = 0;        ///< entries on the device, of factors and buffers
  /// Where fronts begin in FrontPlan::step that are factored together, from the first large one on, and the end: the
  /// plan's steps, cut where they would not fit a buffer. No part is empty.
  std::vector<PetscInt> parts;

  PetscCount Entries() const { return end - begin; }
  bool       Has(PetscCount entry) const { return entry >= begin && entry < end; }
};

/// With room for so many entries of factors on the device. `needed` is more than that if there is no way. O(fronts).
PetscErrorCode PlanSpill(const FrontTree &tree, const FrontPlan &plan, Spill spill, PetscCount room, SpillPlan *result);

} // namespace sparsegpu::lu
