/// Deflated restarts: what a cycle keeps of the one before.
#pragma once

#include "ksp/gmres/arnoldi.hpp"
#include "ksp/gmres/harmonic.hpp"
#include "ksp/gmres/recombine.hpp"

namespace sparsegpu::gmres
{

class Deflation
{
public:
  /// Memory for `most` columns as `like`; none are kept yet. own_operands: a cycle's operands are the basis itself,
  /// else what the preconditioner made of it. `device_only` as Columns has it. Collective.
  PetscErrorCode Allocate(Vec like, PetscInt most, bool own_operands, bool device_only);
  /// And for cycles of at most `steps` steps with a basis in `space`. Errors: PETSC_ERR_MEM.
  PetscErrorCode   Reserve(PetscInt steps, Space space);
  PetscErrorCode   Free();
  void             Forget() { space_ = KeptSpace(); }
  PetscInt         most() const { return most_; }
  PetscInt         kept() const { return space_.kept; }
  const KeptSpace &space() const { return space_; }
  /// Of the kept columns; null where they are among what the preconditioner made of the basis.
  Columns *operands() { return operands_.count() ? &operands_ : nullptr; }

  /// After a whole cycle: the first kept() columns of its basis, and the operands, are those that the next one keeps.
  /// preconditioned: what the preconditioner made of the basis, or null. Collective.
  PetscErrorCode Renew(MPI_Comm comm, Arnoldi *arnoldi, PetscInt steps, Columns *basis, Columns *preconditioned);

private:
  PetscErrorCode Agree(MPI_Comm comm, PetscInt steps, KeptSpace *space) const;

  PetscInt      most_ = 0;
  Columns       operands_;
  KeptSpace     space_;
  Array<Scalar> coefficients_; ///< [most_ * (2 steps + 1)] of the images, then of the operands, on the device
};

} // namespace sparsegpu::gmres
