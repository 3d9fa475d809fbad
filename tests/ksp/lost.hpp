/// Solves in which a rank does not take part.
#pragma once

#include "systems.hpp"

namespace testing
{

/// The last rank stays away from the second solve of each way through `type`: the others get an error that names it,
/// and none hangs. On a GPU where each rank has one, else on the host.
inline PetscErrorCode CheckLost(const char type[], const Problem &p, const std::vector<std::string> &ways)
{
  const int last = PetscGlobalSize - 1;

  PetscFunctionBeginUser;
  if (PetscGlobalSize == 1) {
    PetscCall(Skip("skipped: one rank"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const std::string &way : ways) {
    const Options set(std::string("-sparsegpu_peer yes -sparsegpu_peer_timeout 0.4 -ksp_type ") + type + " " + way);
    Mat           A;
    Vec           b, x;
    KSP           ksp;
    std::string   message;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(KnownRhs(A, b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    if (PetscGlobalRank != last) {
      PetscCall(ExpectError(
          "lost", [&] { return KSPSolve(ksp, b, x); }, &message, PETSC_ERR_SYS));
      PetscCall(CheckText(way.c_str(), message, {"has not taken part", "-sparsegpu_peer_timeout"}));
    }
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); // none is stuck inside
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
