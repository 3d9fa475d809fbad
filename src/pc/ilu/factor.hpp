/// The factor behind MATSOLVERSPARSEGPU: an incomplete factorization, its values and its triangular solves.
#pragma once

#include <petsc/private/matimpl.h>
#include "device/buffer.hpp"
#include "pc/ilu/ilu.hpp"

namespace sparsegpu
{

class Factor
{
public:
  /// Pattern and analysis for one matrix pattern; `space` is where factorization and solves run.
  PetscErrorCode Symbolic(const CsrView &A, IS row, IS column, const MatFactorInfo &info, Space space);
  /// Values of the matrix whose pattern Symbolic() saw. Zero pivots are told by F's factor error, or as an error where
  /// `A` asks for that.
  PetscErrorCode Numeric(Mat F, Mat A, const CsrView &csr, const MatFactorInfo &info);
  PetscErrorCode Solve(Vec b, Vec x, bool transpose);
  PetscErrorCode View(PetscViewer viewer) const;

  PetscInt levels_of_fill = 0;

  PetscInt       Nonzeros() const { return pattern_.rows ? pattern_.i[pattern_.rows] : 0; }
  PetscInt       MatrixNonzeros() const { return static_cast<PetscInt>(slot_.size()); }
  PetscLogDouble Bytes() const;
  void           SetSpins(PetscInt spins) { sweep_.spins = spins; }
  void           SetWarps(PetscInt warps) { sweep_.warps = warps; }

private:
  PetscErrorCode Attempt(const CsrView &csr, const IluPivots &pivots, PetscInt *zero_row, PetscReal *zero_pivot);
  PetscErrorCode AttemptOnDevice(const CsrView &csr, const IluPivots &pivots, PetscInt *zero_row,
                                 PetscReal *zero_pivot);
  PetscErrorCode SolveOnDevice(Vec b, Vec x);
  PetscErrorCode SolveOnHost(Vec b, Vec x, bool transpose);

  FactorPattern         pattern_;
  std::vector<PetscInt> slot_; ///< [nonzeros of the matrix] where its entries go
  Space                 space_ = Space::Host;
  std::vector<Scalar> values_; ///< [entries of the factors]; on the device's behalf only once a host solve asked for it
  bool                values_on_host_ = false;
  std::vector<Scalar> unknowns_; ///< [rows] scratch of a solve on the host
  // on the device
  Sweep            sweep_;
  Array<PetscInt>  i_, j_, diagonal_, order_, slot_device_;
  Array<Scalar>    values_device_, matrix_;
  Array<int>       done_;
  Array<unsigned>  ticket_;
  Array<PetscReal> pivot_;
  DeviceMemory     b_, x_; ///< for vectors on the host
};

/// Where the factorization of A runs: where A's products do.
PetscErrorCode FactorSpace(Mat A, Space *space);

/// MatSolverTypeRegister() of MATSOLVERSPARSEGPU.
PetscErrorCode RegisterFactors();

} // namespace sparsegpu
