static const char help[] =
    "LU of real matrices in many orders, on every backend: what solves in one solves in all.\n\n";

#include "../real_matrices.hpp"
#include "direct.hpp"

#include <random>

using namespace testing;

static unsigned seed;

/// MatOrderingRegister() of a random order: much fill, and pivots that meet in another way.
static PetscErrorCode RandomOrdering(Mat A, MatOrderingType, IS *rows, IS *columns)
{
  std::vector<PetscInt> order;
  std::mt19937          generator(seed);
  PetscInt              n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, nullptr));
  for (PetscInt k = 0; k < n; ++k) order.push_back(k);
  for (PetscInt k = n; k > 1; --k) std::swap(order[(size_t)k - 1], order[generator() % (size_t)k]);
  for (IS *is : {rows, columns}) {
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order.data(), PETSC_COPY_VALUES, is));
    PetscCall(ISSetPermutation(*is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const Problem &p, const std::string &backend, const std::string &ordering)
{
  // where rows are matched, the order is found for the matched ones, as this option says
  const Option             option("-pc_factor_mat_ordering_type", ordering);
  const std::string        what = p.name + ", " + ordering + " on " + backend;
  std::vector<PetscScalar> x;
  MatFactorError           error;
  Mat                      A, F;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(backend, p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, ordering.c_str(), &F));
  PetscCall(MatFactorGetError(F, &error));
  PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: factor error %d", what.c_str(), (int)error);
  for (const bool transpose : {false, true}) {
    PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
    PetscCall(CheckBackward(p, x, transpose, what + (transpose ? ", transposed" : "")));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Orderings()
{
  const char *const        folder = getenv("SPARSEGPU_MATRICES");
  std::vector<std::string> backends;
  size_t                   found = 0;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  PetscCall(MatOrderingRegister("random", RandomOrdering));
  for (const char *name : {"rajat19", "nnc1374", "west0479", "fs_183_6", "young1c", "494_bus", "orsirr_1",
                           "adder_dcop_05", "tumorAntiAngiogenesis_2", "watt_2", "gemat12"}) {
    const std::string file = std::string(folder ? folder : "") + "/" + name + ".mtx.xz";
    const bool        few  = std::string(name) == "rajat19"; // its random orders are cheap, and hard
    const bool        wide = std::string(name) == "gemat12" || std::string(name) == "watt_2"; // natural orders fill up
    Problem           p;
    bool              loaded;
    if (!folder || !std::filesystem::exists(file)) continue;
    found++;
    PetscCall(LoadReal(file, &p, &loaded));
    if (!loaded) continue;
    for (const std::string &backend : backends) {
      for (const char *ordering : {MATORDERINGLEASTFILL, MATORDERINGND, MATORDERINGQMD, MATORDERINGRCM, MATORDERING1WD})
        PetscCall(Check(p, backend, ordering));
      if (!wide) PetscCall(Check(p, backend, MATORDERINGNATURAL));
      for (seed = 0; seed < 8 && few; ++seed) PetscCall(Check(p, backend, "random"));
    }
  }
  SkipReason().clear(); // a complex matrix is no reason to skip the others
  if (!found) PetscCall(Skip("SPARSEGPU_MATRICES names no folder with these matrices"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"orderings", Orderings}});
}
