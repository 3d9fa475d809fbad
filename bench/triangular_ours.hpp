/// Our factorization and solves of one matrix on the device, timed: what bench/trisolve holds against cuSPARSE.
#pragma once

#include <petscsys.h>
#include "triangular.hpp"
#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)

  #include <memory>
  #include "pc/ilu/ilu.hpp"
  #include "pc/trisolve/transpose.hpp"

/// One pair of factors and its solver, all on the device.
struct SolverOf {
  sparsegpu::Array<PetscInt>                     i, j, diagonal;
  sparsegpu::Array<sparsegpu::Scalar>            values;
  sparsegpu::trisolve::TransposedFactors         transposed;
  std::unique_ptr<sparsegpu::trisolve::Trisolve> solver;
};

/// ILU(fill) of a matrix. Times are seconds until the device is done, medians of several runs.
class Ours
{
public:
  sparsegpu::trisolve::TrisolveOptions options;
  PetscInt                             numeric_warps = 0;

  double symbolic = 0; ///< the pattern, and the order of the factorization's tasks
  double analysis = 0; ///< of the solver, which the factorization's tasks come from
  double numeric  = 0;
  double update   = 0; ///< new values of the factors for the solver

  /// Factors A and makes the solver; patterns with fill are found on the host, once.
  PetscErrorCode Factor(const HostRows &A, PetscInt fill);
  /// The factors on the host, the diagonal of U not inverted, as cuSPARSE takes them: i [rows + 1], j, a [nonzeros].
  PetscErrorCode FetchFactors(std::vector<int> *i, std::vector<int> *j, std::vector<double> *a);
  /// A solver of L alone (or of U alone); in the place of the other factor stands the identity, one more level.
  /// After FetchFactors().
  PetscErrorCode MakeAlone(bool upper, SolverOf *alone);
  PetscErrorCode MakeTransposed(SolverOf *transposed);
  /// Seconds of a solve, x [rows * count] of b [rows * count], median of `batches` batches of `solves`.
  PetscErrorCode Time(sparsegpu::trisolve::Trisolve *solver, int count, const double *b, double *x, int batches,
                      int solves, double *seconds) const;

  sparsegpu::trisolve::Trisolve *solver() const { return solver_.get(); }
  int                            nonzeros() const { return static_cast<int>(pattern_.nonzeros); }
  int levels() const { return static_cast<int>(solver_->lower_levels + solver_->upper_levels); }
  /// Of pattern, values, factorization and solver, on the device.
  size_t Bytes() const { return pattern_.Bytes() + values_.bytes() + factorization_->Bytes() + solver_->Bytes(); }

private:
  PetscErrorCode Symbolic(const HostRows &A, PetscInt fill, const OnDevice<int> &i, const OnDevice<int> &j, int run);

  sparsegpu::ilu::DevicePattern                  pattern_;
  sparsegpu::Array<sparsegpu::Scalar>            values_;
  std::unique_ptr<sparsegpu::ilu::Numeric>       factorization_;
  std::unique_ptr<sparsegpu::trisolve::Trisolve> solver_;
  std::vector<int>                               host_i_, host_j_, host_diagonal_;
  std::vector<double>                            host_values_; ///< the diagonal not inverted
};

#endif
