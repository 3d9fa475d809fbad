/// cuBLAS as a baseline: LU factorizations and solves of a batch of dense matrices of one size.
#pragma once

/// Seconds, medians; negative: cuBLAS or CUDA failed.
struct BaselineBatch {
  double factor = -1, solve = -1;
  double error = -1; ///< the largest |b - A x| / (|A| |x| + |b|) of a few matrices, in maximum norms
};
/// getrfBatched and getrsBatched of `count` matrices of n x n on the device, by columns; b [count * n]. The copy of the
/// matrices that a factorization in place needs is timed apart and taken off.
BaselineBatch CublasBatch(int n, int count, const double *matrices, const double *b, bool pivoting, int batches);
