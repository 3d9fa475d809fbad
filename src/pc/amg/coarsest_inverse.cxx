/// The explicit inverse of the coarsest operator, by the factor that PETSc's LU made of it.
#include <petsc/private/matimpl.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include "pc/amg/coarse_tail.hpp"

namespace sparsegpu::amg
{

namespace
{
/// Whether it is KSPPREONLY with that preconditioner, and nothing looks on.
PetscErrorCode Is(KSP ksp, PCType type, bool *is)
{
  PC        pc;
  PetscBool direct, of_type;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &direct));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, type, &of_type));
  *is = direct && of_type && !ksp->numbermonitors && !ksp->presolve && !ksp->postsolve;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The solver of this process's unknowns, with PCLU; null: another one.
PetscErrorCode DirectSolver(KSP ksp, KSP *solver)
{
  PetscMPIInt size;
  bool        is;
  PC          pc;
  KSP        *blocks;
  PetscInt    count;

  PetscFunctionBegin;
  *solver = nullptr;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  if (size > 1) {
    PetscCall(Is(ksp, PCBJACOBI, &is));
    PetscCall(KSPGetPC(ksp, &pc));
    if (!is || !pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PCBJacobiGetSubKSP(pc, &count, nullptr, &blocks));
    if (count != 1) PetscFunctionReturn(PETSC_SUCCESS);
    ksp = blocks[0];
  }
  PetscCall(Is(ksp, PCLU, &is));
  if (is) *solver = ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The factor of PCLU; null: another solver, or no factor to be had.
PetscErrorCode FactorOf(KSP ksp, Mat *F)
{
  PC             pc;
  KSP            solver;
  PCFailedReason failed;
  PetscBool      in_place = PETSC_FALSE;
  MatFactorError error;

  PetscFunctionBegin;
  *F = nullptr;
  PetscCall(DirectSolver(ksp, &solver));
  if (!solver) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(solver, &pc));
  if (!pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCFactorGetUseInPlace(pc, &in_place));
  PetscCall(PCGetFailedReason(pc, &failed));
  if (in_place || failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCFactorGetMatrix(pc, F));
  PetscCall(MatFactorGetError(*F, &error));
  if (error) *F = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As MatNullSpaceRemove() for each column of `X` [n * n, by columns].
PetscErrorCode RemoveNullSpace(MatNullSpace null, PetscInt n, PetscScalar *X)
{
  PetscBool  constant;
  PetscInt   count;
  const Vec *vectors;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceGetVecs(null, &constant, &count, &vectors));
  for (PetscInt c = 0; constant && c < n; c++) {
    PetscScalar sum = 0;
    for (PetscInt r = 0; r < n; r++) sum += X[c * n + r];
    for (PetscInt r = 0; r < n; r++) X[c * n + r] -= sum / (PetscReal)n;
  }
  std::vector<PetscScalar> parts;
  PetscCallCXX(parts.assign((size_t)(count * n), 0));
  for (int take = 1; take >= 0; take--) // all parts first, then they go
    for (PetscInt v = 0; v < count; v++) {
      const PetscScalar *a;
      PetscCall(VecGetArrayRead(vectors[v], &a));
      for (PetscInt c = 0; c < n; c++) {
        PetscScalar *part = &parts[(size_t)(v * n + c)];
        for (PetscInt r = 0; r < n; r++) {
          if (take)
            *part += PetscConj(a[r]) * X[c * n + r];
          else
            X[c * n + r] -= *part * a[r];
        }
      }
      PetscCall(VecRestoreArrayRead(vectors[v], &a));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode IsDirect(KSP ksp, bool *is)
{
  KSP solver;

  PetscFunctionBegin;
  PetscCall(DirectSolver(ksp, &solver));
  *is = solver != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MayBeDirect(KSP ksp, bool *may)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(Is(ksp, size > 1 ? PCBJACOBI : PCLU, may));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InverseByFactor(KSP ksp, Mat A, std::vector<PetscScalar> *inverse, bool *inverted)
{
  Mat                      F, B, X;
  MatNullSpace             null, transposed;
  PetscInt                 n;
  std::vector<PetscScalar> columns;

  PetscFunctionBegin;
  *inverted = false;
  PetscCall(FactorOf(ksp, &F));
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(MatGetTransposeNullSpace(A, &transposed));
  if (!F || (transposed && transposed->remove) || (null && null->remove)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCallCXX(columns.assign((size_t)(n * n), 0));
  PetscCallCXX(inverse->assign((size_t)(n * n), 0));
  for (PetscInt r = 0; r < n; r++) (*inverse)[(size_t)(r * n + r)] = 1;
  if (transposed) PetscCall(RemoveNullSpace(transposed, n, inverse->data())); // KSPSolve() makes b consistent
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, inverse->data(), &B));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, columns.data(), &X));
  PetscCall(MatMatSolve(F, B, X));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  if (null) PetscCall(RemoveNullSpace(null, n, columns.data()));
  *inverted = true;
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt c = 0; c < n; c++) {
      (*inverse)[(size_t)(r * n + c)] = columns[(size_t)(c * n + r)];
      *inverted                       = *inverted && !PetscIsInfOrNanScalar(columns[(size_t)(c * n + r)]);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
