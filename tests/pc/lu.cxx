static const char help[] = "LU and Cholesky factorizations by MATSOLVERSPARSEGPU.\n\n";

#include "direct.hpp"

#include <petscksp.h>

#include <cmath>

using namespace testing;

/// Factors without refinement against a bound for well-conditioned factors, and refined ones against the backward
/// error.
static PetscErrorCode Same()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &plain : Problems())
    for (const bool symmetric : {false, true}) {
      const Problem       p    = symmetric ? Symmetric(plain) : plain;
      const MatFactorType kind = symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU;
      for (const std::string &backend : backends)
        for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGND, MATORDERINGRCM, MATORDERINGLEASTFILL})
          for (const char *refine : {"0", "10"}) {
            const Option             option("-mat_sparsegpu_lu_refine", refine);
            std::vector<PetscScalar> ours, exact;
            const std::string        what = p.name + ", " + ordering + " on " + backend + ", refine " + refine;
            Mat                      A, F, G;
            PetscCall(CreateOn(backend, p, &A));
            PetscCall(FactorDirect(A, kind, ordering, &F));
            PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ILU, Info((PetscReal)p.rows), MATORDERINGNATURAL, &G));
            for (const bool transpose : {false, true}) {
              PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &ours));
              PetscCall(SolveWith(A, G, VECSTANDARD, transpose, &exact)); // with all fill: LU
              PetscCall(CheckClose(ours, exact, p.rows, what + (transpose ? ", transposed" : "")));
              if (refine[0] != '0') PetscCall(CheckBackward(p, ours, transpose, what));
            }
            PetscCall(MatDestroy(&F));
            PetscCall(MatDestroy(&G));
            PetscCall(MatDestroy(&A));
          }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices that need their rows moved or scaled.
