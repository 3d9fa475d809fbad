/// One recursion over the levels of a PCMG.
#include "pc/amg/cycle.hpp"
#include <petsc/private/kspimpl.h>
#include "pc/amg/arrays.hpp"
#include "pc/amg/solvers.hpp"

#include <cstring>

namespace sparsegpu::amg
{

PetscLogEvent CycleEvent;

namespace
{
PC_MG *Multigrid(PC pc)
{
  return static_cast<PC_MG *>(pc->data);
}

PetscErrorCode ChebyshevUpdate(PetscReal before, PetscReal now, PetscReal residual, Vec d, Vec f, Vec q, Vec x,
                               Vec next)
{
  const Vec read[] = {d, f, q, x};

  PetscFunctionBegin;
  PetscCall(
      Update(read, next, before != 0 ? Access::ReadWrite : Access::Write, [&](const Scalar *const *from, Scalar *to) {
        return ChebyshevStep{before, now, residual, from[0], from[1], from[2], from[3], to};
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the smoother of a level is what Smooth() does.
PetscErrorCode IsDefault(const PC_MG_Levels &l, bool *is)
{
  KSP          ksp = l.smoothd;
  PC           pc;
  PCJacobiType kind;
  PetscBool    chebyshev, jacobi, absolute = PETSC_FALSE;

  PetscFunctionBegin;
  *is = false;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCHEBYSHEV, &chebyshev));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, &jacobi));
  if (!chebyshev || !jacobi || l.smoothu != ksp || l.cr) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->numbermonitors || ksp->normtype != KSP_NORM_NONE || ksp->max_it < 1 || ksp->pc_side == PC_SYMMETRIC)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->presolve || ksp->postsolve) PetscFunctionReturn(PETSC_SUCCESS);
#if PETSC_VERSION_LT(3, 26, 0)
  if (ksp->dscale) PetscFunctionReturn(PETSC_SUCCESS);
#endif
  if (l.restrct != l.interpolate || l.residual != PCMGResidualDefault) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCJacobiGetType(pc, &kind));
  PetscCall(PCJacobiGetUseAbs(pc, &absolute));
  *is = kind == PC_JACOBI_DIAGONAL && !absolute;
