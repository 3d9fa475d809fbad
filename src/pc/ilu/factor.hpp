/// The factor behind MATSOLVERSPARSEGPU: an incomplete factorization, its values and its triangular solves.
#pragma once

#include <petsc/private/matimpl.h>
#include "pc/factor/arrays.hpp"
#include "pc/factor/rows.hpp"
#include "pc/ilu/ilu.hpp"
#include "pc/subdomains/couplings.hpp"
#include "pc/trisolve/halves.hpp"
#include "pc/trisolve/host.hpp"
#include "pc/trisolve/transpose.hpp"

namespace sparsegpu::ilu
{

class Factor
{
public:
  /// Pattern and analysis for one matrix pattern; `space` is where factorization and solves run. With subdomains the
  /// order of elimination is row, column within each of them. Errors: PETSC_ERR_ARG_WRONGSTATE naming the row of a
  /// missing diagonal entry; PETSC_ERR_ARG_OUTOFRANGE naming more subdomains than rows.
  PetscErrorCode Symbolic(Mat F, const MatrixRows &A, IS row, IS column, const MatFactorInfo &info, Space space);
  /// Values of the matrix whose pattern Symbolic() saw. Zero pivots set F's factor error, or are an error where
  /// `A` asks for that.
  PetscErrorCode Numeric(Mat F, Mat A, const MatrixRows &rows, const MatFactorInfo &info);
  PetscErrorCode Solve(Vec b, Vec x, bool transpose);
  /// With one half of an incomplete Cholesky factorization L D L^T, in the order P of the rows: x = (L D^(1/2))^-1 P b,
  /// or (D^(1/2) L^T P)^-1 b if `upper`. Errors: PETSC_ERR_SUP naming the step of a pivot that is not real and
  /// positive.
  PetscErrorCode SolveHalf(Vec b, Vec x, bool upper);
  /// Solve() with arrays [rows] in the space of the factor.
  PetscErrorCode SolveArrays(const Scalar *b, Scalar *x);
  /// Dense matrices of the host or of the device, a right-hand side per column.
  PetscErrorCode SolveMany(Mat B, Mat X, bool transpose);
  /// One line; levels and bytes, which solves may change, where the format is PETSC_VIEWER_ASCII_INFO_DETAIL.
  PetscErrorCode View(PetscViewer viewer) const;
  /// An error if an earlier solve got stuck. Does not wait.
  PetscErrorCode CheckStuck();
  /// The same once all solves are done.
  PetscErrorCode Finish();

  Incomplete      kind           = Incomplete::LU;
  PetscInt        levels_of_fill = 0;
  TrisolveOptions options;
  Request         subdomains; ///< what was asked for
  bool            engine_is_set = false, subdomains_are_set = false,
       precision_is_set = false; ///< by the preconditioner: overrides the options
  bool check            = false; ///< wait for the end of each solve and report its errors

  Space          Where() const { return space_; }
  PetscInt       Nonzeros() const { return nonzeros_; }
  PetscInt       Subdomains() const { return cut_.count; }
  PetscInt       Levels() const { return lower_levels_ + upper_levels_; } ///< 0: not known
  PetscInt       MatrixNonzeros() const { return matrix_nonzeros_; }
  PetscLogDouble Bytes() const;

private:
  PetscErrorCode MakeSubdomains(const MatrixRows &A, IS row, IS column, Space space);
  PetscErrorCode CutOnHost(const CsrView &A, PetscInt count, IS row, IS column, bool natural);
  PetscErrorCode BringCutHome();
  PetscErrorCode TopShift(const MatrixRows &A, PetscReal *top) const;
  PetscErrorCode SymbolicAndAnalysis(Mat F, const MatrixRows &A, IS row, IS column, const MatFactorInfo &info);
  PetscErrorCode NewSolver(std::unique_ptr<Trisolve> *solver) const;
  PetscErrorCode SymbolicOnDevice(const MatrixRows &A, IS row, IS column, const MatFactorInfo &info);
  PetscErrorCode WithoutFill(const MatrixRows &A, const PetscInt *row, const PetscInt *column, Space of_order,
                             UncoupledOnDevice *uncoupled, PetscInt *missing);
  PetscErrorCode SymbolicFromHost(const MatrixRows &A, IS row, IS column, const MatFactorInfo &info);
  PetscErrorCode SymbolicOnHost(const MatrixRows &A, IS row, IS column, const MatFactorInfo &info);
  PetscErrorCode Attempt(const MatrixRows &A, const Pivots &pivots, PetscInt *zero_row, PetscReal *zero_pivot);
  PetscErrorCode SolveThere(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose);
  PetscErrorCode SolveOnHost(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose);
  PetscErrorCode SolveOnDevice(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose,
                               Stream stream);
  PetscErrorCode SolveHalfThere(const Scalar *b, Scalar *x, bool upper);
  PetscErrorCode MatrixRow(PetscInt step, PetscInt *row) const;
  PetscErrorCode KeepSingle(Mat F, Mat A);
  const KeptValues &Stored() const { return solver_ && solver_->Kept() ? *solver_->Kept() : stored_; }
  PetscErrorCode    ValuesOf(Array<Scalar> *widened, const Scalar **values) const;

  /// For SolveHalf(), made on first use.
  struct Half {
    HostHalf                  host;
    DeviceHalf                device;
    std::unique_ptr<Trisolve> solver; ///< as solver_
    KeptValues                kept;   ///< as stored_
    bool                      built = false, current = false;
  };

  Space    space_ = Space::Host;
  PetscInt rows_ = 0, nonzeros_ = 0, matrix_nonzeros_ = 0;
  PetscInt lower_levels_ = 0, upper_levels_ = 0;
  Cut      cut_;      ///< its arrays are empty if there is one subdomain
  PetscInt kept_ = 0; ///< entries of the matrix within subdomains
  /// The rows' subdomains and the order of elimination, while the pattern is analysed, where they are made on the
  /// device; cut_ has none then.
  struct DeviceCut {
    Array<PetscInt> of_row, row;
  };
  DeviceCut device_cut_;
  // where the solves run; null on the host: row after row
  std::unique_ptr<Trisolve> solver_, transposed_solver_;
  bool                      transposed_current_ = false;
  KeptValues                stored_;    ///< in single precision all values that there are; else those of Solve_Host()
  Half                      halves_[2]; ///< lower, upper
  // on the host
  FactorPattern         pattern_;
  std::vector<PetscInt> source_; ///< [nonzeros_] entry of the matrix, -1: none
  std::vector<Scalar>   values_, unknowns_;
  HostTransposed        host_transposed_;
  // on the device
  DevicePattern     device_pattern_;
  Array<Scalar>     device_values_;
  ilu::Numeric      numeric_;
  TransposedFactors transposed_;
  DeviceMemory      matrix_; ///< values of a matrix that is on the host
  Staging           staging_;
};

/// The factor of a matrix of MATSOLVERSPARSEGPU.
Factor *FactorOf(Mat F);

} // namespace sparsegpu::ilu
