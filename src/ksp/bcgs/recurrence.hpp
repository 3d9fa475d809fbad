/// BiCGStab in four passes an iteration, with K the preconditioned operator and (a, b) = a^H b:
///
///     1  v = K p              with the sums (r~, v) and (v, v)
///     2  alpha = rho / (r~, v), s = r - alpha v
///     3  t = K s              with the sums (r~, t), (t, t), (s, t) and (s, s)
///     4  omega = (t, s) / (t, t), beta = -(r~, t) / (r~, v)
///        x += alpha p + omega s, r = s - omega t, p = r + beta (p - omega v)     with the sums rho = (r~, r) and (r,
///        r)
///
/// Van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992, has beta = (rho' / rho) (alpha / omega) with the rho' of the
/// new residual, so that p must wait for another pass. With (r~, s) = rho - alpha (r~, v) = 0 that is the beta above,
/// which is the condition itself, (r~, K (s + beta p)) = 0, and needs no division by omega or rho. alpha is made of the
/// rho that pass 4 has summed, never of a predicted one.
///
/// D, a diagonal, preconditions from the left: K = D A, and passes 1 and 3 scale what they store; or from the right: K
/// = A D, where p stands for D p, and D s is stored beside s. A preconditioner that is applied from outside makes v and
/// t of products with p and s, or D p and D s of p and s. s lies in the place of r.
///
/// Entries of vectors moved in an iteration: 3 + 3 + 3 + 9 = 18, in four kernels. On the device, where the format of A
/// takes differences and D is not on the right, the last thread block of pass 1 finds alpha, there is no pass 2, and
/// passes 3 and 4 form s of r and v as they read these: 3 + 0 + 4 + 9 = 16, in three kernels. The steps one by one,
/// with a norm, move 29 in 12 kernels with four waits. v and t are products, and x and r are updated by the same
/// vectors: the residual gap is a sum of local rounding errors, as in the classical recurrence.
///
/// Breakdowns. Where |(r~, r)| or |(r~, v)| is not more than eps times the product of the norms, it is made of rounding
/// errors alone. The step then takes alpha = 0, so that it is one of minimal residuals, and the next begins anew from
/// its r: p = r, and a new r~. That is r, or a vector of random signs where the one before was r, and nothing has been
/// gained since: for a skew-symmetric K (r, K r) is zero whatever r is. Where (t, s) is as small, omega = 0.7 |s| /
/// |t|: a step of minimal residuals would stand still (Sleijpen and van der Vorst, Numer. Algorithms 10, 1995). The end
/// is a K r that is zero, or too many restarts without progress.
#pragma once

#include "comm/exchange.hpp"
#include "comm/reduce.hpp"
#include "device/record.hpp"
#include "device/scalar.hpp"
#include "ksp/bcgs/names.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/dots.hpp"
#include "mat/formats/step_length.hpp"

