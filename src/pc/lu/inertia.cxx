/// The inertia of A from A + E = L D L^T, where E = U diag(e) U^T is what replaced pivots are larger by, U columns of
/// the unit matrix. Both Schur complements of [A + E, U; U^T, diag(1 / e)] give its inertia (Haynsworth, Linear Algebra
/// Appl. 1, 1968): In(A) = In(D) + In(C) - In(diag(e)) with C = diag(1 / e) - U^T (A + E)^-1 U, dense, which is
/// factored with pivots of order 1 and 2 (Bunch & Kaufman, Math. Comp. 31, 1977).
#include "pc/lu/inertia.hpp"
#include <petsc/private/matimpl.h>
#include <petscblaslapack.h>
#include <algorithm>
#include "pc/lu/attempt.hpp"
#include "pc/lu/factorize.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

#if !defined(PETSC_USE_COMPLEX)

namespace
{
/// Replaced pivots whose dense matrix is factored: its order.
constexpr PetscInt MOST_REPLACED = 2048;

struct Signs {
  PetscInt negative = 0, zero = 0, positive = 0;

  void Count(PetscReal v, PetscReal tolerance)
  {
    ++(PetscAbsReal(v) <= tolerance ? zero : v < 0 ? negative : positive);
  }
};

/// Of a symmetric matrix C [n x n], which is overwritten; pivots of at most `tolerance` are zero.
PetscErrorCode SignsOf(PetscInt n, std::vector<PetscScalar> &C, PetscReal tolerance, Signs *signs)
{
  std::vector<PetscBLASInt> pivots;
  std::vector<PetscScalar>  work;
  PetscBLASInt              order, size, info;

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscBLASIntCast(n, &order));
  PetscCall(PetscBLASIntCast(64 * n, &size));
  PetscCallCXX(pivots.resize(n));
  PetscCallCXX(work.resize(64 * static_cast<size_t>(n)));
  PetscCallBLAS("LAPACKsytrf", LAPACKsytrf_("L", &order, C.data(), &order, pivots.data(), work.data(), &size, &info));
  PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's sytrf: argument %d", static_cast<int>(-info));
  const auto at = [&](PetscInt i, PetscInt j) { return C[i + static_cast<size_t>(j) * n]; };
  for (PetscInt k = 0; k < n; k++) {
    if (pivots[k] > 0) {
      signs->Count(at(k, k), tolerance);
    } else { // its eigenvalues have the sum and the product that trace and determinant are
      const PetscReal half = (at(k, k) + at(k + 1, k + 1)) / 2, difference = (at(k, k) - at(k + 1, k + 1)) / 2;
      const PetscReal root = PetscSqrtReal(difference * difference + at(k + 1, k) * at(k + 1, k));
      signs->Count(half - root, tolerance);
      signs->Count(half + root, tolerance);
      k++;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A replaced pivot, and the column of the scaled matrix that e belongs to: entries of one unknown, or of a pair.
struct Replaced {
  PetscReal e;
  PetscInt  row[2]; ///< of the matrix
  PetscReal weight[2];
};

/// |e|^1/2 C |e|^1/2, whose entries are of order 1. In the scaled matrix, where the solves' own scaling is taken back.
PetscErrorCode Complement(LuEngine *engine, PetscInt rows, const std::vector<Replaced> &replaced,
                          std::vector<PetscScalar> *C)
{
  const PetscInt         n     = static_cast<PetscInt>(replaced.size());
  PetscInt               width = n;
  std::vector<PetscReal> scale, columns;
  std::vector<Scalar>    unit, solution;
  Array<Scalar>          b, x;

  PetscFunctionBegin;
  PetscCallCXX(C->assign(static_cast<size_t>(n) * n, 0));
  if (n > 0) PetscCall(engine->Scales(&scale, &columns));
  if (n > 0) PetscCall(engine->Room(&width));
  for (PetscInt first = 0; first < n; first += width) {
    const PetscInt count = PetscMin(width, n - first);
    PetscCallCXX(unit.assign(static_cast<size_t>(rows) * count, Scalar(0)));
    PetscCallCXX(solution.resize(unit.size()));
    for (PetscInt c = 0; c < count; c++)
      for (const int t : {0, 1}) {
        const Replaced &own = replaced[first + c];
        unit[static_cast<size_t>(c) * rows + own.row[t]] += own.weight[t] / scale[own.row[t]];
      }
    PetscCall(b.Copy(unit.data(), unit.size(), engine->Where()));
    PetscCall(x.Allocate(unit.size(), engine->Where()));
    PetscCall(engine->Apply(FirstColumns(count), b.data(), rows, x.data(), rows, false));
    PetscCall(x.ToHost(solution.data()));
    for (PetscInt c = 0; c < count; c++)
      for (PetscInt k = 0; k < n; k++) {
        const Replaced &own = replaced[first + c], &other = replaced[k];
        PetscReal       inverse = 0;
        for (const int t : {0, 1})
          inverse += other.weight[t] * solution[static_cast<size_t>(c) * rows + other.row[t]] / scale[other.row[t]];
        (*C)[k + static_cast<size_t>(first + c) * n] =
            (k == first + c ? (own.e < 0 ? -1 : 1) : 0) - PetscSqrtReal(PetscAbsReal(own.e * other.e)) * inverse;
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From factors made for it, with so large a threshold that entries hardly grow: rounding errors change signs as those
/// of a stable factorization would. They live as long as this call.
PetscErrorCode FactorForInertia(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  constexpr PetscReal THRESHOLD = static_cast<PetscReal>(1e-4);
  DirectFactor       *factor    = DirectOf(F);
  DirectFactor        own;
  std::vector<Scalar> a;
  Array<Scalar>       there;

  PetscFunctionBegin;
  PetscCheck(factor->options.refine > 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The inertia is not known: pivots were replaced, and there is no copy of the matrix to factor again "
             "(-mat_sparsegpu_lu_refine 1)");
  PetscCall(PetscInfo(F, "Factors for the inertia, threshold %g\n", (double)THRESHOLD));
  PetscCall(factor->Values(&a));
  const Space space                  = factor->Where();
  own.kind                           = DirectKind::Cholesky;
  own.wanted                         = DirectKind::Cholesky;
  own.options                        = factor->options;
  own.options.single                 = false;
  const std::vector<PetscInt> &order = factor->order.empty() ? factor->ColumnOrder() : factor->order;
  PetscCall(own.Symbolic(factor->Pattern(a.data()), order, order, nullptr, nullptr, space));
  PetscCall(own.ChoosePairs());
  PetscCall(there.Copy(a.data(), a.size(), space));
  PetscCall(own.Numeric(there.data(), THRESHOLD));
  PetscCall(own.Inertia(negative, zero, positive));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode DirectFactor::Inertia(PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  std::vector<Scalar>      met, used;
  std::vector<PairCode>    pair;
  std::vector<PetscInt>    from;
  std::vector<Replaced>    replaced;
  std::vector<PetscScalar> C;
  Signs                    of_C, of_e;
  const LuReport          &report = FrontsReport();

  PetscFunctionBegin;
  PetscCheck(report.finite, PETSC_COMM_SELF, PETSC_ERR_SUP, "The inertia is not known: factors are not finite");
  PetscCheck(report.perturbed <= MOST_REPLACED, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The inertia is not known: %" PetscInt_FMT " pivots were replaced, more than %" PetscInt_FMT
             " (another -pc_factor_mat_ordering_type may have fewer)",
             report.perturbed, MOST_REPLACED);
  if (report.perturbed > 0) {
    PetscCall(engine_->Pivots(&met, &used));
    PetscCall(engine_->PivotRows(&from));
    PetscCall(engine_->Pairs(&pair));
  }
  for (PetscInt k = 0; k < static_cast<PetscInt>(met.size()); k++) {
    const PetscReal e = used[k] - met[k];
    if (e == 0) continue;
    const int      code  = pair.empty() ? 0 : pair[k];
    const PetscInt other = code > 0 ? k + 1 : code < 0 ? k - 1 : k;
    PetscCallCXX(replaced.push_back(Replaced{
        e,
        {MatrixRow(from[k]), MatrixRow(from[other])},
        {code ? TurnedBack(code, Scalar(1), Scalar(0)) : 1, code ? TurnedBack(-code, Scalar(0), Scalar(1)) : 0}}));
    of_e.Count(e, 0);
  }
  PetscCall(Complement(engine_.get(), Rows(), replaced, &C));
  const PetscInt  n         = static_cast<PetscInt>(replaced.size());
  const PetscReal tolerance = 10 * static_cast<PetscReal>(n) * PetscSqrtReal(PETSC_MACHINE_EPSILON);
  PetscCall(SignsOf(n, C, tolerance, &of_C));
  *negative = report.negative + of_C.negative - of_e.negative;
  *zero     = of_C.zero;
  *positive = Rows() - *negative - *zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetInertia_Direct(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  constexpr PetscReal GROWN  = static_cast<PetscReal>(1e6);
  DirectFactor       *factor = DirectOf(F);
  PetscInt            signs[3];
  Quality             quality;

  PetscFunctionBegin;
  PetscCheck(!F->factorerrortype, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The inertia is not known: the factorization failed (MatFactorError %d)", (int)F->factorerrortype);
  PetscCheck(factor->options.pivoted != 1 || !factor->Pivoted(), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The inertia is not known with partial pivoting (-mat_sparsegpu_lu_pivoted on)");
  PetscCheck(factor->schur.empty(), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The inertia is not known with a Schur complement, whose signs are those of its own matrix");
  if (factor->InSingle() && !factor->Pivoted()) { // signs of pivots near zero are those of rounding errors
    PetscCheck(factor->options.refine > 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The inertia is not known with factors in single precision (-mat_sparsegpu_lu_precision full)");
    PetscCall(FactorInFull(F, "the inertia was asked for", &quality));
  }
  const LuReport &report = factor->FrontsReport();
  const bool      known  = factor->kind == DirectKind::Cholesky && report.perturbed == 0 && report.growth <= GROWN;
  PetscCall(known ? factor->Inertia(signs, signs + 1, signs + 2) : FactorForInertia(F, signs, signs + 1, signs + 2));
  if (negative) *negative = signs[0];
  if (zero) *zero = signs[1];
  if (positive) *positive = signs[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

} // namespace sparsegpu::lu