static PetscErrorCode Pivoting()
{
  std::vector<Problem> problems;

  PetscFunctionBeginUser;
  conformance::Builder cycle("cycle_70", 70, 70), bad("badly_scaled_60", 60, 60), saddle("saddle_90", 90, 90),
      late("small_pivots_80", 80, 80);
  for (PetscInt r = 0; r < 70; ++r) { // no entry on the diagonal
    cycle.Add(r, (r + 1) % 70, 3);
    cycle.Add(r, (r + 9) % 70, 1);
  }
  for (PetscInt r = 0; r < 60; ++r) {
    const PetscReal scale = std::pow((PetscReal)10, (PetscReal)(r % 7 - 3) * (sizeof(PetscReal) == 4 ? 1 : 5));
    for (PetscInt c : {(r + 5) % 60, (r * 7) % 60, (r + 23) % 60})
      bad.Add(r, c, scale * (PetscReal)(1 + (r * 5 + c * 3) % 11) * (c == (r + 5) % 60 ? 20 : 1));
  }
  for (PetscInt r = 0; r < 60; ++r) { // [H B^T; B 0]
    saddle.Add(r, r, (PetscReal)(2 + r % 3));
    if (r > 0) {
      saddle.Add(r, r - 1, -1);
      saddle.Add(r - 1, r, -1);
    }
  }
  for (PetscInt r = 0; r < 30; ++r)
    for (PetscInt c : {2 * r, 2 * r + 1}) {
      saddle.Add(60 + r, c, c % 2 ? 1 : -2);
      saddle.Add(c, 60 + r, c % 2 ? 1 : -2);
    }
  for (PetscInt r = 0; r < 80; ++r) {
    late.Add(r, r, r % 4 ? (PetscReal)1e-30 : 1);
    for (PetscInt c : {r + 1, r + 13, r + 14})
      if (c < 80) {
        late.Add(r, c, (PetscReal)(1 + c % 5));
        late.Add(c, r, (PetscReal)(2 + r % 3));
      }
  }
  for (const Problem &p : std::vector<Problem>{cycle, bad, saddle, late})
    for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGLEASTFILL})
      for (const char *matching : {"auto", "on"}) {
        const Option             option("-mat_sparsegpu_lu_matching", matching);
        std::vector<PetscScalar> x;
        Mat                      A, F;
        PetscCall(CreateOn(on, p, &A));
        PetscCall(FactorDirect(A, MAT_FACTOR_LU, ordering, &F));
        for (const bool transpose : {false, true}) {
          PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
          PetscCall(CheckBackward(p, x, transpose, p.name + ", " + ordering + ", matching " + matching));
        }
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Singular in structure, in value; not a number; not square; another pattern; options that cannot be.
static PetscErrorCode Errors()
{
  Mat         A, F;
  std::string message;

  PetscFunctionBeginUser;
  conformance::Builder structure("structure", 5, 5), value("value", 4, 4);
  for (PetscInt r = 0; r < 5; ++r)
    for (PetscInt c : {0, 1, 3}) structure.Add(r, c, (PetscReal)(1 + r + 2 * c));
  for (PetscInt r = 0; r < 4; ++r)
    for (PetscInt c = 0; c < 4; ++c) value.Add(r, c, (PetscReal)((r + 1) * (c + 2))); // of rank 1
  PetscCall(CreateOn(on, structure, &A));
  MatFactorError error;
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F));
  PetscCall(MatFactorGetError(F, &error));
  PetscCheck(error == MAT_FACTOR_STRUCT_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "structure: error %d", (int)error);
  PetscCall(MatDestroy(&F));
  PetscCall(MatSetErrorIfFailure(A, PETSC_TRUE));
  PetscCall(ExpectError(
      "structurally singular", [&] { return FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F); }, &message,
      PETSC_ERR_MAT_LU_ZRPVT));
  PetscCall(CheckText("structurally singular", message, {"structurally singular", "column"}));
  PetscCall(MatDestroy(&A));

  conformance::Builder star("star", 6, 6); // a symmetric pattern, whose rows stay where they are at first
  for (PetscInt r = 1; r < 6; ++r) {
    star.Add(0, r, (PetscReal)r);
    star.Add(r, 0, (PetscReal)r);
  }
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    for (const char *matching : {"auto", "on", "off"}) {
      const Option option("-mat_sparsegpu_lu_matching", matching);
      PetscCall(CreateOn(on, star, &A));
      PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(FactorDirect(A, kind, MATORDERINGNATURAL, &F));
      PetscCall(MatFactorGetError(F, &error));
      PetscCheck(error == MAT_FACTOR_STRUCT_ZEROPIVOT, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "star, %s, matching %s: error %d", MatFactorTypes[kind], matching, (int)error);
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }

  for (const bool strict : {false, true}) {
    PetscReal pivot;
    PetscInt  row;
    PetscCall(CreateOn(on, value, &A));
    PetscCall(MatSetErrorIfFailure(A, strict ? PETSC_TRUE : PETSC_FALSE));
    if (strict) {
      PetscCall(ExpectError(
          "singular", [&] { return FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F); }, &message,
          PETSC_ERR_MAT_LU_ZRPVT));
      PetscCall(CheckText("singular", message, {"Zero pivot row"}));
    } else {
      PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F));
      PetscCall(MatFactorGetError(F, &error));
      PetscCall(MatFactorGetErrorZeroPivot(F, &pivot, &row));
      PetscCheck(error == MAT_FACTOR_NUMERIC_ZEROPIVOT && row >= 0 && row < 4, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "error %d, row %" PetscInt_FMT, (int)error, row);
      PetscCall(MatDestroy(&F));
    }
    PetscCall(MatDestroy(&A));
  }

  Problem nan      = conformance::Grid("nan", 6, 5, false);
  nan.entries[7].v = (PetscScalar)NAN;
  PetscCall(CreateOn(on, nan, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F));
  PetscCall(MatFactorGetError(F, &error));
  PetscCheck(error != MAT_FACTOR_NOERROR, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A NaN went through");
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));

  for (const char *bad :
       {"-mat_sparsegpu_lu_refine -1", "-mat_sparsegpu_lu_exchange 2", "-mat_sparsegpu_lu_matching perhaps"}) {
    const std::string text(bad);
    const Option      option(text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1));
    PetscCall(CreateOn(on, conformance::Grid("grid", 4, 4, false), &A));
    PetscCall(ExpectError(
        bad, [&] { return FactorDirect(A, MAT_FACTOR_LU, MATORDERINGNATURAL, &F); }, &message,
        PETSC_ERR_ARG_OUTOFRANGE));
    PetscCall(CheckText(bad, message, {text.substr(text.find(' ') + 1)}));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values give the bits that a new factor gives, and a thousand of them no more memory.
