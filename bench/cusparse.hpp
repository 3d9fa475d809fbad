/// cuSPARSE as a baseline: products through its generic interface, preprocessed.
#pragma once

#include <cstddef>
#include <string>

/// A matrix in host memory, 32-bit indices, fp64, rows sorted by column.
struct HostCsr {
  int           rows, cols, nonzeros;
  const int    *i, *j; ///< [rows + 1], [nonzeros]
  const double *a;     ///< [nonzeros]
};

/// The algorithms: CSR_ALG1 and CSR_ALG2; SELL_ALG1, in slices of 32; BSR_ALG1, in the full blocks of 2 x 2 to 6 x 6
/// that take the fewest bytes.
enum class Baseline {
  CsrAlg1,
  CsrAlg2,
  Sell,
  Bsr
};
constexpr Baseline PEERS[] = {Baseline::CsrAlg1, Baseline::CsrAlg2, Baseline::Sell, Baseline::Bsr};
const char        *Name(Baseline baseline);

/// Seconds per product y = A x, x [cols] and y [rows] on the host: the median of `batches` batches of `products`
/// products, after a warm-up, timed by CUDA events. Negative: *why says why it is not for this matrix (padding beyond
/// four times the entries, blocks that are not nearly full) or what failed.
double CusparseSeconds(Baseline baseline, const HostCsr &A, const double *x, double *y, int batches, int products,
                       std::string *why);

/// Seconds per call of `product`, likewise, on the stream that it uses (a cudaStream_t).
double EventSeconds(void (*product)(void *), void *argument, void *stream, int batches, int products);

/// Bytes of the level-2 cache of the current device and its name; false, and why, if there is none.
bool DeviceCache(double *bytes, std::string *name, std::string *why);
