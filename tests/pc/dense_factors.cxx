static const char help[] = "ILU(k) of MATSOLVERSPARSEGPU against plain loops over dense matrices.\n\n";

#include "factors.hpp"

using namespace testing;

/// The factors of ILU(levels) as dense matrices, by the plain loops of the definition: Saad, 10.3.3.
struct DenseFactors {
  size_t                   n;
  std::vector<PetscScalar> a;     ///< [n * n] L below the diagonal, which is one, and U
  std::vector<PetscInt>    level; ///< [n * n]

  DenseFactors(const Problem &p, PetscInt levels) : n((size_t)p.rows), a(n * n, 0), level(n * n, p.rows * p.rows)
  {
    for (const Entry &e : p.entries) {
      a[(size_t)e.i * n + (size_t)e.j]     = e.v;
      level[(size_t)e.i * n + (size_t)e.j] = 0;
    }
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < i; ++k) {
        if (level[i * n + k] > levels) continue;
        for (size_t j = k + 1; j < n; ++j)
          level[i * n + j] = std::min(level[i * n + j], level[i * n + k] + level[k * n + j] + 1);
      }
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < i; ++k) {
        if (level[i * n + k] > levels) continue;
        a[i * n + k] /= a[k * n + k];
        for (size_t j = k + 1; j < n; ++j)
          if (level[i * n + j] <= levels && level[k * n + j] <= levels) a[i * n + j] -= a[i * n + k] * a[k * n + j];
      }
  }
  /// (L U)^-1 b, or with both transposed.
  std::vector<PetscScalar> Solve(std::vector<PetscScalar> x, bool transpose) const
  {
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < i; ++k) x[i] -= (transpose ? a[k * n + i] : a[i * n + k]) * x[k];
      if (transpose) x[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
      for (size_t k = i + 1; k < n; ++k) x[i] -= (transpose ? a[k * n + i] : a[i * n + k]) * x[k];
      if (!transpose) x[i] /= a[i * n + i];
    }
    return x;
  }
};

/// With all fill L U is A, and each row of the residual is at most 3 n eps |L| |U| |x| (Higham, 9.4); once more for the
/// inverse pivots that ours multiplies by, and twice that, as |L| |U| are the reference's.
static PetscErrorCode CheckResidual(const Problem &p, const DenseFactors &f, const std::vector<PetscScalar> &b,
                                    const std::vector<PetscScalar> &x, const std::string &what)
{
  const size_t             n = f.n;
  std::vector<PetscScalar> r = b;
  std::vector<PetscReal>   ux(n, 0);

  PetscFunctionBeginUser;
  for (const Entry &e : p.entries) r[(size_t)e.i] -= e.v * x[(size_t)e.j];
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i; j < n; ++j) ux[i] += PetscAbsScalar(f.a[i * n + j]) * PetscAbsScalar(x[j]);
  for (size_t i = 0; i < n; ++i) {
    PetscReal sum = ux[i];
    for (size_t k = 0; k < i; ++k) sum += PetscAbsScalar(f.a[i * n + k]) * ux[k];
    const PetscReal bound = 2 * 4 * ((PetscReal)n + 2) * PETSC_MACHINE_EPSILON * sum;
    PetscCheck(PetscAbsScalar(r[i]) <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, row %d: residual %g > %g",
               what.c_str(), (int)i, (double)PetscAbsScalar(r[i]), (double)bound);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Small structures, each an extreme: every row alone, one after the other, both arrows, a dense row, a dense column.
static std::vector<Problem> SmallProblems()
{
  const PetscInt       n = 60;
  std::vector<Problem> all;
  for (const char *name :
       {"diagonal", "bidiagonal", "arrow_up", "arrow_down", "dense_row", "dense_column", "grid_ring"}) {
    const std::string    kind = name;
    conformance::Builder b(name, n, n);
    for (PetscInt r = 0; r < n; ++r) {
      if (kind == "bidiagonal" && r > 0) b.Add(r, r - 1);
      if (kind.rfind("arrow", 0) == 0) {
        const PetscInt hub = kind == "arrow_up" ? 0 : n - 1;
        if (r != hub) b.Add(r, hub);
        if (r != hub) b.Add(hub, r);
      }
      if (kind == "dense_row" && r != 31) b.Add(31, r);
      if (kind == "dense_column" && r != 31) b.Add(r, 31);
      for (const PetscInt step : {1, 8, 53})
        if (kind == "grid_ring") b.Add(r, (r + step) % n);
    }
    all.push_back(Dominant(b));
  }
  all.push_back(Dominant(conformance::Grid("grid_5x4", 5, 4, false))); // fewer rows than a warp has lanes
  return all;
}

/// Every engine that is exact against factors and solves of dense matrices.
static PetscErrorCode Dense()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &p : SmallProblems())
    for (PetscInt levels : {(PetscInt)0, (PetscInt)1, (PetscInt)2, p.rows})
      for (const std::string &backend : backends)
        for (const char *name : {"auto", "syncfree", "level"}) {
          const Option                   engine("-mat_sparsegpu_trisolve", name);
          const DenseFactors             reference(p, levels);
          const std::vector<PetscScalar> b = Input(p.rows, 7, Poison::None);
          const std::string        what    = p.name + ", ILU(" + std::to_string(levels) + "), " + backend + ", " + name;
          std::vector<PetscScalar> x;
          Mat                      A, F;
          PetscCall(CreateOn(backend, p, &A));
          PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info((PetscReal)levels), MATORDERINGNATURAL, &F));
          for (bool transpose : {false, true}) {
            PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
            PetscCall(CheckClose(x, reference.Solve(b, transpose), p.rows, what + (transpose ? ", transposed" : "")));
            if (!transpose && levels == p.rows) PetscCall(CheckResidual(p, reference, b, x, what));
          }
          PetscCall(MatDestroy(&F));
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"dense", Dense}});
}
