/// The scalar part of GMRES, the same on the host and in a kernel: the quality of an orthogonalisation, and the
/// least-squares problem min |residual e_1 - H y| kept triangular by Givens rotations.
/// Saad & Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::gmres
{

/// Column k of the triangle R begins at r[k * stride].
struct Hessenberg {
  PetscInt   stride; ///< steps of a cycle + 1
  Scalar    *r;      ///< [stride * (stride - 1)] upper triangle
  Scalar    *cosine; ///< [stride - 1] of the rotation that closed each column
  PetscReal *sine;   ///< [stride - 1]
  Scalar    *rhs;    ///< [stride] the rotated right-hand side; |rhs[k]| is the residual norm after k steps
};

/// What a step led to.
enum Outcome {
  STEP_GOES_ON = 0,
  STEP_STOPS,     ///< the convergence test on the device is met
  STEP_HAPPY,     ///< happy breakdown: the space is invariant and contains the solution
  STEP_BREAKDOWN, ///< the space is invariant, and the new column adds nothing to it: the operator is singular
  STEP_AGAIN,     ///< the step has not ended: the direction must be made orthogonal once more
  STEP_RESTART    ///< the basis is no longer orthogonal: the cycle ends before this step's column
};

/// Whether the solution includes the column of this step.
SPARSEGPU_HD bool AddsColumn(int outcome)
{
  return outcome != STEP_BREAKDOWN && outcome != STEP_RESTART;
}

/// A direction of which less than this part is left after it was made orthogonal to the basis is made orthogonal again:
/// the error of its norm, which is had by Pythagoras, has grown by the square of the inverse. The same after the second
/// time means that nothing but rounding errors is left ("twice is enough": Giraud, Langou, Rozloznik & van den Eshof,
/// Numer. Math. 101, 2005).
constexpr PetscReal KEPT_PART = 0.1;
/// Square of that part where a cycle begins with a kept space: 0.1 loses digits that such cycles pass on, 1/sqrt(2)
/// makes nearly all directions of diffusion orthogonal twice and saves at most 9 % of the iterations.
constexpr PetscReal KEPT_BESIDE_SPACE = 0.15;
/// Made orthogonal once, the basis loses orthogonality as the square of the condition of what it came from, which grows
/// as the residual of the cycle falls: to some hundred times eps (|r_0| / |r_k|)^2 (Giraud et al. 2005; Greenbaum,
/// Rozloznik & Strakos, BIT 37(3), 1997). Beyond this loss directions are made orthogonal twice: residual norms are
/// exact to that order, and a basis that has lost all orthogonality stagnates.
constexpr PetscReal ORTHOGONALITY = 1e-3;
constexpr PetscReal LOSS          = 100 * PETSC_MACHINE_EPSILON;

/// The same for a basis whose entries are rounded to single precision: the roundings of two columns are independent, so
/// that there is no multiple of their size.
constexpr PetscReal NARROW_LOSS = static_cast<PetscReal>(1.2e-7);

struct Criterion {
  PetscReal kept   = KEPT_PART * KEPT_PART; ///< square of the part that must be left the first time
  PetscReal happy  = 0;                     ///< happy-breakdown tolerance: a smaller norm counts as 0
  PetscReal fallen = LOSS / ORTHOGONALITY;  ///< square of |r_k| / |r_0| down to which the first time may be enough
};

struct Projection {
  bool      again; ///< the direction, not scaled, must be made orthogonal once more
  bool      lost;  ///< it cannot be made orthogonal to this basis
  PetscReal norm;  ///< of what is left of the direction; 0 if that is nothing
};

/// The direction had the square norm `square`, the squares of its inner products with the basis sum to `inside`;
/// `fallen` is |r_k| / |r_0|, and `second` says that this was the second time, `whole` being its square norm before the
/// first. What the second time takes most of has been a rounding error, unless it was no small part of the direction:
/// then the basis is not orthogonal.
SPARSEGPU_HD Projection JudgeProjection(PetscReal square, PetscReal inside, const Criterion &criterion,
                                        PetscReal fallen, bool second, PetscReal whole)
{
  const PetscReal left = square - inside;

  if (!second) { // a NaN is tried again, too, and goes on below
    const bool enough = left >= criterion.kept * square && fallen * fallen >= criterion.fallen;
    if (!enough && square != 0) return Projection{true, false, 1};
  } else if (left <= KEPT_PART * KEPT_PART * square) {
    return Projection{false, square > SquareRoot(PETSC_MACHINE_EPSILON) * whole, 0};
  }
  const PetscReal norm = SquareRoot(left);
  return Projection{false, false, norm < criterion.happy ? 0 : norm};
}
/// What the direction is to be multiplied with.
SPARSEGPU_HD PetscReal ScaleOf(const Projection &p)
{
  return p.again ? 1 : p.norm == 0 ? 0 : 1 / p.norm;
}

SPARSEGPU_HD PetscReal SquareOf(const Scalar &a)
{
  return RealPart(Conj(a) * a);
}
SPARSEGPU_HD PetscReal Hypotenuse(PetscReal a, PetscReal b)
{
  return sizeof(PetscReal) == sizeof(float)
             ? static_cast<PetscReal>(hypotf(static_cast<float>(a), static_cast<float>(b)))
             : static_cast<PetscReal>(hypot(static_cast<double>(a), static_cast<double>(b)));
}
#if defined(PETSC_USE_COMPLEX)
SPARSEGPU_HD Scalar Quotient(const Scalar &a, PetscReal b)
{
  return Scalar(a.re / b, a.im / b);
}
#else
SPARSEGPU_HD Scalar Quotient(const Scalar &a, PetscReal b)
{
  return a / b;
}
#endif

/// Adds column k: h [k + 1] holds the inner products with the basis and is left rotated, `next` is the norm of what is
/// left of the direction, `whole` that of all of it. cosine, sine [k]: those of H, or a copy nearer by.
SPARSEGPU_HD Outcome AddColumn(const Hessenberg &H, PetscInt k, Scalar *h, const Scalar *cosine, const PetscReal *sine,
                               PetscReal next, PetscReal whole, PetscReal *residual)
{
  Scalar top = h[0];

  for (PetscInt j = 0; j < k; j++) {
    const Scalar below = h[j + 1];
    h[j]               = Conj(cosine[j]) * top + Scalar(sine[j]) * below;
    top                = cosine[j] * below - Scalar(sine[j]) * top;
  }
  const PetscReal size = Magnitude(top), length = Hypotenuse(size, next);
  *residual = Magnitude(H.rhs[k]);
  if (next == 0 && size <= 10 * PETSC_MACHINE_EPSILON * whole) return STEP_BREAKDOWN; // rounding errors
  H.cosine[k]  = Quotient(top, length);
  H.sine[k]    = next / length;
  h[k]         = Scalar(length);
  H.rhs[k + 1] = Scalar(-H.sine[k]) * H.rhs[k];
  H.rhs[k]     = Conj(H.cosine[k]) * H.rhs[k];
  *residual    = Magnitude(H.rhs[k + 1]);
  return next == 0 ? STEP_HAPPY : STEP_GOES_ON;
}

/// A step on the host, pass by pass: Take() the inner products of the first pass, and of a second one while again().
class HostStep
{
public:
  HostStep(const Hessenberg &H, PetscInt k) : H_(H), k_(k) {}

  bool again() const { return projection_.again; }
  /// dots [k + 2] of the direction with the basis and with itself.
  void Take(const Scalar *dots, const Criterion &criterion, PetscReal fallen)
  {
    Scalar *const h      = Column();
    PetscReal     inside = 0;

    for (PetscInt j = 0; j <= k_; j++) {
      inside += SquareOf(dots[j]);
      h[j] = second_ ? h[j] + dots[j] : dots[j];
    }
    const PetscReal square = RealPart(dots[k_ + 1]);
    if (!second_) whole_ = square;
    projection_ = JudgeProjection(square, inside, criterion, fallen, second_, whole_);
    second_     = true;
  }
  PetscReal scale() const { return ScaleOf(projection_); }
  bool      lost() const { return projection_.lost; }
  PetscReal norm() const { return projection_.norm; }
  Scalar   *Column() const { return H_.r + static_cast<size_t>(k_) * H_.stride; }
  Outcome   End(PetscReal *residual) const
  {
    if (!projection_.lost)
      return AddColumn(H_, k_, Column(), H_.cosine, H_.sine, projection_.norm, SquareRoot(whole_), residual);
    *residual = Magnitude(H_.rhs[k_]);
    return STEP_RESTART;
  }

private:
  Hessenberg H_;
  PetscInt   k_;
  bool       second_ = false;
  PetscReal  whole_  = 0;
  Projection projection_{true, false, 1};
};

/// y [steps]: the minimiser in the space of the first `steps` steps, on the host.
inline void SolveTriangle(const Hessenberg &H, PetscInt steps, Scalar *y)
{
  for (PetscInt j = 0; j < steps; j++) y[j] = H.rhs[j];
  for (PetscInt c = steps - 1; c >= 0; c--) {
    const Scalar *r = H.r + static_cast<size_t>(c) * H.stride;
    y[c]            = Quotient(y[c], RealPart(r[c])); // AddColumn() leaves a positive diagonal
    for (PetscInt j = 0; j < c; j++) y[j] = y[j] - r[j] * y[c];
  }
}

} // namespace sparsegpu::gmres
