/// The sweeps over small fronts, a source file for each way: what a program does not use of them is not loaded.
#pragma once

#include "pc/lu/device.hpp"

namespace sparsegpu::lu
{

/// Which factors a solve takes.
enum class Way {
  Plain,      ///< L, then U
  Transposed, ///< U^T, then L^T
  Half,       ///< L, then L^T or L^H with what D leaves: a symmetric factorization
  Paired      ///< the same with pivots of order 1 and 2: rows have changed places within tiles, and been combined
};
/// L.small in one way; see SweepSmallFronts_CUDA().
template <Way way, class Number> PetscErrorCode SweepSmall(const FrontsView &V, const SolveLists &L, bool forward,
                                                           const LuSolution<Number> &W, Stream stream);

} // namespace sparsegpu::lu
