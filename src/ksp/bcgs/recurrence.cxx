/// The passes on the host: rows in pieces that stay in the cache, first the updates, which a compiler can vectorise,
/// then the sums of these rows.
#include "ksp/bcgs/recurrence.hpp"
#include <algorithm>
#include "ksp/common/passes.hpp"

namespace sparsegpu::bcgs
{

namespace
{
void AddParts(const Scalar &v, PetscReal *part)
{
  part[0] += RealPart(v);
#if defined(PETSC_USE_COMPLEX)
  part[1] += v.im;
#endif
}

/// each(begin, count) for pieces of the rows.
template <class Each> void ForPieces(PetscInt rows, Each each)
{
  for (PetscInt begin = 0; begin < rows; begin += PASS_PIECE) each(begin, std::min(PASS_PIECE, rows - begin));
}

void Scale(const Scalar *scale, PetscInt count, Scalar *z)
{
  for (PetscInt k = 0; k < count; k++) z[k] = scale[k] * z[k];
}
} // namespace

void StartRows_Host(const Arrays &v, const Scalar *b, const Scalar *product, PetscReal *square)
{
  const Scalar *const left = v.left_scale(), *const right = v.right_scale();

  for (PetscInt r = 0; r < v.rows; r++) {
    const Scalar residual = product ? b[r] - product[r] : b[r];
    v.r[r] = v.shadow[r] = left ? left[r] * residual : residual;
    v.p[r]               = right ? right[r] * v.r[r] : v.r[r];
  }
  *square = SumOfRows<RealSums<1>>(0, v.rows, [&](PetscInt r, RealSums<1> *sums) {
              sums->v[0] += RealPart(Conj(v.r[r]) * v.r[r]);
            }).v[0];
}

void ShadowDots_Host(const Arrays &v, const Scalar *scale, PetscReal (&dots)[SHADOW_DOTS])
{
  RealSums<SHADOW_DOTS> total;

  ForPieces(v.rows, [&](PetscInt begin, PetscInt count) {
    const Scalar *const shadow = v.shadow + begin;
    Scalar *const       z      = v.v + begin;
    if (scale) Scale(scale + begin, count, z);
    total += SumOfRows<RealSums<SHADOW_DOTS>>(0, count, [=](PetscInt k, RealSums<SHADOW_DOTS> *sums) {
      AddParts(Conj(shadow[k]) * z[k], sums->v);
      sums->v[PARTS] += RealPart(Conj(z[k]) * z[k]);
    });
  });
  std::copy_n(total.v, SHADOW_DOTS, dots);
}

void MinimiseDots_Host(const Arrays &v, const Scalar *scale, PetscReal (&dots)[MINIMISE_DOTS])
{
  RealSums<MINIMISE_DOTS> total;

  ForPieces(v.rows, [&](PetscInt begin, PetscInt count) {
    const Scalar *const shadow = v.shadow + begin, *const s = v.r + begin;
    Scalar *const z = v.t + begin;
    if (scale) Scale(scale + begin, count, z);
    total += SumOfRows<RealSums<MINIMISE_DOTS>>(0, count, [=](PetscInt k, RealSums<MINIMISE_DOTS> *sums) {
      AddParts(Conj(shadow[k]) * z[k], sums->v);
      sums->v[PARTS] += RealPart(Conj(z[k]) * z[k]);
      AddParts(Conj(s[k]) * z[k], sums->v + SHADOW_DOTS);
      sums->v[SHADOW_DOTS + PARTS] += RealPart(Conj(s[k]) * s[k]);
    });
  });
  std::copy_n(total.v, MINIMISE_DOTS, dots);
}

void UpdateHalf_Host(const Arrays &v, const Scalar &alpha)
{
  const Scalar *const right = v.right_scale();

  ForPieces(v.rows, [&](PetscInt begin, PetscInt count) {
    Scalar *const       r = v.r + begin;
    const Scalar *const z = v.v + begin;
    for (PetscInt k = 0; k < count; k++) r[k] = r[k] - alpha * z[k];
    if (!right) return;
    Scalar *const hat = v.s_hat + begin;
    for (PetscInt k = 0; k < count; k++) hat[k] = right[begin + k] * r[k];
  });
}

/// r~ of rows from begin on.
static void TakeShadow(const Arrays &v, const WholeStep &step, PetscInt begin, PetscInt count)
{
  for (PetscInt k = begin; k < begin + count; k++)
    v.shadow[k] = step.random ? RandomSign(v.first_row + k, step.seed) : v.r[k];
}

void UpdateWhole_Host(const Arrays &v, const WholeStep &step, PetscReal (&sums)[SHADOW_DOTS])
{
  const Scalar *const   right = v.right_scale();
  RealSums<SHADOW_DOTS> total;

  ForPieces(v.rows, [&](PetscInt begin, PetscInt count) {
    Scalar *const x = v.x + begin, *const r = v.r + begin, *const p = v.p + begin;
    const Scalar *const z = v.v + begin, *const t = v.t + begin, *const shadow = v.shadow + begin;
    const Scalar *const p_hat = v.p_hat + begin, *const s_hat = v.s_hat + begin;
    Scalar direction[PASS_PIECE];
    for (PetscInt k = 0; k < count; k++) x[k] += step.alpha * p_hat[k] + step.omega * s_hat[k];
    for (PetscInt k = 0; k < count; k++) r[k] = r[k] - step.omega * t[k];
    if (step.restarts) {
      std::copy_n(r, count, direction);
      TakeShadow(v, step, begin, count);
    } else {
      for (PetscInt k = 0; k < count; k++) direction[k] = r[k] - step.beta * step.omega * z[k];
    }
    if (right) Scale(right + begin, count, direction);
    for (PetscInt k = 0; k < count; k++) p[k] = step.restarts ? direction[k] : direction[k] + step.beta * p[k];
    total += SumOfRows<RealSums<SHADOW_DOTS>>(0, count, [=](PetscInt k, RealSums<SHADOW_DOTS> *part) {
      AddParts(Conj(shadow[k]) * r[k], part->v);
      part->v[PARTS] += RealPart(Conj(r[k]) * r[k]);
    });
  });
  std::copy_n(total.v, SHADOW_DOTS, sums);
}

} // namespace sparsegpu::bcgs
