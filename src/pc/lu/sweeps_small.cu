/// Which sweep over small fronts a solve needs.
#include "pc/lu/ways.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

template <class Number> PetscErrorCode SweepSmallFronts_CUDA(const FrontsView &fronts, const SolveLists &lists,
                                                             bool forward, bool transpose,
                                                             const LuSolution<Number> &work, Stream stream)
{
  PetscFunctionBegin;
  if (lists.small_count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (fronts.shape != Shape::General)
    PetscCall(work.pair ? SweepSmall<Way::Paired>(fronts, lists, forward, work, stream)
                        : SweepSmall<Way::Half>(fronts, lists, forward, work, stream));
  else
    PetscCall(transpose ? SweepSmall<Way::Transposed>(fronts, lists, forward, work, stream)
                        : SweepSmall<Way::Plain>(fronts, lists, forward, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode SweepSmallFronts_CUDA(const FrontsView &, const SolveLists &, bool, bool,
                                              const LuSolution<Scalar> &, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SweepSmallFronts_CUDA(const FrontsView &, const SolveLists &, bool, bool,
                                              const LuSolution<Single> &, Stream);
#endif

} // namespace sparsegpu::lu
