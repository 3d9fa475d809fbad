/// A matrix without its weak couplings, in parallel: what smooths prolongators there.
#pragma once

#include <petscmat.h>

namespace sparsegpu::amg
{

/// *F, a new matrix of A's type: entries of A between nodes I = J or with |A_IJ| > threshold sqrt(|A_II| |A_JJ|), where
/// |.| of a block is its largest magnitude; the others are added to the diagonal block, unless a diagonal entry would
/// lose more than three quarters of its magnitude. On the host, O(nonzeros). Collective.
PetscErrorCode WithoutWeak(Mat A, PetscReal threshold, Mat *F);

} // namespace sparsegpu::amg
