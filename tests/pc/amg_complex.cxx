static const char help[] = "Multigrid for matrices that are truly complex.\n\n";

#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

namespace
{
const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

#if defined(PETSC_USE_COMPLEX)
/// A phase of each row, of no pattern that coarsening could see.
PetscScalar Phase(PetscInt row)
{
  const PetscReal angle = (PetscReal)(row * 7919 % 1009) / 100;
  return PetscCMPLX(std::cos(angle), std::sin(angle));
}

/// D^H A D for the diagonal D of phases, with D^H 1 as near null space: as hard as A. `told`: that it is Hermitian.
PetscErrorCode Turn(Mat A, bool told)
{
  Vec          phases, conjugate;
  PetscInt     begin, end;
  MatNullSpace near;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &phases, &conjugate));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) PetscCall(VecSetValue(phases, r, Phase(r), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(phases));
  PetscCall(VecAssemblyEnd(phases));
  PetscCall(VecCopy(phases, conjugate));
  PetscCall(VecConjugate(conjugate));
  PetscCall(MatDiagonalScale(A, conjugate, phases));
  PetscCall(VecNormalize(conjugate, nullptr));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &conjugate, &near));
  PetscCall(MatSetNearNullSpace(A, near));
  PetscCall(MatNullSpaceDestroy(&near));
  if (told) PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  PetscCall(VecDestroy(&phases));
  PetscCall(VecDestroy(&conjugate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
} // namespace

/// Phases change neither iterations, also for new values, nor what a cycle is: Hermitian.
static PetscErrorCode TestHermitian()
{
#if defined(PETSC_USE_COMPLEX)
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *options : {"-pc_sparsegpuamg_type aggregation", "-pc_sparsegpuamg_smoother symmetric_gauss_seidel",
                                "-pc_sparsegpuamg_reuse_interpolation 0"}) {
      const Options     set(options);
      const std::string what = std::string(type) + " " + options;
      const bool        told = what.find("seidel") == std::string::npos;
      Result            plain, turned;
      std::string       text;
      Mat               A;
      KSP               ksp;
      PC                pc;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {24, 25, 11, 1, false, Faces}, &A));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      PetscCall(Solve(ksp, A, &plain));
      PetscCall(View(ksp, &text));
      if (!PetscGlobalRank) PetscCall(CheckText(what, text, {"cycle: fused"}));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(Turn(A, told));
      PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
      for (int round = 0; round < 3; ++round) {
        PetscCall(Solve(ksp, A, &turned));
        PetscCall(CheckConverged(what, turned, plain.iterations + 2));
        PetscCall(MatScale(A, 2));
        if (told) PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
        PetscCall(KSPSetOperators(ksp, A, A));
      }
      PetscCall(View(ksp, &text));
      if (!PetscGlobalRank) PetscCall(CheckText(what, text, {"not by the transpose of the prolongator"}));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(CheckAdjoint(what, pc, A, PCApply, VecDot, 1e4));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)TYPES;
  return Skip("skipped: real scalars");
#endif
}

/// Damped waves below their first resonance, symmetric but not Hermitian, by both types of coarsening.
static PetscErrorCode TestSymmetric()
{
#if defined(PETSC_USE_COMPLEX)
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const char *coarsening : {"aggregation", "classical"})
      for (const PetscReal damping : {0.01, 1.0}) {
        const Options     set(std::string("-pc_sparsegpuamg_type ") + coarsening);
        const std::string what = std::string(type) + ", " + coarsening + ", damping " + std::to_string(damping);
        Grid              g{40, 41, 1, 1, false, Faces};
        Result            result;
        Mat               A;
        KSP               ksp;
        PC                pc;

        g.shift = PetscCMPLX(-0.005, damping);
        PetscCall(CreateGrid(PETSC_COMM_WORLD, type, g, &A));
        PetscCall(CreateSolver(A, KSPGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
        PetscCall(Solve(ksp, A, &result));
        PetscCall(CheckConverged(what, result, 16));
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(CheckAdjoint(what, pc, A, PCApplyTranspose, VecTDot, 1e4));
        PetscCall(KSPDestroy(&ksp));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)TYPES;
  return Skip("skipped: real scalars");
#endif
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"hermitian", TestHermitian}, {"symmetric", TestSymmetric}});
}
