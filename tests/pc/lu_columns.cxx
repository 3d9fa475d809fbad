static const char help[] = "Direct solves with several right-hand sides, which are taken and refined in blocks.\n\n";

#include "columns.hpp"
#include "direct.hpp"

using namespace testing;

/// MatMatSolve(), twice: the same bits.
static PetscErrorCode SolveTogether(Mat F, PetscInt rows, const Columns &b, bool transpose, const char type[],
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
static PetscErrorCode SolveAlone(Mat A, Mat F, const std::vector<PetscScalar> &rhs, bool transpose,
                                 std::vector<PetscScalar> *solution)
{
  const PetscScalar *from;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(SetVector(b, rhs));
  PetscCall(transpose ? MatSolveTranspose(F, b, x) : MatSolve(F, b, x));
  PetscCall(VecGetArrayRead(x, &from));
  solution->assign(from, from + rhs.size());
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Largest(const std::vector<PetscScalar> &v)
{
  PetscReal most = 0;
  for (const PetscScalar &entry : v) most = std::max(most, PetscAbsScalar(entry));
  return most;
}
/// |A^-1| of rows, or columns, that dominate, and |A|, in the maximum norm.
static void Norms(const Problem &p, bool transpose, PetscReal *inverse, PetscReal *norm, PetscInt *longest)
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
static PetscErrorCode CheckNear(const Problem &p, const std::vector<PetscScalar> &b, const std::vector<PetscScalar> &x,
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
static PetscErrorCode CheckColumns(const Problem &p, Mat A, Mat F, const std::vector<Kind> &kinds, bool transpose,
                                   const char type[], const std::string &what, PetscReal slack)
{
  std::vector<PetscScalar> alone;
  Columns                  b, x;

  PetscFunctionBeginUser;
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
    PetscCall(SolveAlone(A, F, b[c], transpose, &alone));
    if (p.rows > 0) PetscCall(CheckNear(p, b[c], x[c], alone, transpose, where, slack));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Both factorizations on each backend, with refinement and without; `check` gets their factors.
template <class Function> static PetscErrorCode OnFactors(const std::vector<Problem> &problems, Function check)
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

/// Blocks that are full, and those that are not.
static PetscErrorCode Together()
{
  const std::vector<Problem> problems = {Dominant(conformance::Grid("grid_13x11", 13, 11, false)), Bordered(70, 230),
                                         Dominant(conformance::Builder("one_1x1", 1, 1)),
                                         Dominant(conformance::Builder("empty_0x0", 0, 0))};
  std::vector<const char *>  dense;

  PetscFunctionBeginUser;
  PetscCall(DenseTypes(&dense));
  PetscCall(OnFactors(problems, [&](const Problem &p, Mat A, Mat F, const std::string &what, PetscReal slack) {
    PetscFunctionBeginUser;
    for (const char *type : dense)
      for (const bool transpose : {false, true})
        for (const PetscInt count : {1, 2, 5, 15, 16, 17, 33})
          PetscCall(CheckColumns(p, A, F, std::vector<Kind>((size_t)count, Kind::Plain), transpose, type,
                                 what + ", " + std::to_string(count) + " columns" + (transpose ? ", transposed" : ""),
                                 slack));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns that are zero, not finite, large or small, beside others.
static PetscErrorCode Strange()
{
  const std::vector<Kind>    few      = {Kind::Plain, Kind::NaN, Kind::Zero, Kind::Large, Kind::Plain};
  const std::vector<Problem> problems = {Dominant(conformance::Grid("grid_13x11", 13, 11, false)), Bordered(40, 140)};
  std::vector<Kind>          many(16, Kind::NaN), mixed;

  PetscFunctionBeginUser;
  many[7] = Kind::Plain;
  for (int c = 0; c < 19; ++c) mixed.push_back(static_cast<Kind>(c * 5 % 6));
  PetscCall(OnFactors(problems, [&](const Problem &p, Mat A, Mat F, const std::string &what, PetscReal slack) {
    PetscFunctionBeginUser;
    for (const std::vector<Kind> &kinds : {few, many, mixed, std::vector<Kind>(3, Kind::Zero)})
      for (const bool transpose : {false, true})
        PetscCall(CheckColumns(p, A, F, kinds, transpose, MATSEQDENSE,
                               what + ", " + std::to_string(kinds.size()) + " strange columns", slack));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows r and r ^ 1 of some pairs change places, which leaves tiny pivots where none are exchanged: digits are lost,
/// and columns need steps of refinement, or GMRES.
static PetscErrorCode Refined()
{
  const PetscReal          tiny = std::pow(PETSC_MACHINE_EPSILON, static_cast<PetscReal>(0.4));
  const Option             matching("-mat_sparsegpu_lu_matching", "off"), exchange("-mat_sparsegpu_lu_exchange", "0");
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const PetscInt step : {2, 24, 90})
      for (const char *pivoted : {"auto", "on"}) {
        const Option      option("-mat_sparsegpu_lu_pivoted", pivoted);
        const std::string what = "every " + std::to_string(step) + "th pair on " + backend + ", pivoted " + pivoted;
        Problem           p    = Dominant(conformance::Grid("grid_20x9", 20, 9, false));
        Columns           b, x;
        Mat               A, F;
        for (Entry &e : p.entries)
          if (e.i / 2 % (step / 2) == 0) {
            e.i ^= 1;
            if (e.i == e.j) e.v *= tiny;
          }
        for (PetscInt c = 0; c < 17; ++c) b.push_back(Column(p.rows, 7 + c, c % 4 == 3 ? Kind::Zero : Kind::Plain));
        // in the range of a few columns: less to refine
        std::fill(b[5].begin() + 3, b[5].end(), PetscScalar(0));
        PetscCall(CreateOn(backend, p, &A));
        PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F));
        for (const bool transpose : {false, true}) {
          PetscCall(SolveTogether(F, p.rows, b, transpose, MATSEQDENSE, what, &x));
          for (size_t c = 0; c < b.size(); ++c)
            PetscCall(CheckBackwardOf(p, b[c], x[c], transpose, what + ", column " + std::to_string(c), 1));
        }
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// KSPMatSolve() of KSPPREONLY comes here, too.
static PetscErrorCode ByKsp()
{
  const Problem            p = Dominant(conformance::Grid("grid_13x11", 13, 11, false));
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    Columns b, x;
    Mat     A, B, X;
    KSP     ksp;
    PC      pc;
    for (PetscInt c = 0; c < 17; ++c) b.push_back(Column(p.rows, 7 + c, Kind::Plain));
    PetscCall(CreateOn(backend, p, &A));
    PetscCall(DenseOf(b, p.rows, MATSEQDENSE, &B));
    PetscCall(CreateDense(p.rows, 17, 0, MATSEQDENSE, &X));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCLU));
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSPARSEGPU));
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(ColumnsOf(X, &x));
    for (size_t c = 0; c < b.size(); ++c)
      PetscCall(CheckBackwardOf(p, b[c], x[c], false, "KSPMatSolve on " + backend, 1));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A block of each size through small and large fronts, for tools that are slow.
static PetscErrorCode Few()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &p : {Dominant(conformance::Grid("grid_9x7", 9, 7, false)), Bordered(40, 140)})
    for (const bool half : {false, true}) {
      const Problem q = half ? Symmetric(p) : p;
      Mat           A, F;
      PetscCall(CreateOn(backends.back(), q, &A));
      if (half) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(FactorDirect(A, half ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU, MATORDERINGND, &F));
      for (const PetscInt count : {3, 6, 17})
        for (const bool transpose : {false, true}) {
          const std::string what = q.name + ", " + std::to_string(count) + " columns";
          Columns           b, x;
          for (PetscInt c = 0; c < count; ++c) b.push_back(Column(q.rows, 7 + c, Kind::Plain));
          PetscCall(SolveTogether(F, q.rows, b, transpose, MATSEQDENSE, what, &x));
          for (size_t c = 0; c < b.size(); ++c) PetscCall(CheckBackwardOf(q, b[c], x[c], transpose, what, 1));
        }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"together", Together}, {"strange", Strange}, {"refined", Refined}, {"ksp", ByKsp}, {"few", Few}});
}
