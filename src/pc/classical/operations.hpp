/// The loops of classical coarsening over unknowns: function objects of an index that both backends run in any order.
/// No two indices write to the same place. What decides about the splitting is integer arithmetic, or comparisons of
/// reals which take those for equal that differ by rounding.
#pragma once

#include "pc/classical/interpolation.hpp"
#include "pc/classical/kinds.hpp"
#include "pc/classical/part.hpp"
#include "pc/classical/splitting.hpp"
#include "pc/classical/strength.hpp"

namespace sparsegpu::classical
{

/// Runs `operation` of 0 .. count - 1 on arrays that lie in `space`; asynchronous on the device.
template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation);

#define SPARSEGPU_FOR_CLASSICAL_OPERATIONS(what) \
  what(MeasureRow);                              \
  what(CountStrong);                             \
  what(KeepStrong);                              \
  what(FlagIsolated);                            \
  what(FillFields);                              \
  what(BeginSearch);                             \
  what(MarkCoarse);                              \
  what(TakeOut);                                 \
  what(FlagCoarse);                              \
  what(NumberCoarse);                            \
  what(TakeFields);                              \
  what(CountGiven);                              \
  what(FillGiven);                               \
  what(CountFactor);                             \
  what(FillFactor);                              \
  what(ClassifyRow);                             \
  what(CountKept);                               \
  what(KeepLargest);                             \
  what(TakePart)

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);

} // namespace sparsegpu::classical
