/// The sweeps over small fronts: L, then L^T or L^H, with pivots of order 1 and 2.
#include "pc/lu/sweeps_small.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

template PetscErrorCode SweepSmall<Way::Paired>(const FrontsView &, const SolveLists &, bool,
                                                const LuSolution<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SweepSmall<Way::Paired>(const FrontsView &, const SolveLists &, bool,
                                                const LuSolution<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
