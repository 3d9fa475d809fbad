/// l1-Jacobi, and Gauss-Seidel sweeps by colours (colors.hpp), for a matrix of any AIJ type, where its products run. Of
/// several processes each sweeps over its own rows with the others' unknowns as they were before the sweep, and takes
/// couplings to these into account by their magnitudes (InvertRow in operations.hpp).
#pragma once

#include <petscmat.h>
#include "pc/aggregate/source.hpp"
#include "pc/smooth/colors.hpp"

namespace sparsegpu::smooth
{

enum class Kind {
  L1Jacobi,
  GaussSeidel
};
enum class Direction {
  Forward,  ///< by ascending colours
  Backward, ///< by descending ones
  Symmetric ///< forward, then backward
};

class Smoother
{
public:
  Smoother()                            = default;
  Smoother(const Smoother &)            = delete;
  Smoother &operator=(const Smoother &) = delete;
  ~Smoother() { PetscCallAbort(PETSC_COMM_SELF, Clear()); }

  /// For A as it is now; colours of before are kept if `same_pattern`. Nothing if it was called for these values.
  /// Collective. Errors: PETSC_ERR_MEM.
  PetscErrorCode SetUp(Mat A, Kind kind, bool same_pattern);
  PetscErrorCode Clear();
  /// Smooths x for A x = b, with the values that A has now and the diagonal of the set-up; `zero`: x is 0, whatever is
  /// in it. Collective.
  PetscErrorCode Smooth(Vec b, Vec x, Direction direction, bool zero);

  Kind          kind() const { return kind_; }
  const Colors &colors() const { return colors_; } ///< of this process's rows; none of l1-Jacobi
  /// [rows of this process] what rows are divided by, inverted, where A's products run.
  const Scalar *inverse() const { return inverse_.data(); }

private:
  PetscErrorCode Invert();
  PetscErrorCode Local(Vec b, Vec x, Direction direction, bool zero);
  PetscErrorCode Step(Vec b, Vec x);
  PetscErrorCode SweepArrays(const Scalar *b, Scalar *x, Direction direction, bool zero);

  Mat              A_     = nullptr; ///< referenced
  PetscObjectState state_ = -1;      ///< of A_ at the set-up
  Kind             kind_  = Kind::L1Jacobi;
  Space            space_ = Space::Host;
  PetscInt         rows_  = 0; ///< of this process
  int              lanes_ = 1;
  bool             alone_ = true; ///< one process
  Colors           colors_;
  Array<Scalar>    inverse_;                            ///< [rows_] see InvertRow
  Array<PetscReal> outside_;                            ///< [rows_] of several processes
  Vec              product_ = nullptr, step_ = nullptr; ///< of several processes, and of l1-Jacobi
  DeviceMemory     room_[3];                            ///< for vectors of the host, where the device works
};

} // namespace sparsegpu::smooth
