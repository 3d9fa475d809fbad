/// A system on arrays of the device, without PETSc's vectors in between: a matrix of ours on one process, or on several
/// whose GPUs reach each other's memory, and a preconditioner that is a diagonal (PCJACOBI) or none; or, on one
/// process, from the left and with vectors on the host, an incomplete factorization of ours. Where vectors are on the
/// host, as all are in a PETSc without CUDA, the right-hand side and the solution are copied once a solve.
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include "device/buffer.hpp"
#include "ksp/common/names.hpp"
#include "ksp/common/ranks.hpp"
#include "mat/formats/format.hpp"

namespace sparsegpu::ilu
{
class Factor;
}

namespace sparsegpu::ksp
{

/// Which preconditioners a solver takes.
enum class Preconditioners {
  OnArrays, ///< those of arrays: a diagonal, an incomplete factorization
  Ignored,  ///< as OnArrays, but it is left out: inverse() is null
  Any       ///< with vectors on the host a diagonal; else any, and the solver applies one that is not: outside()
};

class DeviceSystem
{
public:
  /// Takes the system of the solve that begins, if it is of this kind: see active(). Uses two work vectors of the KSP.
  /// Collective; the answer is the same on all ranks.
  PetscErrorCode Begin(KSP ksp, Preconditioners taken = Preconditioners::OnArrays);
  /// Hands the solution back where it was copied.
  PetscErrorCode End();
  /// The solution to its vector before the end: there KSPBuildSolution() finds it once there is a reason.
  PetscErrorCode Publish();
  PetscErrorCode Free();

  bool          active() const { return active_; }
  bool          copies() const { return copies_; } ///< the vectors are on the host
  bool          right() const { return right_; }
  Mat           matrix() const { return A_; }
  Format       *format() const { return format_; }
  const Scalar *inverse() const { return inverse_; } ///< [rows] of the diagonal; null where it is none
  bool          outside() const { return outside_; }
  bool          factored() const { return factor_ != nullptr; }
  PetscInt      rows() const { return rows_; }         ///< of this rank, as all arrays
  PetscInt      nonzeros() const { return nonzeros_; } ///< of this rank
  bool          parallel() const { return parallel_; }
  /// Null on one process. ranks()->active() says whether the ranks reach each other's memory, also where the system is
  /// not active: with vectors on the host, and with Preconditioners::OnArrays around any other preconditioner, where
  /// products run where the vectors are.
  Ranks *ranks() { return parallel_ ? &ranks_ : nullptr; }

  /// The right-hand side and the solution [rows] on the device. After a kernel has written the solution, the vector
  /// knows that it has changed.
  PetscErrorCode Rhs(const Scalar **b);
  PetscErrorCode Solution(Scalar **x);
  /// out = the preconditioned operator applied to v. [rows] each. Asynchronous, as is the next.
  PetscErrorCode Apply(const Scalar *v, Scalar *out);
  /// out = A v.
  PetscErrorCode Product(const Scalar *v, Scalar *out);
  /// dots.z = A dots.x and what else `dots` asks for. On several ranks that of the diagonal block, without the sums of
  /// rows with ghosts: ranks()->exchange() has been begun, and dots.z gets the rest from whoever ends it. Where the
  /// off-diagonal block is not ranks()->off(), or no ranks()->ghosts_left(), the product is complete, and so are this
  /// rank's sums.
  PetscErrorCode Product(const ProductDots &dots);
  /// out = the residual of the solution, from the left the preconditioned one.
  PetscErrorCode Residual(bool zero_guess, Scalar *out);
  /// v, a vector like the solution, = the entries of `from`.
  PetscErrorCode Store(const Scalar *from, Vec v);

private:
  PetscErrorCode Admit(KSP ksp, Preconditioners taken, bool *admitted);
  PetscErrorCode Precondition(const Scalar *from, Scalar *to);
  PetscErrorCode TakeDiagonal(KSP ksp);

  PetscErrorCode TakeMatrix(Space vectors, bool there, bool *taken);
  PetscErrorCode ApplyFused(const Scalar *v, Scalar *out, Stream stream);

  bool     active_ = false, copies_ = false, right_ = false, published_ = false, outside_ = false, parallel_ = false;
  KSP      ksp_    = nullptr;
  Mat      A_      = nullptr;
  Format  *format_ = nullptr;
  PetscInt rows_ = 0, nonzeros_ = 0;
  Ranks    ranks_;
  const Scalar *inverse_ = nullptr;
  ilu::Factor  *factor_  = nullptr;  ///< the preconditioner's
  DeviceMemory  diagonal_, between_; ///< [rows_] each, where needed
  DeviceMemory  b_, x_;              ///< [rows_] each, if the vectors are on the host
};

/// out = scale .* (b - product); scale, product and b may be null: 1, 0 and, with its sign, product alone. [rows] each.
PetscErrorCode ScaleSystem_CUDA(PetscInt rows, const Scalar *scale, const Scalar *b, const Scalar *product, Scalar *out,
                                Stream stream);

/// Where a preconditioner has failed, on some ranks alone: the norm tells the others. out [rows].
PetscErrorCode FillInfinite_CUDA(PetscInt rows, Scalar *out, Stream stream);

} // namespace sparsegpu::ksp
