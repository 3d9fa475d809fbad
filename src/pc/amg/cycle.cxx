/// One recursion over the levels of a PCMG.
#include "pc/amg/cycle.hpp"
#include <petsc/private/kspimpl.h>
#include "pc/amg/residual.hpp"

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

CopyEntries Copy(const Scalar *const *from, Scalar *to)
{
  return CopyEntries{from[0], to};
}
} // namespace

PetscErrorCode Cycle::Clear()
{
  PetscFunctionBegin;
  for (LevelSmoother &work : works_) PetscCall(work.Clear());
  works_.clear();
  PetscCall(tail_.Clear());
  for (Vec &v : room_) PetscCall(VecDestroy(&v));
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
    if (!k || !works_[l].A()) {
      works_[l].steps.reset();
      continue;
    }
    if (!works_[l].steps) PetscCallCXX(works_[l].steps = std::make_unique<FlexibleSteps>());
    PetscCall(works_[l].steps->SetUp(works_[l].like(), levels[finest - l].processes, hermitian));
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
    PetscCallCXX(works_ = std::vector<LevelSmoother>(levels.size()));
  }
  for (size_t l = 1; l <= finest; l++)
    PetscCall(works_[l].SetUp(*Multigrid(pc)->levels[l], levels[finest - l], settings));
  PetscCall(SetUpSteps(levels, settings));
  PetscCall(tail_.SetUp(pc, levels, works_, settings));
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
  else if (mg->levels[1]->restrct != mg->levels[1]->interpolate)
    *reason = "restriction is not by the transpose of the prolongator";
  else if (mg->am != PC_MG_MULTIPLICATIVE)
    *reason = "-pc_mg_type is not multiplicative";
  else if (pc->mat != pc->pmat && pc->useAmat)
    *reason = "the operator is not the matrix that it is preconditioned with";
  for (size_t l = 1; l < works_.size() && !*reason; l++) {
    Smoothing now;
    PetscCall(SmoothingOf(*mg->levels[l], &now));
    if (!works_[l].A() || now != works_[l].smoothing()) *reason = "a smoother has other options or a monitor";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether these vectors are of the type that the levels work on. All processes have the same types.
PetscErrorCode Cycle::Takes(Vec b, Vec x, bool *takes) const
{
  VecType mine, of_b, of_x;

  PetscFunctionBegin;
  PetscCall(VecGetType(works_.back().like(), &mine));
  PetscCall(VecGetType(b, &of_b));
  PetscCall(VecGetType(x, &of_x));
  *takes = !strcmp(mine, of_b) && !strcmp(mine, of_x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::MakeRoom()
{
  const Vec like = works_.back().like();
  VecType   mine, had;

  PetscFunctionBegin;
  PetscCall(VecGetType(like, &mine));
  for (Vec &v : room_) {
    if (v) {
      PetscCall(VecGetType(v, &had));
      if (!strcmp(mine, had)) continue;
      PetscCall(VecDestroy(&v));
    }
    PetscCall(VecDuplicate(like, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x ~ A^-1 b on the level below l, once or twice.
PetscErrorCode Cycle::Correct(PC pc, PetscInt l)
{
  const PC_MG_Levels &coarse = *Multigrid(pc)->levels[l - 1];
  const PetscInt      cycles = l == 1 ? 1 : Multigrid(pc)->levels[l]->cycles; // the coarsest is solved

  PetscFunctionBegin;
  if (works_[l - 1].steps) {
    PetscCall(works_[l - 1].steps->Run(works_[l - 1].A(), coarse.b, coarse.r, coarse.x,
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
  if (l == tail_.Top()) {
    bool done;
    PetscCall(tail_.Run(pc, b, x, zero, &done));
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PC_MG_Levels &coarse = *Multigrid(pc)->levels[l - 1];
  PetscCall(works_[l].Smooth(level, level.smoothd, b, x, zero));
  PetscCall(Residual(works_[l].A(), b, x, level.r));
  PetscCall(MatRestrict(level.interpolate, level.r, coarse.b));
  PetscCall(Correct(pc, l));
  PetscCall(MatInterpolateAdd(level.interpolate, coarse.x, x, x));
  PetscCall(works_[l].Smooth(level, level.smoothu, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle::Apply(PC pc, Vec b, Vec x)
{
  const PC_MG   *mg       = Multigrid(pc);
  const PetscInt finest   = (PetscInt)works_.size() - 1;
  const Vec      given[1] = {b};
  bool           takes;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(CycleEvent, 0, 0, 0, 0));
  PetscCall(Takes(b, x, &takes));
  if (!takes) {
    PetscCall(MakeRoom());
    PetscCall(Update(given, room_[0], Access::Write, Copy));
  }
  const Vec rhs = takes ? b : room_[0], result = takes ? x : room_[1], found[1] = {result};
  for (PetscInt c = 0; c < mg->cyclesperpcapply; c++) PetscCall(Visit(pc, finest, rhs, result, c == 0));
  if (!takes) PetscCall(Update(found, x, Access::Write, Copy));
  PetscCall(PetscLogEventEnd(CycleEvent, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
