/// KSPSPARSEGPUJACOBI: options, admissible preconditioners, the inverse of the diagonal, creation and destruction.
#include "ksp/jacobi/jacobi.hpp"
#include <petsc/private/pcimpl.h>
#include "device/local_array.hpp"
#include "mat/face/solver_access.hpp"

namespace sparsegpu::jacobi
{

const char *const JacobiTests[] = {"residual", "difference", "JacobiTest", "JACOBI_TEST_", nullptr};

namespace
{
/// The method is its own preconditioner: PCNONE, unless the user has set one. PETSc sets a default while it reads the
/// options, before those of our type. A default is one of PETSc's default types without -pc_type.
PetscErrorCode DefaultPreconditioner(KSP ksp)
{
  PC          pc;
  PCType      type;
  const char *prefix;
  PetscBool   asked, usual;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_type", &asked));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &usual, PCILU, PCICC, PCBJACOBI, PCASM, ""));
  if (!type || (usual && !asked && pc->setfromoptionscalled)) PetscCall(PCSetType(pc, PCNONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckPreconditioner(KSP ksp)
{
  PCType    type;
  PetscBool none, jacobi;

  PetscFunctionBegin;
  PetscCall(PCGetType(ksp->pc, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  PetscCheck(none || jacobi, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "%s is its own preconditioner: -pc_type %s is not one of none, jacobi", ((PetscObject)ksp)->type_name,
             type);
  if (jacobi) {
    PCJacobiType kind;
    PetscCall(PCJacobiGetType(ksp->pc, &kind));
    PetscCheck(kind == PC_JACOBI_DIAGONAL, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
               "%s divides by the diagonal: -pc_jacobi_type %s is not diagonal", ((PetscObject)ksp)->type_name,
               PCJacobiTypes[kind]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetUp_SparseGPUJacobi(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(CheckPreconditioner(ksp));
  PetscCall(KSPSetWorkVecs(ksp, JACOBI_VECTORS));
  JacobiOf(ksp)->state = -1; // the work vectors may be new
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBuildSolution_SparseGPUJacobi(KSP ksp, Vec v, Vec *V)
{
  const Vec current = JacobiOf(ksp)->current ? JacobiOf(ksp)->current : ksp->vec_sol;

  PetscFunctionBegin;
  if (JacobiOf(ksp)->iterate) {
    if (!v) v = ksp->work[JACOBI_X]; // on the host, where the sweeps do not go
    PetscCall(JacobiOf(ksp)->system.Store(JacobiOf(ksp)->iterate, v));
    if (V) *V = v;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (v) PetscCall(VecCopy(current, v));
  if (V) *V = v ? v : current;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_SparseGPUJacobi(KSP ksp)
{
  Jacobi *jacobi = JacobiOf(ksp);

  PetscFunctionBegin;
  PetscCall(DeviceOrder()); // for PETSc, which frees the work vectors
  jacobi->state = -1;
  PetscCall(jacobi->scratch.Free());
  PetscCall(jacobi->records.Free());
  PetscCall(jacobi->system.Free());
  PetscCall(jacobi->ranks.Free());
  PetscCall(jacobi->arrays.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetDamping(KSP ksp, PetscReal damping)
{
  PetscFunctionBegin;
  PetscCheck(damping != 0 && !PetscIsInfOrNanReal(damping), PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "The damping %g must be a finite number other than 0", (double)damping);
  JacobiOf(ksp)->damping = damping;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_SparseGPUJacobi(KSP ksp, SparseGPUOptionItems PetscOptionsObject)
{
  Jacobi   *jacobi  = JacobiOf(ksp);
  PetscEnum test    = static_cast<PetscEnum>(jacobi->test);
  PetscEnum small   = static_cast<PetscEnum>(jacobi->small_mode);
  PetscReal damping = jacobi->damping;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP sparsegpujacobi options");
  PetscCall(PetscOptionsEnum("-ksp_sparsegpujacobi_test", "What ends the solve: a small residual or a small change",
                             "KSPSPARSEGPUJACOBI", JacobiTests, test, &test, nullptr));
  PetscCall(PetscOptionsReal("-ksp_sparsegpujacobi_damping", "Part of the correction that is taken",
                             "KSPRichardsonSetScale", damping, &damping, nullptr));
  PetscCall(PetscOptionsEnum("-ksp_sparsegpujacobi_persistent", "Many sweeps in one launch, of systems that are small",
                             "KSPSPARSEGPUJACOBI", SmallModes, small, &small, nullptr));
  PetscOptionsHeadEnd();
  PetscCall(SetDamping(ksp, damping)); // a bad value leaves all as it was
  jacobi->test       = static_cast<JacobiTest>(test);
  jacobi->small_mode = static_cast<SmallMode>(small);
  PetscCall(DefaultPreconditioner(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_SparseGPUJacobi(KSP ksp, PetscViewer viewer)
{
  Jacobi   *jacobi = JacobiOf(ksp);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  damping %g, tested: %s\n", (double)jacobi->damping,
                                   JacobiTests[static_cast<int>(jacobi->test)]));
  if (jacobi->runs) PetscCall(PetscViewerASCIIPrintf(viewer, "  many sweeps in one launch\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_SparseGPUJacobi(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_SparseGPUJacobi(ksp));
  delete JacobiOf(ksp);
  ksp->data = nullptr;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPRichardsonSetScale_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode InvertDiagonal(KSP ksp)
{
  const MPI_Comm   comm   = PetscObjectComm((PetscObject)ksp);
  Jacobi          *jacobi = JacobiOf(ksp);
  const Vec        d      = ksp->work[JACOBI_INVERSE];
  Mat              P;
  PetscObjectId    id;
  PetscObjectState state;
  Version          version;
  PetscInt         rows, begin, all, bad;
  LocalArray       entries;

  PetscFunctionBegin;
  PetscCall(CheckPreconditioner(ksp)); // it may have been changed since the set-up
  PetscCall(KSPGetOperators(ksp, nullptr, &P));
  PetscCall(PetscObjectGetId((PetscObject)P, &id));
  PetscCall(PetscObjectStateGet((PetscObject)P, &state));
  PetscCall(MatVersion(P, &version));
  if (id == jacobi->matrix && state == jacobi->state && version == jacobi->version) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDiagonal(P, d));
  PetscCall(VecGetSize(d, &all));
  PetscCall(VecGetLocalSize(d, &rows));
  PetscCall(VecGetOwnershipRange(d, &begin, nullptr));
  PetscCall(entries.Get(d, Space::Host, Access::ReadWrite));
  bad             = all;
  auto *const inv = reinterpret_cast<PetscScalar *>(entries.write());
  for (PetscInt r = rows - 1; r >= 0; r--) {
    if (inv[r] == static_cast<PetscScalar>(0)) bad = begin + r;
    inv[r] = static_cast<PetscReal>(1) / inv[r];
  }
  PetscCall(entries.Restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MIN, comm));
  PetscCheck(bad == all, comm, PETSC_ERR_ARG_WRONGSTATE,
             "%s: the diagonal entry of row %" PetscInt_FMT " is zero or missing", ((PetscObject)ksp)->type_name, bad);
  jacobi->matrix  = id;
  jacobi->state   = state;
  jacobi->version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPCreate_SparseGPUJacobi(KSP ksp)
{
  PetscFunctionBegin;
  PetscCallCXX(ksp->data = new Jacobi);
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup          = KSPSetUp_SparseGPUJacobi;
  ksp->ops->solve          = KSPSolve_SparseGPUJacobi;
  ksp->ops->setfromoptions = KSPSetFromOptions_SparseGPUJacobi;
  ksp->ops->view           = KSPView_SparseGPUJacobi;
  ksp->ops->reset          = KSPReset_SparseGPUJacobi;
  ksp->ops->destroy        = KSPDestroy_SparseGPUJacobi;
  ksp->ops->buildsolution  = KSPBuildSolution_SparseGPUJacobi;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPRichardsonSetScale_C", SetDamping));
  PetscCall(DefaultPreconditioner(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::jacobi
