static const char help[] = "Direct factorizations whose factors lie in the host's memory.\n\n";

#include "../device_limit.hpp"
#include "direct.hpp"
#include "mirrored.hpp"

using namespace testing;

/// Solutions of F's system and of the transposed one, and of several.
static PetscErrorCode SolveAll(Mat A, Mat F, std::vector<PetscScalar> *all)
{
  std::vector<PetscScalar> x;
  const PetscScalar       *array;
  Mat                      B, X;

  PetscFunctionBeginUser;
  for (const bool transpose : {false, true}) {
    PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
    all->insert(all->end(), x.begin(), x.end());
  }
  const PetscInt rows = (PetscInt)x.size(), columns = 5;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, rows, columns, nullptr, &B));
  PetscCall(MatSetRandom(B, nullptr));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatMatSolve(F, B, X));
  PetscCall(MatDenseGetArrayRead(X, &array));
  all->insert(all->end(), array, array + (size_t)rows * columns);
  PetscCall(MatDenseRestoreArrayRead(X, &array));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factors in the host's memory give the bits of those in the device's, also with new values, and are told.
static PetscErrorCode CheckSpilled(const Problem &p, MatFactorType kind, const char ordering[])
{
  const std::string        what = p.name + ", " + MatFactorTypes[kind];
  const MatFactorInfo      info = Info(0);
  std::vector<PetscScalar> usual, spilled;
  std::string              text;
  Mat                      A, F, G;

  PetscFunctionBeginUser;
  PetscCall(CreateOn("cuda", p, &A));
  PetscCall(FactorDirect(A, kind, ordering, &F));
  PetscCall(SolveAll(A, F, &usual));
  PetscCall(MatDestroy(&F));
  {
    const Option option("-mat_sparsegpu_lu_spill", "on");
    PetscCall(FactorDirect(A, kind, ordering, &F));
  }
  PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_spill_view", &text));
  PetscCheck(text.find("MB of factors in the host's memory") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %s", what.c_str(), text.c_str());
  for (int round = 0; round < 3; ++round) {
    spilled.clear();
    PetscCall(SolveAll(A, F, &spilled));
    PetscCall(CheckSameBits(usual, spilled, what));
    usual.clear();
    PetscCall(MatScale(A, (PetscReal)-0.75));
    PetscCall(Numeric(F, A, kind, info));
    PetscCall(FactorDirect(A, kind, ordering, &G));
    PetscCall(SolveAll(A, G, &usual));
    PetscCall(MatDestroy(&G));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    for (const Problem &p : {Cube(16), Cube(24), Bordered(40, 860)})
      PetscCall(CheckSpilled(kind == MAT_FACTOR_LU ? p : Mirrored(p, false, true), kind,
                             p.rows == 860 ? MATORDERINGNATURAL : MATORDERINGND));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
/// With little memory of the device factors go to the host's if they may, as many as must, and solves are right.
static PetscErrorCode CheckFits(Mat A, const Problem &p, MatFactorType kind)
{
  const Option             option("-mat_sparsegpu_lu_spill", "auto");
  const MatFactorInfo      info = Info(0);
  std::vector<PetscScalar> x, again;
  std::string              text;
  MatInfo                  facts;
  Mat                      F;

  PetscFunctionBeginUser;
  PetscCall(FactorDirect(A, kind, MATORDERINGND, &F));
  PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_spill_view", &text));
  const size_t line  = text.find("MB of factors in the host's memory");
  const size_t begin = line == std::string::npos ? line : text.rfind('\n', line) + 1;
  PetscCheck((line != std::string::npos) == (kind == MAT_FACTOR_LU), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s",
             MatFactorTypes[kind], text.c_str());
  if (line != std::string::npos) { // not all of them
    const double spilled = std::stod(text.substr(begin)) * 1e6;
    PetscCall(MatGetInfo(F, MAT_LOCAL, &facts));
    PetscCheck(spilled > 100e6 && spilled < 0.9 * (double)sizeof(PetscScalar) * facts.nz_used, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%g bytes of factors are on the host", spilled);
  }
  PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
  PetscCall(CheckBackward(p, x, false, "little memory"));
  PetscCall(Numeric(F, A, kind, info));
  PetscCall(SolveWith(A, F, VECSTANDARD, false, &again));
  PetscCall(CheckSameBits(x, again, "little memory"));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

/// Of a problem that leaves some room for all else in what is not taken.
static PetscErrorCode Limited()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return Skip("skipped: no GPU");
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr size_t LEFT = (200u << 20) * sizeof(PetscScalar); // less than the factors of LU take: 2 GB of real numbers
  const Problem    p    = Mirrored(Cube(60), false, true);
  Mat              A, F;
  PetscCall(CreateOn("cuda", p, &A));
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_LU, &F));
  PetscCall(MatDestroy(&F)); // the device's context is there
  {
    const DeviceLimit limit(LEFT);
    PetscCheck(limit.works(), PETSC_COMM_SELF, PETSC_ERR_MEM, "cudaMalloc of all but %zu bytes", LEFT);
    for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) PetscCall(CheckFits(A, p, kind));
  }
  PetscCall(MatDestroy(&A));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"limited", Limited}});
}
