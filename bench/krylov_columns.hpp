/// Several right-hand sides in dense matrices, and whole solves for them.
#pragma once

#include <petscksp.h>

/// *B and *X of `columns` columns of full mantissa, where vectors like b lie.
PetscErrorCode CreateColumns(Vec b, PetscInt columns, Mat *B, Mat *X);

/// KSPMatSolve() of sparsegpucg with `plain` as a matrix of ours to rtol [tolerances]: right-hand sides one by one, at
/// a time, and as a block, by turns. Seconds of a solve from zero, set-up and conversions excluded, medians of
/// `repeat`; the most iterations and the largest |b - A x| / |b| of all columns; ratios to the solves one by one.
PetscErrorCode MeasureColumns(Mat plain, PetscInt columns, PetscInt repeat, const PetscReal *rtol, PetscInt tolerances);
