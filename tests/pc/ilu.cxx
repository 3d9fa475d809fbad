static const char help[] =
    "ILU(k) of MATSOLVERSPARSEGPU against PETSc's own: the same factors, so the same solutions.\n\n";

#include "factors.hpp"

using namespace testing;

/// Every problem, level, ordering, backend and kind of vector; a second time with new values; twice the same bits.
static PetscErrorCode Same()
{
  std::vector<std::string> backends, types;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  PetscCall(VectorTypes(&types));
  for (const Problem &p : Problems())
    for (PetscInt levels : {0, 1, 3})
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND, MATORDERINGABMC})
        for (const std::string &backend : backends) {
          const MatFactorInfo info = Info(levels);
          const std::string   what = p.name + ", ILU(" + std::to_string(levels) + "), " + ordering + ", " + backend;
          std::vector<PetscScalar> ours, again, petsc;
          Mat                      A, F, G;
          PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
          PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
          PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, ordering, &F));
          PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ILU, info, ordering, &G));
          for (int round = 0; round < 2; ++round) {
            for (const std::string &type : types)
              for (bool transpose : {false, true}) {
                PetscCall(SolveWith(A, F, type, transpose, &ours));
                PetscCall(SolveWith(A, F, type, transpose, &again));
                PetscCall(SolveWith(A, G, VECSTANDARD, transpose, &petsc));
                PetscCall(CheckClose(ours, petsc, 40 + p.rows / 4, what + (transpose ? ", transposed" : "")));
                PetscCheck(ours.empty() || !memcmp(ours.data(), again.data(), ours.size() * sizeof(PetscScalar)),
                           PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not the same bits twice", what.c_str());
              }
            PetscCall(MatShift(A, 3)); // new values in the same pattern
            PetscCall(MatLUFactorNumeric(F, A, &info));
            PetscCall(MatLUFactorNumeric(G, A, &info));
          }
          PetscCall(MatDestroy(&F));
          PetscCall(MatDestroy(&G));
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Zero pivots: told, or shifted away as PETSc does.
static PetscErrorCode Pivots()
{
  std::vector<std::string> backends;
  conformance::Builder     b("zero_pivots", 60, 60);

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 60; ++r) {
    if (r > 0) b.Add(r, r - 1, -1);
    b.Add(r, r, r == 17 || r == 40 ? 0 : 4);
    if (r < 59 && r != 16) b.Add(r, r + 1, -1);
  }
  const Problem p = b;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (MatFactorShiftType shift :
         {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS}) {
      const std::string        what = std::string(MatFactorShiftTypes[shift]) + " on " + backend;
      MatFactorInfo            info = Info(0);
      std::vector<PetscScalar> ours, petsc;
      MatFactorError           error;
      PetscReal                value;
      PetscInt                 row;
      Mat                      A, F, G;
      info.shifttype   = (PetscReal)shift;
      info.shiftamount = shift == MAT_SHIFT_INBLOCKS ? (PetscReal)0.5 : (PetscReal)0.25;
      PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(MatSetErrorIfFailure(A, PETSC_FALSE));
      PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &F));
      PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &G));
      PetscCall(MatFactorGetError(F, &error));
      if (shift == MAT_SHIFT_NONE) {
        PetscCheck(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %d", what.c_str(),
                   (int)error);
        PetscCall(MatFactorGetErrorZeroPivot(F, &value, &row));
        PetscCheck(row == 17 && value == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d, pivot %g", what.c_str(),
                   (int)row, (double)value);
      } else {
        PetscCheck(error == MAT_FACTOR_NOERROR, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %d", what.c_str(),
                   (int)error);
        PetscCall(SolveWith(A, F, VECSTANDARD, false, &ours));
        PetscCall(SolveWith(A, G, VECSTANDARD, false, &petsc));
        PetscCall(CheckClose(ours, petsc, 60, what));
      }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&G));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is asked for wrongly says so: no diagonal entry, no square, an error where the matrix asks for errors.
static PetscErrorCode Errors()
{
  conformance::Builder b("no_diagonal", 5, 5), wide("wide", 3, 5);
  std::string          message;
  MatFactorInfo        info = Info(0);
  Mat                  A, F;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < 5; ++r) b.Add(r, (r + 1) % 5, 2);
  for (PetscInt r = 0; r < 3; ++r) wide.Add(r, r, 1);
  PetscCall(CreateMatrix(PETSC_COMM_SELF, b, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(ExpectError(
      "missing", [&] { return FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &F); },
      &message, PETSC_ERR_ARG_WRONGSTATE));
  PetscCall(CheckText("missing", message, {"diagonal entry of row 0", "-pc_factor_diagonal_fill"}));
  PetscCall(MatDestroy(&F));
  info.diagonal_fill = 1;
  PetscCall(MatSetErrorIfFailure(A, PETSC_TRUE));
  PetscCall(ExpectError(
      "zero", [&] { return FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &F); }, &message,
      PETSC_ERR_MAT_LU_ZRPVT));
  PetscCall(CheckText("zero", message, {"Zero pivot row 0 value 0"}));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// -pc_factor_diagonal_fill puts in what is missing and is no harm where nothing is: PETSc's factors, with fill, too,
