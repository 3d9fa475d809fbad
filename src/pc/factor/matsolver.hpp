/// MATSOLVERSPARSEGPU, shared by incomplete and direct factorizations: each kind registers how it fills a factor.
#pragma once

#include <petscmat.h>

namespace sparsegpu::factor
{

/// How a kind of factorization makes a new matrix one of its factors.
struct FactorMaker {
  PetscErrorCode (*fill)(Mat F) = nullptr; ///< sets F->data, F->ops and F->preferredordering
  bool default_on_device        = false;   ///< becomes seqaijsparsegpu's default once one of them runs on a GPU ...
  PetscErrorCode (*takes)(Mat A, bool *takes) = nullptr; ///< ... of these matrices; null: of all
  PetscErrorCode (*by_default)(Mat F)         = nullptr; ///< F, filled, has been made as the default; null: that is all
};
/// MatSolverTypeRegister() of MATSOLVERSPARSEGPU for this kind. PETSc's own solver stays the default.
PetscErrorCode RegisterFactor(MatFactorType kind, const FactorMaker &maker);
/// The kinds that are `default_on_device` become the default of seqaijsparsegpu matrices. Later calls do nothing.
PetscErrorCode RegisterDefaultFactors();
/// Empties the table of kinds, before they are registered.
void ForgetFactors();

/// Whether the viewer is ASCII and shows information rather than entries.
PetscErrorCode WantsFacts(PetscViewer viewer, bool *wanted);
/// Removes what MatGetFactor() composed with F: for MatDestroy() of each kind.
PetscErrorCode ReleaseFactor(Mat F);

extern PetscLogEvent AnalysisEvent, TrisolveEvent;

} // namespace sparsegpu::factor
