/// cuBLAS where the machine has it, opened when it is first needed: a large library that few need.
#pragma once

#include "device/device.hpp"
#include "device/single.hpp"

namespace sparsegpu
{

/// Whether cuBLAS can be loaded, and has the memory that it takes. The first call loads it. Where memory lacked it is
/// not found any more, so that what is computed does not depend on when; unless `again`.
PetscErrorCode CublasFound(bool *found, bool again = false);
/// From Begin() to the end of this a thread loads cuBLAS, makes its handle and forms a product, if nobody has done so
/// before: it takes about a tenth of a second. No other function of this header may be called meanwhile.
class CublasBeside
{
public:
  /// `possible`: whether Begin() may be called; the thread then works on the device that is the caller's now.
  explicit CublasBeside(bool possible);
  void Begin(); ///< in any thread, once
  CublasBeside(const CublasBeside &)            = delete;
  CublasBeside &operator=(const CublasBeside &) = delete;
  ~CublasBeside(); ///< waits for the thread

private:
  int  device_ = -1; ///< -1: none
  bool begun_  = false;
};
/// Takes the memory that large products of real numbers of single precision need to be formed by tensor cores, as three
/// products of TF32 numbers ("3xTF32", split_short.cuh): 64 MB, until the end. Without it they are ordinary ones. Where
/// CublasFound().
PetscErrorCode CublasTakeParts(bool *taken);
/// Whether a product of m x n entries is so large.
bool CublasServesByParts(PetscInt m, PetscInt n);
/// C [m x n] -= A [m x k] B [k x n], column-major; only where CublasFound(). Asynchronous. Number: Scalar or Single.
template <class Number> PetscErrorCode CublasSubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A,
                                                             PetscInt lda, const Number *B, PetscInt ldb, Number *C,
                                                             PetscInt ldc, Stream stream);
/// C [m x n] -= A [m x k] B^T, B [n x k].
template <class Number>
PetscErrorCode CublasSubtractTransposedProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                               const Number *B, PetscInt ldb, Number *C, PetscInt ldc, Stream stream);
/// C [n x n] -= A B^T, A and B [n x k], the lower triangle; entries above it become meaningless.
template <class Number> PetscErrorCode CublasSubtractLowerProduct(PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                                                  const Number *B, PetscInt ldb, Number *C,
                                                                  PetscInt ldc, Stream stream);
/// Ends it, at PetscFinalize().
PetscErrorCode CublasFinalize();

} // namespace sparsegpu
