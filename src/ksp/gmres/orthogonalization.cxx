#include "ksp/gmres/orthogonalization.hpp"
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

namespace
{
/// Modified Gram-Schmidt is refined always instead: as stable, without a reduction for each basis vector.
template <class Function> PetscErrorCode CheckMethod(KSP ksp, Function *method, Function *classical, Function *modified)
{
  PetscFunctionBegin;
  PetscCheck(method == classical || method == modified, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "%s knows the classical and the modified Gram-Schmidt orthogonalization, no user's",
             ((PetscObject)ksp)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

#if PETSC_VERSION_LT(3, 26, 0)
namespace
{
PetscErrorCode SetType(KSP ksp, KSPGMRESCGSRefinementType type)
{
  PetscFunctionBegin;
  GmresOf(ksp)->refinement = static_cast<Refinement>(type);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetType(KSP ksp, KSPGMRESCGSRefinementType *type)
{
  PetscFunctionBegin;
  *type = static_cast<KSPGMRESCGSRefinementType>(GmresOf(ksp)->refinement);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SetOrthogonalization(KSP ksp, PetscErrorCode (*method)(KSP, PetscInt))
{
  PetscFunctionBegin;
  PetscCall(CheckMethod(ksp, method, KSPGMRESClassicalGramSchmidtOrthogonalization,
                        KSPGMRESModifiedGramSchmidtOrthogonalization));
  if (method == KSPGMRESModifiedGramSchmidtOrthogonalization) GmresOf(ksp)->refinement = Refinement::Always;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RefinementFromOptions(SparseGPUOptionItems PetscOptionsObject, Refinement *refinement)
{
  auto      type      = static_cast<PetscEnum>(*refinement);
  PetscBool classical = PETSC_FALSE, modified = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsBool("-ksp_gmres_classicalgramschmidt", "Classical Gram-Schmidt",
                             "KSPGMRESSetOrthogonalization", classical, &classical, nullptr));
  PetscCall(PetscOptionsBool("-ksp_gmres_modifiedgramschmidt", "Classical Gram-Schmidt twice, which is as stable",
                             "KSPGMRESSetOrthogonalization", modified, &modified, nullptr));
  PetscCall(PetscOptionsEnum("-ksp_gmres_cgs_refinement_type", "When a direction is made orthogonal twice",
                             "KSPGMRESSetCGSRefinementType", KSPGMRESCGSRefinementTypes, type, &type, nullptr));
  *refinement = modified ? Refinement::Always : static_cast<Refinement>(type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetRefinement(KSP ksp, Refinement *refinement)
{
  PetscFunctionBegin;
  *refinement = GmresOf(ksp)->refinement;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *NameOf(Refinement refinement)
{
  return KSPGMRESCGSRefinementTypes[static_cast<int>(refinement)];
}

PetscErrorCode ComposeRefinement(KSP ksp, bool add)
{
  const PetscObject object = (PetscObject)ksp;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(object, "KSPGMRESSetCGSRefinementType_C", add ? SetType : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "KSPGMRESGetCGSRefinementType_C", add ? GetType : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "KSPGMRESSetOrthogonalization_C", add ? SetOrthogonalization : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode RefinementFromOptions(SparseGPUOptionItems, Refinement *)
{
  PetscFunctionBegin; // KSPSetFromOptions() reads them
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetRefinement(KSP ksp, Refinement *refinement)
{
  KSPOrthogonalizationFn               *method;
  KSPOrthogonalizationCGSRefinementType type;

  PetscFunctionBegin;
  PetscCall(KSPOrthogonalizationGet(ksp, &method));
  PetscCall(
      CheckMethod(ksp, method, KSPOrthogonalizationClassicalGramSchmidt, KSPOrthogonalizationModifiedGramSchmidt));
  PetscCall(KSPOrthogonalizationGetCGSRefinementType(ksp, &type));
  *refinement = method == KSPOrthogonalizationModifiedGramSchmidt ? Refinement::Always : static_cast<Refinement>(type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *NameOf(Refinement refinement)
{
  return KSPOrthogonalizationCGSRefinementTypes[static_cast<int>(refinement)];
}

PetscErrorCode ComposeRefinement(KSP, bool)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace sparsegpu::gmres