/// of a matrix that has these zeros, as PETSc's ILU puts none in.
static PetscErrorCode DiagonalFill()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (PetscInt missing : {-1, 17})
      for (PetscInt levels : {0, 1, 2}) {
        conformance::Builder     b("band", 60, 60), with_zeros("band_with_zeros", 60, 60);
        MatFactorInfo            info = Info(levels);
        std::vector<PetscScalar> ours, petsc;
        Mat                      A, B, F, G;
        for (PetscInt r = 0; r < 60; ++r)
          for (PetscInt c : {r - 5, r - 1, r, r + 1, r + 5}) {
            const bool lacks = c == r && r == missing;
            if (c < 0 || c >= 60) continue;
            with_zeros.Add(r, c, lacks ? 0 : c == r ? 6 : -1);
            if (!lacks) b.Add(r, c, c == r ? 6 : -1);
          }
        info.diagonal_fill = 1;
        PetscCall(CreateOn(backend, b, &A));
        PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &F));
        PetscCall(CreateOn(backend, with_zeros, &B));
        PetscCall(FactorOf(B, MATSOLVERPETSC, MAT_FACTOR_ILU, info, MATORDERINGNATURAL, &G));
        PetscCall(SolveWith(A, F, VECSTANDARD, false, &ours));
        PetscCall(SolveWith(B, G, VECSTANDARD, false, &petsc));
        PetscCall(MatDestroy(&B));
        PetscCall(CheckClose(ours, petsc, 500,
                             backend + ", ILU(" + std::to_string(levels) + "), row " + std::to_string(missing) +
                                 " without a diagonal"));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&G));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Inf and NaN in b come out where they belong and nowhere else; nothing hangs, whatever NaN it is.
static PetscErrorCode Poisoned()
{
  std::vector<std::string> backends, types;
  conformance::Builder     b("two_halves", 400, 400); // rows below 200 do not know those above

  PetscFunctionBeginUser;
  for (PetscInt r = 1; r < 400; ++r)
    if (r != 200) {
      b.Add(r, r - 1);
      b.Add(r - 1, r);
    }
  const Problem p = Dominant(b);
  PetscCall(Backends(&backends));
  PetscCall(VectorTypes(&types));
  for (const std::string &backend : backends)
    for (const std::string &type : types) {
      const unsigned long long bits = 0x7ffd5a5ee1e1e1e1ull; // the NaN that the kernels use as their flag
      std::vector<PetscScalar> rhs(400, 1);
      double                   flag;
      Vec                      v, x;
      Mat                      A, F;
      const PetscScalar       *array;
      memcpy(&flag, &bits, sizeof(flag));
      rhs[10] = (PetscReal)flag;
      rhs[20] = std::numeric_limits<PetscReal>::infinity();
      PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
      PetscCall(CreateVector(A, Op::Plain, false, type, &v));
      PetscCall(VecDuplicate(v, &x));
      PetscCall(SetVector(v, rhs));
      PetscCall(MatSolve(F, v, x));
      PetscCall(VecGetArrayRead(x, &array));
      for (PetscInt r = 0; r < 400; ++r)
        PetscCheck(PetscIsInfOrNanScalar(array[r]) == (r < 200 ? PETSC_TRUE : PETSC_FALSE), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s, %s, row %d: %g", backend.c_str(), type.c_str(), (int)r,
                   (double)PetscRealPart(array[r]));
      PetscCall(VecRestoreArrayRead(x, &array));
      PetscCall(VecDestroy(&v));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solve that may not wait ends, with NaN in x and an error at the next call.
static PetscErrorCode Stuck()
{
  std::vector<std::string> backends;
  conformance::Builder     b("chain", 200000, 200000);
  std::vector<PetscScalar> x;
  std::string              message;
  Mat                      A, F;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  if (std::find(backends.begin(), backends.end(), "cuda") == backends.end()) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt r = 1; r < 200000; ++r) b.Add(r, r - 1);
  PetscCall(CreateMatrix(PETSC_COMM_SELF, Dominant(b), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
  PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
  PetscCheck(!PetscIsInfOrNanScalar(x.back()), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A patient solve failed");
  PetscCall(MatDestroy(&F));
  const Option option("-mat_sparsegpu_trisolve_spins", "2");
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, &F));
  IS rows, columns;
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &columns));
  const MatFactorInfo info = Info(0);
  PetscCall(ExpectError(
      "stuck",
      [&] {
        const PetscErrorCode error = MatILUFactorSymbolic(F, A, rows, columns, &info);
        return error ? error : MatLUFactorNumeric(F, A, &info);
      },
      &message, PETSC_ERR_GPU));
  PetscCall(CheckText("stuck", message, {"made no progress in 2 polls"}));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Threads that wait far longer than the limit, for others that get on meanwhile, do not give up.
static PetscErrorCode Progress()
{
  constexpr PetscInt       ROWS = 200000;
  conformance::Builder     b("bidiagonal_200000", ROWS, ROWS);
  std::vector<std::string> backends;
  std::vector<PetscScalar> patient, x;
  Mat                      A, F;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  if (std::find(backends.begin(), backends.end(), "cuda") == backends.end()) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt r = 1; r < ROWS; ++r) b.Add(r, r - 1);
  PetscCall(CreateMatrix(PETSC_COMM_SELF, Dominant(b), MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
  PetscCall(SolveWith(A, F, VECSTANDARD, false, &patient));
  PetscCall(MatDestroy(&F));
  // Many warps, of which the last waits for a hundred thousand rows, each longer than a poll takes: far longer
  // than the limit. A task ends every 32 rows, of a few polls each: far more often.
  for (const char *tile : {"1", "4", "8"}) {
    const Options options(std::string("-mat_sparsegpu_trisolve_spins 10000 -mat_sparsegpu_trisolve_warps 8000 "
                                      "-mat_sparsegpu_trisolve_check -mat_sparsegpu_trisolve_tile ") +
                          tile);
    PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, Info(0), MATORDERINGNATURAL, &F));
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
    PetscCheck(x == patient, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tiles of %s: another solution than a patient solve's",
               tile);
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"pivots", Pivots},
               {"errors", Errors},
               {"diagonal_fill", DiagonalFill},
               {"poisoned", Poisoned},
               {"stuck", Stuck},
               {"progress", Progress}});
}
