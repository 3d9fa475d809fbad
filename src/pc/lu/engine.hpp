/// The numeric work of a direct factorization, on the host or on the device: the factorization, solves with the
/// factors, residuals. DirectFactor decides which of these to do.
#pragma once

#include <memory>
#include "device/device.hpp"
#include "pc/lu/columns.hpp"
#include "pc/lu/numeric.hpp"
#include "pc/lu/spill.hpp"

namespace sparsegpu::lu
{

/// The analysis: all of a factorization that does not depend on values, and the scaling of a matching.
struct LuAnalysis {
  PetscInt rows      = 0;
  bool     symmetric = false;                     ///< of the upper triangle and its mirror image
  bool     hermitian = false;                     ///< which is conjugated
  bool     matched   = false;                     ///< scaled by the matching; else the engine scales: symmetric ones
                                                  ///< by the diagonal, others by the largest entries
  bool                   paired = false;          ///< symmetric: pivots of order 1 and 2 are chosen within tiles
  bool                   refine = true;           ///< residuals will be asked for
  long long              spins  = 1ll << 28;      ///< LuOptions::spins
  Spill                  spill  = Spill::Never;   ///< of factors on the device
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
  PetscReal epsilon  = PETSC_MACHINE_EPSILON; ///< of the factors' precision

  SPARSEGPU_HD LuPivoting For(PetscReal largest) const
  {
    LuPivoting pivoting;
    pivoting.exchange = exchange;
    pivoting.replace  = replace > 0 ? replace : small * largest;
    pivoting.tiny     = all ? pivoting.replace : static_cast<PetscReal>(sqrt(epsilon)) * epsilon * largest;
    return pivoting;
  }
};

/// With A = L U or L D L^H: x = L^-1 b if `forward`, else x = U^-1 b, what is on the other side of L or U being in the
/// order of elimination. With `roots`, of positive D: D^-1/2 L^-1 b and L^-H D^-1/2 b. `transpose`: U^-T, then L^-T; of
/// a Hermitian matrix, what is between the two is the conjugate.
struct LuHalf {
  bool forward, transpose, roots;
};

/// Vectors of a basis at most.
constexpr PetscInt LU_BASIS = 32;

/// A residual in the maximum norm.
struct ResidualSize {
  PetscReal error    = PETSC_INFINITY; ///< normwise backward error; infinite if x is not finite, NaN if b is not
  PetscReal relative = PETSC_INFINITY; ///< against b
};

/// row [rows]: counted from the front's first pivot -> in the order of elimination.
inline void RowsOfFronts(const FrontTree &tree, std::vector<PetscInt> *row)
{
  for (PetscInt f = 0; f < tree.Fronts(); f++)
    for (PetscInt k = tree.first[f]; k < tree.first[f + 1]; k++) (*row)[k] += tree.first[f];
}

class LuEngine
{
public:
  virtual ~LuEngine() = default;
  /// `analysis` stays where it is as long as this lives. Errors: PETSC_ERR_MEM naming the bytes that the factorization
  /// will need and those that there are.
  virtual PetscErrorCode Symbolic(const LuAnalysis &analysis) = 0;
  /// a [nonzeros of the matrix]: its values, where this engine works.
  virtual PetscErrorCode Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report) = 0;
  /// Makes room for blocks of *width columns; *width in: those that there are to solve, out: 1 .. LU_COLUMNS of them,
  /// fewer where there is not the memory for more.
  virtual PetscErrorCode Room(PetscInt *width) = 0;

  // Columns of a block, ldb and ldx entries apart, on the host or the device as the engine is; columns[k] of it are
  // taken. What becomes of one does not depend on the others' values.
  /// x = A^-1 b or A^-T b with the factors as they are; asynchronous on the device. Errors: PETSC_ERR_GPU if an earlier
  /// solve got stuck.
  virtual PetscErrorCode Apply(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                               bool transpose) = 0;
  /// One of the two sweeps, see LuHalf; the matrix's side is scaled and in its own order. Asynchronous on the device.
  virtual PetscErrorCode ApplyHalf(const LuHalf &half, const LuColumns &columns, const Scalar *b, PetscInt ldb,
                                   Scalar *x, PetscInt ldx) = 0;
  /// Pivots [rows] as they are, on the host, in the order of elimination; of a symmetric factorization, D, also as they
  /// were met.
  virtual PetscErrorCode Pivots(std::vector<Scalar> *met, std::vector<Scalar> *used) = 0;
  /// row [rows], on the host: which row, in the order of elimination, has become each pivot's; one of the same front.
  virtual PetscErrorCode PivotRows(std::vector<PetscInt> *row) = 0;
  /// pair [rows], on the host: LuNumeric_Host()'s; none unless LuAnalysis::paired.
  virtual PetscErrorCode Pairs(std::vector<PairCode> *pair) = 0;
  /// [rows] of the matrix's rows and columns, on the host.
  virtual PetscErrorCode Scales(std::vector<PetscReal> *row, std::vector<PetscReal> *column) = 0;
  /// What was assembled in the front that is not factored [pivots x pivots], FrontTree::apart, on the host. Its factors
  /// are unit matrices.
  virtual PetscErrorCode Apart(Scalar *block) = 0;
  /// The residuals b - A x or b - A^T x, which are kept by column, and size [columns.count]: how large they are. One
  /// wait for the device.
  virtual PetscErrorCode Residual(const LuColumns &columns, const Scalar *b, PetscInt ldb, const Scalar *x,
                                  PetscInt ldx, bool transpose, ResidualSize *size) = 0;
  /// x += A^-1 times the residuals that were kept.
  virtual PetscErrorCode Correct(const LuColumns &columns, Scalar *x, PetscInt ldx, bool transpose) = 0;
  /// Column `column` of a block, which is x, as it was before Correct().
  virtual PetscErrorCode Undo(PetscInt column, Scalar *x) = 0;