static PetscErrorCode Refactor()
{
  Problem                  p    = Dominant(conformance::Grid("grid_24x23", 24, 23, false));
  const MatFactorInfo      info = Info(0);
  std::vector<PetscScalar> ours, fresh;
  Mat                      A, F, G;
  PetscLogDouble           before = 0, after;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
  for (int round = 0; round < 1000; ++round) {
    PetscCall(MatScale(A, round % 2 ? (PetscScalar)0.25 : (PetscScalar)4));
    PetscCall(MatShift(A, (PetscScalar)(round % 3)));
    PetscCall(MatLUFactorNumeric(F, A, &info));
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &ours));
    if (round == 50) PetscCall(PetscMemoryGetCurrentUsage(&before));
  }
  PetscCall(PetscMemoryGetCurrentUsage(&after));
  PetscCheck(after <= before + 1e6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Memory grew from %g to %g bytes", before, after);
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &G));
  PetscCall(SolveWith(A, G, VECSTANDARD, false, &fresh));
  PetscCall(CheckSameBits(ours, fresh, "refactored"));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of a dense matrix, with room between them, one by one and together.
static PetscErrorCode Many()
{
  const Problem p = Dominant(conformance::Grid("grid_17x13", 17, 13, false));
  Mat           A, F, B, X, C;
  PetscReal     norm, scale;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F));
  for (const PetscInt count : {1, 3, 40})
    for (const bool transpose : {false, true}) {
      std::vector<PetscScalar> store((size_t)((p.rows + 5) * count), 0);
      PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, count, store.data(), &X));
      PetscCall(MatDenseSetLDA(X, p.rows + 5));
      PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, count, nullptr, &B));
      PetscCall(MatSetRandom(B, nullptr));
      PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
      PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
      PetscCall(transpose ? MatTransposeMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C)
                          : MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
      PetscCall(MatNorm(B, NORM_INFINITY, &scale));
      PetscCall(MatAXPY(C, -1, B, SAME_NONZERO_PATTERN));
      PetscCall(MatNorm(C, NORM_INFINITY, &norm));
      // each column's residual is 32 eps (|A| |x| + |b|) at most, |x| <= |b| as rows are dominant by |diagonal| / 2
      PetscCheck(norm <= 100 * (PetscReal)count * PETSC_MACHINE_EPSILON * scale * 10, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%d columns: residual %g of %g", (int)count, (double)norm, (double)scale);
      PetscCall(MatDestroy(&B));
      PetscCall(MatDestroy(&X));
      PetscCall(MatDestroy(&C));
    }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The signs of a shifted Laplacian's eigenvalues, which are known.
