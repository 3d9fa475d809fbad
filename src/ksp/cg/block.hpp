/// Block conjugate gradients: the right-hand sides of a block share one Krylov space. The residuals are R = Q rho, with
/// Q^H D Q = I; all matrices but those of vectors (X, Q, P, W) are s x s:
///
///     1  W = A P
///     2  G = P^H W                                   xi = G^-1
///     3  Q' = Q tau^-1 - W xi                        T = Q'^H D Q', N of the norm's inner product
///                                                    ||r_j||^2 = rho_j^H N rho_j, T = tau^H tau, rho' = tau rho
///     4  X += P xi rho, P = D Q' tau^-1 + P tau^H
///
/// Dubrulle, Electron. Trans. Numer. Anal. 12, 2001 (BCGrQ); O'Leary, Linear Algebra Appl. 29, 1980. Q' is stored as
/// pass 3 leaves it and normalised when it is next read. N is with D^2, 1 or D instead of D: the norm's.
///
/// A preconditioner that is not a diagonal is applied from outside, to Q' in pass 3, whose sums are another pass: Z =
/// M^-1 Q', T = Q'^H Z, and P = Z tau^-1 + P tau^H; two entries more.
///
/// Why: the condition that decides the number of iterations is that of the matrix without its s - 1 smallest
/// eigenvalues. Five points on 100 x 100 nodes, random right-hand sides, to 1e-8: 309 iterations of single solves, 165
/// with 8 columns, 121 with 16; seven points on 24^3 nodes: 94, 72 and 60. A column costs 12 entries of vectors an
/// iteration (13 with a diagonal that is not constant; 2, 2, 3 and 5 in the passes), where single recurrences move 10
/// to 12, and s times their arithmetic in passes 2 to 4.
///
/// Dependent columns. A pivot of T or G below BLOCK_LEAST times its diagonal entry is skipped: its row and column are
/// zero from then on (Ji and Li, BIT 57, 2017). What a skipped column loses, up to sqrt(BLOCK_LEAST) of its residual,
/// is a difference between B - A X and R. So once all columns have converged by their norms of R, B - A X is computed:
/// columns whose norm exceeds BLOCK_SLACK times the tolerance begin again, as a smaller block; so do all that are not
/// solved where half of the columns have been skipped, and one whose norm has grown begins with its first solution.
/// After BLOCK_RESTARTS of these, after one that has not reduced the residual tenfold, where one column is left, where
/// a norm has grown, and where G or T is not definite or not finite, the recurrences of many.hpp take over from the X
/// that has been reached, and decide what is told of a column.
#pragma once

#include "ksp/cg/block_small.hpp"
#include "ksp/cg/many.hpp"

namespace sparsegpu::cg
{

/// A norm of B - A X above so many tolerances begins again. Below 1 + 1/2 the difference from R, a skipped column's or
/// that of rounding errors, is less than half of the tolerance, as it may be where a single solve ends.
constexpr PetscReal BLOCK_SLACK = 1.5;
/// Each may reduce the residual by 1 / sqrt(BLOCK_LEAST) = 1e6: three reach any tolerance of doubles.
constexpr int BLOCK_RESTARTS = 3;

/// Control of one iteration on the device.
struct BlockControl {
  BlockState *state;   ///< [1]
  Scalar     *partial; ///< [BLOCK_SUMS * BLOCK_GRID] sums of thread blocks
  Record     *records; ///< [MANY] pinned: of this iteration, by slots
  const int  *varies;  ///< [1] the diagonal is not the same in all rows
  int         number, round, tested_from;
  Norm        norm;
  PetscReal   converged[BLOCK_MOST], diverged[BLOCK_MOST]; ///< of each slot, as of ManyControl
};

constexpr int BLOCK_GRID = 1024;              ///< thread blocks of a pass with sums at most
constexpr int BLOCK_SUMS = 2 * BLOCK_ENTRIES; ///< of a thread block at most

/// Whether N is not T. `identity`: the preconditioner is.
constexpr bool HasTwoGrams(bool identity, Norm norm)
{
  return !identity && (norm == Norm::Preconditioned || norm == Norm::Unpreconditioned);
}

/// T, tau and rho of the residuals in v.r, with Z in v.z where the preconditioner is no diagonal, and P; the record of
/// slot 0 tells of success. Asynchronous and bitwise reproducible, as all of these.
PetscErrorCode BeginBlock_CUDA(const ManyArrays &v, const BlockControl &control, Stream stream);
/// Passes 2 and 3 of an iteration whose product is in v.w, and its records; of pass 3 Q' alone where v.z is not null.
PetscErrorCode ResidualBlock_CUDA(const ManyArrays &v, const BlockControl &control, Stream stream);
/// Pass 4; where v.z is not null, the sums and records of pass 3 before.
PetscErrorCode DirectionBlock_CUDA(const ManyArrays &v, const BlockControl &control, Stream stream);
/// These sums alone.
PetscErrorCode AroundBlock_CUDA(const ManyArrays &v, const BlockControl &control, bool begins, Stream stream);

/// ManySolve with blocks of right-hand sides.
class BlockSolve : public ManySolve
{
public:
  /// Solves for the right-hand sides first .. first + count - 1, at most BLOCK_MOST. columns [all of B].
  PetscErrorCode SolveBlock(PetscInt first, int count, ManyColumn *columns);
  PetscErrorCode Free();

private:
  PetscErrorCode Run(bool *broke);
  PetscErrorCode TakeRun(PetscInt k, Outcome *outcome);
  PetscErrorCode KeepGuesses();
  PetscErrorCode TakeGuess(int c);
  PetscErrorCode BeginDivergedAgain(const bool *open, bool *broke);
  PetscErrorCode EndAtLimit(PetscReal norm, ManyColumn *column);
  PetscErrorCode Verify(const bool *open, PetscReal *worst, bool *progress, bool *broke);

  PetscErrorCode BeginOnHost();
  PetscErrorCode IterateOnHost();
  void           NextRows(PetscInt begin, PetscInt rows, Scalar *next);
  PetscErrorCode GramsAround(bool begins);
  PetscErrorCode SumGrams(int matrices);
  Outcome        MakeStep();
  Outcome        MakeFactor(bool begins);
  void           GramsOfResidual(bool begins);
  void           Advance(bool begins);

  PetscErrorCode ReserveBlock();
  PetscErrorCode SetControl(PetscInt k);
  PetscErrorCode BeginOnDevice();
  PetscErrorCode IterateOnDevice(PetscInt k);

  int                 matrices_ = 1;       ///< Gram matrices of a residual: T, and N
  Outcome             outcome_  = GOES_ON; ///< of the last iteration on the host
  BlockState          state_    = {};      ///< on the host
  std::vector<Scalar> grams_;              ///< [2 * BLOCK_ENTRIES] Gram matrices on the host
  BlockControl        block_ = {};
  DeviceMemory        block_scratch_;
  PetscReal           first_norm_[MANY]; ///< of the columns' residuals, when they begin
  Space               guess_space_ = Space::Host;
  Array<Scalar>       guess_; ///< [rows * begun_] the first solutions, if they are not zero
};

} // namespace sparsegpu::cg
