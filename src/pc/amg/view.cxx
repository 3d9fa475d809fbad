/// A table of the levels, finest first.
#include "pc/amg/view.hpp"

namespace sparsegpu::amg
{

namespace
{
PetscErrorCode ViewSettings(const Settings &s, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "    levels at most %" PetscInt_FMT ", coarse_eq_limit %" PetscInt_FMT
                                   ", agg_nsmooths %" PetscInt_FMT ", aggressive_coarsening %" PetscInt_FMT
                                   ", %sfilter, %s interpolation for new values\n",
                                   s.levels, s.coarse_eq_limit, s.nsmooths, s.aggressive, s.filter ? "" : "no ",
                                   s.reuse_interpolation ? "reuses" : "new"));
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

/// Definite operators have diagonals of one sign, on all levels: smoothers and the damping of prolongators rely on it.
PetscErrorCode ViewIndefinite(const Hierarchy &hierarchy, PetscViewer viewer)
{
  PetscReal least[2], most[2];

  PetscFunctionBegin;
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
} // namespace

PetscErrorCode ViewHierarchy(PC pc, const Hierarchy &hierarchy, const Cycle &cycle, const Settings &settings,
                             PetscViewer viewer)
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  const char    *place = "", *reason;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCall(ViewSettings(settings, viewer));
  if (hierarchy.Levels().empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "    not yet set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(SetUpPlace(comm, hierarchy, &place));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "    smoothed aggregation, %d levels: operator complexity %.3f, grid complexity %.3f\n",
      (int)hierarchy.Levels().size(), (double)hierarchy.OperatorComplexity(), (double)hierarchy.GridComplexity()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    level    unknowns  block     nonzeros  a row  threshold  isolated\n"));
  PetscInt number = (PetscInt)hierarchy.Levels().size();
  for (const Level &l : hierarchy.Levels()) {
    const PetscInt depth = (PetscInt)hierarchy.Levels().size() - number;
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "    %5" PetscInt_FMT " %11" PetscInt_FMT " %6" PetscInt_FMT " %12.0f %6.1f",
                                     --number, l.rows, l.block, l.nonzeros, l.rows ? l.nonzeros / (double)l.rows : 0));
    if (l.P)
      PetscCall(
          PetscViewerASCIIPrintf(viewer, " %10g %9" PetscInt_FMT "\n", (double)settings.threshold[depth], l.isolated));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "    coarsening ended: %s\n", hierarchy.WhyStopped().c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    aggregates and tentative prolongators on the %s\n", place));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    smoothed prolongators %s\n",
                                   size > 1 ? "and coarse operators by PETSc's parallel products"
                                            : "and coarse operators where products run"));
  PetscCall(ViewIndefinite(hierarchy, viewer));
  PetscCall(cycle.WhyNot(pc, &reason));
  if (!settings.fused_cycle) reason = "-pc_sparsegpuamg_fused_cycle 0";
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "    cycle: %s%s\n", reason ? "PCMG's, as " : "fused", reason ? reason : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
