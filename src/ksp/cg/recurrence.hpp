/// Conjugate gradients with a diagonal preconditioner D in two passes an iteration:
///
///     1  w = A p              with the sums (p, w), (r, D w) and (w, D w)
///        alpha = rho / (p, w), beta = 1 + (alpha (w, D w) - 2 (r, D w)) / (p, w)
///     2  x += alpha p, r -= alpha w, z = D r, p = z + beta p     with the sums rho = (r, z) and the norm
///
/// Classical conjugate gradients (Hestenes and Stiefel, 1952) have beta = rho' / rho with the rho' of the new residual,
/// so that p must wait for a third pass. Here rho' is predicted: (r - alpha w, D (r - alpha w)) multiplied out. alpha
/// is made of the rho that pass 2 has summed, never of a predicted one. Chen and Carson, SIAM J. Matrix Anal. Appl.
/// 41(2), 2020 ("predict and recompute").
///
/// Why this one. Entries of vectors moved in an iteration, in brackets with a diagonal that is not constant:
///
///     this recurrence                      3 + 7 = 10 (12)   2 kernels
///     classical, x updated with p      2 + 3 + 5 = 10 (12)   3 kernels
///     Meurant (1987)                       2 + 7 =  9 (11)   2 kernels
///     Chronopoulos and Gear, without z     2 + 9 = 11 (12)   2 kernels
///
/// so 80 (96) bytes a row in double precision and the matrix once. For 27 points on 161^3 nodes that is 0.33 GB, and 1
/// or 216 bytes a row of constant or other coefficients: 0.08 and 0.30 ms at 4.2 TB/s. p is not updated as it is read
/// by the next product: that gathers each entry several times, and would gather two vectors instead of one.
///
/// Stability. In Chronopoulos and Gear's variant w = A p is a recurrence of its own, whose drift from A p limits the
/// accuracy that the true residual attains. Here w is a product, and x and r are updated by the same alpha p and alpha
/// w, as in the classical method: the residual gap is a sum of local rounding errors, as there (Greenbaum, SIAM J.
/// Matrix Anal. Appl. 18(3), 1997), and no residual needs to be replaced. Meurant's variant takes (r, D w) to be (p,
/// w), which it is as long as neighbouring directions are conjugate, and saves r in pass 1. Its attainable accuracy is
/// the same, but where rounding errors delay convergence, it takes a tenth to a third more iterations than the
/// classical method (conditions of 1e8 to 1e12, eigenvalues spread evenly over the powers of ten); this one takes as
/// many, within a few percent. The rounding error of beta is a few epsilon, relative to 1 and not to beta: it perturbs
/// p by epsilon / sqrt(beta), measured in the norm of A. Below 8 epsilon beta is not known and taken as zero, a
/// perturbation of sqrt(beta): never more than 1e-7, in a step by which the residual has fallen by seven digits.
///
/// A preconditioner that is not a diagonal is applied from outside, between passes of the classical recurrence:
///
///     1  w = A p              with the sum (p, w)
///     2  alpha = rho / (p, w), x += alpha p, r -= alpha w     with the norm of r
///        z = M^-1 r
///     3  rho' = (r, z), beta = rho' / rho                    with the norm of z
///     4  p = z + beta p
#pragma once

#include "comm/reduce.hpp"
#include "device/record.hpp"
#include "device/scalar.hpp"
#include "ksp/cg/names.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/dots.hpp"

