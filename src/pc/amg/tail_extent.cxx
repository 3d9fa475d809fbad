/// Which levels the coarse tail has.
#include "device/vectors.hpp"
#include "pc/amg/coarse_tail.hpp"

namespace sparsegpu::amg
{

/// *top: PCMG's number of the finest level that the tail has; 0: none. Collective.
PetscErrorCode CoarseTail::Extent(PC pc, const std::vector<Level> &levels, const std::vector<LevelSmoother> &smoothers,
                                  const Settings &settings, PetscInt *top)
{
  const PetscInt finest = (PetscInt)levels.size() - 1;
  PetscInt       mine   = 0, rows;
  bool           direct = true;

  PetscFunctionBegin;
  *top = 0;
  if (settings.tail == 0 || finest < 1) PetscFunctionReturn(PETSC_SUCCESS);
  const Level &coarsest = levels[(size_t)finest];
  if (coarsest.rows > TAIL_COARSEST || coarsest.processes > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(coarsest.A, &rows, nullptr));
  has_ = rows > 0;
  if (has_) PetscCall(IsDirect(LevelsOf(pc)[0]->smoothd, &direct)); // the solvers of the others solve nothing
  for (PetscInt l = 1; direct && l <= PetscMin(finest, (PetscInt)TAIL_LEVELS); l++) {
    const LevelSmoother &smoother = smoothers[(size_t)l];
    const Level         &level    = levels[(size_t)(finest - l)];
    Mat                  own;
    Space                matrix, vectors;

    if (level.rows > settings.tail || level.processes > 1 || !smoother.A()) break;
    if (smoother.smoothing() != Smoothing::Chebyshev && smoother.smoothing() != Smoothing::Sweeps) break;
    if (l > 1 && smoothers[(size_t)l - 1].steps) break; // a K-cycle of the level below
    PetscCall(DiagonalBlock(level.A, &own));
    PetscCall(WorkSpace(own, &matrix));
    PetscCall(SpaceOf(smoother.like(), &vectors));
    if (l == 1) space_ = matrix;
    if (matrix != space_ || vectors != space_ || (space_ == Space::Host && !settings.tail_asked)) break;
    mine = l;
  }
  PetscCallMPI(MPI_Allreduce(&mine, top, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
