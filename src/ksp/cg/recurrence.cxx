/// The passes on the host. Rows are taken a few hundred at a time: first the updates, which a compiler can vectorise,
/// then the sums of these rows, from the cache, in four interleaved parts so that no addition waits for the one before.
#include "ksp/cg/recurrence.hpp"
#include <algorithm>
#include "ksp/common/passes.hpp"

namespace sparsegpu::cg
{

namespace
{
struct Pair : Sums {
  Pair() : Sums{0, 0} {}
  Pair &operator+=(const Pair &other)
  {
    rho += other.rho;
    square += other.square;
    return *this;
  }
};

/// The sums of rows whose z is in p.
Pair SumsOf(const Scalar *r, const Scalar *z, PetscInt rows, Norm norm)
{
  return SumOfRows<Pair>(0, rows, [=](PetscInt k, Pair *sums) { AddShares(norm, r[k], z[k], sums); });
}
} // namespace

void StartRows_Host(const Arrays &v, const Scalar *b, const Scalar *product, Norm norm, Sums *sums)
{
  for (PetscInt r = 0; r < v.rows; r++) {
    v.r[r] = product ? b[r] - product[r] : b[r];
    v.p[r] = v.inverse ? v.inverse[r] * v.r[r] : v.r[r];
  }
  *sums = SumsOf(v.r, v.p, v.rows, norm);
}

void ProductDots_Host(const Arrays &v, PetscReal (&dots)[DOTS])
{
  const Scalar *const p = v.p, *const r = v.r, *const w = v.w, *const inverse = v.inverse;
  using Triple      = RealSums<DOTS>;
  const Triple sums = SumOfRows<Triple>(0, v.rows, [=](PetscInt k, Triple *part) {
    const PetscReal weight = inverse ? RealPart(inverse[k]) : 1;
    part->v[0] += RealPart(Conj(p[k]) * w[k]);
    part->v[1] += weight * RealPart(Conj(r[k]) * w[k]);
    part->v[2] += weight * RealPart(Conj(w[k]) * w[k]);
  });
  std::copy_n(sums.v, DOTS, dots);
}

void UpdateRows_Host(const Arrays &v, const Step &step, Norm norm, Sums *sums)
{
  const Scalar alpha(step.alpha), beta(step.beta);
  Scalar       z[PASS_PIECE];
  Pair         total;

  for (PetscInt begin = 0; begin < v.rows; begin += PASS_PIECE) {
    const PetscInt count = std::min(PASS_PIECE, v.rows - begin);
    Scalar *const x = v.x + begin, *const r = v.r + begin, *const p = v.p + begin;
    const Scalar *const w = v.w + begin, *const inverse = v.inverse ? v.inverse + begin : nullptr;
    for (PetscInt k = 0; k < count; k++) {
      x[k] += alpha * p[k];
      r[k] = r[k] - alpha * w[k];
    }
    if (inverse)
      for (PetscInt k = 0; k < count; k++) z[k] = inverse[k] * r[k];
    else
      std::copy_n(r, count, z);
    for (PetscInt k = 0; k < count; k++) p[k] = z[k] + beta * p[k];
    total += SumsOf(r, z, count, norm);
  }
  *sums = total;
}

void UpdateResidual_Host(const Arrays &v, const Step &step, PetscReal *square)
{
  const Scalar alpha(step.alpha);
  Pair         total;

  for (PetscInt begin = 0; begin < v.rows; begin += PASS_PIECE) {
    const PetscInt count = std::min(PASS_PIECE, v.rows - begin);
    Scalar *const x = v.x + begin, *const r = v.r + begin;
    const Scalar *const p = v.p + begin, *const w = v.w + begin;
    for (PetscInt k = 0; k < count; k++) {
      x[k] += alpha * p[k];
      r[k] = r[k] - alpha * w[k];
    }
    total += SumsOf(r, r, count, Norm::None); // (r, r)
  }
  *square = total.rho;
}

void PreconditionedDots_Host(const Arrays &v, Sums *sums)
{
  *sums = SumsOf(v.r, v.z, v.rows, Norm::Preconditioned);
}

void UpdateDirection_Host(const Arrays &v, PetscReal beta)
{
  Scalar *const       p = v.p;
  const Scalar *const z = v.z;

  if (beta == 0) // at the beginning p is not initialised
    std::copy_n(z, v.rows, p);
  else
    for (PetscInt k = 0; k < v.rows; k++) p[k] = z[k] + Scalar(beta) * p[k];
}

} // namespace sparsegpu::cg
