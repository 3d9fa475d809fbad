/// Matrices in several types and formats: are their products right, and how long does one take?
#pragma once

#include <functional>

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
  double first   = 0;         ///< seconds of the first product, which may convert
  double product = 0;         ///< seconds of one product: median over batches
  double least = 0, most = 0; ///< of a batch
  double spread = 0;          ///< half of the span of the middle half of the batches, over the median
};

/// Times MatMult() of each matrix with the vectors of its own type, in batches of about 20 ms: at least `products`
/// products and at least 0.2 s of each. The matrices take turns, a batch each in a round, so that what else runs on the
/// machine slows all of them. Each batch ends when the device has finished. The slowest rank counts. `before(k)` is
/// called before the first product of matrix k, which may convert, and, with their number, before the rounds.
/// Collective.
PetscErrorCode TimeProducts(const std::vector<Mat> &matrices, PetscInt products,
                            const std::function<PetscErrorCode(size_t k)> &before, std::vector<Timing> *timings);
