/// Y += alpha X of sequential matrices of ours, where Y's values are, of a pattern that has all entries of X's.
#pragma once

#include "mat/face/value_place.hpp"

namespace sparsegpu::face
{

class SubsetSum
{
public:
  /// number: the columns of X as those of Y, ascending; null where they are. *fits is false where Y's values cannot be
  /// written to, or X has an entry that Y lacks. Waits for the device. X and Y must stay as they are until Add().
  PetscErrorCode Prepare(Mat Y, PetscScalar alpha, Mat X, const std::vector<PetscInt> *number, bool *fits);
  PetscErrorCode Add();

private:
  Mat               Y_ = nullptr; ///< null: there is nothing to add
  there::There      x_, y_;
  values::AddSubset add_{};
  Array<PetscInt>   number_;
  Array<int>        lost_;
};

/// The same of parallel matrices of ours, on all ranks or on none: *done. Collective.
PetscErrorCode AddSubsetParallel(Mat Y, PetscScalar alpha, Mat X, bool *done);

} // namespace sparsegpu::face
