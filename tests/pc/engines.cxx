static const char help[] = "Every engine of the triangular solves of MATSOLVERSPARSEGPU, wherever it can run.\n\n";

#include "factors.hpp"

using namespace testing;

/// The levels of the rows of ILU(0)'s factors in the order of the matrix, the larger of L's and U's; one plain loop.
static PetscInt Levels(const Problem &p)
{
  std::vector<std::vector<PetscInt>> columns((size_t)p.rows);
  std::vector<PetscInt>              lower((size_t)p.rows, 1), upper((size_t)p.rows, 1);
  PetscInt                           levels = 0;

  for (const Entry &e : p.entries) columns[(size_t)e.i].push_back(e.j);
  for (PetscInt k = 0; k < p.rows; ++k) {
    const size_t r = (size_t)k, s = (size_t)(p.rows - 1 - k);
    for (PetscInt c : columns[r])
      if (c < (PetscInt)r) lower[r] = std::max(lower[r], lower[(size_t)c] + 1);
    for (PetscInt c : columns[s])
      if (c > (PetscInt)s) upper[s] = std::max(upper[s], upper[(size_t)c] + 1);
    levels = std::max({levels, lower[r], upper[s]});
  }
  return levels;
}

static PetscErrorCode CreateDense(PetscInt rows, PetscInt columns, PetscInt lda, const char type[], Mat *M)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, M));
  PetscCall(MatSetSizes(*M, rows, columns, rows, columns));
  PetscCall(MatSetType(*M, type));
  PetscCall(MatDenseSetLDA(*M, lda));
  PetscCall(MatSetUp(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatMatSolve() with `columns` right-hand sides, which lie further apart than the rows need, against `reference`,
/// whose MatSolve() takes them one after the other.
static PetscErrorCode CheckMany(Mat F, Mat reference, PetscInt n, PetscInt columns, bool transpose, const char type[],
                                PetscInt length, const std::string &what)
{
  const std::vector<PetscScalar> rhs = Input(n * columns, 31, Poison::None);
  std::vector<PetscScalar>       first((size_t)(n * columns));
  const PetscScalar             *xs;
  PetscScalar                   *bs;
  Mat                            B, X;
  Vec                            b, x;

  PetscFunctionBeginUser;
  PetscCall(CreateDense(n, columns, n + 3, type, &B));
  PetscCall(CreateDense(n, columns, n > 0 ? n : 1, type, &X));
  PetscCall(MatDenseGetArrayWrite(B, &bs));
  for (PetscInt c = 0; c < columns; ++c) std::copy_n(rhs.begin() + c * n, n, bs + c * (n + 3));
  PetscCall(MatDenseRestoreArrayWrite(B, &bs));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &b));
  PetscCall(VecDuplicate(b, &x));
  for (int round = 0; round < 2; ++round) {
    std::vector<PetscScalar> ours;
    PetscCall(MatZeroEntries(X));
    PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
    PetscCall(MatDenseGetArrayRead(X, &xs));
    ours.assign(xs, xs + n * columns);
    PetscCall(MatDenseRestoreArrayRead(X, &xs));
    if (round) PetscCall(CheckSameBits(ours, first, what));
    first = ours;
  }
  for (PetscInt c = 0; c < columns; ++c) {
    PetscCall(SetVector(b, std::vector<PetscScalar>(rhs.begin() + c * n, rhs.begin() + (c + 1) * n)));
    PetscCall(transpose ? MatSolveTranspose(reference, b, x) : MatSolve(reference, b, x));
    PetscCall(VecGetArrayRead(x, &xs));
    PetscCall(CheckClose(std::vector<PetscScalar>(first.begin() + c * n, first.begin() + (c + 1) * n),
                         std::vector<PetscScalar>(xs, xs + n), length, what + ", column " + std::to_string(c)));
    PetscCall(VecRestoreArrayRead(x, &xs));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSolveAdd() is the solution and one more addition, rounded once.
static PetscErrorCode CheckAdd(Mat A, Mat F, const std::string &type, bool transpose,
                               const std::vector<PetscScalar> &solution, const std::string &what)
{
  const std::vector<PetscScalar> ys = Input((PetscInt)solution.size(), 99, Poison::None);
  const PetscScalar             *xs;
  Vec                            b, x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(A, Op::Plain, false, type, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(SetVector(b, Input((PetscInt)solution.size(), 7, Poison::None)));
  PetscCall(SetVector(y, ys));
  PetscCall(transpose ? MatSolveTransposeAdd(F, b, y, x) : MatSolveAdd(F, b, y, x));
  PetscCall(VecGetArrayRead(x, &xs));
  for (size_t r = 0; r < ys.size(); ++r)
    PetscCheck(PetscAbsScalar(xs[r] - (solution[r] + ys[r])) <=
                   PETSC_MACHINE_EPSILON * (PetscAbsScalar(solution[r]) + PetscAbsScalar(ys[r])),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, MatSolveAdd, row %d: %g away", what.c_str(), (int)r,
               (double)PetscAbsScalar(xs[r] - (solution[r] + ys[r])));
  PetscCall(VecRestoreArrayRead(x, &xs));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One engine with one factor: three solves, of which the first of engine `level` is sync-free on a GPU.
static PetscErrorCode CheckEngine(Mat A, Mat F, Mat G, const Problem &p, const std::string &what)
{
  const PetscInt            length = 40 + p.rows / 4;
  std::vector<std::string>  types;
  std::vector<const char *> dense = {MATSEQDENSE};
  std::vector<PetscScalar>  ours, again, petsc;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
#if defined(PETSC_HAVE_CUDA)
  if (std::find(types.begin(), types.end(), VECCUDA) != types.end()) dense.push_back(MATSEQDENSECUDA);
#endif
  for (bool transpose : {false, true}) {
    const std::string where = what + (transpose ? ", transposed" : "");
    PetscCall(SolveWith(A, G, VECSTANDARD, transpose, &petsc));
    for (const std::string &type : types) {
      PetscCall(SolveWith(A, F, type, transpose, &ours));
      PetscCall(CheckClose(ours, petsc, length, where + ", " + type));
      for (int round = 0; round < 2; ++round) {
        PetscCall(SolveWith(A, F, type, transpose, &again));
        PetscCall(CheckSameBits(ours, again, where + ", " + type));
      }
      PetscCall(CheckAdd(A, F, type, transpose, ours, where + ", " + type));
    }
    for (const char *type : dense)
      for (PetscInt columns : {1, 3, 5, 17})
        PetscCall(CheckMany(F, G, p.rows, columns, transpose, type, length,
                            where + ", " + std::to_string(columns) + " columns, " + type));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every engine solves with the factors that PETSc's own solver makes; `jacobi` with as many sweeps, `isai` with as
/// many relaxation steps as there are levels.
static PetscErrorCode Same()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &p : Problems())
    for (const char *name : ENGINES)
      for (PetscInt levels : {0, 1})
        for (const std::string &backend : backends) {
          const bool    inexact = !strcmp(name, "jacobi") || !strcmp(name, "isai");
          const char   *order   = levels ? MATORDERINGRCM : MATORDERINGNATURAL;
          const Option  engine("-mat_sparsegpu_trisolve", name);
          const Option  sweeps("-mat_sparsegpu_trisolve_sweeps", std::to_string(Levels(p)));
          const Option  steps("-mat_sparsegpu_trisolve_relax", std::to_string(Levels(p)));
          MatFactorInfo info = Info((PetscReal)levels);
          Mat           A, F, G;
          if (inexact && levels) continue;                         // Levels() knows those of ILU(0) only
          if (!strcmp(name, "isai") && Levels(p) > 1000) continue; // that many steps take long
          PetscCall(CreateOn(backend, p, &A));
          PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, order, &F));
          PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ILU, info, order, &G));
          for (int round = 0; round < 2; ++round) {
            PetscCall(
                CheckEngine(A, F, G, p, p.name + ", ILU(" + std::to_string(levels) + "), " + backend + ", " + name));
            PetscCall(MatShift(A, 3)); // new values in the same pattern
            PetscCall(MatLUFactorNumeric(F, A, &info));
            PetscCall(MatLUFactorNumeric(G, A, &info));
          }
          PetscCall(MatDestroy(&F));
          PetscCall(MatDestroy(&G));
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The more sweeps, the nearer to the solution. Off the diagonal, half a row or column of the grid's factors sums up to
/// 2.6 at most, and the diagonal is 16 or more: a sweep leaves less than a fifth of the error, be it of L or of U, so
/// four leave far less.
static PetscErrorCode Sweeps()
{
  const Problem            p = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (bool transpose : {false, true}) {
      const Option             engine("-mat_sparsegpu_trisolve", "jacobi");
      std::vector<PetscScalar> exact, x;
      PetscReal                before = PETSC_MAX_REAL;
      Mat                      A, F;
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
      PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &exact));
      PetscCall(MatDestroy(&F));
      for (const char *count : {"0", "4", "8"}) {
        const Option sweeps("-mat_sparsegpu_trisolve_sweeps", count);
        PetscReal    error = 0;
        PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
        PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
        for (size_t r = 0; r < x.size(); ++r) error = PetscMax(error, PetscAbsScalar(x[r] - exact[r]));
        PetscCheck(error < before / 5, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s%s: error %g after %s sweeps, %g after 4 fewer", backend.c_str(), transpose ? ", transposed" : "",
                   (double)error, count, (double)before);
        before = error;
        PetscCall(MatDestroy(&F));
      }
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The thousandth solve gives the bits of the first.
static PetscErrorCode Thousand()
{
  const Problem            p = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *name : ENGINES) {
      const Option             engine("-mat_sparsegpu_trisolve", name);
      std::vector<PetscScalar> first, x;
      Mat                      A, F;
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
      for (bool transpose : {false, true})
        for (int k = 0; k < 1000; ++k) {
          PetscCall(SolveWith(A, F, VECSTANDARD, transpose, k ? &x : &first));
          if (k) PetscCall(CheckSameBits(x, first, backend + ", " + name + ", solve " + std::to_string(k)));
        }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More warps than any GPU holds at a time, of several processes on one GPU where there are several: those that hold it
/// must not wait for those that do not. The grid's factors have 340,000 rows.
static PetscErrorCode Crowd()
{
  const Problem            p = Dominant(conformance::Grid("grid_600x567", 600, 567, false));
  std::vector<PetscScalar> ours, petsc, again;
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    const Option warps("-mat_sparsegpu_trisolve_warps", "1000000");
    Mat          A, F;
    PetscCall(CreateOn(backend, p, &A));
    PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &petsc));
    PetscCall(MatDestroy(&F));
    for (const char *name : {"auto", "syncfree", "level"})
      for (const char *tile : {"1", "4", "8"}) {
        const std::string what = backend + ", " + name + ", tiles of " + tile;
        const Option      engine("-mat_sparsegpu_trisolve", name), tiles("-mat_sparsegpu_trisolve_tile", tile);
        if (strcmp(name, "auto") && strcmp(tile, "1")) continue; // the others have no tiles
        PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
        PetscCall(SolveWith(A, F, VECSTANDARD, false, &ours));
        PetscCall(CheckClose(ours, petsc, 5, what));
        PetscCall(SolveWith(A, F, VECSTANDARD, false, &again));
        PetscCall(CheckSameBits(ours, again, what));
        PetscCall(MatDestroy(&F));
      }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What cannot be is refused, by name and value.
static PetscErrorCode BadOptions()
{
  const struct {
    const char              *option, *value;
    std::vector<std::string> facts;
  } cases[] = {
      {"-mat_sparsegpu_trisolve", "fastest", {"fastest", "auto, syncfree, level, jacobi, isai"}},
      {"-mat_sparsegpu_trisolve_sweeps", "-1", {"-mat_sparsegpu_trisolve_sweeps -1"}},
      {"-mat_sparsegpu_trisolve_power", "3", {"-mat_sparsegpu_trisolve_power 3", "1 or 2"}},
      {"-mat_sparsegpu_trisolve_relax", "-1", {"-mat_sparsegpu_trisolve_relax -1"}},
      {"-mat_sparsegpu_trisolve_spins", "0", {"-mat_sparsegpu_trisolve_spins 0"}},
      {"-mat_sparsegpu_trisolve_warps", "-2", {"-mat_sparsegpu_trisolve_warps -2"}},
      {"-mat_sparsegpu_trisolve_tile", "5", {"-mat_sparsegpu_trisolve_tile 5", "1, 4 or 8"}},
  };
  std::string message;
  Mat         A, F = nullptr;

  PetscFunctionBeginUser;
  PetscCall(CreateOn("kokkos", Dominant(conformance::Grid("grid_5x4", 5, 4, false)), &A));
  for (const auto &c : cases) {
    const Option option(c.option, c.value);
    PetscCall(ExpectError(
        c.option, [&] { return FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F); },
        &message));
    PetscCall(CheckText(c.option, message, c.facts));
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same}, {"sweeps", Sweeps}, {"thousand", Thousand}, {"crowd", Crowd}, {"options", BadOptions}});
}
