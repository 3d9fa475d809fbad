/// cuSPARSE as a peer: CSR products through its generic interface, preprocessed.
#pragma once

#include <cstddef>

/// Seconds per product y = A x of the host CSR matrix, [rows + 1], [nonzeros], [nonzeros], 32-bit indices, fp64: the
/// median of `batches` batches of `products` products, after a warm-up, timed by CUDA events. algorithm 1 or 2:
/// CSR_ALG1 or CSR_ALG2. Negative: cuSPARSE or CUDA failed. y receives the product.
double CusparseSeconds(int algorithm, int rows, int cols, int nonzeros, const int *i, const int *j, const double *a,
                       const double *x, double *y, int batches, int products);

/// Seconds per call of `product`, likewise, on the stream that it uses (a cudaStream_t).
double EventSeconds(void (*product)(void *), void *argument, void *stream, int batches, int products);
