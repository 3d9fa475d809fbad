/// A basis: columns in one allocation that PETSc's operators can use as vectors.
#pragma once

#include <petscvec.h>
#include <vector>
#include "device/buffer.hpp"
#include "device/scalar.hpp"
#include "device/vectors.hpp"

namespace sparsegpu::ksp
{

/// The view for kernels. Entry r of column c is at v[c * stride + r].
struct Dense {
  PetscInt rows, stride; ///< of this process; stride is a multiple of 32, so that every column begins on a full line
  Scalar  *v;            ///< [stride * columns]

  SPARSEGPU_HD Scalar *Column(PetscInt c) const { return v + static_cast<size_t>(c) * stride; }
  /// Column c and those behind it.
  Dense From(PetscInt c) const { return Dense{rows, stride, Column(c)}; }
};

/// The columns are on the device if the vectors are, else on the host. Vectors of PETSc's standard and CUDA types are
/// laid over the columns; of other types (nested, Kokkos, ...) copies are handed out.
class Columns
{
public:
  Columns()                           = default;
  Columns(const Columns &)            = delete;
  Columns &operator=(const Columns &) = delete;
  ~Columns(); // cannot return: call Free() first where errors matter

  /// At least `count` columns of the layout and the type of `like`; what was in them is lost if they grow. Collective.
  /// Errors: PETSC_ERR_MEM, naming the bytes asked for and free.
  /// `device_only`: on the device, wherever vectors are, and accessible through view() alone.
  PetscErrorCode Allocate(Vec like, PetscInt count, bool device_only = false);
  PetscErrorCode Free();

  /// Column c as a vector to read; valid until the next call.
  PetscErrorCode Read(PetscInt c, Vec *v);
  /// Column c as a vector to write; WriteEnd() before its entries are used.
  PetscErrorCode Write(PetscInt c, Vec *v);
  PetscErrorCode WriteEnd(PetscInt c);
  /// Says that kernels have changed column c behind its vector.
  PetscErrorCode Changed(PetscInt c);

  PetscInt count() const { return static_cast<PetscInt>(count_); }
  Space    space() const { return space_; }
  Dense    view() { return Dense{rows_, stride_, entries_.data()}; }

private:
  PetscErrorCode Wrap(Vec like, PetscInt c);
  Scalar        *Column(PetscInt c) { return entries_.data() + static_cast<size_t>(c) * stride_; }

  Space            space_ = Space::Host;
  bool             wraps_ = true, device_only_ = false;
  PetscInt         rows_ = 0, stride_ = 0, count_ = 0;
  Array<Scalar>    entries_; ///< [stride_ * count_]
  std::vector<Vec> vectors_; ///< [count_] laid over the columns; or [2], copies to read and to write
};

} // namespace sparsegpu::ksp
