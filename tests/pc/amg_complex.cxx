static const char help[] = "Multigrid for matrices that are truly complex.\n\n";

#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

namespace
{
const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};
} // namespace

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
  return Main(argc, argv, help, {{"symmetric", TestSymmetric}});
}
