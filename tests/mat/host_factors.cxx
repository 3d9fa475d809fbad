static const char help[] =
    "Factorizations on the host, of every package that this PETSc has, of matrices whose values are not on the host.\n\
  To be run with -sparsegpu_test_away, which hides the values from the host after each product.\n\n";

#include "host_factors.hpp"

using namespace testing;

constexpr const char *const PACKAGES[] = {"petsc",   "bas",    "superlu",     "superlu_dist", "umfpack", "klu",
                                          "cholmod", "spqr",   "mumps",       "strumpack",    "pastix",  "essl",
                                          "lusol",   "matlab", "mkl_pardiso", "mkl_cpardiso"};

using Solutions = std::vector<std::vector<PetscScalar>>;

/// A matrix, its array on the host, and whether a product hides that.
struct Matrix {
  Mat                A     = nullptr;
  const PetscScalar *a     = nullptr;
  bool               hides = false;

  PetscErrorCode Make(const char type[], Kind kind, const char package[])
  {
    const bool symmetric = kind.factor == MAT_FACTOR_CHOLESKY || kind.factor == MAT_FACTOR_ICC;

    PetscFunctionBeginUser;
    PetscCall(CreateMatrix(conformance::Grid("grid_6x5", 6, 5, symmetric), type, nullptr, &A));
    if (symmetric && !strcmp(package, MATSOLVERCHOLMOD)) // wants to be told; others refuse complex ones that are
      PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
    PetscCall(MatSeqAIJGetArrayRead(A, &a));
    const PetscScalar *kept = a;
    PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
    a     = kept;
    hides = !strcmp(type, MATSPARSEGPU);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// A product, after which the host's array has NaN.
  PetscErrorCode Multiply() const
  {
    Vec x, y;

    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCheck((a[0] != a[0]) == hides, PETSC_COMM_SELF, PETSC_ERR_PLIB, "After a product the values are %shidden",
               hides ? "not " : "");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// The package may keep the array for its solves: only PETSc's own factorizations do not, which let it go away again.
  void Given(const char package[]) { hides = hides && !strcmp(package, MATSOLVERPETSC); }
};

/// Solves for a right-hand side of ones, and adds the solution to those that are there.
template <class Solver> PetscErrorCode Solve(Mat A, Solver solve, Solutions *solutions)
{
  Vec                x, b;
  const PetscScalar *values;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(solve(b, x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &values));
  solutions->emplace_back(values, values + n);
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values of m are hidden, factored, hidden and needed by a solve.
static PetscErrorCode Factor(Mat F, Matrix *m, Kind kind, const char package[], bool symbolic, Solutions *solutions)
{
  PetscFunctionBeginUser;
  PetscCall(m->Multiply());
  if (symbolic) {
    PetscCall(Symbolic(F, m->A, kind));
    m->Given(package);
    PetscCall(m->Multiply());
  }
  PetscCall(Numeric(F, m->A, kind));
  m->Given(package);
  PetscCall(m->Multiply());
  PetscCall(Solve(
      m->A, [F](Vec b, Vec x) { return MatSolve(F, b, x); }, solutions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddToDiagonal(Mat A)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, nullptr));
  for (PetscInt i = 0; i < n; i++) PetscCall(MatSetValue(A, i, i, 1, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One factor with a first matrix, with new values of it, and with a second one; `maker`: the type of the matrix that
/// the factor is got from, and that its pattern is analysed of where that is not `type`.
static PetscErrorCode Direct(const char maker[], const char type[], Kind kind, const char package[],
                             Solutions *solutions)
{
  const bool same = !strcmp(maker, type);
  Matrix     first, second, origin;
  Mat        F;

  PetscFunctionBeginUser;
  PetscCall(first.Make(type, kind, package));
  PetscCall(second.Make(type, kind, package));
  PetscCall(origin.Make(maker, kind, package));
  PetscCall(MatScale(second.A, 0.5));
  PetscCall(MatGetFactor(origin.A, package, kind.factor, &F));
  if (!same) PetscCall(Symbolic(F, origin.A, kind));
  PetscCall(Factor(F, &first, kind, package, same, solutions));
  PetscCall(MatScale(first.A, 3));
  PetscCall(Factor(F, &first, kind, package, false, solutions));
  PetscCall(AddToDiagonal(first.A));
  PetscCall(Factor(F, &first, kind, package, false, solutions));
  PetscCall(Factor(F, &second, kind, package, false, solutions));
  PetscCall(Factor(F, &first, kind, package, false, solutions));
  PetscCall(MatDestroy(&F));
  for (Matrix *m : {&first, &second, &origin}) PetscCall(MatDestroy(&m->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A factor that is analysed twice, first of one matrix, then of another.
static PetscErrorCode Twice(const char type[], Kind kind, const char package[], Solutions *solutions)
{
  Matrix first, second;
  Mat    F;

  PetscFunctionBeginUser;
  PetscCall(first.Make(type, kind, package));
  PetscCall(second.Make(type, kind, package));
  PetscCall(MatScale(second.A, 0.5));
  PetscCall(MatGetFactor(first.A, package, kind.factor, &F));
  for (Matrix *m : {&first, &second}) PetscCall(Factor(F, m, kind, package, true, solutions));
  PetscCall(MatDestroy(&F));
  for (Matrix *m : {&first, &second}) PetscCall(MatDestroy(&m->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same by way of a KSP.
static PetscErrorCode ByKSP(const char type[], Kind kind, const char package[], Solutions *solutions)
{
  const Options options(std::string("-ksp_type preonly -pc_type ") + kind.pc + " -pc_factor_mat_solver_type " +
                        package);
  Matrix        first, second;
  KSP           ksp;

  PetscFunctionBeginUser;
  PetscCall(first.Make(type, kind, package));
  PetscCall(second.Make(type, kind, package));
  PetscCall(MatScale(second.A, 0.5));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  for (Matrix *m : {&first, &first, &second, &first}) {
    PetscCall(m->Multiply());
    PetscCall(KSPSetOperators(ksp, m->A, m->A));
    PetscCall(KSPSetUp(ksp));
    m->Given(package);
    PetscCall(m->Multiply());
    PetscCall(Solve(
        m->A, [ksp](Vec b, Vec x) { return KSPSolve(ksp, b, x); }, solutions));
    PetscCall(MatScale(m->A, 3));
  }
  PetscCall(KSPDestroy(&ksp));
  for (Matrix *m : {&first, &second}) PetscCall(MatDestroy(&m->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two runs of one algorithm. Each solves a system whose matrix is off by 3 n eps |L| |U| at most, |L| |U| being less
/// than 2 n |A| where diagonals dominate, n = 30. With u = y / 0.6, y = 1 ... 5, A u >= 1: |A^-1| < 9; |A| < 9 where
/// it is not scaled. Incomplete factors of M-matrices have inverses that are no larger than A's.
static PetscErrorCode Compare(const std::string &what, const Solutions &ours, const Solutions &plain)
{
  const PetscReal n = 30, bound = 2 * 3 * n * 2 * n * 9 * 9 * PETSC_MACHINE_EPSILON;

  PetscFunctionBeginUser;
  PetscCheck(ours.size() == plain.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu solutions, not %zu", what.c_str(),
             ours.size(), plain.size());
  for (size_t s = 0; s < plain.size(); s++) {
    PetscReal largest = 0, error = 0;
    for (const PetscScalar &x : plain[s]) largest = std::max(largest, PetscAbsScalar(x));
    for (size_t k = 0; k < plain[s].size(); k++) {
      const PetscReal difference = PetscAbsScalar(ours[s][k] - plain[s][k]);
      if (!(difference <= error)) error = difference; // NaN, too
    }
    PetscCheck(error <= bound * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: solution %zu differs from aij's by %g, %g allowed", what.c_str(), s + 1, (double)error,
               (double)(bound * largest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The packages that this PETSc has for factorizations of this kind; with -package that one alone.
static PetscErrorCode Available(Kind kind, std::vector<const char *> *packages)
{
  Matrix    trial;
  char      asked[64] = "";
  PetscBool one;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-package", asked, sizeof(asked), &one));
  PetscCall(trial.Make(MATSEQAIJ, kind, MATSOLVERPETSC));
  packages->clear();
  for (const char *package : PACKAGES) {
    PetscBool available;
    PetscCall(MatGetFactorAvailable(trial.A, package, kind.factor, &available));
    if (available && (!one || !strcmp(package, asked))) packages->push_back(package);
  }
  PetscCall(MatDestroy(&trial.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <const Kind &kind> PetscErrorCode Of()
{
  std::vector<const char *> packages;

  PetscFunctionBeginUser;
  PetscCall(Available(kind, &packages));
  for (const char *package : packages) {
    const std::string what = std::string(package) + " " + kind.pc;
    Solutions         plain, ours, got_from_plain, of_plain, ksp_plain, ksp_ours;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", what.c_str()));
    PetscCall(Direct(MATSEQAIJ, MATSEQAIJ, kind, package, &plain));
    PetscCall(Direct(MATSPARSEGPU, MATSPARSEGPU, kind, package, &ours));
    PetscCall(Compare(what, ours, plain));
    PetscCall(Direct(MATSEQAIJ, MATSPARSEGPU, kind, package, &got_from_plain));
    PetscCall(Compare(what + ", got from aij", got_from_plain, plain));
    PetscCall(Direct(MATSPARSEGPU, MATSEQAIJ, kind, package, &of_plain));
    PetscCall(Compare(what + ", of aij", of_plain, plain));
    PetscCall(ByKSP(MATSEQAIJ, kind, package, &ksp_plain));
    PetscCall(ByKSP(MATSPARSEGPU, kind, package, &ksp_ours));
    PetscCall(Compare(what + " by KSP", ksp_ours, ksp_plain));
  }
  if (packages.empty()) PetscCall(Skip("This PETSc has no such factorization"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Again()
{
  std::vector<const char *> packages;

  PetscFunctionBeginUser;
  for (const Kind &kind : KINDS) {
    PetscCall(Available(kind, &packages));
    for (const char *package : packages) {
      if (!strcmp(package, "superlu_dist")) continue; // its interface crashes, of plain matrices as well
      Solutions plain, ours;
      PetscCall(Twice(MATSEQAIJ, kind, package, &plain));
      PetscCall(Twice(MATSPARSEGPU, kind, package, &ours));
      PetscCall(Compare(std::string(package) + " " + kind.pc + " twice", ours, plain));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"lu", Of<LU>},
               {"cholesky", Of<CHOLESKY>},
               {"ilu", Of<ILU>},
               {"icc", Of<ICC>},
               {"qr", Of<QR>},
               {"again", Again}});
}
