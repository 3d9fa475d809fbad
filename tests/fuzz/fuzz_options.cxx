/// An input is a list of options (option_lines.hpp), under which a system of five equations is set up, multiplied with,
/// solved, changed, solved again and viewed. Each step ends well or with a PETSc error; a product that ends well is
/// right, and all objects can be destroyed whatever happened.
#include <array>
#include <limits>
#include <string>

#include <petscksp.h>
#include <sparsegpu.h>

#include "fuzz.hpp"
#include "option_lines.hpp"

namespace
{
constexpr PetscInt N = 5;
using Dense          = std::array<std::array<PetscReal, N>, N>;

PetscViewer nowhere = nullptr;

struct Objects {
  Mat A = nullptr;
  Vec x = nullptr, b = nullptr;
  KSP ksp = nullptr;
};

/// Small integers: a product with a vector of such is the same in every order of summation.
Dense System(const std::string &name)
{
  Dense a{};

  for (PetscInt i = 0; i < N; i++) {
    a[i][i] = name == "indefinite" ? 3 - 2 * i : 4;
    if (i > 0) a[i][i - 1] = name == "convective" ? -3 : -1;
    if (i + 1 < N) a[i][i + 1] = -1;
  }
  if (name == "singular") a[3] = a[2];
  if (name == "zero_diagonal" || name == "no_diagonal")
    for (PetscInt i = 0; i < N; i++) a[i][i] = 0;
  if (name == "empty_row") a[1].fill(0);
  if (name == "nonfinite") a[2][2] = std::numeric_limits<PetscReal>::quiet_NaN();
  return a;
}

PetscErrorCode CreateMatrix(const std::string &name, const Dense &a, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, N, N, N, N));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  for (PetscInt i = 0; i < N; i++)
    for (PetscInt j = 0; j < N; j++)
      if (a[i][j] != 0 || (i == j && name == "zero_diagonal")) PetscCall(MatSetValue(*A, i, j, a[i][j], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = A x, or A^T x, against the dense matrix.
PetscErrorCode CheckProduct(const Objects &o, const Dense &a, bool transposed)
{
  const PetscScalar *y;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < N; i++) PetscCall(VecSetValue(o.x, i, i - 2, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(o.x));
  PetscCall(VecAssemblyEnd(o.x));
  PetscCall(transposed ? MatMultTranspose(o.A, o.x, o.b) : MatMult(o.A, o.x, o.b));
  PetscCall(VecGetArrayRead(o.b, &y));
  for (PetscInt i = 0; i < N; i++) {
    PetscReal sum = 0;
    for (PetscInt j = 0; j < N; j++) sum += (transposed ? a[j][i] : a[i][j]) * static_cast<PetscReal>(j - 2);
    const bool right = y[i] == PetscScalar(sum) || (PetscIsNanReal(sum) && PetscIsNanScalar(y[i]));
    fuzz::Require(right || a[2][2] != a[2][2], "a wrong product"); // of a NaN, 0 times it may be left out
  }
  PetscCall(VecRestoreArrayRead(o.b, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(const Objects &o)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(o.b, 1));
  PetscCall(KSPSetUp(o.ksp));
  PetscCall(KSPSolve(o.ksp, o.b, o.x));
  PetscCall(KSPView(o.ksp, nowhere));
  PetscCall(MatView(o.A, nowhere));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run(const std::string &system, Objects *o)
{
  Dense a = System(system);

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(system, a, &o->A));
  PetscCall(MatCreateVecs(o->A, &o->x, &o->b));
  PetscCall(CheckProduct(*o, a, false));
  PetscCall(CheckProduct(*o, a, true));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &o->ksp));
  PetscCall(KSPSetOperators(o->ksp, o->A, o->A));
  PetscCall(KSPSetType(o->ksp, KSPSPARSEGPUGMRES));
  PetscCall(KSPSetFromOptions(o->ksp));
  PetscCall(KSPSetTolerances(o->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 20));
  PetscCall(Solve(*o));
  PetscCall(MatScale(o->A, 2));
  for (auto &row : a)
    for (PetscReal &value : row) value *= 2;
  PetscCall(Solve(*o));
  PetscCall(CheckProduct(*o, a, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
  fuzz::Require(fuzz::Initialize() == PETSC_SUCCESS, "PETSc does not start");
  fuzz::Require(SparseGPUInitializePackage() == PETSC_SUCCESS, "the library does not start");
  // PETSc's own factorizations allocate what -pc_factor_fill says
  fuzz::Require(PetscOptionsSetValue(nullptr, "-pc_factor_mat_solver_type", MATSOLVERSPARSEGPU) == PETSC_SUCCESS,
                "an option cannot be set");
  fuzz::Require(PetscViewerASCIIOpen(PETSC_COMM_SELF, "/dev/null", &nowhere) == PETSC_SUCCESS, "no viewer");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const fuzz::OptionLines lines  = fuzz::ParseOptionLines(std::string(reinterpret_cast<const char *>(data), size));
  std::string             system = "laplacian";
  Objects                 o;

  for (const auto &[name, value] : lines) {
    if (name == "-system")
      system = value;
    else
      fuzz::Require(PetscOptionsSetValue(nullptr, name.c_str(), value.empty() ? nullptr : value.c_str()) ==
                        PETSC_SUCCESS,
                    "an option cannot be set");
  }
  fuzz::Accepted() = Run(system, &o) == PETSC_SUCCESS;
  fuzz::Require(KSPDestroy(&o.ksp) == PETSC_SUCCESS, "the solver cannot be destroyed");
  fuzz::Require(VecDestroy(&o.x) == PETSC_SUCCESS && VecDestroy(&o.b) == PETSC_SUCCESS, "a vector cannot be destroyed");
  fuzz::Require(MatDestroy(&o.A) == PETSC_SUCCESS, "the matrix cannot be destroyed");
  for (const auto &[name, value] : lines)
    if (name != "-system")
      fuzz::Require(PetscOptionsClearValue(nullptr, name.c_str()) == PETSC_SUCCESS, "an option cannot be cleared");
  return 0;
}
