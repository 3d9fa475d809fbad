/// One matrix in one type and format: are its products right, and how long does one take?
#pragma once

#include "oracle.hpp"

/// The largest errors found, in bounds: above 1 is wrong.
struct Errors {
  double      mult = 0, worst = 0;     ///< of MatMult(), of all products
  const char *worst_product = nullptr; ///< the name of the latter
};

/// Checks MatMult(), MatMultAdd() to a third vector and in place, MatMultTranspose() and MatMultTransposeAdd() of B,
/// those of them that its type has. Collective.
PetscErrorCode CheckProducts(Mat B, const Oracle &oracle, Errors *errors);

struct Timing {
  double first   = 0; ///< seconds of the first product, which may convert
  double product = 0; ///< seconds of one product: median over batches
};

/// Times MatMult(B) with the vectors of B's own type, in batches of about 20 ms: at least `products` products, at least
/// 0.2 s. Each batch ends when the device has finished. The slowest rank counts. Collective.
PetscErrorCode TimeProducts(Mat B, PetscInt products, Timing *timing);
