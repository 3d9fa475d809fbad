static const char help[] = "Which coarsening -pc_sparsegpuamg_type auto takes, and that it converges.\n\n";

#include "amg.hpp"
#include "amg_list.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

namespace
{
struct Case {
  const char *name;
  bool        classical;
  PetscInt    at_most;
};

/// A solver whose options have the prefix a_, with all that was set.
PetscErrorCode SolveWith(Mat A, bool symmetric, const char type[], Result *result, std::string *view)
{
  const Option option("-a_pc_sparsegpuamg_type", type);
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, symmetric ? KSPCG : KSPGMRES, PCSPARSEGPUAMG, "a_", &ksp));
  PetscCall(Solve(ksp, A, result));
  PetscCall(View(ksp, view));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckChosen(const std::string &what, const std::string &view, bool classical, const char reason[])
{
  PetscFunctionBeginUser;
  if (!PetscGlobalRank)
    PetscCall(CheckText(what, view,
                        {std::string("type: ") + (classical ? "classical" : "aggregation") + " (chosen: " + reason,
                         classical ? "classical, " : "smoothed aggregation, "}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the type, and then does what that type does when it is set.
PetscErrorCode CheckCase(const Case &c, const char matrix[], const NamedGrid &problem)
{
  const std::string what = std::string(c.name) + ", " + matrix;
  const char *const same = c.classical ? "classical" : "aggregation";
  Mat               A;
  Result            chosen, set;
  std::string       view;
  PetscMPIInt       size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateGrid(PETSC_COMM_WORLD, matrix, problem.grid, &A));
  if (problem.grid.periodic) {
    MatNullSpace constant;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constant));
    PetscCall(MatSetNullSpace(A, constant));
    PetscCall(MatNullSpaceDestroy(&constant));
  }
  PetscCall(SolveWith(A, problem.symmetric, "auto", &chosen, &view));
  PetscCall(CheckConverged(what, chosen, c.at_most, 1000));
  PetscCall(CheckChosen(what, view, c.classical, "of the rows "));
  if (size == 1) { // sums of several processes need not repeat
    PetscCall(SolveWith(A, problem.symmetric, same, &set, &view));
    if (!PetscGlobalRank)
      PetscCheck(view.find("chosen:") == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: chosen in\n%s",
                 what.c_str(), view.c_str());
    PetscCheck(set.iterations == chosen.iterations && set.residual == chosen.residual, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " iterations to %g, %" PetscInt_FMT " to %g where the type is set", what.c_str(),
               chosen.iterations, (double)chosen.residual, set.iterations, (double)set.residual);
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

static PetscErrorCode TestFamilies()
{
  const Case cases[] = {
      {"stencil5", false, 14},    {"stencil7", false, 14},   {"stencil27", false, 12}, {"stretched:4", false, 16},
      {"stretched:16", true, 20}, {"stretched", true, 12},   {"layers", false, 16},    {"rotated:4", false, 18},
      {"rotated", true, 22},      {"differences", true, 22}, {"jumps", true, 12},      {"cubes", true, 18},
      {"scattered", true, 14},    {"mesh:0.2", false, 18},   {"shear:0.1", false, 14}, {"shear:10", true, 26},
      {"shear:1000", true, 30},   {"vortex:0.1", false, 14}, {"vortex:1", true, 18},   {"vortex:100", true, 40},
      {"central:0.1", false, 14}, {"central:1", true, 18},   {"mass:0.1", false, 12},  {"mass:5", false, 12},
      {"mass:50", false, 12},     {"step:0.1", false, 12},   {"step:10", false, 12}};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const Case &c : cases) {
      NamedGrid problem;

      PetscCall(FindGrid(c.name, 48, &problem));
      if (problem.dimensions == 3) PetscCall(FindGrid(c.name, 16, &problem));
      PetscCall(CheckCase(c, type, problem));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Singular operators, and diagonals of the other sign or with an imaginary part.
static PetscErrorCode TestSigns()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const Case &c : {Case{"stencil5", false, 16}, Case{"stretched", true, 16}}) {
      NamedGrid problem;

      PetscCall(FindGrid(c.name, 48, &problem));
      const auto weight     = problem.grid.weight;
      problem.grid.periodic = true;
      PetscCall(CheckCase(c, type, problem));
      problem.grid.periodic = false;
      problem.grid.weight   = [weight](PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz) {
        return -weight(x, y, z, dx, dy, dz);
      };
      PetscCall(CheckCase(c, type, problem));
#if defined(PETSC_USE_COMPLEX)
      problem.symmetric   = false; // complex symmetric
      problem.grid.weight = weight;
      problem.grid.shift  = PetscScalar(0, (PetscReal)0.1);
      PetscCall(CheckCase(c, type, problem));
      problem.grid.shift  = 0;
      problem.grid.weight = [weight](PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz) {
        return PETSC_i * weight(x, y, z, dx, dy, dz);
      };
      PetscCall(CheckCase(c, type, problem));
#endif
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the program says goes before what rows look like.
static PetscErrorCode TestTold()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const std::string told : {"blocks of 2", "a near null space", "of the rows ", "one level"}) {
      NamedGrid    problem;
      Mat          A;
      Vec          ones;
      MatNullSpace near;
      Result       result;
      std::string  view;

      PetscCall(FindGrid("jumps", told == "one level" ? 6 : 48, &problem));
      if (told[0] == 'b') problem.grid.unknowns = 2;
      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, problem.grid, &A));
      if (told[0] == 'a' || told[0] == 'o') { // a constant alone is what both types assume
        PetscCall(MatCreateVecs(A, nullptr, &ones));
        PetscCall(VecSet(ones, 1));
        PetscCall(VecNormalize(ones, nullptr));
        PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, told[0] == 'a' ? PETSC_FALSE : PETSC_TRUE, told[0] == 'a', &ones,
                                     &near));
        PetscCall(MatSetNearNullSpace(A, near));
        PetscCall(MatNullSpaceDestroy(&near));
        PetscCall(VecDestroy(&ones));
      }
      PetscCall(SolveWith(A, true, "auto", &result, &view));
      PetscCall(CheckConverged(told, result, 80, 1000));
      PetscCall(CheckChosen(told + ", " + type, view, told == "of the rows ", told.c_str()));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values in the old pattern keep the type; a set-up from nothing chooses again.
static PetscErrorCode TestNewValues()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    NamedGrid   before, after;
    Mat         A, B;
    KSP         ksp;
    Result      result;
    std::string view;

    PetscCall(FindGrid("stencil5", 48, &before));
    PetscCall(FindGrid("jumps", 48, &after));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, before.grid, &A));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, after.grid, &B));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, "a_", &ksp));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetUp(ksp));
    PetscCall(View(ksp, &view));
    PetscCall(CheckChosen(std::string("kept, ") + type, view, false, "of the rows "));
    PetscCall(KSPReset(ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(Solve(ksp, A, &result));
    PetscCall(CheckConverged(type, result, 12, 1000));
    PetscCall(View(ksp, &view));
    PetscCall(CheckChosen(std::string("chosen again, ") + type, view, true, "of the rows "));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"families", TestFamilies}, {"signs", TestSigns}, {"told", TestTold}, {"new_values", TestNewValues}});
}
