/// What a direct factorization does with numbers, on the host or on the device: the numeric factorization, solves with
/// the factors, residuals. What to do with them, LuEngine's owner decides.
#pragma once

#include <memory>
#include "device/device.hpp"
#include "pc/lu/numeric.hpp"

namespace sparsegpu
{

/// All that is known of a factorization before there are values, but for the scaling of a matching.
struct LuAnalysis {
  PetscInt               rows      = 0;
  bool                   symmetric = false;       ///< of the upper triangle and its mirror image
  bool                   hermitian = false;       ///< which is conjugated
  bool                   matched   = false;       ///< scaled by the matching; else the engine scales by the diagonal
  bool                   refine    = true;        ///< residuals will be asked for
  long long              spins     = 1ll << 28;   ///< LuOptions::spins
  std::vector<PetscInt>  i, j;                    ///< the matrix's pattern
  std::vector<PetscInt>  row_order, column_order; ///< [rows] eliminated k-th
  std::vector<PetscReal> row_scale, column_scale; ///< [rows] of the matrix's own rows and columns, if matched
  PetscInt               longest_row = 0, longest_column = 0;
  FrontTree              tree;
  FrontPlan              plan;
};

/// Which pivots are exchanged or replaced, against the largest entry of the scaled matrix.
struct LuPolicy {
  PetscReal exchange = 0;     ///< LuPivoting::exchange
  PetscReal small    = 0;     ///< pivots below this part of the largest entry become so large, ...
  PetscReal replace  = 0;     ///< ... or this large, if it is positive
  bool      all      = false; ///< all pivots below that are replaced, not only those that are as good as zero

  SPARSEGPU_HD LuPivoting For(PetscReal largest) const
  {
    LuPivoting      pivoting;
    const PetscReal epsilon = PETSC_MACHINE_EPSILON;
    pivoting.exchange       = exchange;
    pivoting.replace        = replace > 0 ? replace : small * largest;
    pivoting.tiny           = all ? pivoting.replace : static_cast<PetscReal>(sqrt(epsilon)) * epsilon * largest;
    return pivoting;
  }
};

class LuEngine
{
public:
  virtual ~LuEngine() = default;
  /// `analysis` stays where it is as long as this lives. Errors: PETSC_ERR_MEM naming the bytes that the factorization
  /// will need and those that there are.
  virtual PetscErrorCode Symbolic(const LuAnalysis &analysis) = 0;
  /// a [nonzeros of the matrix]: its values, where this engine works.
  virtual PetscErrorCode Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report) = 0;
  /// x = A^-1 b or A^-T b with the factors as they are; `count` columns, on the host or the device as the engine is,
  /// where nobody waits. Errors: PETSC_ERR_GPU if an earlier solve got stuck.
  virtual PetscErrorCode Apply(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                               bool transpose) = 0;
  /// The residual b - A x or b - A^T x, which is kept. *error: its normwise backward error, infinite if x is not
  /// finite, NaN if b is not.
  virtual PetscErrorCode Residual(const Scalar *b, const Scalar *x, bool transpose, PetscReal *error) = 0;
  /// x += A^-1 times the residual that was kept.
  virtual PetscErrorCode Correct(Scalar *x, bool transpose) = 0;
  /// x as it was before Correct().
  virtual PetscErrorCode Undo(Scalar *x) = 0;
  /// A right-hand side that a singular matrix can hardly make, and room for a solution; kept here.
  virtual PetscErrorCode Sample(const Scalar **b, Scalar **x) = 0;
  virtual Space          Where() const                        = 0;
  virtual PetscLogDouble Bytes() const                        = 0;
};

std::unique_ptr<LuEngine> MakeLuEngine_Host();
#if defined(SPARSEGPU_HAVE_CUDA)
std::unique_ptr<LuEngine> MakeLuEngine_CUDA();
/// Rows of the largest small front that a thread block of the device has shared memory for: one of SMALL_FRONTS, or 0.
PetscErrorCode LargestSmallFront_CUDA(PetscInt *rows);
#endif

/// The scale of a row and of a column whose diagonal entry has this magnitude, the largest of the row's being `most`:
/// about the inverse root, so that what is small then is small against its own row and column. Powers of two round
/// nothing.
SPARSEGPU_HD PetscReal DiagonalScale(PetscReal diagonal, PetscReal most)
{
  int exponent = 0;
  if (!(diagonal > 0)) diagonal = most;
  if (diagonal > 0) (void)frexp(static_cast<double>(diagonal), &exponent);
  return static_cast<PetscReal>(ldexp(1.0, -exponent / 2));
}
/// Entry r of the right-hand side of Sample(): b = A x with a singular A would be solved by any perturbation of it.
SPARSEGPU_HD PetscReal SampleEntry(PetscInt r)
{
  return 1 + static_cast<PetscReal>((static_cast<unsigned>(r) * 2654435761u) >> 22) / 1024;
}
/// The normwise backward error of a residual, all in the maximum norm.
SPARSEGPU_HD PetscReal BackwardError(PetscReal residual, PetscReal matrix, PetscReal x, PetscReal b)
{
  return residual > 0 ? residual / (matrix * x + b) : 0;
}

} // namespace sparsegpu
