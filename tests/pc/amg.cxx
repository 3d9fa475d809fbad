static const char help[] =
    "Multigrid of ours: iterations, also against PETSc's, and what changes of values and of patterns leave of it.\n\n";

#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

/// The same, and PETSc's own type of matrices on a device where there is one.
static PetscErrorCode AllTypes(std::vector<const char *> *types)
{
  PetscBool device;

  PetscFunctionBeginUser;
  types->assign(std::begin(TYPES), std::end(TYPES));
  PetscCall(SparseGPUHasDevice(&device));
#if defined(PETSC_HAVE_CUDA)
  if (device) types->push_back(MATAIJCUSPARSE);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Conjugate gradients with ours need few iterations, and at most 15 % more than with PCGAMG.
static PetscErrorCode CompareWithGamg(const std::string &what, Mat A, PetscInt at_most,
                                      const std::vector<PetscReal> *coordinates = nullptr, PetscReal contrast = 1)
{
  Result ours, gamg;

  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &ours, nullptr, coordinates));
  PetscCall(SolveOnce(A, KSPCG, PCGAMG, &gamg, nullptr, coordinates));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations, gamg %" PetscInt_FMT "\n", what.c_str(),
                        ours.iterations, gamg.iterations));
  PetscCall(CheckConverged(what, ours, at_most, contrast));
  const PetscInt limit = (PetscInt)std::ceil(1.15 * (double)gamg.iterations);
  PetscCheck(gamg.reason <= 0 || ours.iterations <= limit, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " iterations, gamg %" PetscInt_FMT, what.c_str(), ours.iterations, gamg.iterations);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPoisson()
{
  struct Case {
    const char *name;
    Grid        grid;
    PetscInt    at_most;
  };
  const Case cases[] = {{"5-point 120 x 110", {120, 110, 1, 1, false, Faces}, 13},
                        {"7-point 24 x 25 x 26", {24, 25, 26, 1, false, Faces}, 12},
                        {"27-point 24 x 25 x 26", {24, 25, 26, 1, false, All}, 12},
                        {"two unknowns a point, 40 x 41", {40, 41, 1, 2, false, Faces}, 13}};

  std::vector<const char *> types;

  PetscFunctionBeginUser;
  PetscCall(AllTypes(&types));
  for (const Case &c : cases)
    for (const char *type : types) {
      Mat A;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, c.grid, &A));
      PetscCall(CompareWithGamg(std::string(c.name) + ", " + type, A, c.at_most));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rigid body modes, of coordinates and attached, give the same iterations; without them there are more.
static PetscErrorCode TestElasticity()
{
  for (const char *type : TYPES) {
    std::vector<PetscReal> coordinates;
    const std::string      what = std::string("elasticity, ") + type;
    Mat                    A;
    Vec                    points;
    PetscScalar           *x;
    MatNullSpace           modes;
    Result                 given, attached, none;

    PetscFunctionBeginUser;
    PetscCall(CreateElasticity(PETSC_COMM_WORLD, type, 12, 8, 9, &A, &coordinates));
    PetscCall(CompareWithGamg(what, A, 16, &coordinates));
    PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &given, nullptr, &coordinates));
    PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &none));
    PetscCall(CheckConverged(what + " without modes", none, 40));
    PetscCall(MatCreateVecs(A, &points, nullptr));
    PetscCall(VecGetArrayWrite(points, &x));
    std::copy(coordinates.begin(), coordinates.end(), x);
    PetscCall(VecRestoreArrayWrite(points, &x));
    PetscCall(MatNullSpaceCreateRigidBody(points, &modes));
    PetscCall(MatSetNearNullSpace(A, modes));
    PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &attached));
    PetscCall(CheckConverged(what + " with attached modes", attached, 16));
    // the same space in another basis: the same but for rounding
    PetscCheck(std::abs(attached.iterations - given.iterations) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " iterations with attached modes, %" PetscInt_FMT " with coordinates", what.c_str(),
               attached.iterations, given.iterations);
    PetscCheck(none.iterations > given.iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: rigid body modes do not help: %" PetscInt_FMT " iterations, %" PetscInt_FMT " without",
               what.c_str(), given.iterations, none.iterations);
    PetscCall(MatNullSpaceDestroy(&modes));
    PetscCall(VecDestroy(&points));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Coefficients of 10^6 : 1 in cubes, which one constant an aggregate represents well as long as aggregates do not
/// cross the jumps. Anisotropy of 1000 : 1, where point smoothers reduce only what is rough in the strong direction:
/// aggregates have to follow that. The default threshold sees to both; without one there are many more iterations. The
/// rows of three processes cut cubes in two, whose halves become one where a process has both, on a coarser level.
static PetscErrorCode TestCoefficients()
{
  struct Case {
    const char *name;
    Grid        grid;
    PetscInt    at_most;
    PetscReal   contrast;
  };
  const auto hard    = [](PetscInt x, PetscInt y) { return (x / 8 + y / 8) % 2 == 0; };
  const auto jumping = [hard](PetscInt x, PetscInt y, PetscInt, int dx, int dy, int) -> PetscScalar {
    if (std::abs(dx) + std::abs(dy) != 1) return 0;
    return hard(x, y) && hard(x + dx, y + dy) ? 1e6 : 1;
  };
  const auto stretched = [](PetscInt, PetscInt, PetscInt, int dx, int dy, int) -> PetscScalar {
    if (std::abs(dx) + std::abs(dy) != 1) return 0;
    return dx ? 1 : 1e-3;
  };

  PetscFunctionBeginUser;
  const Case cases[] = {{"jumps", {64, 64, 1, 1, false, jumping}, 30, 1000},
                        {"anisotropic", {64, 64, 1, 1, false, stretched}, 20, 1}};
  Mat        A;
  Result     plain;

  for (const char *type : TYPES)
    for (const Case &c : cases) {
      const std::string what = std::string(c.name) + ", " + type;
      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, c.grid, &A));
      PetscCall(CompareWithGamg(what, A, c.at_most, nullptr, c.contrast));
      {
        const Option without("-pc_sparsegpuamg_threshold", "-1");
        PetscCall(SolveOnce(A, KSPCG, PCSPARSEGPUAMG, &plain));
      }
      PetscCheck(plain.iterations > c.at_most, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: the threshold does not help, %" PetscInt_FMT " iterations without", what.c_str(),
                 plain.iterations);
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"poisson", TestPoisson}, {"elasticity", TestElasticity}, {"coefficients", TestCoefficients}});
}
