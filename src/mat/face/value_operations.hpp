/// PETSc's operations on values, done where these are newest.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

// Those of a sequential matrix, where its values are; PETSc's own on the host where they are not.
PetscErrorCode MatScale_SeqAIJSparseGPU(Mat A, PetscScalar alpha);
PetscErrorCode MatZeroEntries_SeqAIJSparseGPU(Mat A);
PetscErrorCode MatConjugate_SeqAIJSparseGPU(Mat A);
PetscErrorCode MatRealPart_SeqAIJSparseGPU(Mat A);
PetscErrorCode MatImaginaryPart_SeqAIJSparseGPU(Mat A);
PetscErrorCode MatShift_SeqAIJSparseGPU(Mat A, PetscScalar alpha);
PetscErrorCode MatDiagonalSet_SeqAIJSparseGPU(Mat A, Vec d, InsertMode mode);
PetscErrorCode MatDiagonalScale_SeqAIJSparseGPU(Mat A, Vec left, Vec right);
PetscErrorCode MatZeroRows_SeqAIJSparseGPU(Mat A, PetscInt count, const PetscInt rows[], PetscScalar diagonal, Vec x,
                                           Vec b);
PetscErrorCode MatZeroRowsColumns_SeqAIJSparseGPU(Mat A, PetscInt count, const PetscInt rows[], PetscScalar diagonal,
                                                  Vec x, Vec b);
PetscErrorCode MatGetDiagonal_SeqAIJSparseGPU(Mat A, Vec d);
PetscErrorCode MatNorm_SeqAIJSparseGPU(Mat A, NormType type, PetscReal *norm);
PetscErrorCode MatGetRowMaxAbs_SeqAIJSparseGPU(Mat A, Vec v, PetscInt indices[]);
PetscErrorCode MatAXPY_SeqAIJSparseGPU(Mat Y, PetscScalar alpha, Mat X, MatStructure structure);
PetscErrorCode MatCopy_SeqAIJSparseGPU(Mat A, Mat B, MatStructure structure);

/// The operations of a sequential matrix of ours that work on the device: ours, or the parent's again. Only a matrix
/// that lives there has them: PETSc compares the addresses of some with those of plain AIJ for its fast ways.
PetscErrorCode SetValueOperations(Mat A, bool on);
/// MatGetRowSumAbs() among them, where PETSc has it.
void SetRowSums(struct _MatOps *operations, const struct _MatOps &parent, bool on);
/// *B, of Y's type, layouts and name: room for the sum of Y and of X of any type, whose patterns may differ. Composed
/// with matrices of ours: their MatAXPY() is not plain AIJ's, and PETSc's general way, which it then takes for a sum of
/// both, refuses block sizes that do not divide the rows.
PetscErrorCode MatAXPYGetPreallocation_SparseGPU(Mat Y, Mat X, Mat *B);
/// B, of A's pattern, gets A's values where these are on the device; *done is false where they are not.
PetscErrorCode CopyValuesThere(Mat A, Mat B, bool *done);

} // namespace sparsegpu::face