  // For GMRES (refine.hpp) with a block of one column, which measures residuals in the factors' scaling D, of rows, or
  // of columns if `transpose`; or as they are, D = I, unless `scaled`.
  /// Room for `count` vectors [rows], one after the other, until there is another analysis.
  virtual PetscErrorCode Basis(PetscInt count, Scalar **v) = 0;
  /// v = D times the residual that was kept.
  virtual PetscErrorCode KeptResidual(Scalar *v, bool scaled, bool transpose) = 0;
  /// z = A^-1 D^-1 v with the factors as they are.
  virtual PetscErrorCode Precondition(const Scalar *v, Scalar *z, bool scaled, bool transpose) = 0;
  /// v = D A z, with the matrix as it was factored.
  virtual PetscErrorCode Multiply(const Scalar *z, Scalar *v, bool scaled, bool transpose) = 0;
  /// result[k] = v_k^H w for vectors v_0 .. v_(count - 1) of a basis; on the host. 1 <= count <= LU_BASIS.
  virtual PetscErrorCode Dots(PetscInt count, const Scalar *v, const Scalar *w, Scalar *result) = 0;
  /// y = beta y + sum of c_k v_k, where y is not read if beta is 0; c on the host. 0 <= count <= LU_BASIS.
  virtual PetscErrorCode Combine(PetscInt count, const Scalar *c, const Scalar *v, PetscReal beta, Scalar *y) = 0;
  /// x += d; Undo() of column 0 takes it back.
  virtual PetscErrorCode AddTo(Scalar *x, const Scalar *d) = 0;

  /// A right-hand side that is hardly in the range of a singular matrix, room for one more, and for a solution; kept
  /// here.
  virtual PetscErrorCode Sample(const Scalar **b, Scalar **product, Scalar **x) = 0;
  /// *a: the matrix's values as they were factored, on the host; none without refinement.
  virtual PetscErrorCode Values(std::vector<Scalar> *a) = 0;
  virtual Space          Where() const                  = 0;
  virtual PetscLogDouble Bytes() const                  = 0;
  /// Of those, what lies in the host's memory although solves run on the device.
  virtual PetscLogDouble SpilledBytes() const { return 0; }
};

/// single: factors are stored and computed in single precision; all else of an engine is in full precision.
std::unique_ptr<LuEngine> MakeLuEngine_Host(bool single);
#if defined(SPARSEGPU_HAVE_CUDA)
std::unique_ptr<LuEngine> MakeLuEngine_CUDA(bool single);
/// Rows of the largest small front that a thread block of the device has shared memory for: one of SMALL_FRONTS, or 0.
PetscErrorCode LargestSmallFront_CUDA(PetscInt *rows);
#endif

/// The power of two that takes a magnitude into [1/2, 1), within what neither overflows nor is denormal; 1 for 0.
SPARSEGPU_HD PetscReal InverseScale(PetscReal magnitude)
{
  constexpr int LIMIT    = sizeof(PetscReal) == sizeof(float) ? 60 : 500;
  int           exponent = 0;
  if (magnitude > 0) (void)frexp(static_cast<double>(magnitude), &exponent);
  exponent = exponent > LIMIT ? LIMIT : exponent < -LIMIT ? -LIMIT : exponent;
  return static_cast<PetscReal>(ldexp(1.0, -exponent));
}
/// The same for a right-hand side, alone: its inverse is a power of two, too.
SPARSEGPU_HD PetscReal RangeScale(PetscReal magnitude)
{
  constexpr int LIMIT    = sizeof(PetscReal) == sizeof(float) ? 120 : 1000;
  int           exponent = 0;
  if (magnitude > 0) (void)frexp(static_cast<double>(magnitude), &exponent);
  exponent = exponent > LIMIT ? LIMIT : exponent < -LIMIT ? -LIMIT : exponent;
  return static_cast<PetscReal>(ldexp(1.0, -exponent));
}
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
/// Of finite norms in the maximum norm.
inline ResidualSize SizeOf(PetscReal residual, PetscReal matrix, PetscReal x, PetscReal b)
{
  ResidualSize size;
  size.error    = residual > 0 ? residual / (matrix * x + b) : 0;
  size.relative = residual > 0 ? residual / b : 0;
  return size;
}

} // namespace sparsegpu::lu