namespace sparsegpu::cg
{

/// What an iteration ends with. Those before CURVATURE_NOT_FINITE are found before the product is looked at.
enum Outcome : int {
  GOES_ON,
  STOPS,          ///< by the norm
  RHO_NOT_FINITE, ///< rho at the beginning of the iteration
  RHO_ZERO,
  INDEFINITE_PC,
  CURVATURE_NOT_FINITE, ///< (p, A p)
  INDEFINITE_MAT
};

/// Which norm of the residual r is summed.
enum class Norm {
  None,
  Preconditioned,   ///< || D r ||
  Unpreconditioned, ///< || r ||
  Natural           ///< sqrt |(r, D r)|
};

/// The record of an iteration, and what the spectrum is estimated from.
struct CgRecord {
  Record    told;
  PetscReal alpha, rho; ///< rho: at the beginning of the iteration
};
constexpr PetscInt RECORDS = 2 * RecordLag::MOST; ///< used in turn: more of them than the host is ahead

/// What one iteration leaves for the next.
struct State {
  PetscReal rho;        ///< (r, D r)
  PetscReal before;     ///< an iteration ago
  PetscReal curvature;  ///< (p, A p) an iteration ago
  PetscReal beta;       ///< of pass 4, where the preconditioner is applied from outside
  PetscReal alpha;      ///< of the last step, for its record, and this rank's sums after it:
  PetscReal sums[2];    ///< (r, D r) and the square of the norm, where all ranks' are summed later
  int       stopped_at; ///< the iteration after which nothing is to change
  int       varies;     ///< the diagonal is not the same in all rows
  unsigned  arrived;    ///< thread blocks of the pass under way
  CgRecord  untold;     ///< what the next pass 2 tells the host of the last, where it is of the round before
};

struct Step {
  PetscReal alpha, beta;
  Outcome   outcome;
};

SPARSEGPU_HD bool Finite(PetscReal v)
{
  return v - v == 0;
}

/// alpha and beta of iteration k from the sums (p, w), (r, D w) and (w, D w), or why it is the last one: the tests of
/// PETSc's cg, in their order.
SPARSEGPU_HD Step TakeStep(const State &state, int k, const PetscReal (&dots)[DOTS])
{
  constexpr PetscReal LEAST = 8 * PETSC_MACHINE_EPSILON;
  const PetscReal     rho = state.rho, curvature = dots[0];
#if defined(PETSC_USE_COMPLEX)
  constexpr bool OF_REAL_NUMBERS = false; // PETSc's looks at this only with real numbers
#else
  constexpr bool OF_REAL_NUMBERS = true;
#endif

  if (!Finite(rho)) return Step{0, 0, RHO_NOT_FINITE};
  if (rho == 0) return Step{0, 0, RHO_ZERO};
  if (OF_REAL_NUMBERS && k > 0 && (rho < 0) != (state.before < 0)) return Step{0, 0, INDEFINITE_PC};
  if (!Finite(curvature)) return Step{0, 0, CURVATURE_NOT_FINITE};
  if (curvature == 0 || (k > 0 && (curvature < 0) != (state.curvature < 0))) return Step{0, 0, INDEFINITE_MAT};
  const PetscReal alpha = rho / curvature, beta = 1 + (alpha * dots[2] - 2 * dots[1]) / curvature;
  return Step{alpha, beta > LEAST || beta < -LEAST ? beta : 0, GOES_ON};
}

/// The arrays of a solve, of this process, in one space.
struct Arrays {
  PetscInt      rows;
  Scalar       *x, *r, *p, *w;
  Scalar       *z;       ///< [rows] the preconditioned residual, if it is computed outside
  const Scalar *inverse; ///< [rows] D; null: 1
};

/// (r, D r) and the square of the norm, of some rows.
struct Sums {
  PetscReal rho, square;
};

/// The shares of a row with residual r and z = D r.
SPARSEGPU_HD void AddShares(Norm norm, const Scalar &r, const Scalar &z, Sums *sums)
{
  sums->rho += RealPart(Conj(z) * r);
  if (norm == Norm::Preconditioned) sums->square += RealPart(Conj(z) * z);
  if (norm == Norm::Unpreconditioned) sums->square += RealPart(Conj(r) * r);
}

/// r = b - product, or b where product is null; p = z; the sums of this process.
void StartRows_Host(const Arrays &v, const Scalar *b, const Scalar *product, Norm norm, Sums *sums);
/// (p, w), (r, D w) and (w, D w) of this process.
void ProductDots_Host(const Arrays &v, PetscReal (&dots)[DOTS]);
/// Pass 2.
void UpdateRows_Host(const Arrays &v, const Step &step, Norm norm, Sums *sums);

/// Passes 2 to 4 around a preconditioner that is applied from outside; UpdateResidual_Host() gives |r|^2.
void UpdateResidual_Host(const Arrays &v, const Step &step, PetscReal *square);
void PreconditionedDots_Host(const Arrays &v, Sums *sums);
void UpdateDirection_Host(const Arrays &v, PetscReal beta);

/// Control of one iteration on the device, which does nothing if an earlier one has stopped the solve.
struct Control {
  State           *state;   ///< [1]
  const PetscReal *sums;    ///< [DOTS * groups] of the product
  int              groups;  ///< DOT_GROUPS; 1 once all ranks' are summed
  PetscReal       *partial; ///< [2 * PASS_BLOCKS] sums of the thread blocks of pass 2
  CgRecord        *record;  ///< pinned: of this iteration
  CgRecord        *earlier; ///< of the one before
  int              number, round;
  Norm             norm;
  bool             tested; ///< stop at a norm <= converged or >= diverged
  PetscReal        converged, diverged;
  bool             failed; ///< the preconditioner has, on this rank: the first norm is infinite
  bool             later;  ///< another iteration follows: CloseProduct_CUDA() of its product sums over all ranks what
                           ///< this pass sums, its pass 2 writes the record, while it works and nobody waits for that
  comm::ReduceSide reduce; ///< sums over all ranks; of no ranks: there is one process
};

/// What ends a product of several ranks.
struct Closing {
  const CsrLayout     *off;      ///< null: the product is complete
  comm::DeviceExchange exchange; ///< which brings its ghosts
  ProductDots          dots;     ///< of the product so far
  PetscReal           *partial;  ///< [DOTS * PASS_BLOCKS] scratch
  PetscReal           *sums;     ///< [DOTS] of the product, of all rows of all ranks
  Control              before;   ///< of the iteration before, whose sums are still this rank's where `both`
  bool                 both;
};

/// The rest of a product, its sums over all ranks, and the decision and record of the iteration before where its sums
/// were left for later. Asynchronous, bitwise reproducible, the same bits on all ranks.
PetscErrorCode CloseProduct_CUDA(const Closing &closing, Stream stream);
/// StartRows_Host() on the device, with product in w; clears the state and what `dots` sums into, and finds out whether
/// the diagonal varies. The record is of the first norm. `exchange`: of that product; without a state: none.
/// Asynchronous and bitwise reproducible, as is the next.
PetscErrorCode Start_CUDA(const Arrays &v, const Scalar *b, bool has_product, const comm::DeviceExchange &exchange,
                          const Control &control, const ProductDots &dots, Stream stream);
/// Pass 2 of an iteration, its decision, its record or that of the iteration before.
PetscErrorCode Update_CUDA(const Arrays &v, const Control &control, Stream stream);
/// The passes around a preconditioner. Control::norm of the first is None or Unpreconditioned, of the second None,
/// Preconditioned or Natural; both write a record.
PetscErrorCode UpdateResidual_CUDA(const Arrays &v, const Control &control, Stream stream);
PetscErrorCode PreconditionedDots_CUDA(const Arrays &v, const Control &control, Stream stream);
PetscErrorCode UpdateDirection_CUDA(const Arrays &v, const Control &control, Stream stream);

} // namespace sparsegpu::cg
