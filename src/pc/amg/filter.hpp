/// A matrix without its weak couplings, in parallel: what smooths prolongators there.
#pragma once

#include <petscmat.h>

namespace sparsegpu::amg
{

/// *F, of A's type: entries of A between nodes I = J or with |A_IJ| > threshold sqrt(|A_II| |A_JJ|), where |.| of a
/// block is its largest magnitude; the others of a row are added to its entries of the diagonal block, or dropped where
/// the diagonal entry would lose more than three quarters of its magnitude. A itself where all stay; else a new matrix
/// that lives where A does. Columns of A's rows ascend. Collective. Errors, on all processes: PETSC_ERR_MEM;
/// PETSC_ERR_ARG_OUTOFRANGE; PETSC_ERR_ARG_WRONGSTATE.
PetscErrorCode WithoutWeak(Mat A, PetscReal threshold, Mat *F);

} // namespace sparsegpu::amg
