static const char help[] = "Multigrid of matrices that are out of the ordinary, and what the view says of them.\n\n";

#include "amg.hpp"

using namespace amg_tests;
using namespace testing;

static const char *const TYPES[] = {MATAIJ, MATSPARSEGPU};

namespace
{
/// The number in the last column of the finest level's line.
PetscErrorCode IsolatedOf(const std::string &view, long *isolated)
{
  PetscFunctionBeginUser;
  const size_t header = view.find("isolated\n");
  PetscCheck(header != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no levels in\n%s", view.c_str());
  const size_t begin = header + 9, end = view.find('\n', begin);
  const size_t last = view.rfind(' ', end);
  *isolated         = atol(view.c_str() + last);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Unknowns without couplings stay on the finest level, are counted, and cost no iterations.
static PetscErrorCode TestIsolated()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (PetscInt each : {2, 5, 50}) { // neighbours of every second unknown are all isolated: then all are
      const std::string     what = "isolated, one of " + std::to_string(each) + ", " + type;
      Mat                   A;
      Result                result;
      std::string           view;
      std::vector<PetscInt> rows;
      PetscInt              begin, end, mine, all;
      long                  told = 0;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {41, 40, 1, 1, false, Faces}, &A));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt r = begin; r < end; ++r)
        if (r % each == 0) rows.push_back(r);
      PetscCall(MatZeroRowsColumns(A, (PetscInt)rows.size(), rows.data(), 3, nullptr, nullptr));
      mine = each == 2 ? end - begin : (PetscInt)rows.size();
      PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      PetscCall(SolveAndView(what, A, KSPCG, &result, &view));
      PetscCall(CheckConverged(what, result, each == 2 ? 20 : 12));
      if (!PetscGlobalRank && each > 2) {
        PetscCall(IsolatedOf(view, &told));
        PetscCheck(told >= (long)all, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %ld isolated, not %ld\n%s", what.c_str(),
                   told, (long)all, view.c_str());
      }
      if (!PetscGlobalRank && each == 2) PetscCall(CheckText(what, view, {"coarsening ended: no unknown"}));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows and columns of zeros that are stored, diagonal included: nothing divides by them.
static PetscErrorCode TestStoredZeros()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    const std::string     what = std::string("stored zeros, ") + type;
    Mat                   A;
    KSP                   ksp;
    Vec                   x, b;
    std::vector<PetscInt> rows;
    PetscInt              begin, end;
    PetscReal             norm, before;
    KSPConvergedReason    reason;

    PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {41, 40, 1, 1, false, Faces}, &A));
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt r = begin; r < end; ++r)
      if (r % 7 == 2) rows.push_back(r);
    PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    PetscCall(MatZeroRowsColumns(A, (PetscInt)rows.size(), rows.data(), 0, nullptr, nullptr));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(SetNoise(x));
    PetscCall(MatMult(A, x, b));
    PetscCall(VecNorm(b, NORM_2, &before));
    PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", what.c_str(), KSPConvergedReasons[reason]);
    PetscCall(VecScale(b, -1));
    PetscCall(MatMultAdd(A, x, b, b));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCheck(norm <= (PetscDefined(USE_REAL_DOUBLE) ? 1e-6 : 1e-2) * before, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: residual %g of %g", what.c_str(), (double)norm, (double)before);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two unknowns that are coupled to all others, weakly or strongly: coarse operators do not fill.
static PetscErrorCode TestDenseRows()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const PetscReal coupling : {(PetscReal)1e-4, (PetscReal)0.01, (PetscReal)1}) {
      const std::string what = "dense rows, coupling " + std::to_string(coupling) + ", " + type;
      const PetscInt    n    = 40 * 41;
      Mat               A;
      Result            result;
      std::string       view;
      PetscInt          begin, end;
      PetscReal         complexity;

      PetscCall(CreateEmpty(PETSC_COMM_WORLD, type, n, 1, 7, &A));
      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      for (PetscInt r = begin; r < end; ++r)
        for (PetscInt hub : {n / 3, n - 1}) {
          if (r == hub) {
            for (PetscInt c = 0; c < n; ++c)
              if (c != r) PetscCall(MatSetValue(A, r, c, -coupling, ADD_VALUES));
            PetscCall(MatSetValue(A, r, r, coupling * (PetscReal)(n - 1), ADD_VALUES));
          } else {
            PetscCall(MatSetValue(A, r, hub, -coupling, ADD_VALUES));
            PetscCall(MatSetValue(A, r, r, coupling, ADD_VALUES));
          }
        }
      PetscCall(SetGrid(A, {40, 41, 1, 1, false, Faces}));
      PetscCall(SolveAndView(what, A, KSPCG, &result, &view, &complexity));
      PetscCall(CheckConverged(what, result, 30));
      PetscCheck(complexity < 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: operator complexity %g", what.c_str(),
                 (double)complexity);
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In three dimensions: cubes of coefficients 10^6 : 1, and couplings of 1000 : 1 in one direction or in two.
static PetscErrorCode TestCoefficients()
{
  struct Case {
    const char *name;
    PetscInt    at_most;
    PetscScalar (*weight)(PetscInt, PetscInt, PetscInt, int, int, int);
  };
  const Case cases[] = {
      {"jumps", 40,
       [](PetscInt x, PetscInt y, PetscInt z, int dx, int dy, int dz) -> PetscScalar {
         const auto hard = [](PetscInt a, PetscInt b, PetscInt c) { return (a / 5 + b / 5 + c / 5) % 2 == 0; };
         if (std::abs(dx) + std::abs(dy) + std::abs(dz) != 1) return 0;
         return hard(x, y, z) && hard(x + dx, y + dy, z + dz) ? 1e6 : 1;
       }},
      {"one strong direction", 20,
       [](PetscInt, PetscInt, PetscInt, int dx, int dy, int dz) -> PetscScalar {
         return std::abs(dx) + std::abs(dy) + std::abs(dz) != 1 ? 0 : (dz ? 1 : 1e-3);
       }},
      {"two strong directions", 20, [](PetscInt, PetscInt, PetscInt, int dx, int dy, int dz) -> PetscScalar {
         return std::abs(dx) + std::abs(dy) + std::abs(dz) != 1 ? 0 : (dz ? 1e-3 : 1);
       }}};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const Case &c : cases) {
      const std::string what = std::string(c.name) + ", " + type;
      Mat               A;
      Result            result;
      std::string       view;

      PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {20, 21, 22, 1, false, c.weight}, &A));
      PetscCall(SolveAndView(what, A, KSPCG, &result, &view));
      PetscCall(CheckConverged(what, result, c.at_most, 1000));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"isolated", TestIsolated},
               {"stored_zeros", TestStoredZeros},
               {"dense_rows", TestDenseRows},
               {"coefficients", TestCoefficients}});
}
