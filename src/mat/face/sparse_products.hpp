/// Products of sequential matrices of ours with each other, on the device, and what those of parallel ones share.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// Where D is a product of sparse matrices that are all of our sequential type and live on the device, sets its
/// operations to ours. *set is false for all others, which are PETSc's.
PetscErrorCode MatProductSetFromOptions_SparseGPU_Sparse(Mat D, bool *set);

/// PETSc has taken a product of three matrices apart, and this is its second half, whose numbers it computes by the
/// operation of plain AIJ.
inline bool EndsTripleProduct(const Mat_Product *product)
{
  return product->type == MATPRODUCT_AB && product->C;
}
/// Those of the operands; PETSc sets them itself from 3.23 on.
PetscErrorCode SetProductBlockSizes(Mat C);
/// As PETSc's GPU types do: -matmatmult_backend_cpu and the like, or -mat_product_algorithm_backend_cpu. Collective.
PetscErrorCode AskedForHost(Mat D, PetscBool *host);

/// Mat_Product::destroy for data that is a T.
#if PETSC_VERSION_GE(3, 25, 0)
template <class T> PetscErrorCode DestroyProductData(ContextToDestroy data)
{
  T **const owned = static_cast<T **>(static_cast<void *>(data));

  PetscFunctionBegin;
  delete *owned;
  *owned = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
template <class T> PetscErrorCode DestroyProductData(void *data)
{
  PetscFunctionBegin;
  delete static_cast<T *>(data);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace sparsegpu::face
