static const char help[] = "Multigrid whose products read values in single precision.\n\n";

#include <cstdio>
#include <cstring>
#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

namespace
{
constexpr char OPTION[] = "-pc_sparsegpuamg_precision";
constexpr char TAIL[]   = "-pc_sparsegpuamg_tail"; ///< 0: a GPU's, which is in full precision, would be all levels

/// Symmetric, and no two values are the same.
PetscScalar Varies(PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz)
{
  const PetscReal at[3] = {(PetscReal)(2 * x + dx), (PetscReal)(2 * y + dy), (PetscReal)(2 * z + dz)};
  return 1 + (PetscReal)0.4 * PetscSinReal((PetscReal)1.7 * at[0] + (PetscReal)2.3 * at[1] + (PetscReal)3.1 * at[2]);
}
PetscScalar VariesInFaces(PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz)
{
  return std::abs(dx) + std::abs(dy) + std::abs(dz) == 1 ? Varies(x, y, z, dx, dy, dz) : 0;
}
PetscScalar Convects(PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz)
{
  return VariesInFaces(x, y, z, dx, dy, dz) * (PetscReal)(dx > 0 || dy > 0 ? 1 : 3);
}
PetscScalar Anisotropic(PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz)
{
  return dz ? 0 : VariesInFaces(x, y, z, dx, dy, dz) * (PetscReal)(dx ? 1 : 1e-3);
}

struct Problem {
  const char *name, *options;
  Grid        grid; ///< of no points: elasticity
  bool        symmetric;
};
/// In formats that keep values in single precision.
std::vector<Problem> Problems()
{
  return {
      {"27 points", "-mat_sparsegpu_format sell", {17, 15, 16, 1, false, Varies}, true},
      {"7 points, K",
       "-mat_sparsegpu_format sell -pc_sparsegpuamg_cycle_type k",
       {19, 17, 15, 1, false, VariesInFaces},
       true},
      {"classical",
       "-mat_sparsegpu_format sell -pc_sparsegpuamg_type classical",
       {60, 57, 1, 1, false, Anisotropic},
       true},
      {"ilu", "-mat_sparsegpu_format sell -pc_sparsegpuamg_smoother ilu", {19, 17, 15, 1, false, VariesInFaces}, true},
      {"gauss_seidel",
       "-mat_sparsegpu_format sell -pc_sparsegpuamg_smoother gauss_seidel",
       {19, 17, 15, 1, false, VariesInFaces},
       true},
      {"not fused",
       "-mat_sparsegpu_format sell -pc_sparsegpuamg_fused_cycle 0",
       {19, 17, 15, 1, false, VariesInFaces},
       true},
      {"convection", "-mat_sparsegpu_format sell", {20, 19, 9, 1, false, Convects}, false},
      {"elasticity", "-mat_sparsegpu_format bsr", {0, 0, 0, 1, false, nullptr}, true}};
}

/// "products with ROUNDED of ALL operators" of a view.
PetscErrorCode Counts(const std::string &what, const std::string &view, int *rounded, int *all)
{
  const size_t at = view.find("in single precision: products with ");

  PetscFunctionBeginUser;
  PetscCheck(at != std::string::npos &&
                 std::sscanf(view.c_str() + at, "in single precision: products with %d of %d", rounded, all) == 2,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the view does not tell:\n%s", what.c_str(), view.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(const Problem &p, const char type[], Mat *A)
{
  std::vector<PetscReal> coordinates;

  PetscFunctionBeginUser;
  if (p.grid.Points())
    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, p.grid, A));
  else
    PetscCall(CreateElasticity(PETSC_COMM_WORLD, type, 9, 5, 6, A, &coordinates));
  if (p.symmetric) { // for transposes of sweeps
    PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// |u - v| / |v|
PetscErrorCode Difference(Vec u, Vec v, PetscReal *difference)
{
  Vec       d;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &d));
  PetscCall(VecWAXPY(d, -1, v, u));
  PetscCall(VecNorm(d, NORM_2, difference));
  PetscCall(VecNorm(v, NORM_2, &norm));
  *difference /= norm;
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// As many iterations as in full precision, but for one, to the same residual; products of the program are in full
/// precision before and after.
static PetscErrorCode TestIterations()
{
  const Option tail(TAIL, "0");

  PetscFunctionBeginUser;
  for (const Problem &p : Problems()) {
    const Options     set(p.options);
    const std::string what = p.name;
    Mat               A;
    Vec               b, y[2];
    Result            results[2];
    PetscBool         same;

    PetscCall(Create(p, MATSPARSEGPU, &A));
    PetscCall(MatCreateVecs(A, &b, &y[0]));
    PetscCall(VecDuplicate(y[0], &y[1]));
    PetscCall(SetNoise(b));
    PetscCall(MatMult(A, b, y[0]));
    for (int single = 0; single < 2; ++single) {
      const Option precision(OPTION, single ? "single" : "full");
      std::string  view;
      int          rounded = 0, all = 0;
      PetscCall(SolveAndView(what, A, p.symmetric ? KSPCG : KSPGMRES, &results[single], &view));
      PetscCall(CheckConverged(what, results[single], 60));
      if (single && !PetscGlobalRank) PetscCall(Counts(what, view, &rounded, &all));
      const bool rounds = PetscDefined(USE_REAL_DOUBLE) && single && !PetscGlobalRank;
      PetscCheck(!rounds || (rounded > 0 && all > 0), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %d of %d", what.c_str(),
                 rounded, all);
      PetscCheck(single || view.find("in single precision") == std::string::npos, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s: the view tells of single precision", what.c_str());
    }
    PetscCheck(std::abs((int)(results[1].iterations - results[0].iterations)) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " in full precision", what.c_str(),
               results[1].iterations, results[0].iterations);
    PetscCall(MatMult(A, b, y[1]));
    PetscCall(VecEqual(y[0], y[1], &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: products have changed", what.c_str());
    for (Vec *v : {&b, &y[0], &y[1]}) PetscCall(VecDestroy(v));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A cycle differs from one in full precision, and by no more than roundings, before and after new values, and
/// transposed; after a change of the option it is as if that had been set from the beginning.
static PetscErrorCode TestRounded()
{
  const Option tail(TAIL, "0");
  PetscBool    device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  // PETSc's other products of parallel matrices, which the host has, add in the order in which messages come
  const Options ordered(device ? "" : "-matptap_via allatonce");
  for (const Problem &p : Problems()) {
    const Options     set(p.options);
    const std::string what = p.name;
    Mat               A;
    PC                pc[3]; // full, single, single after full
    Vec               b, z[3];

    PetscCall(Create(p, MATSPARSEGPU, &A));
    PetscCall(MatCreateVecs(A, &b, &z[0]));
    PetscCall(SetNoise(b));
    for (int k = 0; k < 3; ++k) {
      if (k > 0) PetscCall(VecDuplicate(z[0], &z[k]));
      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[k]));
      PetscCall(PCSetOperators(pc[k], A, A));
      PetscCall(PCSetType(pc[k], PCSPARSEGPUAMG));
      const Option precision(OPTION, k == 1 ? "single" : "full");
      PetscCall(PCSetFromOptions(pc[k]));
      PetscCall(PCSetUp(pc[k]));
    }
    PetscCall(PCApply(pc[2], b, z[2]));
    {
      const Option precision(OPTION, "single");
      PetscCall(PCSetFromOptions(pc[2]));
    }
    for (int round = 0; round < 3; ++round) {
      PetscReal difference[2];
      for (int k = 0; k < 3; ++k) {
        PetscCall(PCSetUp(pc[k]));
        PetscCall(round == 2 ? PCApplyTranspose(pc[k], b, z[k]) : PCApply(pc[k], b, z[k]));
      }
      PetscCall(Difference(z[1], z[0], &difference[0]));
      PetscCall(Difference(z[1], z[2], &difference[1]));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, round %d: differs by %g, %g\n", what.c_str(), round,
                            (double)difference[0], (double)difference[1]));
      const bool rounds = PetscDefined(USE_REAL_DOUBLE);
      PetscCheck(difference[0] <= 1e-4 && (!rounds || difference[0] > 1e-10), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, round %d: differs by %g", what.c_str(), round, (double)difference[0]);
      PetscCheck(difference[1] <= 1000 * PETSC_MACHINE_EPSILON, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, round %d: %g away from one that was in single precision from the beginning", what.c_str(), round,
                 (double)difference[1]);
      if (round == 0) PetscCall(MatScale(A, (PetscReal)1.37));
    }
    for (int k = 0; k < 3; ++k) {
      PetscCall(VecDestroy(&z[k]));
      PetscCall(PCDestroy(&pc[k]));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What stays in full precision: matrices with values out of range, those of other types, formats without codes; a name
/// that is none.
static PetscErrorCode TestKept()
{
  struct Case {
    const char *type, *options;
    PetscReal   scale;
    bool        some; ///< prolongators alone
  };
  const bool   rounds  = PetscDefined(USE_REAL_DOUBLE);
  const Case   cases[] = {{MATSPARSEGPU, "-mat_sparsegpu_format sell", rounds ? 1e60 : 1, true},
                          {MATSPARSEGPU, "-mat_sparsegpu_format sell", rounds ? 1e-60 : 1, true},
                          {MATSPARSEGPU, "-mat_sparsegpu_format csr", 1, false},
                          {MATSPARSEGPU, "-pc_sparsegpuamg_levels 1", 1, false},
                          {MATAIJ, "", 1, false}};
  const Option precision(OPTION, "single");
  Mat          A;

  PetscFunctionBeginUser;
  for (const Case &c : cases) {
    const Options     set(c.options);
    const std::string what = std::string(c.type) + " " + c.options + " times " + std::to_string(c.scale);
    Result            result;
    std::string       view;
    int               rounded = 0, all = 0;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, c.type, {19, 17, 15, 1, false, VariesInFaces}, &A));
    PetscCall(MatScale(A, c.scale));
    PetscCall(SolveAndView(what, A, KSPCG, &result, &view));
    PetscCheck(result.reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", what.c_str(),
               KSPConvergedReasons[result.reason]);
    if (!PetscGlobalRank) PetscCall(Counts(what, view, &rounded, &all));
    const bool good = !rounds || strcmp(c.type, MATSPARSEGPU) || (c.some ? rounded <= all / 2 : rounded == 0);
    PetscCheck(good, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %d of %d", what.c_str(), rounded, all);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(CreateGrid(PETSC_COMM_SELF, MATSPARSEGPU, {4, 4, 4, 1, false, Faces}, &A));
  PetscCall(ExpectBadOption(A, OPTION, "half", "half must be full or single", PETSC_ERR_ARG_UNKNOWN_TYPE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"iterations", TestIterations}, {"rounded", TestRounded}, {"kept", TestKept}});
}
