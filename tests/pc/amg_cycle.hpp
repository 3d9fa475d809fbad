/// What a cycle gives for one right-hand side.
#pragma once

#include "amg.hpp"

namespace amg_tests
{
using testing::EventCount;
using testing::Option;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

/// z = B noise with the fused cycle or PCMG's, with vectors of this type, and how often the fused one ran.
inline PetscErrorCode Apply(Mat A, VecType type, bool fused, Vec *z, PetscInt *runs)
{
  const Option option("-pc_sparsegpuamg_fused_cycle", fused ? "1" : "0");
  KSP          ksp;
  PC           pc;
  Vec          r;
  PetscInt     before = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatCreateVecs(A, z, &r));
  if (type) {
    for (Vec v : {*z, r}) PetscCall(VecSetType(v, type));
  }
  PetscCall(SetNoise(r));
  PetscCall(EventCount("SparseGPUCycle", &before));
  for (int twice = 0; twice < 2; ++twice) PetscCall(PCApply(pc, r, *z)); // nothing is left over from the first
  PetscCall(EventCount("SparseGPUCycle", runs));
  *runs -= before;
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Entries by way of the host, whatever the types.
inline PetscErrorCode CopyEntries(Vec from, Vec to)
{
  const PetscScalar *a;
  PetscScalar       *b;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(to, &n));
  PetscCall(VecGetArrayRead(from, &a));
  PetscCall(VecGetArrayWrite(to, &b));
  std::copy(a, a + n, b);
  PetscCall(VecRestoreArrayWrite(to, &b));
  PetscCall(VecRestoreArrayRead(from, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Within some roundings of each of a few dozen products and updates.
inline PetscErrorCode CheckSame(const std::string &what, Vec one, Vec other)
{
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(other, NORM_2, &norm));
  PetscCall(VecAXPY(one, -1, other));
  PetscCall(VecNorm(one, NORM_2, &difference));
  PetscCheck(norm > 0 && difference <= 1000 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: the cycle differs by %g of %g", what.c_str(), (double)difference, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Events are counted from the start.
template <PetscErrorCode (*Run)()> PetscErrorCode Logged()
{
  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(Run());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace amg_tests
