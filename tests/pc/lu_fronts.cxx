static const char help[] = "Direct factorizations with large fronts: tiles, exchanges, updates of many rows.\n\n";

#include "../device_limit.hpp"
#include "direct.hpp"
#include "mirrored.hpp"

using namespace testing;

/// Rows r and r ^ 1 change places: the pivots that are left are small.
static Problem Exchanged(Problem p)
{
  p.name += "_exchanged";
  for (Entry &e : p.entries)
    if ((e.i ^ 1) < p.rows) e.i ^= 1;
  return p;
}

/// Solves are right, and a factorization of the same values gives the same bits.
static PetscErrorCode Check(const Problem &p, const char ordering[], bool exchanges)
{
  const Option             matching("-mat_sparsegpu_lu_matching", exchanges ? "off" : "auto");
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *refine : {"0", "10"}) {
      const Option             option("-mat_sparsegpu_lu_refine", refine);
      const std::string        what = p.name + ", " + ordering + " on " + backend + ", refine " + refine;
      const MatFactorInfo      info = Info(0);
      std::vector<PetscScalar> x, again;
      Mat                      A, F;
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(FactorDirect(A, MAT_FACTOR_LU, ordering, &F));
      for (const bool transpose : {false, true}) {
        PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
        // without refinement: rows are dominant, so that factors and inverses are bounded, but for the length of sums
        PetscCall(CheckBackward(p, x, transpose, what, refine[0] == '0' ? 8 * (PetscReal)p.rows : 1));
        PetscCall(MatLUFactorNumeric(F, A, &info));
        PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &again));
        PetscCall(CheckSameBits(x, again, what));
      }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More others than a product of our own takes, then a dense front of many tiles.
static PetscErrorCode Wide()
{
  PetscFunctionBeginUser;
  PetscCall(Check(Bordered(40, 860), MATORDERINGNATURAL, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Pivots are exchanged in every tile.
static PetscErrorCode Exchanges()
{
  PetscFunctionBeginUser;
  PetscCall(Check(Exchanged(Bordered(70, 300)), MATORDERINGNATURAL, true));
  PetscCall(Check(Exchanged(Bordered(33, 98)), MATORDERINGNATURAL, true));
  PetscCall(Check(Exchanged(Bordered(5, 60)), MATORDERINGNATURAL, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A tree with small and large fronts.
static PetscErrorCode Tree()
{
  PetscFunctionBeginUser;
  for (const char *ordering : {MATORDERINGND, MATORDERINGRCM}) PetscCall(Check(Cube(12), ordering, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A system on the device that the host factors: as it is told, or where that is predicted to be faster.
static PetscErrorCode Host()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  for (const Problem &p : {Cube(3), Cube(8)})
    for (const char *backend : {"kokkos", "cuda", "auto"})
      for (const char *host : {"auto", "on", "off"})
        for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
          const Option             option("-mat_sparsegpu_lu_host", host);
          const Problem            q    = kind == MAT_FACTOR_LU ? p : Mirrored(p, false, true);
          const std::string        what = p.name + " on " + backend + ", host " + host;
          const MatFactorInfo      info = Info(0);
          std::vector<PetscScalar> x;
          std::string              text;
          Mat                      A, F;
          if (!device && backend == std::string("cuda")) continue;
          PetscCall(CreateOn(backend, q, &A));
          PetscCall(FactorDirect(A, kind, MATORDERINGND, &F));
          PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_fronts_view", &text));
          if (backend == std::string("cuda") || (backend == std::string("auto") && host == std::string("off"))) {
            const bool there = host == std::string("on") || (!device && backend == std::string("auto")) ||
                               (backend == std::string("auto") && !PetscDefined(HAVE_CUDA));
            PetscCheck((text.find("on the host") != std::string::npos) == there, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                       "%s: %s", what.c_str(), text.c_str());
          }
          for (const bool transpose : {false, true}) {
            PetscCall(Numeric(F, A, kind, info));
            PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
            PetscCall(CheckBackward(q, x, transpose, what));
          }
          PetscCall(MatDestroy(&F));
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the device's memory does not suffice the symbolic factorization says so, with the bytes, and nothing is lost.
static PetscErrorCode Memory()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr size_t         LEFT = 80 << 20; // less than the factors take: 130 MB
  std::vector<PetscScalar> x;
  const Problem            p = Cube(32);
  std::string              message;
  Mat                      A, F;
  PetscCall(CreateOn("cuda", p, &A));
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_LU, &F));
  PetscCall(MatDestroy(&F)); // the device's context is there
  {
    const DeviceLimit limit(LEFT);
    PetscCheck(limit.works(), PETSC_COMM_SELF, PETSC_ERR_MEM, "cudaMalloc of all but %zu bytes", LEFT);
    PetscCall(ExpectError(
        "little memory", [&] { return FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F); }, &message, PETSC_ERR_MEM));
    PetscCheck(message.find("will need") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The message is: %s",
               message.c_str());
  }
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F));
  PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
  PetscCall(CheckBackward(p, x, false, "enough memory"));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An asynchronous solve gives up: the next call on the factor reports it, and the one after that starts afresh.
/// With -sparsegpu_device_stuck.
static PetscErrorCode Stuck()
{
  const Problem       p    = Bordered(600, 600); // one front, tile after tile of it
  const MatFactorInfo info = Info(0);
  const Options       options("-mat_sparsegpu_lu_refine 0");
  PetscBool           device, pretends;
  std::string         message;
  Mat                 A, F;
  Vec                 b, x;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-sparsegpu_device_stuck", &pretends));
  if (!pretends) {
    PetscCall(Skip("-sparsegpu_device_stuck is not given"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CreateOn("cuda", p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F));
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x)); // copied back, so that each call ends with the solve
  PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &b));
  PetscCall(VecSet(b, 1));
  for (int round = 0; round < 2; ++round) {
    PetscCall(MatSolve(F, b, x));
    PetscCall(ExpectError(
        "solve after solve", [&] { return MatSolve(F, b, x); }, &message, PETSC_ERR_GPU));
    PetscCall(CheckText("solve after solve", message, {"made no progress in", "-mat_sparsegpu_lu_spins"}));
  }
  PetscCall(MatSolve(F, b, x));
  PetscCall(ExpectError(
      "factorization after solve", [&] { return MatLUFactorNumeric(F, A, &info); }, &message, PETSC_ERR_GPU));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves for ones with factors in an order, see FactorDirect().
static PetscErrorCode SolveWith(Mat A, MatFactorType kind, const char ordering[], std::vector<PetscScalar> *values)
{
  const PetscScalar *array;
  PetscInt           n;
  Mat                F;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(FactorDirect(A, kind, ordering, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MatSolve(F, b, x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &array));
  values->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnOrder()
{
  PetscFunctionBeginUser;
  for (const MatFactorType kind : {MAT_FACTOR_CHOLESKY, MAT_FACTOR_LU}) {
    std::vector<PetscScalar> asked, own;
    Mat                      A;
    PetscCall(CreateMatrix(PETSC_COMM_SELF, Mirrored(Cube(9), true, true), MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(SolveWith(A, kind, MATORDERINGLEASTFILL, &asked));
    PetscCall(SolveWith(A, kind, nullptr, &own));
    PetscCheck(asked == own, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s without an order is not that with %s",
               MatFactorTypes[kind], MATORDERINGLEASTFILL);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"wide", Wide},
               {"exchanges", Exchanges},
               {"tree", Tree},
               {"host", Host},
               {"memory", Memory},
               {"stuck", Stuck},
               {"own_order", OwnOrder}});
}