namespace sparsegpu::bcgs
{

/// What an iteration ends with. After NOT_FINITE and BREAKS_DOWN it has changed nothing but r, which is s.
enum Outcome : int {
  GOES_ON,
  RESTARTED,   ///< with another shadow residual
  STOPS,       ///< by the norm
  EXACT,       ///< s is zero: x + alpha p is the solution
  EXHAUSTED,   ///< restarts do not help
  NOT_FINITE,  ///< a sum
  BREAKS_DOWN, ///< K r or K s is zero
};

/// What passes leave for the next.
struct State : StepLength {
  PetscReal low;       ///< the least |r|^2 of a restart
  int       restarts;  ///< so far
  int       useless;   ///< restarts one after the other since |r| was halved
  int       first;     ///< p = r, no step since the beginning or the last restart
  int      stopped_at; ///< the pass after which nothing is to change: 2 k of product and pass 2 of iteration k, 2 k + 1
  int      varies;     ///< the diagonal is not the same in all rows
  unsigned waiting;    ///< thread blocks of the pass under way that have arrived
  Record   untold;     ///< what the next pass 4 tells the host of the last, where it is of the round before
};

/// Whether the solve goes on with the length that has been found.
SPARSEGPU_HD Outcome OutcomeOfHalf(const State &state)
{
  if (!Finite(Magnitude(state.rho)) || !Finite(Magnitude(state.along)) || !Finite(state.image)) return NOT_FINITE;
  return state.broken && state.image == 0 && state.first ? BREAKS_DOWN : GOES_ON;
}

struct HalfStep {
  Scalar  alpha, along;
  bool    broken;
  Outcome outcome;
};

/// Pass 2 from the sums of ProductSums::Shadow.
SPARSEGPU_HD HalfStep TakeHalf(const State &state, const PetscReal (&dots)[SHADOW_DOTS])
{
  State found = state;

  FindLength(&found, dots);
  return HalfStep{found.alpha, found.along, found.broken != 0, OutcomeOfHalf(found)};
}

struct WholeStep {
  Scalar   alpha, omega, beta;
  bool     restarts, random; ///< with random signs for r~
  unsigned seed;             ///< of these
  Outcome  outcome;
};

/// Pass 4 from the sums of ProductSums::Minimise and what pass 2 has left.
SPARSEGPU_HD WholeStep TakeWhole(const State &state, const PetscReal (&dots)[MINIMISE_DOTS])
{
  constexpr PetscReal LONGER = static_cast<PetscReal>(0.7); // Sleijpen and van der Vorst's
  const Scalar        rt = FromParts(dots), st = FromParts(dots + SHADOW_DOTS);
  const PetscReal     tt = dots[PARTS], ss = dots[SHADOW_DOTS + PARTS];
  WholeStep           step{state.alpha, Scalar(0), Scalar(0), false, false, 0, GOES_ON};

  if (!Finite(tt) || !Finite(ss) || !Finite(Magnitude(rt)) || !Finite(Magnitude(st))) {
    step.outcome = NOT_FINITE;
    return step;
  }
  if (tt == 0) { // then t is, which adds nothing to x
    step.outcome = ss == 0 ? EXACT : BREAKS_DOWN;
    return step;
  }
  if (Vanishes(st, ss, tt))
    step.omega = Scalar(LONGER * SquareRoot(ss) / SquareRoot(tt));
  else
    step.omega = Quotient(Conj(st), Scalar(tt));
  step.restarts = state.broken != 0;
  step.random   = step.restarts && state.useless % 2 == 1;
  step.seed     = static_cast<unsigned>(state.restarts);
  if (!step.restarts) step.beta = Scalar(0) - Quotient(rt, state.along);
  return step;
}

/// What pass 4 has summed becomes the state; `rows` of all processes. GOES_ON, RESTARTED, EXACT or EXHAUSTED.
SPARSEGPU_HD Outcome EndIteration(State *state, const WholeStep &step, const Scalar &rho, PetscReal square,
                                  PetscReal rows)
{
  constexpr int USELESS = 8; // r and random signs in turn: more of them did not help in any case known

  state->rho    = rho;
  state->square = square;
  state->first  = step.restarts;
  if (!step.restarts) return step.outcome;
  state->shadow = step.random ? rows : square;
  state->restarts++;
  state->useless = 4 * square < state->low ? 1 : state->useless + 1;
  state->low     = square < state->low ? square : state->low;
  return state->useless > USELESS ? EXHAUSTED : RESTARTED;
}

/// 1 or -1 at random for a row of the whole matrix.
SPARSEGPU_HD Scalar RandomSign(PetscInt row, unsigned seed)
{
  unsigned long long v = static_cast<unsigned long long>(row) + 0x9e3779b97f4a7c15ull * (seed + 1);
  v                    = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull; // Steele, Lea and Flood's SplitMix64, 2014
  v                    = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
  return Scalar(v >> 63 ? 1 : -1);
}

/// The arrays of a solve, of this process, in one space.
struct Arrays {
  PetscInt      rows, first_row; ///< of this process
  Scalar       *x, *r, *p, *v, *t, *shadow;
  const Scalar *p_hat;   ///< what pass 1 multiplies: p, or what a preconditioner from outside makes of it
  Scalar       *s_hat;   ///< what pass 3 multiplies: r, D s, or what a preconditioner from outside makes of s
  const Scalar *inverse; ///< [rows] D; null: 1
  bool          right;   ///< D preconditions from the right
  bool          late;    ///< s is not stored: r stays until pass 4

