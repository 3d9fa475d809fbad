static const char help[] = "Sparse approximate inverses of triangular factors, -mat_sparsegpu_trisolve isai.\n\n";

#include "factors.hpp"
#include <numeric>

using namespace testing;

namespace
{
/// A square matrix by columns of one array.
struct Square {
  PetscInt                 n;
  std::vector<PetscScalar> v;

  explicit Square(PetscInt rows) : n(rows), v((size_t)(rows * rows), 0) {}
  PetscScalar       &operator()(PetscInt i, PetscInt j) { return v[(size_t)(j * n + i)]; }
  const PetscScalar &operator()(PetscInt i, PetscInt j) const { return v[(size_t)(j * n + i)]; }
};

/// One triangle of p: ones on the diagonal of the lower one, off it rows and columns of sums below 1/2. So ILU of the
/// lower one is that and the identity, of the upper one the identity and that.
Problem Triangle(const Problem &p, bool upper)
{
  std::vector<PetscReal> sum((size_t)p.rows, 1);
  Problem                q = p;

  q.name += upper ? "_upper" : "_lower";
  q.entries.clear();
  for (const Entry &e : p.entries)
    for (PetscInt r : {e.i, e.j})
      if (e.i != e.j) sum[(size_t)r] += PetscAbsScalar(e.v);
  for (const Entry &e : p.entries)
    if (upper ? e.j > e.i : e.j < e.i)
      q.entries.push_back({e.i, e.j, e.v / (2 * PetscMax(sum[(size_t)e.i], sum[(size_t)e.j]))});
  for (PetscInt r = 0; r < p.rows; ++r)
    q.entries.push_back({r, r, upper ? (PetscScalar)(PetscReal)(r % 3 + 2) : (PetscScalar)1});
  return q;
}

/// Where the inverse of A may have entries: those of A, or of A A.
std::vector<std::vector<bool>> PatternOf(const Square &A, PetscInt power)
{
  std::vector<std::vector<bool>> in((size_t)A.n, std::vector<bool>((size_t)A.n, false)), square = in;
  for (PetscInt i = 0; i < A.n; ++i)
    for (PetscInt j = 0; j < A.n; ++j) in[(size_t)i][(size_t)j] = A(i, j) != (PetscScalar)0;
  if (power == 1) return in;
  for (size_t i = 0; i < in.size(); ++i)
    for (size_t k = 0; k < in.size(); ++k)
      for (size_t j = 0; in[i][k] && j < in.size(); ++j)
        if (in[k][j]) square[i][j] = true;
  return square;
}

/// The factor's solution for each column of the identity.
PetscErrorCode InverseOf(Mat F, bool transpose, Square *M)
{
  const PetscScalar *x;
  Mat                B, X;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, M->n, M->n, nullptr, &B));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, M->n, M->n, nullptr, &X));
  for (PetscInt r = 0; r < M->n; ++r) PetscCall(MatSetValue(B, r, r, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
  PetscCall(MatDenseGetArrayRead(X, &x));
  M->v.assign(x, x + M->v.size());
  PetscCall(MatDenseRestoreArrayRead(X, &x));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// M has no entry outside `in`, and on `in` M A = I, or A M = I of an upper triangle: up to the residual of a
/// substitution with as many terms as the row has (Higham, theorem 8.5), its pivots' inverses rounded once.
PetscErrorCode CheckInverse(const Square &A, const Square &M, bool upper, const std::vector<std::vector<bool>> &in,
                            const std::string &what)
{
  const PetscReal unit = (PetscDefined(USE_COMPLEX) ? 4 : 1) * PETSC_MACHINE_EPSILON;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < A.n; ++i)
    for (PetscInt j = 0; j < A.n; ++j) {
      PetscScalar sum  = i == j ? -1 : 0;
      PetscReal   size = i == j, terms = 4;
      PetscCheck(in[(size_t)i][(size_t)j] || M(i, j) == (PetscScalar)0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: entry (%d, %d) is %g, not in the pattern", what.c_str(), (int)i, (int)j,
                 (double)PetscAbsScalar(M(i, j)));
      if (!in[(size_t)i][(size_t)j]) continue;
      for (PetscInt k = PetscMin(i, j); k <= PetscMax(i, j); ++k) {
        const PetscScalar term = upper ? A(i, k) * M(k, j) : M(i, k) * A(k, j);
        sum += term;
        size += PetscAbsScalar(term);
        terms += term != (PetscScalar)0;
      }
      PetscCheck(PetscAbsScalar(sum) <= terms * unit * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: entry (%d, %d) of the product with the inverse is %g away, %g allowed", what.c_str(), (int)i,
                 (int)j, (double)PetscAbsScalar(sum), (double)(terms * unit * size));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckTriangle(const Problem &p, bool upper, PetscInt power, const std::string &backend)
{
  const Option      powers("-mat_sparsegpu_trisolve_power", std::to_string(power));
  const std::string what = p.name + ", power " + std::to_string(power) + ", " + backend;
  MatFactorInfo     info = Info(0);
  Square            dense(p.rows), M(p.rows), transposed(p.rows);
  Mat               A, F;

  PetscFunctionBeginUser;
  for (const Entry &e : p.entries) dense(e.i, e.j) = e.v;
  PetscCall(CreateOn(backend, p, &A));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &F));
  const std::vector<std::vector<bool>> in = PatternOf(dense, power);
  for (int round = 0; round < 2; ++round) {
    PetscCall(InverseOf(F, false, &M));
    PetscCall(CheckInverse(dense, M, upper, in, what));
    PetscCall(InverseOf(F, true, &transposed));
    for (PetscInt i = 0; i < p.rows; ++i) // sums of one term each
      for (PetscInt j = 0; j < p.rows; ++j)
        PetscCheck(transposed(j, i) == M(i, j), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: entry (%d, %d) and its transpose differ by %g", what.c_str(), (int)i, (int)j,
                   (double)PetscAbsScalar(transposed(j, i) - M(i, j)));
    if (round) break;
    for (PetscScalar &v : dense.v) v = -v / (PetscReal)2; // new values in the same pattern
    for (PetscInt r = 0; r < p.rows; ++r) dense(r, r) = upper ? (PetscScalar)(PetscReal)(r % 2 + 1) : (PetscScalar)1;
    for (const Entry &e : p.entries) PetscCall(MatSetValue(A, e.i, e.j, dense(e.i, e.j), INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatLUFactorNumeric(F, A, &info));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of no entry to some hundred, which the GPU keeps in shared memory or does not.
PetscErrorCode Inverses()
{
  const Option             engine("-mat_sparsegpu_trisolve", "isai");
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const Problem &p : Problems())
      for (bool upper : {false, true})
        for (PetscInt power : {1, 2})
          if (p.rows <= 600) PetscCall(CheckTriangle(Triangle(p, upper), upper, power, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The error of a solve with the factors of p against exact ones, and the solution itself.
PetscErrorCode ErrorOf(const std::string &backend, const Problem &p, const char power[], const char relax[],
                       MatFactorType kind, bool transpose, PetscReal *error, std::vector<PetscScalar> *x)
{
  const Option engine("-mat_sparsegpu_trisolve", "isai"), powers("-mat_sparsegpu_trisolve_power", power),
      steps("-mat_sparsegpu_trisolve_relax", relax);
  std::vector<PetscScalar> exact;
  Mat                      A, F, G;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(backend, p, &A));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, Info(0), MATORDERINGRCM, &F));
  PetscCall(FactorOf(A, MATSOLVERPETSC, kind, Info(0), MATORDERINGRCM, &G));
  PetscCall(SolveWith(A, F, VECSTANDARD, transpose, x));
  PetscCall(SolveWith(A, G, VECSTANDARD, kind == MAT_FACTOR_ILU && transpose, &exact));
  *error = 0;
  for (size_t r = 0; r < exact.size(); ++r) *error = PetscMax(*error, PetscAbsScalar((*x)[r] - exact[r]));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A larger pattern and relaxation steps both come nearer to the solution. Off the diagonal a row of the grid's factors
/// sums up to 2.6 / 16 at most, so that what a pattern leaves out, and a step leaves, is less than a fifth.
PetscErrorCode Nearer()
{
  const Problem            p = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  std::vector<std::string> backends;
  std::vector<PetscScalar> x;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (bool transpose : {false, true})
      for (const char *power : {"1", "2"}) {
        PetscReal before = PETSC_MAX_REAL;
        for (const char *relax : {"0", "1", "2"}) {
          PetscReal error, first;
          PetscCall(ErrorOf(backend, p, "1", relax, MAT_FACTOR_ILU, transpose, &first, &x));
          PetscCall(ErrorOf(backend, p, power, relax, MAT_FACTOR_ILU, transpose, &error, &x));
          PetscCheck(error < before / 5 && (*power == '1' || error < first / 5), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s%s, power %s, %s steps: error %g; %g with power 1, %g with a step less", backend.c_str(),
                     transpose ? ", transposed" : "", power, relax, (double)error, (double)first, (double)before);
          before = error;
        }
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With ICC the preconditioner is symmetric: solves and transposed ones differ by rounding errors. Of the two sums one
/// has another order, and the pivots are applied before or after it.
PetscErrorCode SymmetricToo()
{
  const Problem            p = Symmetric(conformance::Grid("grid_24x23", 24, 23, false));
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *power : {"1", "2"})
      for (const char *relax : {"0", "1"}) {
        std::vector<PetscScalar> plain, transposed;
        PetscReal                error;
        PetscCall(ErrorOf(backend, p, power, relax, MAT_FACTOR_ICC, false, &error, &plain));
        PetscCall(ErrorOf(backend, p, power, relax, MAT_FACTOR_ICC, true, &error, &transposed));
        PetscCall(CheckClose(transposed, plain, 30, backend + ", power " + power + ", " + relax + " steps"));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"inverses", Inverses}, {"nearer", Nearer}, {"symmetric", SymmetricToo}});
}
