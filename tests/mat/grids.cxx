static const char help[] =
    "Products of grids so large that a thread of the stencil kernel walks over several rows: the bits of sell.\n\n";

#include "../testing.hpp"
#include <map>
#include <optional>
#include "../matrices.hpp"
#include "grid_products.hpp"
#include "sparsegpu.h"

using namespace testing;
using namespace grids;

/// How the format that A multiplies in tells of itself.
static PetscErrorCode Details(Mat A, std::string *text)
{
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUGetInfo(A, &info));
  *text = info.details;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether products walk from plane to plane: with all grids of several planes that have few other rows, or on an older
/// device with none; of complex numbers with some.
static PetscErrorCode CheckWalked(Mat A, const Grid &g, std::optional<bool> *all)
{
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(Details(A, &text));
  const bool walked = text.find("walked from plane to plane") != std::string::npos, may = g.z > 1 && !g.many;
  if (!*all && may) *all = walked;
  PetscCheck(PetscDefined(USE_COMPLEX) ? may || !walked : walked == (may && **all), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %s", g.name, text.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Complex products may be contracted in more than one way; each of 28 terms is below 3.
static bool Same(PetscScalar a, PetscScalar b)
{
#if defined(PETSC_USE_COMPLEX)
  if (PetscIsInfOrNanScalar(a) || PetscIsInfOrNanScalar(b)) return PetscIsInfOrNanScalar(a) == PetscIsInfOrNanScalar(b);
  return PetscAbsScalar(a - b) <= 2 * 32 * PETSC_MACHINE_EPSILON * 28 * 3;
#else
  return !memcmp(&a, &b, sizeof(a));
#endif
}

/// Rows enough for walks on a GPU of 190 multiprocessors.
static PetscErrorCode Walks()
{
  std::vector<std::string>                   backends;
  std::map<std::string, std::optional<bool>> walked;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Grid &g :
       {Grid{"5 points", 1001, 903, 1, true}, Grid{"7 points", 96, 97, 98, true}, Grid{"27 points", 95, 97, 98, false},
        Grid{"3 points", 900001, 1, 1, true}, Grid{"27 points, many sides", 401, 70, 34, false, Rows::OfSides, true},
        Grid{"27 points, sides", 121, 99, 98, false, Rows::OfSides},
        Grid{"27 points, first and last planes", 95, 97, 98, false, Rows::Planes},
        Grid{"7 points, broken lines", 301, 61, 50, true, Rows::Broken},
        Grid{"7 points, many sides", 101, 121, 98, true, Rows::Dirichlet, true},
        Grid{"7 points, first and last planes", 95, 97, 98, true, Rows::Planes},
        Grid{"27 points, Dirichlet", 121, 99, 98, false, Rows::Dirichlet},
        Grid{"27 points, eliminated", 101, 121, 98, false, Rows::Eliminated},
        Grid{"27 points, periodic", 101, 121, 98, false, Rows::Periodic},
        Grid{"27 points, materials", 95, 97, 98, false, Rows::Materials},
        Grid{"27 points, tall", 95, 97, 98, false, Rows::Tall}, Grid{"27 points, thin", 300, 300, 12, false}})
    for (const std::string &backend : backends) {
      std::vector<PetscScalar> stencil, sell;
      Mat                      A;
      PetscCall(Create(
          PETSC_COMM_SELF, g, g.rows == Rows::Tall ? 0 : CUT,
          [](PetscInt d) { return conformance::Value((unsigned long long)d); }, &A));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(Products(A, "sell", &sell));
      PetscCall(Products(A, "stencil", &stencil));
      PetscCall(CheckWalked(A, g, &walked[backend]));
      for (size_t r = 0; r < sell.size(); ++r)
        PetscCheck(Same(sell[r], stencil[r]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s on %s, entry %zu of %zu: %g as sell, %g as stencil", g.name, backend.c_str(), r, sell.size(),
                   (double)PetscRealPart(sell[r]), (double)PetscRealPart(stencil[r]));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A few steps of conjugate gradients, whose products form inner products: the same as in dia, but for rounding. On
/// several ranks these send entries of the first and the last plane on their way.
static PetscErrorCode Solves()
{
  constexpr PetscInt  STEPS = 12;
  PetscBool           device;
  std::optional<bool> walked;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("rows are walked on a device alone");
  const Options options("-ksp_type sparsegpucg -pc_type jacobi -ksp_max_it 12 -ksp_rtol 1e-30 -ksp_norm_type natural");
  for (const Grid &g :
       {Grid{"7 points", 96, 97, 98 * PetscGlobalSize, true}, Grid{"27 points", 95, 97, 98 * PetscGlobalSize, false},
        Grid{"27 points, thin", 300, 300, 12 * PetscGlobalSize, false},
        Grid{"27 points, many sides", 401, 70, 34 * PetscGlobalSize, false, Rows::OfSides, true},
        Grid{"27 points, sides", 121, 99, 98 * PetscGlobalSize, false, Rows::OfSides},
        Grid{"27 points, eliminated", 101, 121, 98 * PetscGlobalSize, false, Rows::Eliminated},
        Grid{"27 points, materials", 95, 97, 98 * PetscGlobalSize, false, Rows::Materials},
        Grid{"27 points, first and last planes", 95, 97, 98 * PetscGlobalSize, false, Rows::Planes},
        Grid{"7 points, broken lines", 301, 61, 50 * PetscGlobalSize, true, Rows::Broken}}) {
    std::vector<PetscReal> norms[2];
    Mat                    A, block;
    // symmetric: the neighbours d and 26 - d are opposite
    PetscCall(Create(
        PETSC_COMM_WORLD, g, 0,
        [](PetscInt d) {
          const PetscReal one = d == 13 ? 40 : -(PetscReal)1 - (PetscReal)std::min(d, 26 - d) / 64;
          return (PetscScalar)one;
        },
        &A));
    for (int k : {0, 1}) {
      Vec              x, b;
      KSP              ksp;
      const PetscReal *history;
      PetscInt         count;
      PetscCall(MatSparseGPUSetFormat(A, k ? "stencil" : "dia"));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(SetVector(x, Input(g.x * g.y * g.z, 17, Poison::None)));
      PetscCall(MatMult(A, x, b));
      if (k) {
        PetscCall(MatGetDiagonalBlock(A, &block));
        if (PetscGlobalSize == 1 || !g.many) PetscCall(CheckWalked(block, g, &walked)); // a rank has fewer sides
      }
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSetResidualHistory(ksp, nullptr, STEPS + 1, PETSC_TRUE));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetResidualHistory(ksp, &history, &count));
      norms[k].assign(history, history + count);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
    }
    PetscCheck(norms[0].size() > STEPS / 2 && norms[0].size() == norms[1].size(), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %zu and %zu norms", g.name, norms[0].size(), norms[1].size());
    for (size_t s = 0; s < norms[0].size(); ++s)
      PetscCheck(PetscAbsReal(norms[0][s] - norms[1][s]) <= 1000 * PETSC_MACHINE_EPSILON * norms[0][0],
                 PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, step %zu: %g as dia, %g as stencil", g.name, s,
                 (double)norms[0][s], (double)norms[1][s]);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same matrix with new values, of which more or fewer rows are walked: the bits of sell.
static PetscErrorCode Changes()
{
  constexpr PetscInt  SPARSE = 5003, DENSE = 7;
  Grid                g{"27 points, changed", 95, 97, 98, false};
  PetscBool           device;
  std::optional<bool> walked;
  Mat                 A[2];

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("rows are walked on a device alone");
  for (Mat &B : A)
    PetscCall(Create(
        PETSC_COMM_SELF, g, CUT, [](PetscInt d) { return (PetscScalar)((PetscReal)(d + 1) / 32); },
        &B));                                             // sums of such are exact
  const auto add = [&](PetscInt every, PetscReal value) { // to diagonal entries
    PetscFunctionBeginUser;
    for (Mat B : A) {
      for (PetscInt r = 17; r < g.x * g.y * g.z - CUT; r += every)
        PetscCall(MatSetValue(B, r, r, (PetscScalar)value, ADD_VALUES));
      PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (int step = 0; step < 6; ++step) {
    std::vector<PetscScalar> stencil, sell;
    if (step == 1)
      for (Mat B : A) PetscCall(MatScale(B, 2));
    if (step == 2) PetscCall(add(SPARSE, 4));  // few others
    if (step == 3) PetscCall(add(DENSE, 8));   // many
    if (step == 4) PetscCall(add(DENSE, -8));  // few
    if (step == 5) PetscCall(add(SPARSE, -4)); // none
    g.many = step == 3;
    PetscCall(Products(A[0], "sell", &sell));
    PetscCall(Products(A[1], "stencil", &stencil));
    PetscCall(CheckWalked(A[1], g, &walked));
    PetscCheck(sell.size() == stencil.size() && std::equal(sell.begin(), sell.end(), stencil.begin(), Same),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Step %d: other bits than sell", step);
  }
  for (Mat &B : A) PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether ghosts of products travel through memory of peers. Collective.
static PetscErrorCode ByPeers(Mat A, bool *peers)
{
  std::string text;
  int         found;

  PetscFunctionBeginUser;
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "peers", &text));
  found = text.find("by peer memory") != std::string::npos; // on rank 0
  PetscCallMPI(MPI_Bcast(&found, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *peers = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products of several ranks whose rows with ghosts are walked, too, and those of other values, which are not: as
/// sell's with ghosts added by csr, but for rounding.
static PetscErrorCode Ghosts()
{
  PetscBool   device;
  PetscMPIInt rank, size;
  bool        peers;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("rows are walked on a device alone");
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (const Grid &g : {Grid{"7 points", 96, 97, 98 * size, true}, Grid{"27 points", 95, 97, 98 * size, false},
                        Grid{"27 points, thin", 250, 200, 12 * size, false},
                        Grid{"7 points, eliminated", 191, 191, 64 * size, true, Rows::Eliminated},
                        Grid{"27 points, Dirichlet", 101, 121, 98 * size, false, Rows::Dirichlet},
                        Grid{"27 points, eliminated", 101, 121, 98 * size, false, Rows::Eliminated},
                        Grid{"27 points, periodic", 101, 121, 98 * size, false, Rows::Periodic},
                        Grid{"27 points, materials", 95, 97, 98 * size, false, Rows::Materials}}) {
    Mat       A[2], block;
    Vec       x, y, z[2];
    PetscReal difference;
    PetscInt  first;
    for (int k : {0, 1}) { // sell, stencil
      PetscCall(Create(
          PETSC_COMM_WORLD, g, 0, [](PetscInt d) { return conformance::Value((unsigned long long)d); }, &A[k]));
      PetscCall(MatSparseGPUSetFormat(A[k], k ? "stencil" : "sell"));
    }
    PetscCall(MatCreateVecs(A[0], &x, &y));
    for (Vec &v : z) PetscCall(VecDuplicate(y, &v));
    PetscCall(MatGetOwnershipRange(A[0], &first, nullptr));
    for (int step = 0; step < 6; ++step) {
      // the last rank's first row gets another value in the plane before, and then the old one
      const bool     last = rank == size - 1, other = step == 2 || step == 3;
      const PetscInt r = first + 5 * g.x + 7, c = r - g.x * g.y;
      std::string    text;
      for (Mat B : A) {
        if (step == 1) PetscCall(MatScale(B, 2));
        if (step != 2 && step != 4) continue;
        if (last)
          PetscCall(MatSetValue(B, r, c,
                                (PetscReal)(step == 2 ? 0.7 : 2) * (step == 2 ? (PetscScalar)1 : conformance::Value(4)),
                                INSERT_VALUES));
        PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
      }
      PetscCall(SetVector(x, Input(g.x * g.y * g.z, 17 + (unsigned)step, Poison::None)));
      PetscCall(SetVector(y, Input(g.x * g.y * g.z, 37, Poison::None)));
      for (int k : {0, 1}) {
        if (step % 3 == 0) {
          PetscCall(MatMult(A[k], x, z[k]));
        } else if (step % 3 == 1) {
          PetscCall(MatMultAdd(A[k], x, y, z[k]));
        } else {
          PetscCall(VecCopy(y, z[k]));
          PetscCall(MatMultAdd(A[k], x, z[k], z[k]));
        }
      }
      PetscCall(VecAXPY(z[0], -1, z[1]));
      PetscCall(VecNorm(z[0], NORM_INFINITY, &difference));
      PetscCheck(difference <= 200 * PETSC_MACHINE_EPSILON, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, step %d: %g apart from sell", g.name, step, (double)difference);
      PetscCall(MatGetDiagonalBlock(A[1], &block));
      PetscCall(Details(block, &text));
      const bool walked = text.find("walked from plane to plane") != std::string::npos,
                 ghosts = text.find("with planes of ghosts") != std::string::npos;
      // not complex x, which may lie where the copy engine does not begin; nor where what comes is no plane
      const bool may = sizeof(PetscScalar) < 16 && (g.rows == Rows::Alike || g.rows == Rows::Dirichlet);
      PetscCall(ByPeers(A[1], &peers));
      PetscCheck(ghosts == (walked && peers && may && !(other && last)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, step %d: %s", g.name, step, text.c_str());
    }
    for (Mat &B : A) PetscCall(MatDestroy(&B));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    for (Vec &v : z) PetscCall(VecDestroy(&v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"walks", Walks}, {"changes", Changes}, {"solves", Solves}, {"ghosts", Ghosts}});
}
