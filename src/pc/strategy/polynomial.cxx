/// PCSPARSEGPU with a polynomial p in D^-1 A, A the whole matrix and D its diagonal: p(D^-1 A) D^-1, which needs
/// products and updates of vectors alone. Johnson, Micchelli, Paul, "Polynomial preconditioners for conjugate gradient
/// calculations", SIAM J. Numer. Anal. 20(2), 1983; Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition,
/// 12.3.
///   chebyshev  the residual polynomial 1 - t p(t) is the least one on an interval of positive eigenvalues
///   neumann    the sum of (I - w D^-1 A)^k w, k from 0 to the degree: also for eigenvalues off the real axis
/// Both are positive for eigenvalues between 0 and the interval's upper end, so that the preconditioner of a symmetric
/// positive definite matrix is one itself.
#include <petsc/private/pcimpl.h>
#include "pc/aggregate/aggregate.hpp"
#include "pc/amg/arrays.hpp"
#include "pc/strategy/strategy.hpp"

namespace sparsegpu::strategy
{

const char *const PolynomialNames[5] = {"chebyshev", "neumann", "PCSparseGPUPolynomial", "", nullptr};

PetscErrorCode PolynomialOptions::Read(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  PetscEnum which   = static_cast<PetscEnum>(static_cast<int>(kind));
  PetscReal ends[2] = {low, high};
  PetscInt  count   = 2;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_sparsegpu_polynomial", "Kind of polynomial preconditioner", "PCSPARSEGPU",
                             PolynomialNames, which, &which, nullptr));
  kind = static_cast<PolynomialKind>(static_cast<int>(which));
  PetscCall(PetscOptionsInt("-pc_sparsegpu_polynomial_degree", "Products with the matrix", "PCSPARSEGPU", degree,
                            &degree, nullptr));
  PetscCheck(degree >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpu_polynomial_degree %" PetscInt_FMT " must be non-negative", degree);
  PetscCall(PetscOptionsReal("-pc_sparsegpu_polynomial_ratio",
                             "chebyshev: ratio of the ends of the interval, the upper one of which is estimated",
                             "PCSPARSEGPU", ratio, &ratio, nullptr));
  PetscCheck(ratio > 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpu_polynomial_ratio %g must be above 1", (double)ratio);
  PetscCall(PetscOptionsRealArray("-pc_sparsegpu_polynomial_eigenvalues",
                                  "The ends of the interval; by default from an estimate", "PCSPARSEGPU", ends, &count,
                                  &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(count == 2 && ends[0] > 0 && ends[0] < ends[1] && !PetscIsInfReal(ends[1]),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sparsegpu_polynomial_eigenvalues takes two numbers, 0 < low < high, not %" PetscInt_FMT
             " beginning with %g",
             count, count > 0 ? (double)ends[0] : 0.0);
  low  = ends[0];
  high = ends[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
constexpr PetscInt  STEPS  = 10;  ///< of the estimate, which is 2 to 5 % low
constexpr PetscReal MARGIN = 1.1; ///< over it

class PolynomialStrategy : public Strategy
{
public:
  using Strategy::Strategy;
  PetscErrorCode SetUp(PC pc) override;
  PetscErrorCode Apply(PC pc, Vec b, Vec x, bool transpose) override;
  PetscErrorCode View(PC pc, PetscViewer viewer) const override;
  PetscErrorCode OptionsChanged() override { return Reset(); }
  PetscErrorCode Reset() override
  {
    PetscFunctionBegin;
    for (Vec *v : {&inverse_, &product_, &other_}) PetscCall(VecDestroy(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode FindInterval(PC pc);
  PetscErrorCode Update(PetscReal before, PetscReal now, PetscReal residual, Vec b, Vec x, Vec next) const;

  Vec       inverse_ = nullptr;                   ///< of the diagonal
  Vec       product_ = nullptr, other_ = nullptr; ///< A x; every other iterate
  PetscReal low_ = 0, high_ = 0;                  ///< the interval
  PetscReal damping_ = 1;                         ///< w of neumann
};

/// Collective. What is not finite fails the preconditioner.
PetscErrorCode PolynomialStrategy::FindInterval(PC pc)
{
  const PolynomialOptions &wanted = options_->polynomial;

  PetscFunctionBegin;
  pc->failedreason = PC_NOERROR;
  low_             = wanted.low;
  high_            = wanted.high;
  if (!(wanted.high > 0)) {
    PetscReal largest;
    PetscCall(aggregate::EstimateLargestEigenvalue(pc->pmat, STEPS, &largest));
    if (PetscIsInfOrNanReal(largest)) pc->failedreason = PC_SUBPC_ERROR;
    high_ = largest > 0 ? MARGIN * largest : 1;
    low_  = high_ / wanted.ratio;
  }
  damping_ = PetscMin(1, 2 / high_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolynomialStrategy::SetUp(PC pc)
{
  const Vec none[] = {nullptr};

  PetscFunctionBegin;
  if (!inverse_ || pc->flag != SAME_NONZERO_PATTERN) {
    PetscCall(Reset());
    PetscCall(MatCreateVecs(pc->pmat, &inverse_, nullptr));
    for (Vec *v : {&product_, &other_}) PetscCall(VecDuplicate(inverse_, v));
  }
  PetscCall(MatGetDiagonal(pc->pmat, inverse_));
  PetscCall(amg::Update(none, inverse_, Access::ReadWrite,
                        [](const Scalar *const *, Scalar *d) { return amg::InvertDiagonal{d}; }));
  PetscCall(FindInterval(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// next = before * next + now * x + residual * D^-1 (b - product_); x null: the first, x = 0.
PetscErrorCode PolynomialStrategy::Update(PetscReal before, PetscReal now, PetscReal residual, Vec b, Vec x,
                                          Vec next) const
{
  const Vec read[] = {inverse_, b, x ? product_ : nullptr, x};

  PetscFunctionBegin;
  PetscCall(amg::Update(read, next, before != 0 ? Access::ReadWrite : Access::Write,
                        [&](const Scalar *const *from, Scalar *to) {
                          return amg::ChebyshevStep{before, now, residual, from[0], from[1], from[2], from[3], to};
                        }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// p(D^-1 A) D^-1 transposed is p(D^-1 A^T) D^-1. The last iterate is x itself.
PetscErrorCode PolynomialStrategy::Apply(PC pc, Vec b, Vec x, bool transpose)
{
  const bool      neumann = options_->polynomial.kind == PolynomialKind::Neumann;
  const PetscInt  degree  = options_->polynomial.degree;
  const PetscReal scale = neumann ? damping_ : 2 / (high_ + low_), mu = neumann ? 1 : 1 / (1 - scale * low_);
  PetscReal       c[2] = {1, mu};
  Vec             now = degree % 2 ? x : other_, next = degree % 2 ? other_ : x;

  PetscFunctionBegin;
  PetscCall(Update(0, 1, scale, b, nullptr, next));
  for (PetscInt k = 1; k <= degree; k++) {
    const PetscReal after = 2 * mu * c[1] - c[0], omega = neumann ? 1 : 2 * mu * c[1] / after;
    c[0] = c[1];
    c[1] = after;
    std::swap(now, next); // next holds the iterate before, which is 0 at first
    PetscCall(transpose ? MatMultTranspose(pc->pmat, now, product_) : MatMult(pc->pmat, now, product_));
    PetscCall(Update(k == 1 || neumann ? 0 : 1 - omega, omega, omega * scale, b, now, next));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolynomialStrategy::View(PC, PetscViewer viewer) const
{
  const PolynomialOptions &wanted = options_->polynomial;

  PetscFunctionBegin;
  // a line in one call, which indents
  if (!inverse_)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  polynomial: %s of degree %" PetscInt_FMT ", not set up yet\n",
                                     PolynomialNames[static_cast<int>(wanted.kind)], wanted.degree));
  else if (wanted.kind == PolynomialKind::Neumann)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  polynomial: neumann of degree %" PetscInt_FMT ", damping %g, eigenvalues up to %g%s\n",
        wanted.degree, (double)damping_, (double)high_, wanted.high > 0 ? "" : " as estimated"));
  else
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  polynomial: chebyshev of degree %" PetscInt_FMT ", eigenvalues %g to %g%s\n",
                               wanted.degree, (double)low_, (double)high_, wanted.high > 0 ? "" : " as estimated"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::unique_ptr<Strategy> MakePolynomialStrategy(PcOptions *options, EliminationOrder *order)
{
  return std::make_unique<PolynomialStrategy>(options, order);
}

} // namespace sparsegpu::strategy