static PetscErrorCode Inertia()
{
#if defined(PETSC_USE_COMPLEX)
  return Skip("skipped: complex scalars");
#else
  constexpr PetscInt N     = 40;
  constexpr double   shift = 1.3;
  PetscInt           negative, zero, positive, expected = 0;
  Mat                A, F;
  PetscFunctionBeginUser;
  conformance::Builder line("line", N, N);
  for (PetscInt r = 0; r < N; ++r) {
    line.Add(r, r, 2 - shift);
    if (r > 0) {
      line.Add(r, r - 1, -1);
      line.Add(r - 1, r, -1);
    }
    expected += 2 - 2 * std::cos((double)(r + 1) * PETSC_PI / (N + 1)) < shift;
  }
  PetscCall(CreateOn(on, line, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGND}) {
    PetscCall(FactorDirect(A, MAT_FACTOR_CHOLESKY, ordering, &F));
    PetscCall(MatGetInertia(F, &negative, &zero, &positive));
    PetscCheck(negative == expected && zero == 0 && positive == N - expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: inertia %d %d %d, %d are negative", ordering, (int)negative, (int)zero, (int)positive,
               (int)expected);
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
}

/// As PETSc drives it: PCLU and PCCHOLESKY, blocks of a parallel matrix, new values, a new pattern, a view.
static PetscErrorCode Face()
{
  const char *const sets[] = {"-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu",
                              "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type sparsegpu",
                              "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu "
                              "-pc_factor_mat_ordering_type rcm -pc_factor_reuse_ordering",
                              "-ksp_type preonly -pc_type sparsegpu -pc_sparsegpu_factor lu",
                              "-ksp_type preonly -pc_type sparsegpu -pc_sparsegpu_factor cholesky",
                              "-ksp_type gmres -ksp_rtol 1e-10 -pc_type sparsegpu -pc_sparsegpu_factor lu",
                              "-ksp_type gmres -ksp_rtol 1e-10 -pc_type bjacobi -sub_pc_type lu "
                              "-sub_pc_factor_mat_solver_type sparsegpu",
                              "-ksp_type gmres -ksp_rtol 1e-10 -pc_type asm -sub_pc_type lu "
                              "-sub_pc_factor_mat_solver_type sparsegpu"};
  PetscMPIInt       size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (const char *set : sets) {
    const Options      options(set);
    Mat                A;
    Vec                x, b, r;
    KSP                ksp;
    KSPConvergedReason reason;
    PetscReal          norm, scale;
    if (size > 1 && strstr(set, "preonly")) continue;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetFromOptions(ksp));
    for (int round = 0; round < 3; ++round) { // the last one has another pattern
      const Problem p = Dominant(conformance::Grid("grid", round < 2 ? 21 : 20, 20, false), true);
      if (round != 1) PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
      if (round == 1) PetscCall(MatShift(A, 2));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecDuplicate(b, &r));
      PetscCall(VecSet(b, 1));
      if (round == 2) PetscCall(KSPReset(ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(MatMult(A, x, r));
      PetscCall(VecAYPX(r, -1, b));
      PetscCall(VecNorm(r, NORM_2, &norm));
      PetscCall(VecNorm(b, NORM_2, &scale));
      const PetscReal allowed =
          strstr(set, "preonly") ? 1000 * PETSC_MACHINE_EPSILON : PetscMax(1e-8, 1000 * PETSC_MACHINE_EPSILON);
      PetscCheck(reason > 0 && norm <= allowed * scale, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%s, round %d: reason %d, residual %g", set, round, (int)reason, (double)(norm / scale));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
      if (round != 0) PetscCall(MatDestroy(&A));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  if (size == 1) {
    Mat                      A, F;
    std::string              text, again;
    std::vector<PetscScalar> x;
    PetscCall(CreateOn(on, Dominant(conformance::Grid("grid", 21, 20, false)), &A));
    PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGND, &F));
    PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_view", &text));
    PetscCall(CheckText("view", text, {"sparsegpu LU on ", on == "cuda" ? "cuda" : "the host"}));
    for (const char *detail : {"fronts", "flops", "pivots"})
      PetscCheck(text.find(detail) == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "\"%s\" in\n%s", detail,
                 text.c_str());
    PetscCall(SolveWith(A, F, VECSTANDARD, false, &x));
    PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_view", &again));
    PetscCheck(again == text, PETSC_COMM_SELF, PETSC_ERR_PLIB, "before a solve\n%s\nand after\n%s", text.c_str(),
               again.c_str());
    PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO_DETAIL, "lu_view", &text));
    PetscCall(CheckText("view", text, {"sparsegpu LU", "fronts", "flops", "0 pivots replaced"}));
    PetscCall(MatDestroy(&F));
    for (const char *type : {MATORDERINGLEASTFILL, MATORDERINGEXTERNAL}) { // what was taken
      PetscCall(FactorDirect(A, MAT_FACTOR_LU, type, &F));
      PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_view", &text));
      PetscCall(CheckText("view", text, {"ordered by leastfill: "}));
      PetscCall(MatDestroy(&F));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same", Same},
               {"pivoting", OnEach<Pivoting>},
               {"errors", OnEach<Errors>},
               {"refactor", OnEach<Refactor>},
               {"many", OnEach<Many>},
               {"inertia", OnEach<Inertia>},
               {"face", Face}});
}
