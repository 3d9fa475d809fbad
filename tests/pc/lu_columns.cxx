static const char help[] = "Direct solves with several right-hand sides, which are taken and refined in blocks.\n\n";

#include "mirrored.hpp"
#include "solved_columns.hpp"

using namespace testing;

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

/// Fronts of few pivots, as many as a block of the sweeps has rows and one more or less, with more other rows than one
/// takes along.
static PetscErrorCode Along()
{
  const std::vector<Problem> problems = {Dominant(Arrow({1, 16, 31, 32, 33, 63, 64, 65, 100}, 570))};

  PetscFunctionBeginUser;
  for (const char *on : {"auto", "on"}) { // pairs, too
    const Option matching("-mat_sparsegpu_lu_matching", on);
    PetscCall(OnFactors(problems, [&](const Problem &p, Mat A, Mat F, const std::string &what, PetscReal slack) {
      PetscFunctionBeginUser;
      for (const bool transpose : {false, true})
        for (const PetscInt count : {3, 16})
          PetscCall(CheckColumns(p, A, F, std::vector<Kind>((size_t)count, Kind::Plain), transpose, MATSEQDENSE,
                                 what + ", " + std::to_string(count) + " columns along, matching " + on, slack));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  }
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
              {{"together", Together},
               {"along", Along},
               {"strange", Strange},
               {"refined", Refined},
               {"ksp", ByKsp},
               {"few", Few}});
}
