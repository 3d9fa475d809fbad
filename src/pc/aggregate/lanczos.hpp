/// The steps of Lanczos' method on arrays of the device. Scalars stay there: the host hears of them after the last
/// step, or, of several processes, to add up those of all.
#pragma once

#include "device/buffer.hpp"
#include "device/pinned.hpp"
#include "device/scalar.hpp"
#include "pc/aggregate/names.hpp"

namespace sparsegpu::aggregate
{

/// What a step finds: products of the next vector with the two before it, and its square after these are subtracted.
struct LanczosSums {
  Scalar before, now, square;
};

/// Vectors of `rows` entries of each process. A process makes its sums in an order that depends on `rows` alone: the
/// bits repeat.
class LanczosVectors
{
public:
  /// Room; left(), right() and first() [rows] are to be written. Begin() and Advance() are collective on `comm`.
  PetscErrorCode SetUp(MPI_Comm comm, PetscInt rows, PetscInt steps);
  Scalar        *left() { return left_.data(); }
  Scalar        *right() { return right_.data(); }
  Scalar        *first() { return basis_[0].data(); }

  /// The square of the first vector.
  PetscErrorCode Begin();
  /// y = right * the vector of step k, which is normalised.
  PetscErrorCode Scale(PetscInt k, Scalar *y);
  /// The next vector from left * z, z = A y.
  PetscErrorCode Advance(PetscInt k, const Scalar *z);
  /// sums [steps + 1]: the first has the square of the first vector alone, number k + 1 what step k has found. Waits
  /// for the device.
  PetscErrorCode Get(std::vector<LanczosSums> *sums) const;

private:
  PetscErrorCode AddUp(Scalar *sums, PetscMPIInt count);

  MPI_Comm           comm_ = PETSC_COMM_SELF;
  PetscInt           rows_ = 0;
  Array<Scalar>      left_, right_, basis_[3], partial_;
  Array<unsigned>    arrived_;
  Array<LanczosSums> sums_; ///< [steps + 1]
  PinnedMemory       host_; ///< the same, of several processes alone: each place is used once
};

} // namespace sparsegpu::aggregate
