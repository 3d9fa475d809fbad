/// A table of the levels, finest first.
#include "pc/amg/view.hpp"
#include "mat/face/solver_access.hpp"

namespace sparsegpu::amg
{

namespace
{
PetscErrorCode ViewClassicalSettings(const Settings &s, PetscViewer viewer)
{
  char aggressive[64] = "as needed";

  PetscFunctionBegin;
  if (s.aggressive_asked) PetscCall(PetscSNPrintf(aggressive, sizeof(aggressive), "%" PetscInt_FMT, s.aggressive));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "    levels at most %" PetscInt_FMT ", coarse_eq_limit %" PetscInt_FMT
                                   ", process_eq_limit %" PetscInt_FMT
                                   ", aggressive_coarsening %s, complexity %g, %s interpolation for new values\n",
                                   s.levels, s.coarse_eq_limit, s.process_eq_limit, aggressive, (double)s.complexity,
                                   s.reuse_interpolation ? "reuses" : "new"));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "    strong_threshold %g, max_row_sum %g, max_elements %" PetscInt_FMT ", truncation %g\n",
      (double)s.strong_threshold, (double)s.max_row_sum, s.max_elements, (double)s.truncation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewSettings(const Settings &s, const Hierarchy &hierarchy, PetscViewer viewer)
{
  PetscFunctionBegin;
  const bool chosen    = s.type == Settings::Type::Auto && !hierarchy.Levels().empty();
  const bool classical = chosen ? hierarchy.IsClassical() : s.type == Settings::Type::Classical;
  if (chosen)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    type: %s (chosen: %s)\n", classical ? "classical" : "aggregation",
                                     hierarchy.WhyType().c_str()));
  if (classical) {
    PetscCall(ViewClassicalSettings(s, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "    levels at most %" PetscInt_FMT ", coarse_eq_limit %" PetscInt_FMT
                                   ", process_eq_limit %" PetscInt_FMT ", agg_nsmooths %" PetscInt_FMT
                                   ", aggressive_coarsening %" PetscInt_FMT
                                   ", %sfilter, %s interpolation for new values\n",
                                   s.levels, s.coarse_eq_limit, s.process_eq_limit, s.nsmooths, s.aggressive,
                                   s.filter ? "" : "no ", s.reuse_interpolation ? "reuses" : "new"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The range of the real parts of A's diagonal.
PetscErrorCode DiagonalRange(Mat A, PetscReal *least, PetscReal *most)
{
  Vec d;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &d, nullptr));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecMin(d, nullptr, least));
  PetscCall(VecMax(d, nullptr, most));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of A, of all processes, with couplings but a diagonal of zero: those of a saddle point, for example.
PetscErrorCode RowsWithoutDiagonal(Mat A, PetscInt *rows)
{
  Vec                d, largest;
  PetscInt           n, mine = 0;
  const PetscScalar *at, *most;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, nullptr, &d));
  PetscCall(VecDuplicate(d, &largest));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(MatGetRowMaxAbs(A, largest, nullptr));
  PetscCall(VecGetLocalSize(d, &n));
  PetscCall(VecGetArrayRead(d, &at));
  PetscCall(VecGetArrayRead(largest, &most));
  for (PetscInt r = 0; r < n; r++) mine += PetscAbsScalar(at[r]) == 0 && PetscAbsScalar(most[r]) > 0;
  PetscCall(VecRestoreArrayRead(d, &at));
  PetscCall(VecRestoreArrayRead(largest, &most));
  PetscCallMPI(MPI_Allreduce(&mine, rows, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Definite operators have diagonals of one sign, on the finest level and on the coarsest, and none of zero in a row
/// with couplings: smoothers and the damping of prolongators rely on it.
PetscErrorCode ViewIndefinite(const Hierarchy &hierarchy, PetscViewer viewer)
{
  PetscReal least[2], most[2];
  PetscInt  rows;

  PetscFunctionBegin;
  PetscCall(RowsWithoutDiagonal(hierarchy.Levels().front().A, &rows));
  if (rows > 0)
    PetscCall(
        PetscViewerASCIIPrintf(viewer,
                               "    the operator looks indefinite, for which this multigrid is not made: %" PetscInt_FMT
                               " rows have couplings, but a diagonal of zero\n",
                               rows));
  PetscCall(DiagonalRange(hierarchy.Levels().front().A, &least[0], &most[0]));
  PetscCall(DiagonalRange(hierarchy.Levels().back().A, &least[1], &most[1]));
  if (PetscMin(least[0], least[1]) >= 0 || PetscMax(most[0], most[1]) <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      PetscViewerASCIIPrintf(viewer,
                             "    the operator looks indefinite, for which this multigrid is not made: diagonal from "
                             "%g to %g on the finest level, from %g to %g on the coarsest\n",
                             (double)least[0], (double)most[0], (double)least[1], (double)most[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the sequential parts of the set-up run: on the device on all processes, on none or on some.
PetscErrorCode SetUpPlace(MPI_Comm comm, const Hierarchy &hierarchy, const char **place)
{
  Space    space = Space::Host;
  PetscInt mine[2], all[2];
  Mat      D;

  PetscFunctionBegin;
  PetscCall(DiagonalBlock(hierarchy.Levels()[0].A, &D));
  PetscCall(WorkSpace(D, &space));
  mine[0] = space == Space::Device;
  mine[1] = space == Space::Host;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT, MPI_SUM, comm));
  *place = !all[0] ? "host" : (!all[1] ? "device" : "device, and on the host of some processes");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewLevels(const Hierarchy &hierarchy, const Settings &settings, PetscViewer viewer)
{
  PetscInt number = (PetscInt)hierarchy.Levels().size();

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "    %s, %d levels: operator complexity %.3f, grid complexity %.3f\n",
                                   hierarchy.IsClassical() ? "classical" : "smoothed aggregation",
                                   (int)hierarchy.Levels().size(), (double)hierarchy.OperatorComplexity(),
                                   (double)hierarchy.GridComplexity()));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "    level    unknowns  block     nonzeros  a row  processes  threshold  isolated\n"));
  for (const Level &l : hierarchy.Levels()) {
    const PetscInt  depth     = (PetscInt)hierarchy.Levels().size() - number;
    const PetscReal threshold = hierarchy.IsClassical() ? settings.strong_threshold : settings.threshold[depth];
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    %5" PetscInt_FMT " %11" PetscInt_FMT " %6" PetscInt_FMT " %12.0f %6.1f %10" PetscInt_FMT, --number,
        l.rows, l.block, l.nonzeros, l.rows ? l.nonzeros / (double)l.rows : 0, l.processes));
    if (l.P)
      PetscCall(PetscViewerASCIIPrintf(viewer, " %10g %9" PetscInt_FMT "\n", (double)threshold, l.isolated));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "    coarsening ended: %s\n", hierarchy.WhyStopped().c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The finest levels that visit the next coarser one other than once.
PetscErrorCode ViewVisits(PC pc, const Settings &settings, PetscViewer viewer)
{
  const PC_MG   *mg     = static_cast<PC_MG *>(pc->data);
  const PetscInt finest = mg->nlevels - 1;

  PetscFunctionBegin;
  bool each = settings.cycle == Settings::CycleType::K || finest < 2 ||
              mg->am == PC_MG_ADDITIVE; // levels are visited alike, as PCMG's view says
  if (finest >= 2 && !settings.visits_asked)
    each = each || mg->levels[finest]->cycles == mg->levels[finest - 1]->cycles;
  for (PetscInt l = finest; l > 1 && !each; l--) // the coarsest is solved
    if (mg->levels[l]->cycles != 1)
      PetscCall(PetscViewerASCIIPrintf(
          viewer, "    level %" PetscInt_FMT " is visited %d times for each visit of level %" PetscInt_FMT "\n", l - 1,
          static_cast<int>(mg->levels[l]->cycles), l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewPlaces(const Hierarchy &hierarchy, const char place[], PetscViewer viewer)
{
  const Level &finest = hierarchy.Levels().front();
  MatNullSpace near;

  PetscFunctionBegin;
  if (!hierarchy.IsClassical()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "    aggregates and tentative prolongators on the %s\n", place));
    PetscCall(PetscViewerASCIIPrintf(viewer, "    smoothed prolongators and coarse operators where products run\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "    splitting and interpolation on the %s\n", place));
  if (hierarchy.ComplexityAvoided() > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    the level below the finest was left out: operator complexity about %.1f with it\n",
        (double)hierarchy.ComplexityAvoided()));
  PetscCall(MatGetNearNullSpace(finest.A, &near));
  if (near)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    the near null space is ignored: see -pc_sparsegpuamg_type\n"));
  if (finest.block > 1)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    the %" PetscInt_FMT " unknowns of a block interpolate each for itself\n", finest.block));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// How many matrices products have read in single precision so far.
PetscErrorCode ViewPrecision(const Hierarchy &hierarchy, PetscViewer viewer)
{
  PetscInt all = 0, rounded = 0;

  PetscFunctionBegin;
  for (const Level &l : hierarchy.Levels())
    for (Mat M : {l.A, l.P}) {
      bool keeps;
      if (!l.P) continue; // the coarsest is solved
      PetscCall(face::KeepsRounded(M, &keeps));
      all++;
      rounded += keeps;
    }
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "    in single precision: products with %" PetscInt_FMT " of %" PetscInt_FMT
                                   " operators and prolongators\n",
                                   rounded, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ViewHierarchy(PC pc, const Hierarchy &hierarchy, const Cycle &cycle, const Settings &settings,
                             PetscViewer viewer)
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  const char    *place = "", *reason;

  PetscFunctionBegin;
  PetscCall(ViewSettings(settings, hierarchy, viewer));
  if (hierarchy.Levels().empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "    not yet set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SetUpPlace(comm, hierarchy, &place));
  PetscCall(ViewLevels(hierarchy, settings, viewer));
  PetscCall(ViewPlaces(hierarchy, place, viewer));
  PetscCall(ViewIndefinite(hierarchy, viewer));
  PetscCall(cycle.WhyNot(pc, &reason));
  if (!settings.fused_cycle) reason = "-pc_sparsegpuamg_fused_cycle 0";
  const bool k = settings.cycle == Settings::CycleType::K;
  PetscCall(PetscViewerASCIIPrintf(viewer, "    cycle: %s%s%s\n", reason ? "PCMG's, as " : "fused",
                                   reason ? reason : (k ? ", K" : ""), reason && k ? "; not K" : ""));
  if (settings.InSingle()) PetscCall(ViewPrecision(hierarchy, viewer));
  PetscCall(ViewVisits(pc, settings, viewer));
  if (!reason && cycle.TailTop() > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    coarse tail in one launch: levels %" PetscInt_FMT " to 0\n",
                                     cycle.TailTop()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
