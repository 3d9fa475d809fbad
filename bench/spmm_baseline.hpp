/// cuSPARSE's products of CSR with a dense matrix as a baseline.
#pragma once

#include <string>

/// A matrix in device memory, 32-bit indices, fp64, rows sorted by column.
struct DeviceCsr {
  int           rows, cols, nonzeros;
  const int    *i, *j; ///< [rows + 1], [nonzeros]
  const double *a;     ///< [nonzeros]
};

/// Seconds per product Z = A X, X [cols x columns] and Z [rows x columns] by columns on the device: by that of
/// CUSPARSE_SPMM_CSR_ALG1 to ALG3, preprocessed, which is the fastest here; *algorithm is its number. The median of
/// `batches` batches of `products` products. Negative if all fail.
double SpmmSeconds(const DeviceCsr &A, int columns, const double *x, double *z, int batches, int products,
                   int *algorithm);