  SPARSEGPU_HD const Scalar *left_scale() const { return right ? nullptr : inverse; }
  SPARSEGPU_HD const Scalar *right_scale() const { return right ? inverse : nullptr; }
};

/// r = b - product, or b where product is null, from the left times D; r~ = r, p = r, from the right times D; |r|^2 of
/// this process. b may be r.
void StartRows_Host(const Arrays &v, const Scalar *b, const Scalar *product, PetscReal *square);
/// The rest of passes 1 and 3, once the products are in v and t: scaling, and the sums of this process. `scale`: from
/// the left; null: 1.
void ShadowDots_Host(const Arrays &v, const Scalar *scale, PetscReal (&dots)[SHADOW_DOTS]);
void MinimiseDots_Host(const Arrays &v, const Scalar *scale, PetscReal (&dots)[MINIMISE_DOTS]);
/// Passes 2 and 4; (r~, r) and (r, r) of this process.
void UpdateHalf_Host(const Arrays &v, const Scalar &alpha);
void UpdateWhole_Host(const Arrays &v, const WholeStep &step, PetscReal (&sums)[SHADOW_DOTS]);

/// Control of one iteration on the device, which does nothing if an earlier one has stopped the solve.
struct Control {
  State           *state;     ///< [1]
  const PetscReal *sums[2];   ///< [SHADOW_DOTS * groups], [MINIMISE_DOTS * groups] of the products
  int              groups;    ///< DOT_GROUPS; on several ranks 1: the sums of all
  PetscReal       *partial;   ///< [MINIMISE_DOTS * PASS_BLOCKS] sums of the thread blocks of a pass
  Record          *record;    ///< pinned: of this iteration
  Record          *earlier;   ///< of the one before
  int              number;    ///< of the iteration
  int              round;     ///< Record::ready
  bool             with_norm; ///< else the record has 0
  bool             tested;    ///< stop at a norm <= converged or >= diverged
  PetscReal        converged, diverged;
  bool             later;    ///< another iteration follows, whose pass 4 writes the record
  PetscReal        all_rows; ///< of all ranks
  bool             failed;   ///< the preconditioner, on this rank at least: the first norm tells the others
  comm::ReduceSide reduce;   ///< ranks > 1: sums are those of all ranks
};

/// The rest of a product of several ranks.
struct Closing {
  const CsrLayout     *off;      ///< null: the product is complete, and its sums those of all rows
  comm::DeviceExchange exchange; ///< which brings its ghosts; gated as the product
  ProductDots          dots;     ///< of the product so far
  PetscReal           *partial;  ///< [MINIMISE_DOTS * PASS_BLOCKS] scratch
  PetscReal           *all;      ///< [count of the kind] of all ranks
  unsigned            *waiting;  ///< [1] State::waiting
  comm::ReduceSide     reduce;
};
/// Rows with ghosts, and the sums of the product over all ranks. Asynchronous, bitwise reproducible, the same bits on
/// all ranks. By all ranks, for the same products.
PetscErrorCode CloseProduct_CUDA(const Closing &closing, Stream stream);

/// StartRows_Host() on the device, with product in t; clears the state and what the products sum into, and finds out
/// whether the diagonal varies. The record is of the first norm. `exchange`: of that product; without a state: none.
/// Asynchronous and bitwise reproducible, as all of these.
PetscErrorCode Start_CUDA(const Arrays &v, const Scalar *b, bool has_product, const comm::DeviceExchange &exchange,
                          const Control &control, const ProductDots (&dots)[2], Stream stream);
/// Pass 2; writes the record if it is the end. Where v.late pass 4 does that.
PetscErrorCode UpdateHalf_CUDA(const Arrays &v, const Control &control, Stream stream);
/// Pass 4, its decision, its record or that of the iteration before.
PetscErrorCode UpdateWhole_CUDA(const Arrays &v, const Control &control, Stream stream);

} // namespace sparsegpu::bcgs
