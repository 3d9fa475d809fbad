/// PETSc's operations that both types have alike.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

PetscErrorCode MatProductSetFromOptions_SparseGPU(Mat D);
PetscErrorCode MatProductSetFromOptions_SparseGPU_Alike(Mat D);
PetscErrorCode MatDuplicate_SparseGPU(Mat A, MatDuplicateOption option, Mat *B);
PetscErrorCode MatTranspose_SparseGPU(Mat A, MatReuse reuse, Mat *B);
PetscErrorCode MatCreateSubMatrix_SparseGPU(Mat A, IS rows, IS cols, MatReuse reuse, Mat *B);
PetscErrorCode MatCreateSubMatrices_SparseGPU(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse,
                                              Mat *B[]);
PetscErrorCode MatPermute_SparseGPU(Mat A, IS rows, IS cols, Mat *B);
PetscErrorCode MatSetFromOptions_SparseGPU(Mat A, SparseGPUOptionItems items);
PetscErrorCode MatView_SparseGPU(Mat A, PetscViewer viewer);
PetscErrorCode MatBindToCPU_SparseGPU(Mat A, PetscBool flag);
PetscErrorCode MatRetrieveValues_SparseGPU(Mat A);
PetscErrorCode MatDestroy_SparseGPU(Mat A);

} // namespace sparsegpu::face
