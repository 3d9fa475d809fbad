/// The types of KSP that PETSc is told of.
#include "ksp/ksp.hpp"
#include <petscksp.h>
#include "ksp/bcgs/bcgs.hpp"
#include "ksp/cg/cg.hpp"
#include "ksp/gmres/gmres.hpp"
#include "ksp/jacobi/jacobi.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ksp
{

PetscErrorCode RegisterSolvers()
{
  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  PetscCall(KSPRegister(KSPSPARSEGPUBCGS, bcgs::KSPCreate_SparseGPUBCGS));
  PetscCall(KSPRegister(KSPSPARSEGPUCG, cg::KSPCreate_SparseGPUCG));
  PetscCall(KSPRegister(KSPSPARSEGPUGMRES, gmres::KSPCreate_SparseGPUGMRES));
  PetscCall(KSPRegister(KSPSPARSEGPUJACOBI, jacobi::KSPCreate_SparseGPUJacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
