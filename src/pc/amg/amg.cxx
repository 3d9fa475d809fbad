/// PCSPARSEGPUAMG is created as PCMG and renamed. Set-up, options, view, reset and destruction are ours, and call those
/// of PCMG; all else is PCMG's, and all PCMG functions and options work. What is ours lies in a composed container.
#include "pc/amg/amg.hpp"
#include "pc/amg/multigrid.hpp"
#include "pc/amg/solvers.hpp"
#include "pc/amg/view.hpp"
#include "petsc/aij.hpp"
#include "sparsegpu.h"

namespace sparsegpu::amg
{

namespace
{
PetscErrorCode CheckMatrix(PC pc)
{
  PetscInt rows, columns;

  PetscFunctionBegin;
  PetscCall(CheckAij(pc, PCSPARSEGPUAMG));
  PetscCall(MatGetSize(pc->pmat, &rows, &columns));
  PetscCheck(rows == columns, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "-pc_type %s takes square matrices, not %" PetscInt_FMT " x %" PetscInt_FMT, PCSPARSEGPUAMG, rows,
             columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The options of PCMG, which it reads as soon as it has levels. An own number of levels would be made of nothing.
PetscErrorCode ReadMultigridOptions(PC pc, Multigrid *m, PetscInt levels)
{
  PetscInt  now, asked = 1;
  PetscBool distinct = PETSC_FALSE;

  PetscFunctionBegin;
  // PCMG makes as many levels without a look at their number
  PetscCall(
      PetscOptionsGetInt(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_mg_levels", &asked, nullptr));
  PetscCall(CheckLevels(pc, "-pc_mg_levels", asked));
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall(m->mg.setfromoptions(pc, PetscOptionsObject));
  PetscOptionsEnd();
  PetscCall(PCMGGetLevels(pc, &now));
  if (now != levels) { // -pc_mg_levels is only the most that there may be
    PetscCall(PCMGSetLevels(pc, levels, nullptr));
    PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_mg_distinct_smoothup",
                                  &distinct, nullptr));
    if (distinct) PetscCall(PCMGSetDistinctSmoothUp(pc));
  }
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_EXTERNAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of the level, finest first; a program may have asked PCMG for more of them.
PetscInt VisitsOf(const std::array<PetscInt, MAX_LEVELS> &visits, PetscInt level)
{
  return visits[PetscMin(level, MAX_LEVELS - 1)];
}
/// Whether levels visit the next coarser one so often.
bool HasVisits(PC pc, const std::array<PetscInt, MAX_LEVELS> &visits)
{
  const PC_MG *mg  = static_cast<PC_MG *>(pc->data);
  bool         has = true;

  for (PetscInt l = 1; l < mg->nlevels; l++)
    has = has && mg->levels[l]->cycles == VisitsOf(visits, mg->nlevels - 1 - l);
  return has;
}
/// Finds out whether the program has set another cycle since ours was.
void AskProgram(PC pc, Multigrid *m)
{
  if (!m->visits_set || HasVisits(pc, Settings::ClassicalVisits())) return;
  m->visits_set  = false;
  m->cycle_asked = true;
}

PetscErrorCode Build(PC pc, Multigrid *m)
{
  PetscFunctionBegin;
  if (!m->hierarchy.Levels().empty()) PetscCall(m->mg.reset(pc));
  pc->setupcalled = static_cast<decltype(pc->setupcalled)>(0); // PCMG has to set up its levels anew, too
  PetscCall(m->hierarchy.Build(pc, pc->pmat, m->settings, m->coordinates));
  const PetscInt levels = (PetscInt)m->hierarchy.Levels().size();
  // levels whose smoothers are others than before begin anew, as some have two and some one
  bool others = false;
  for (bool finest : {false, true}) {
    const Settings::Smoother now = SmootherOf(m->hierarchy, m->settings, finest);

    others               = others || m->smoothers[finest] != now;
    m->smoothers[finest] = now;
  }
  AskProgram(pc, m); // before levels begin anew
  if (others) PetscCall(PCMGSetLevels(pc, levels > 1 ? levels - 1 : 2, nullptr));
  PetscCall(PCMGSetLevels(pc, levels, nullptr));
  if (m->cycle_type_set || m->visits_set) PetscCall(PCMGSetCycleType(pc, PC_MG_CYCLE_V));
  m->cycle_type_set = m->visits_set = false;
  PetscCall(ReadMultigridOptions(pc, m, levels));
  PetscCall(ConfigureLevels(pc, m->hierarchy, m->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether neither an option nor the program has said what the cycle is to be.
PetscErrorCode IsStandardCycle(PC pc, const Multigrid &m, bool *standard)
{
  const PC_MG *mg = static_cast<PC_MG *>(pc->data);
  PetscBool    asked;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_mg_cycle_type", &asked));
  *standard =
      !asked && !m.cycle_asked && m.settings.cycle == Settings::CycleType::Multigrid && !m.settings.visits_asked;
  for (PetscInt l = 1; l < mg->nlevels; l++) *standard = *standard && mg->levels[l]->cycles == 1; // else by API
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How often levels visit the next coarser one, where an option says so or classical multigrid has its own cycle.
PetscErrorCode SetVisits(PC pc, Multigrid *m)
{
  const PC_MG *mg       = static_cast<PC_MG *>(pc->data);
  bool         standard = false;

  PetscFunctionBegin;
  AskProgram(pc, m);
  if (m->visits_set) PetscFunctionReturn(PETSC_SUCCESS); // of the set-up before
  PetscCall(IsStandardCycle(pc, *m, &standard));
  const bool own = standard && m->hierarchy.IsClassical();
  if (!m->settings.visits_asked && !own) PetscFunctionReturn(PETSC_SUCCESS);
  const auto visits = own ? Settings::ClassicalVisits() : m->settings.visits;
  for (PetscInt l = 1; l < mg->nlevels; l++)
    mg->levels[l]->cycles = static_cast<decltype(mg->levels[l]->cycles)>(VisitsOf(visits, mg->nlevels - 1 - l));
  (own ? m->visits_set : m->cycle_type_set) = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What of -pc_sparsegpuamg_cycle_type PCMG can have: where its cycle or its transpose takes the place of a K-cycle,
/// that is the W-cycle, which visits levels as often. Blocks of vectors and the steps of KSPRICHARDSON are PCMG's, but
/// with K-cycles one vector at a time and PCApply().
PetscErrorCode SetCycleType(PC pc, Multigrid *m)
{
  const Settings::CycleType type = m->settings.cycle;

  PetscFunctionBegin;
  const bool steps  = static_cast<PC_MG *>(pc->data)->am == PC_MG_MULTIPLICATIVE;
  const bool k      = type == Settings::CycleType::K;
  pc->ops->matapply = k ? nullptr : PCMatApply_SparseGPUAMG;
  if (pc->ops->applyrichardson) m->mg.applyrichardson = pc->ops->applyrichardson; // PCMG has it from its levels on
  pc->ops->applyrichardson = k || !steps ? nullptr : m->mg.applyrichardson;
  const bool v             = type == Settings::CycleType::V || type == Settings::CycleType::Multigrid;
  m->cycle_type_set        = m->cycle_type_set || type != Settings::CycleType::Multigrid;
  if (type != Settings::CycleType::Multigrid) PetscCall(PCMGSetCycleType(pc, v ? PC_MG_CYCLE_V : PC_MG_CYCLE_W));
  if (v) PetscCall(SetVisits(pc, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_SparseGPUAMG(PC pc)
{
  Multigrid *m       = nullptr;
  bool       refresh = false;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  PetscCall(CheckMatrix(pc));
  if (pc->setupcalled && pc->flag != DIFFERENT_NONZERO_PATTERN)
    PetscCall(m->hierarchy.FitsPattern(pc->pmat, m->settings, &refresh));
  if (refresh) {
    PetscCall(m->hierarchy.Refresh(pc, pc->pmat, m->settings));
    PetscCall(RefreshLevels(pc, m->hierarchy, m->settings));
  } else {
    PetscCall(Build(pc, m));
  }
  PetscCall(SetCycleType(pc, m));
  PetscCall(m->mg.setup(pc));
  PetscCall(m->cycle.SetUp(pc, m->hierarchy, m->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_SparseGPUAMG(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  Multigrid *m = nullptr;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  const Settings before = m->settings;
  PetscBool      asked;
  PetscOptionsHeadBegin(PetscOptionsObject, "sparsegpuamg options");
  PetscCall(m->settings.Read(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_mg_cycle_type", &asked));
  if ((asked && m->visits_set) || m->settings.visits_asked != before.visits_asked ||
      !m->settings.SameHierarchy(before) || m->settings.cycle != before.cycle || m->settings.visits != before.visits ||
      m->settings.smoother != before.smoother || m->settings.finest_smoother != before.finest_smoother)
    pc->setupcalled = static_cast<decltype(pc->setupcalled)>(0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetCoordinates_SparseGPUAMG(PC pc, PetscInt dimension, PetscInt points, PetscReal *values)
{
  Multigrid *m = nullptr;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  PetscCheck(dimension >= 0 && points >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " points in %" PetscInt_FMT " dimensions: both must be non-negative", points, dimension);
  m->coordinates.dimension = dimension;
  m->coordinates.points    = points;
  PetscCallCXX(m->coordinates.values.assign(values, values + points * dimension));
  pc->setupcalled = static_cast<decltype(pc->setupcalled)>(0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_SparseGPUAMG(PC pc, PetscViewer viewer)
{
  Multigrid *m = nullptr;
  PetscBool  ascii;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(ViewHierarchy(pc, m->hierarchy, m->cycle, m->settings, viewer));
  PetscCall(m->mg.view(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_SparseGPUAMG(PC pc)
{
  Multigrid *m = nullptr;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  PetscCall(m->cycle.Clear());
  PetscCall(m->hierarchy.Clear());
  PetscCall(m->mg.reset(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_SparseGPUAMG(PC pc)
{
  Multigrid *m = nullptr;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  PetscCall(m->hierarchy.Clear());
  const auto destroy = m->mg.destroy;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSetCoordinates_C", nullptr));
  PetscCall(PetscObjectCompose((PetscObject)pc, DATA, nullptr)); // deletes it
  PetscCall(destroy(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SparseGPUAMG(PC pc)
{
  Multigrid *m = nullptr;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCSPARSEGPUAMG));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_EXTERNAL));
  PetscCallCXX(m = new Multigrid);
  m->mg = *pc->ops;
  PetscCall(ComposeOwned((PetscObject)pc, DATA, m));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSetCoordinates_C", PCSetCoordinates_SparseGPUAMG));
  pc->ops->setup          = PCSetUp_SparseGPUAMG;
  pc->ops->apply          = PCApply_SparseGPUAMG;
  pc->ops->applytranspose = PCApplyTranspose_SparseGPUAMG;
  pc->ops->matapply       = PCMatApply_SparseGPUAMG;
  pc->ops->setfromoptions = PCSetFromOptions_SparseGPUAMG;
  pc->ops->view           = PCView_SparseGPUAMG;
  pc->ops->reset          = PCReset_SparseGPUAMG;
  pc->ops->destroy        = PCDestroy_SparseGPUAMG;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RegisterMultigrid()
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PCRegister(PCSPARSEGPUAMG, PCCreate_SparseGPUAMG));
  PetscCall(PetscLogEventRegister("SparseGPUAggreg", PC_CLASSID, &AggregateEvent));
  PetscCall(PetscLogEventRegister("SparseGPUClassic", PC_CLASSID, &ClassicalEvent));
  PetscCall(PetscLogEventRegister("SparseGPUChoice", PC_CLASSID, &ChoiceEvent));
  PetscCall(PetscLogEventRegister("SparseGPUProlong", PC_CLASSID, &ProlongatorEvent));
  PetscCall(PetscLogEventRegister("SparseGPUGalerk", PC_CLASSID, &GalerkinEvent));
  PetscCall(PetscLogEventRegister("SparseGPUSpectr", PC_CLASSID, &SpectrumEvent));
  PetscCall(PetscLogEventRegister("SparseGPUCycle", PC_CLASSID, &CycleEvent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
