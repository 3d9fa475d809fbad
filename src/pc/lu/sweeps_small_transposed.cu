/// The sweeps over small fronts: U^T, then L^T.
#include "pc/lu/sweeps_small.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

template PetscErrorCode SweepSmall<Way::Transposed>(const FrontsView &, const SolveLists &, bool,
                                                    const LuSolution<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SweepSmall<Way::Transposed>(const FrontsView &, const SolveLists &, bool,
                                                    const LuSolution<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
