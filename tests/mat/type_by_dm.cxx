static const char help[] =
    "-dm_mat_type sparsegpu: matrices made by DMDA and DMPlex, and Galerkin multigrid on them.\n\n";

#include "../family.hpp"

#include <petscdmda.h>
#include <petscdmplex.h>

using namespace testing;

/// A 5-point operator on a DMDA, dominant, set through the stencil interface.
static PetscErrorCode Assemble(DM dm, Mat A)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(dm, &info));
  for (PetscInt y = info.ys; y < info.ys + info.ym; ++y)
    for (PetscInt x = info.xs; x < info.xs + info.xm; ++x) {
      MatStencil  row = {}, col[5] = {};
      PetscScalar v[5];
      PetscInt    n = 0;
      row.i         = x;
      row.j         = y;
      for (PetscInt k = 0; k < 5; ++k) {
        const PetscInt dx = k == 1 ? 1 : k == 2 ? -1 : 0, dy = k == 3 ? 1 : k == 4 ? -1 : 0;
        if (x + dx < 0 || x + dx >= info.mx || y + dy < 0 || y + dy >= info.my) continue;
        col[n].i = x + dx;
        col[n].j = y + dy;
        v[n++]   = k == 0 ? 4 : -1;
      }
      PetscCall(MatSetValuesStencil(A, 1, &row, n, col, v, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Operators(KSP ksp, Mat A, Mat P, void *)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(Assemble(dm, P));
  if (A != P) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode RightHandSide(KSP, Vec b, void *)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode CreateDA(PetscInt points, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, points, points,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, dm));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DA()
{
  const Option option("-dm_mat_type", MATSPARSEGPU), format("-mat_sparsegpu_format", "dia");
  DM           dm;
  Mat          A;
  Problem      p;

  PetscFunctionBeginUser;
  PetscCall(CreateDA(14, &dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(CheckIsOurs(A, "DMDA"));
  PetscCall(Assemble(dm, A));
  PetscCall(Gather(A, &p));
  PetscCheck(p.entries.size() == 5 * 14 * 14 - 4 * 14, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu entries",
             p.entries.size());
  PetscCall(CheckProducts(A, p, "DMDA"));
  PetscCall(CheckRanOn(A, "dia", "DMDA"));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// DMDA gives interpolation only types whose names begin with "aij": sparsegpu is to reach it all the same.
static PetscErrorCode Interpolation()
{
  const Option option("-dm_mat_type", MATSPARSEGPU);
  DM           fine, coarse;
  Mat          A, P;

  PetscFunctionBeginUser;
  for (bool coarse_first : {false, true}) {
    PetscCall(CreateDA(9, &fine));
    if (coarse_first) {
      PetscCall(DMCoarsen(fine, PetscObjectComm((PetscObject)fine), &coarse));
      PetscCall(DMSetCoarseDM(fine, coarse));
    }
    PetscCall(DMCreateMatrix(fine, &A));
    PetscCall(Assemble(fine, A));
    if (!coarse_first) PetscCall(DMCoarsen(fine, PetscObjectComm((PetscObject)fine), &coarse));
    PetscCall(DMCreateInterpolation(coarse, fine, &P, nullptr));
    PetscCall(CheckIsOurs(P, coarse_first ? "interpolation, coarsened first" : "interpolation"));
    PetscCall(MatDestroy(&P));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&coarse));
    PetscCall(DMDestroy(&fine));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One unknown at each vertex of a mesh of quadrilaterals.
static PetscErrorCode Plex()
{
  const Option option("-dm_mat_type", MATSPARSEGPU), format("-mat_sparsegpu_format", "ell");
  const Option faces("-dm_plex_box_faces", "6,5"), simplex("-dm_plex_simplex", "0");
  const Option partitioner("-petscpartitioner_type", "simple"); // others are packages that a PETSc may lack or misuse
  DM           dm, parallel;
  PetscSection section;
  PetscInt     begin, end, row0, row1;
  Mat          A;
  Problem      p;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMPlexDistribute(dm, 0, nullptr, &parallel));
  if (parallel) {
    PetscCall(DMDestroy(&dm));
    dm = parallel;
    PetscCall(DMSetFromOptions(dm));
  }
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)dm), &section));
  PetscCall(DMPlexGetChart(dm, &begin, &end));
  PetscCall(PetscSectionSetChart(section, begin, end));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &begin, &end));
  for (PetscInt v = begin; v < end; ++v) PetscCall(PetscSectionSetDof(section, v, 1));
  PetscCall(PetscSectionSetUp(section));
  PetscCall(DMSetLocalSection(dm, section));
  PetscCall(PetscSectionDestroy(&section));
  PetscCall(DMSetBasicAdjacency(dm, PETSC_FALSE, PETSC_TRUE));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(CheckIsOurs(A, "DMPlex"));
  PetscCall(MatGetOwnershipRange(A, &row0, &row1));
  for (PetscInt i = row0; i < row1; ++i)
    PetscCall(MatSetValue(A, i, i, conformance::Value((unsigned long long)i), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Gather(A, &p));
  PetscCheck(p.rows == 42 && p.entries.size() > 42, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " rows, %zu entries", p.rows, p.entries.size());
  PetscCall(CheckProducts(A, p, "DMPlex"));
  PetscCall(CheckRanOn(A, "ell", "DMPlex"));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves on a DMDA by Galerkin multigrid; *all_ours: is every level's operator of our type?
static PetscErrorCode Multigrid(const char type[], PetscInt *iterations, bool *all_ours)
{
  const Option dm_type("-dm_mat_type", type), pc("-pc_type", "mg"), levels("-pc_mg_levels", "3"),
      galerkin("-pc_mg_galerkin", "both");
  DM       dm;
  KSP      ksp, smoother;
  PC       mg;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(CreateDA(33, &dm));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetComputeOperators(ksp, Operators, nullptr));
  PetscCall(KSPSetComputeRHS(ksp, RightHandSide, nullptr));
  PetscCall(KSPSetTolerances(ksp, 100 * PETSC_SQRT_MACHINE_EPSILON, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, nullptr, nullptr));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetPC(ksp, &mg));
  PetscCall(PCMGGetLevels(mg, &n));
  *all_ours = n == 3;
  for (PetscInt level = 0; level < n; ++level) {
    Mat         A;
    PetscBool   ours;
    PetscMPIInt size;
    PetscCall(PCMGGetSmoother(mg, level, &smoother));
    PetscCall(KSPGetOperators(smoother, &A, nullptr));
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
    PetscCall(PetscObjectTypeCompare((PetscObject)A, size == 1 ? MATSEQAIJSPARSEGPU : MATMPIAIJSPARSEGPU, &ours));
    *all_ours = *all_ours && ours;
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Galerkin()
{
  PetscInt aij, ours;
  bool     types;

  PetscFunctionBeginUser;
  PetscCall(Multigrid(MATAIJ, &aij, &types));
  PetscCall(Multigrid(MATSPARSEGPU, &ours, &types));
  PetscCheck(types, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A level's operator is not of our type");
  PetscCheck(ours == aij, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations, aij has %" PetscInt_FMT, ours,
             aij);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"dmda", DA}, {"interpolation", Interpolation}, {"dmplex", Plex}, {"galerkin", Galerkin}});
}
