static const char help[] = "New values in a factored matrix, a new pattern, NaN.\n\n";

#include "factors.hpp"

using namespace testing;

/// F, factored again, must have the factors of a factor that never saw other values, bit for bit.
static PetscErrorCode CheckRefactored(Mat A, Mat F, MatFactorType kind, const MatFactorInfo &info,
                                      const char ordering[], const std::string &what)
{
  std::vector<PetscScalar> ours, fresh;
  Mat                      G;

  PetscFunctionBeginUser;
  PetscCall(kind == MAT_FACTOR_ICC ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, info, ordering, &G));
  for (bool transpose : {false, true}) {
    PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &ours));
    PetscCall(SolveWith(A, G, VECSTANDARD, transpose, &fresh));
    PetscCall(CheckSameBits(ours, fresh, what + (transpose ? ", transposed" : "")));
  }
  PetscCall(MatDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By MatSetValues() or by MatSetValuesCOO(), thrice: the second time ever the transposed solves know the factor.
static PetscErrorCode Refactor()
{
  const Problem            p = Symmetric(conformance::Grid("grid_24x23", 24, 23, false));
  std::vector<std::string> backends;
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> v;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Entry &e : p.entries) {
    i.push_back(e.i);
    j.push_back(e.j);
  }
  for (const std::string &backend : backends)
    for (const char *name : ENGINES)
      for (bool coo : {false, true})
        for (MatFactorType kind : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
          for (PetscInt levels : {0, 1}) {
            const Option        engine("-mat_sparsegpu_trisolve", name);
            const char         *ordering = levels ? MATORDERINGRCM : MATORDERINGNATURAL;
            const MatFactorInfo info     = Info((PetscReal)levels);
            Mat                 A, F;
            PetscCall(CreateOn(backend, p, &A));
            if (coo) PetscCall(MatSetPreallocationCOO(A, (PetscCount)i.size(), i.data(), j.data()));
            for (int round = 0; round < 4; ++round) {
              v.clear(); // the diagonal stays dominant, the rest changes
              for (const Entry &e : p.entries)
                v.push_back(e.i == e.j ? e.v + (PetscScalar)round : e.v / (PetscReal)(1 + (e.i + e.j + round) % 4));
              if (coo)
                PetscCall(MatSetValuesCOO(A, v.data(), INSERT_VALUES));
              else
                for (size_t k = 0; k < v.size(); ++k) PetscCall(MatSetValue(A, i[k], j[k], v[k], INSERT_VALUES));
              PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
              PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
              if (round == 0) PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, kind, info, ordering, &F));
              PetscCall(CheckRefactored(A, F, kind, info, ordering,
                                        backend + ", " + name + (coo ? ", COO, round " : ", round ") +
                                            std::to_string(round)));
            }
            PetscCall(MatDestroy(&F));
            PetscCall(MatDestroy(&A));
          }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a new PC makes of A, and what `pc`, which knew another pattern, makes of it.
static PetscErrorCode CheckPC(Mat A, PC pc, const std::string &what)
{
  std::vector<PetscScalar> applied[2];
  PC                       fresh;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_SELF, &fresh));
  PetscCall(PCSetType(fresh, PCSPARSEGPU));
  PetscCall(PCSetOperators(fresh, A, A));
  for (bool transpose : {false, true}) {
    for (int k = 0; k < 2; ++k) {
      const PetscScalar *array;
      PetscInt           n;
      Vec                b, x;
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecGetLocalSize(x, &n));
      PetscCall(SetVector(b, Input(n, 7, Poison::None)));
      PetscCall(transpose ? PCApplyTranspose(k ? fresh : pc, b, x) : PCApply(k ? fresh : pc, b, x));
      PetscCall(VecGetArrayRead(x, &array));
      applied[k].assign(array, array + n);
      PetscCall(VecRestoreArrayRead(x, &array));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
    }
    PetscCall(CheckSameBits(applied[0], applied[1], what + (transpose ? ", transposed" : "")));
  }
  PetscCall(PCDestroy(&fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A new nonzero: the factor refuses, naming both counts; the preconditioner starts over.
static PetscErrorCode Pattern()
{
  const Problem            p    = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  const MatFactorInfo      info = Info(0);
  std::vector<std::string> backends;
  std::string              message;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    Mat A, F;
    PC  pc;
    PetscCall(CreateOn(backend, p, &A));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &F));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPU));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(CheckPC(A, pc, backend));
    for (PetscInt r : {400, 30}) { // below the diagonal, and above it
      PetscCall(MatSetValue(A, r, 430 - r, (PetscReal)0.5, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(CheckPC(A, pc, backend + ", one more nonzero"));
    }
    PetscCall(ExpectError(
        "another pattern", [&] { return MatLUFactorNumeric(F, A, &info); }, &message, PETSC_ERR_ARG_WRONGSTATE));
    PetscCall(CheckText("another pattern", message,
                        {std::to_string(p.entries.size() + 2) + " nonzeros", std::to_string(p.entries.size())}));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A NaN is a zero pivot of the first row that it reaches, and no reason to hang.
static PetscErrorCode Nan()
{
  const Problem            p = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  const Option             type("-pc_type", PCSPARSEGPU), ordering("-pc_sparsegpu_ordering", MATORDERINGNATURAL);
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (PetscInt column : {100, 99, 101}) { // in row 100: on the diagonal; in L; in U, whence it reaches row 101
      const PetscInt     first = column > 100 ? 101 : 100;
      MatFactorError     error;
      KSPConvergedReason reason;
      PetscReal          value;
      PetscInt           row;
      Mat                A, F;
      Vec                b, x;
      KSP                ksp;
      PetscCall(CreateOn(backend, p, &A));
      PetscCall(MatSetValue(A, 100, column, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatSetErrorIfFailure(A, PETSC_FALSE));
      PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
      PetscCall(MatFactorGetError(F, &error));
      PetscCall(MatFactorGetErrorZeroPivot(F, &value, &row));
      PetscCheck(error == MAT_FACTOR_NUMERIC_ZEROPIVOT && row == first, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, column %d: error %d in row %d", backend.c_str(), (int)column, (int)error, (int)row);
      PetscCall(MatDestroy(&F));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecSet(b, 1));
      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, KSPRICHARDSON));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCheck(reason == KSP_DIVERGED_PC_FAILED, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, column %d: reason %d",
                 backend.c_str(), (int)column, (int)reason);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"refactor", Refactor}, {"pattern", Pattern}, {"nan", Nan}});
}
