/// Direct solves with several right-hand sides against the same ones alone.
#pragma once

#include "backward.hpp"
#include "columns.hpp"

namespace testing
{

/// MatMatSolve(), twice: the same bits.
inline PetscErrorCode SolveTogether(Mat F, PetscInt rows, const Columns &b, bool transpose, const char type[],
                                    const std::string &what, Columns *x)
{
  Columns again;
  Mat     B, X;

  PetscFunctionBeginUser;
  PetscCall(DenseOf(b, rows, type, &B));
  PetscCall(CreateDense(rows, (PetscInt)b.size(), 1, type, &X));
  for (Columns *to : {x, &again}) {
    PetscCall(MatZeroEntries(X));
    PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
    PetscCall(ColumnsOf(X, to));
  }
  for (size_t c = 0; c < b.size(); ++c)
    PetscCheck(std::equal((*x)[c].begin(), (*x)[c].end(), again[c].begin(),
                          [](PetscScalar u, PetscScalar v) { return u == v || (u != u && v != v); }),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, column %d: other bits the second time", what.c_str(), (int)c);
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscReal Largest(const std::vector<PetscScalar> &v)
{
  PetscReal most = 0;
  for (const PetscScalar &entry : v) most = std::max(most, PetscAbsScalar(entry));
  return most;
}
/// |A^-1| of rows, or columns, that dominate, and |A|, in the maximum norm.
inline void Norms(const Problem &p, bool transpose, PetscReal *inverse, PetscReal *norm, PetscInt *longest)
{
  std::vector<PetscReal> margin(p.rows, 0), sum(p.rows, 0);
  std::vector<PetscInt>  length(p.rows, 0);
  for (const Entry &e : p.entries) {
    const PetscInt i = transpose ? e.j : e.i;
    margin[i] += e.i == e.j ? PetscAbsScalar(e.v) : -PetscAbsScalar(e.v);
    sum[i] += PetscAbsScalar(e.v);
    ++length[i];
  }
  *inverse = 1 / *std::min_element(margin.begin(), margin.end());
  *norm    = *std::max_element(sum.begin(), sum.end());
  *longest = *std::max_element(length.begin(), length.end());
}

/// x against y, both with residuals of at most what CheckBackward() allows: |x - y| <= |A^-1| (|r_x| + |r_y|).
inline PetscErrorCode CheckNear(const Problem &p, const std::vector<PetscScalar> &b, const std::vector<PetscScalar> &x,
                                const std::vector<PetscScalar> &y, bool transpose, const std::string &what,
                                PetscReal slack)
{
  PetscReal inverse, norm;
  PetscInt  longest;

  PetscFunctionBeginUser;
  Norms(p, transpose, &inverse, &norm, &longest);
  const PetscReal allowed = (std::max((PetscReal)32, (PetscReal)longest + 1) + (PetscReal)longest + 2) *
                            PETSC_MACHINE_EPSILON * slack * inverse *
                            (norm * (Largest(x) + Largest(y)) + 2 * Largest(b));
  for (size_t r = 0; r < x.size(); ++r)
    PetscCheck(PetscAbsScalar(x[r] - y[r]) <= allowed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, row %d: %g away, not %g",
               what.c_str(), (int)r, (double)PetscAbsScalar(x[r] - y[r]), (double)allowed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of these kinds against the same ones alone.
inline PetscErrorCode CheckColumns(const Problem &p, Mat A, Mat F, const std::vector<Kind> &kinds, bool transpose,
                                   const char type[], const std::string &what, PetscReal slack)
{
  std::vector<PetscScalar> alone;
  Columns                  b, x;
  VecType                  own;

  PetscFunctionBeginUser;
  PetscCall(MatGetVecType(A, &own));
  for (size_t c = 0; c < kinds.size(); ++c) b.push_back(Column(p.rows, 7 + (PetscInt)c, kinds[c]));
  PetscCall(SolveTogether(F, p.rows, b, transpose, type, what, &x));
  for (size_t c = 0; c < kinds.size(); ++c) {
    const std::string where = what + ", column " + std::to_string(c);
    if (kinds[c] == Kind::NaN || kinds[c] == Kind::Infinite) {
      PetscCheck(p.rows == 0 || std::any_of(x[c].begin(), x[c].end(),
                                            [](PetscScalar v) { return !(PetscAbsScalar(v) <= PETSC_MAX_REAL); }),
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: finite, though b is not", where.c_str());
      continue;
    }
    PetscCall(CheckBackwardOf(p, b[c], x[c], transpose, where, slack));
    PetscCall(SolveFor(A, F, b[c], transpose, &alone, own));
    if (p.rows > 0) PetscCall(CheckNear(p, b[c], x[c], alone, transpose, where, slack));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Both factorizations on each backend, with refinement and without; `check` gets their factors.
template <class Function> PetscErrorCode OnFactors(const std::vector<Problem> &problems, Function check)
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Problem &general : problems)
      for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
        for (const char *refine : {"0", "10"}) {
          const bool    half = kind == MAT_FACTOR_CHOLESKY;
          const Option  option("-mat_sparsegpu_lu_refine", refine);
          const Problem p = half ? Symmetric(general) : general;
          Mat           A, F;
          PetscCall(CreateOn(backend, p, &A));
          if (half) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
          PetscCall(FactorDirect(A, kind, p.rows > 200 ? MATORDERINGNATURAL : MATORDERINGND, &F));
          // without refinement: rows are dominant, so that factors and inverses are bounded, but for the sums' length
          PetscCall(check(p, A, F, p.name + (half ? ", Cholesky on " : ", LU on ") + backend + ", refine " + refine,
                          refine[0] == '0' ? 8 * (PetscReal)p.rows : 1));
          PetscCall(MatDestroy(&F));
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