#if PETSC_VERSION_GE(3, 22, 0)
  KSPChebyshevKind polynomial;
  PetscCall(KSPChebyshevGetKind(ksp, &polynomial));
  *is = *is && polynomial == KSP_CHEBYSHEV_FIRST;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Cycle::DestroyWork(Work *w)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&w->A));
  PetscCall(VecDestroy(&w->inverse));
  PetscCall(VecDestroy(&w->other));
  w->steps.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::Clear()
{
  PetscFunctionBegin;
  for (Work &w : works_) PetscCall(DestroyWork(&w));
  works_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The inverse of the diagonal and room for an iterate.
PetscErrorCode Cycle::SetUpLevel(Work *w, Mat A)
{
  const Vec none[1] = {nullptr};

  PetscFunctionBegin;
  if (w->A != A) { // the same address is the same matrix: it is referenced
    PetscCall(DestroyWork(w));
    PetscCall(PetscObjectReference((PetscObject)A));
    w->A = A;
    PetscCall(MatCreateVecs(A, &w->inverse, nullptr));
    PetscCall(VecDuplicate(w->inverse, &w->other));
  }
  PetscCall(MatGetDiagonal(A, w->inverse));
  PetscCall(
      Update(none, w->inverse, Access::ReadWrite, [](const Scalar *const *, Scalar *d) { return InvertDiagonal{d}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Room for the steps of a K-cycle on levels between the finest and the coarsest.
PetscErrorCode Cycle::SetUpSteps(const std::vector<Level> &levels, const Settings &settings)
{
  const size_t finest    = levels.size() - 1;
  const bool   k         = settings.cycle == Settings::CycleType::K && finest > 1;
  bool         hermitian = false;

  PetscFunctionBegin;
  if (k) PetscCall(IsHermitian(levels[0].A, levels[1].A, &hermitian));
  for (size_t l = 1; l < finest; l++) {
    if (!k || !works_[l].A) {
      works_[l].steps.reset();
      continue;
    }
    if (!works_[l].steps) PetscCallCXX(works_[l].steps = std::make_unique<FlexibleSteps>());
    PetscCall(works_[l].steps->SetUp(works_[l].other, levels[finest - l].processes, hermitian));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::SetUp(PC pc, const Hierarchy &hierarchy, const Settings &settings)
{
  const std::vector<Level> &levels = hierarchy.Levels();
  const size_t              finest = levels.size() - 1;

  PetscFunctionBegin;
  if (works_.size() != levels.size()) {
    PetscCall(Clear());
    PetscCallCXX(works_.resize(levels.size()));
  }
  for (size_t l = 1; l <= finest; l++) {
    const Level &level = levels[finest - l];
    bool         takes = false;

    PetscCall(TakesSpectrum(Multigrid(pc)->levels[l]->smoothd, &takes));
    works_[l].begin = level.begin;
    takes           = takes && settings.use_sa_esteig && settings.fused_cycle && level.emax > 0;
    works_[l].emax  = takes ? level.emax : 0;
    if (takes)
      PetscCall(SetUpLevel(&works_[l], level.A));
    else
      PetscCall(DestroyWork(&works_[l]));
  }
  PetscCall(SetUpSteps(levels, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::WhyNot(PC pc, const char **reason) const
{
  const PC_MG *mg = Multigrid(pc);

  PetscFunctionBegin;
  *reason = nullptr;
  if (works_.size() < 2)
    *reason = "there is one level";
  else if (mg->nlevels != (PetscInt)works_.size())
    *reason = "PCMGSetLevels() was called";
  else if (mg->am != PC_MG_MULTIPLICATIVE)
    *reason = "-pc_mg_type is not multiplicative";
  else if (pc->mat != pc->pmat && pc->useAmat)
    *reason = "the operator is not the matrix that it is preconditioned with";
  for (size_t l = 1; l < works_.size() && !*reason; l++) {
    bool is;
    PetscCall(IsDefault(*mg->levels[l], &is));
    if (!is || !(works_[l].emax > 0)) *reason = "a smoother has other options or a monitor";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::Takes(Vec b, Vec x, bool *takes) const
{
  VecType mine, of_b, of_x;

  PetscFunctionBegin;
  PetscCall(VecGetType(works_.back().other, &mine));
  PetscCall(VecGetType(b, &of_b));
  PetscCall(VecGetType(x, &of_x));
  *takes = !strcmp(mine, of_b) && !strcmp(mine, of_x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As KSPCHEBYSHEV of the first kind; level.r holds products.
PetscErrorCode Cycle::Smooth(const PC_MG_Levels &level, const Work &work, Vec b, Vec x, bool zero)
{
  const PetscReal begin = work.begin * work.emax, end = SPECTRUM_END * work.emax;
  const PetscReal scale = 2 / (end + begin), mu = 1 / (1 - scale * begin);
  const PetscInt  steps = level.smoothd->max_it;
  PetscReal       c[2]  = {1, mu};
  Vec             now = x, next = work.other;

  PetscFunctionBegin;
  if (!zero) PetscCall(MatMult(work.A, x, level.r));
  PetscCall(ChebyshevUpdate(0, 1, scale, work.inverse, b, zero ? nullptr : level.r, zero ? nullptr : x, next));
  for (PetscInt s = 1; s < steps; s++) {
    const PetscReal after = 2 * mu * c[1] - c[0], omega = 2 * mu * c[1] / after;
    std::swap(now, next); // next holds the iterate before, which is 0 after one step from zero
    c[0] = c[1];
    c[1] = after;
    PetscCall(MatMult(work.A, now, level.r));
    PetscCall(
        ChebyshevUpdate(zero && s == 1 ? 0 : 1 - omega, omega, omega * scale, work.inverse, b, level.r, now, next));
  }
  if (next != x) PetscCall(VecCopy(next, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x ~ A^-1 b on the level below l, once or twice.
PetscErrorCode Cycle::Correct(PC pc, PetscInt l)
{
  const PC_MG_Levels &coarse = *Multigrid(pc)->levels[l - 1];
  const PetscInt      cycles = l == 1 ? 1 : Multigrid(pc)->levels[l]->cycles; // the coarsest is solved

  PetscFunctionBegin;
  if (works_[l - 1].steps) {
    PetscCall(works_[l - 1].steps->Run(works_[l - 1].A, coarse.b, coarse.r, coarse.x,
                                       [&](Vec r, Vec z) { return Visit(pc, l - 1, r, z, true); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < cycles; c++) PetscCall(Visit(pc, l - 1, coarse.b, coarse.x, c == 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::Visit(PC pc, PetscInt l, Vec b, Vec x, bool zero)
{
  const PC_MG_Levels &level = *Multigrid(pc)->levels[l];

  PetscFunctionBegin;
  if (l == 0) {
    PetscCall(KSPSolve(level.smoothd, b, x));
    PetscCall(KSPCheckSolve(level.smoothd, pc, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PC_MG_Levels &coarse = *Multigrid(pc)->levels[l - 1];
  const Vec           rhs[1] = {b};
  PetscCall(Smooth(level, works_[l], b, x, zero));
  PetscCall(MatMult(works_[l].A, x, level.r));
  PetscCall(Update(rhs, level.r, Access::ReadWrite, [](const Scalar *const *f, Scalar *r) {
    return SubtractFrom{f[0], r};
  }));
  PetscCall(MatRestrict(level.interpolate, level.r, coarse.b));
  PetscCall(Correct(pc, l));
  PetscCall(MatInterpolateAdd(level.interpolate, coarse.x, x, x));
  PetscCall(Smooth(level, works_[l], b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::Apply(PC pc, Vec b, Vec x)
{
  const PC_MG   *mg     = Multigrid(pc);
  const PetscInt finest = (PetscInt)works_.size() - 1;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(CycleEvent, 0, 0, 0, 0));
  for (PetscInt c = 0; c < mg->cyclesperpcapply; c++) PetscCall(Visit(pc, finest, b, x, c == 0));
  PetscCall(PetscLogEventEnd(CycleEvent, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
