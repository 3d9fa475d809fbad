/// What the iterations tell of the preconditioned operator: the eigenvalues of the Lanczos matrix T of its first steps,
/// T_kk = 1 / alpha_k + beta_k / alpha_(k-1), T_(k,k-1) = sqrt(beta_k) / alpha_(k-1), beta_k = rho_k / rho_(k-1).
#include "ksp/cg/cg.hpp"
#include <petscblaslapack.h>
#include <algorithm>

namespace sparsegpu::cg
{

namespace
{
/// Ascending.
PetscErrorCode Eigenvalues(const Cg &cg, std::vector<PetscReal> *values)
{
  const size_t           steps = cg.alpha.size();
  std::vector<PetscReal> off;
  PetscBLASInt           n, one = 1, code = 0;

  PetscFunctionBegin;
  PetscCallCXX(values->assign(steps, 0));
  if (steps == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(off.assign(steps, 0));
  for (size_t k = 0; k < steps; k++) {
    (*values)[k] = 1 / cg.alpha[k];
    if (k == 0) continue;
    const PetscReal beta = PetscAbsReal(cg.rho[k] / cg.rho[k - 1]);
    (*values)[k] += beta / cg.alpha[k - 1];
    off[k - 1] = PetscSqrtReal(beta) / cg.alpha[k - 1];
  }
  PetscCall(PetscBLASIntCast(static_cast<PetscInt>(steps), &n));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKREALsteqr",
                LAPACKREALsteqr_("N", &n, values->data(), off.data(), nullptr, &one, nullptr, &code));
  PetscCall(PetscFPTrapPop());
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's steqr ends with %d", static_cast<int>(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPComputeEigenvalues_SparseGPUCG(KSP ksp, PetscInt room, PetscReal *re, PetscReal *im, PetscInt *count)
{
  const Cg              *cg = CgOf(ksp);
  std::vector<PetscReal> values;

  PetscFunctionBegin;
  *count = static_cast<PetscInt>(cg->alpha.size());
  PetscCheck(room >= *count, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ,
             "There are %" PetscInt_FMT " eigenvalues, and room for %" PetscInt_FMT, *count, room);
  PetscCall(Eigenvalues(*cg, &values));
  std::copy(values.begin(), values.end(), re);
  std::fill_n(im, room, 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeExtremeSingularValues_SparseGPUCG(KSP ksp, PetscReal *most, PetscReal *least)
{
  std::vector<PetscReal> values;

  PetscFunctionBegin;
  *most = *least = 1;
  PetscCall(Eigenvalues(*CgOf(ksp), &values));
  if (values.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  *least = values.front();
  *most  = values.back();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
